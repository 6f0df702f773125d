package config

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v3"
)

// everyField visits the table's fields with their paths.
func everyField(v value, path []string, visit func([]string, field)) {
	if v.shape == list {
		everyField(*v.item, append(path, "[]"), visit)
		return
	}
	for _, f := range v.fields {
		sub := append(append([]string(nil), path...), f.key)
		visit(sub, f)
		everyField(f.value, sub, visit)
	}
}

// document nests a value at a path.
func document(path []string, val any) []byte {
	for i := len(path) - 1; i >= 0; i-- {
		if path[i] == "[]" {
			val = []any{val}
		} else {
			val = map[string]any{path[i]: val}
		}
	}
	out, _ := json.Marshal(val)
	return out
}

// TestTable walks every key there is: a later one is refused as such, a served
// one is described, and a case variant of either is never taken.
func TestTable(t *testing.T) {
	fields := 0
	everyField(table(), nil, func(path []string, f field) {
		fields++
		mistakes := func(path []string, val any) string {
			_, err := Parse(Options{}, File{"t.yaml", document(path, val)})
			return fmt.Sprint(err)
		}
		name := strings.Join(path, ".")
		if f.later != "" {
			if got := mistakes(path, "x"); !strings.Contains(got, f.key+": not supported yet") {
				t.Errorf("%s: %s", name, got)
			}
			return
		}
		if f.doc == "" {
			t.Errorf("%s has no doc", name)
		}
		if got := mistakes(path, nil); !strings.Contains(got, f.key+": has no value") {
			t.Errorf("%s: null: %s", name, got)
		}
		if f.builtin != nil && f.value.builtin(f.builtin) == nil {
			t.Errorf("%s: its own built-in %v is refused", name, f.builtin)
		}
		upper := append(path[:len(path)-1:len(path)-1], strings.ToUpper(f.key))
		if got := mistakes(upper, "x"); !strings.Contains(got, fmt.Sprintf("did you mean %q?", f.key)) {
			t.Errorf("%s: %s", strings.Join(upper, "."), got)
		}
	})
	if fields < 150 {
		t.Errorf("%d fields visited, want the whole table", fields)
	}
}

// TestTheTableStaysAsItIs: configs, good and bad, are checked at once by the same
// table, and leave it as it was.
func TestTheTableStaysAsItIs(t *testing.T) {
	before, err := Schema()
	if err != nil {
		t.Fatal(err)
	}
	check := func(files []string) []string {
		said := make([]string, len(files))
		for i, name := range files {
			data, err := os.ReadFile(name)
			if err != nil {
				t.Error(err)
			}
			c, err := Parse(Options{}, File{name, data})
			said[i] = fmt.Sprint(err, c.Warnings, len(c.Targets))
		}
		return said
	}
	files := append(glob(t, "testdata/good/*.yaml"), glob(t, "testdata/bad/*.yaml")...)
	alone := check(files)
	var all sync.WaitGroup
	for range 2 {
		all.Go(func() {
			for i, said := range check(files) {
				if said != alone[i] {
					t.Errorf("%s: %s, want %s", files[i], said, alone[i])
				}
			}
		})
	}
	all.Wait()
	if after, err := Schema(); err != nil || !bytes.Equal(before, after) {
		t.Errorf("the table is another than before (%v)", err)
	}
}

// TestSchema holds the schema against a validator that knows nothing of perch:
// it takes what Load takes, and refuses every bad file but those that say that a
// schema cannot see their mistake.
func TestSchema(t *testing.T) {
	text, err := Schema()
	if err != nil {
		t.Fatal(err)
	}
	good := append(glob(t, "testdata/good/*.yaml"), append(glob(t, "../examples/*.yaml"), glob(t, "../examples/folder/*.yaml")...)...)
	seesWhatLoadSees(t, text, good, glob(t, "testdata/bad/*.yaml"))
}

// seesWhatLoadSees holds a schema to files that load and files that do not.
func seesWhatLoadSees(t *testing.T, text []byte, good, bad []string) {
	t.Helper()
	parsed, err := jsonschema.UnmarshalJSON(strings.NewReader(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource("schema.json", parsed); err != nil {
		t.Fatal(err)
	}
	schema, err := compiler.Compile("schema.json") // checks it against the draft's own schema
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range good {
		doc, _ := plainValue(t, name)
		if err := schema.Validate(doc); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, name := range bad {
		doc, ok := plainValue(t, name)
		data, _ := os.ReadFile(name)
		blind := strings.Contains(string(data), "# schema: cannot see this")
		refused := ok && schema.Validate(doc) != nil
		if refused == blind {
			t.Errorf("%s: the schema refuses it: %v, want %v", filepath.Base(name), refused, !blind)
		}
	}
}

// plainValue reads YAML as an editor does.
func plainValue(t *testing.T, name string) (any, bool) {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if json.Valid(data) {
		data = []byte(strings.ReplaceAll(string(data), "\t", " "))
	}
	var v any
	if err := yaml.Unmarshal(data, &v); err != nil {
		return nil, false
	}
	text, err := json.Marshal(v)
	if err != nil {
		return nil, false
	}
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(string(text)))
	return doc, err == nil
}

// TestAliasBomb: a few kilobytes of aliases that stand for millions of values
// are refused without growing into them.
func TestAliasBomb(t *testing.T) {
	var b strings.Builder
	b.WriteString("version: 1\ntargets:\n  - &t\n    name: a\n    url: https://a.example\n    probes:\n      - &p\n        name: p\n        kind: http\n        headers:\n          - &h {name: A, value: b}\n")
	b.WriteString(strings.Repeat("          - *h\n", 99) + strings.Repeat("      - *p\n", 199) + strings.Repeat("  - *t\n", 999))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := Parse(Options{}, File{"bomb.yaml", []byte(b.String())})
	runtime.ReadMemStats(&after)
	if err == nil {
		t.Fatal("accepted")
	}
	if grown := (after.TotalAlloc - before.TotalAlloc) >> 20; grown > 200 {
		t.Errorf("%d MiB allocated for %d bytes", grown, b.Len())
	}
}

func TestTooManyValues(t *testing.T) {
	text := "version: 1\ntargets:\n  - &t\n    name: a\n    url: https://a.example\n    probes:\n      - &p {name: p, kind: idle, holds: [1s, 2s, 3s, 4s, 5s, 6s, 7s, 8s, 9s]}\n" +
		strings.Repeat("      - *p\n", 50) + strings.Repeat("  - *t\n", 999)
	_, err := Parse(Options{}, File{"many.yaml", []byte(text)})
	if err == nil || !strings.Contains(err.Error(), "stands for too many values") {
		t.Errorf("%.200v, want the bound", err)
	}
}

// TestFlood: what is no config at all gives a bounded message.
func TestFlood(t *testing.T) {
	_, err := Parse(Options{}, File{"flood.yaml", []byte("version: 1\n" + strings.Repeat("? [a]\n: 1\n", 10_000))})
	if err == nil || strings.Count(err.Error(), "\n") > maxShown+1 {
		t.Errorf("%d lines", strings.Count(fmt.Sprint(err), "\n"))
	}
}

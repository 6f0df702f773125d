package config

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"perch.example/diagnose/clients"
	"perch.example/probes"
	"perch.example/probes/expect"
)

const reference = "../docs/configuration.md"

// TestReference keeps the tables of docs/configuration.md in step with the
// config's own table and the client catalog. Each stands between
// <!-- generated: NAME --> and <!-- end -->; -update writes them anew.
func TestReference(t *testing.T) {
	raw, err := os.ReadFile(reference)
	if err != nil {
		t.Fatal(err)
	}
	tables := referenceTables()
	found := map[string]bool{}
	block := regexp.MustCompile(`(?s)(<!-- generated: ([a-z ]+) -->\n).*?(<!-- end -->)`)
	want := block.ReplaceAllStringFunc(string(raw), func(whole string) string {
		m := block.FindStringSubmatch(whole)
		found[m[2]] = true
		return m[1] + tables[m[2]] + m[3]
	})
	for name := range tables {
		if !found[name] {
			t.Errorf("%s has no place for the table %q", reference, name)
		}
	}
	if updating() {
		if err := os.WriteFile(reference, []byte(want), 0o600); err != nil {
			t.Fatal(err)
		}
	} else if want != string(raw) {
		t.Errorf("%s is not in step with the tables: go test ./config -run TestReference -update", reference)
	}
	everyField(table(), nil, func(path []string, f field) {
		if f.later == "" && !strings.Contains(want, "`"+f.key+"`") && !strings.Contains(want, "."+f.key+"`") && !strings.Contains(want, "\n## "+f.key+"\n") {
			t.Errorf("%s does not tell of %s", reference, strings.Join(path, "."))
		}
	})
}

// referenceTables are the generated parts, by name.
func referenceTables() map[string]string {
	root := table()
	at := func(v value, key string) value {
		f, _ := v.field(key)
		return f.value
	}
	one := *at(root, "targets").item
	probe := *at(one, "probes").item
	anywhere := mappingOf(sharedFields()...)
	shared := anywhere.keys()
	top := root
	top.fields = slices.DeleteFunc(slices.Clone(root.fields), func(f field) bool { return f.value.shape == mapping && f.key != "defaults" })
	return map[string]string{
		"top":          rows(top, nil, "targets", "defaults"),
		"target":       rows(one, shared, "client", "probes"),
		"probe":        rows(probe, shared),
		"shared":       rows(anywhere, nil),
		"client":       rows(at(one, "client"), nil),
		"alerts":       rows(at(root, "alerts"), nil),
		"slack":        rows(at(root, "slack"), nil),
		"webhook":      rows(at(root, "webhook"), nil),
		"alertmanager": rows(at(root, "alertmanager"), nil),
		"metrics":      rows(at(root, "metrics"), nil),
		"otlp":         rows(at(root, "otlp"), nil),
		"state":        rows(at(root, "state"), nil),
		"kinds":        kindRows(),
		"wrappers":     wrapperRows(),
		"later":        laterKeys(root),
	}
}

// rows prints a mapping's keys, those below them too. skip are told elsewhere,
// of whole only their own line is printed here.
func rows(v value, skip []string, whole ...string) string {
	var b strings.Builder
	b.WriteString("| key | value | default | meaning |\n|---|---|---|---|\n")
	var add func(v value, path string)
	add = func(v value, path string) {
		for _, f := range v.fields {
			if f.later != "" || path == "" && slices.Contains(skip, f.key) {
				continue
			}
			standard := ""
			if f.required {
				standard = "required"
			} else if f.builtin != nil {
				standard = fmt.Sprintf("`%v`", f.builtin)
			}
			fmt.Fprintf(&b, "| `%s%s` | %s | %s | %s |\n", path, f.key, written(f.value), standard, cell(f.doc))
			switch inner := f.value; {
			case path == "" && slices.Contains(whole, f.key):
			case inner.shape == mapping:
				add(inner, path+f.key+".")
			case inner.shape == list && inner.item.shape == mapping:
				add(*inner.item, path+f.key+"[].")
			}
		}
	}
	add(v, "")
	return b.String()
}

// written says how a value is written.
func written(v value) string {
	switch v.shape {
	case mapping:
		return "a block"
	case list:
		if v.item.shape == mapping {
			return fmt.Sprintf("a list of %d to %d blocks", v.min, v.max)
		}
		return fmt.Sprintf("a list of %d to %d: %s", v.min, v.max, written(*v.item))
	case scalar:
	}
	return cell(v.want)
}

func cell(s string) string { return strings.ReplaceAll(s, "|", `\|`) }

// kindRows lists what client.kind may be.
func kindRows() string {
	var b strings.Builder
	b.WriteString("| kind | client | drops idle connections by itself after | looks before use |\n|---|---|---|---|\n")
	for _, kind := range clients.Kinds() {
		c, _ := clients.Lookup(kind)
		idle := limit(c.Idle.Limit)
		if c.Idle.Hint {
			idle += ", or the answer's `Keep-Alive: timeout=`"
		}
		looks := map[probes.LimitMode]string{probes.LimitNone: c.Looks.How, probes.LimitAlways: "always"}[c.Looks.Limit.Mode]
		if looks == "" {
			looks = "from " + limit(c.Looks.Limit) + " idle"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", kind, c.Name, idle, looks)
	}
	return b.String()
}

func limit(l probes.Limit) string {
	if l.Mode == probes.LimitAfter {
		return probes.Spoken(l.After)
	}
	return "no limit"
}

// wrapperRows lists what client.wrapped_by may be.
func wrapperRows() string {
	var b strings.Builder
	b.WriteString("| wrapped_by | around |\n|---|---|\n")
	for _, layer := range clients.Wrappers() {
		var kinds []string
		for _, kind := range clients.Kinds() {
			if clients.Wraps(layer, kind) {
				kinds = append(kinds, "`"+kind+"`")
			}
		}
		fmt.Fprintf(&b, "| `%s` | %s |\n", layer, strings.Join(kinds, ", "))
	}
	return b.String()
}

// laterKeys lists the keys that are refused so far.
func laterKeys(root value) string {
	var keys []string
	everyField(root, nil, func(path []string, f field) {
		if f.later != "" && path[0] != "defaults" {
			keys = append(keys, "`"+strings.ReplaceAll(strings.Join(path, "."), ".[]", "[]")+"`")
		}
	})
	if len(keys) == 0 {
		return ""
	}
	return "## Not served yet\nRefused so that nobody relies on them: " + strings.Join(keys, ", ") + ".\n"
}

// TestReferenceExamples: what people copy from there is right.
func TestReferenceExamples(t *testing.T) {
	raw, err := os.ReadFile(reference)
	if err != nil {
		t.Fatal(err)
	}
	configs, expressions := 0, 0
	for _, m := range regexp.MustCompile("(?s)```(yaml|cel)\n(.*?)```").FindAllStringSubmatch(string(raw), -1) {
		if m[1] == "cel" {
			for line := range strings.Lines(m[2]) {
				text, _, _ := strings.Cut(line, "//")
				expressions++
				if _, err := expect.Compile([]string{strings.TrimSpace(text)}); err != nil {
					t.Errorf("%s: %v", strings.TrimSpace(line), err)
				}
			}
			continue
		}
		configs++
		o := Options{ClientKinds: clients.Kinds(), ClientWrappers: clients.Wrappers()}
		if c, err := Parse(o, File{reference, []byte(m[2])}); err != nil || len(c.Warnings) > 0 {
			t.Errorf("an example: %v, warnings %q:\n%s", err, c.Warnings, m[2])
		}
	}
	if configs < 2 || expressions < 10 {
		t.Errorf("%d configs and %d expressions found", configs, expressions)
	}
}

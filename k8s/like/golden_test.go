package like

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"perch.example/k8s"
	"perch.example/probes"
)

var update = flag.Bool("update", false, "write the golden files anew") //nolint:gochecknoglobals // a flag of the test binary

// goldenOptions stand in the first line of an input.
type goldenOptions struct {
	Workload   string   `json:"workload"`
	Targets    []string `json:"targets"`
	NoServices bool     `json:"noServices"`
}

func optionsOf(t *testing.T, raw []byte) Options {
	t.Helper()
	var g goldenOptions
	line, _, _ := bytes.Cut(raw, []byte("\n"))
	if text, is := bytes.CutPrefix(line, []byte("# options: ")); is {
		if err := yaml.UnmarshalStrict(text, &g); err != nil {
			t.Fatal(err)
		}
	}
	o := Options{Name: "perch", Workload: g.Workload, NoServices: g.NoServices}
	for _, name := range g.Targets {
		o.Targets = append(o.Targets, probes.Target{Name: name})
	}
	return o
}

// shown is a path as the golden files have it.
func shown(t *testing.T, p *k8s.Path) []byte {
	t.Helper()
	reasons := func(all []k8s.Reason) []string {
		var lines []string
		for _, r := range all {
			lines = append(lines, r.What+": "+r.Why)
		}
		return lines
	}
	var policies []any
	for _, c := range p.Policies {
		policies = append(policies, c.Object)
	}
	raw, err := yaml.Marshal(map[string]any{
		"workload": p.Workload, "namespace": p.Namespace, "labels": p.Labels, "annotations": p.Annotations,
		"pod": p.Pod, "policies": policies, "isolated": p.Isolated, "sidecar": p.Sidecar,
		"copied": reasons(p.Copied), "left": reasons(p.Left),
	})
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func inputs(t testing.TB) []string {
	t.Helper()
	files, err := filepath.Glob("testdata/*.in.*")
	if err != nil || len(files) < 16 {
		t.Fatalf("%d inputs (%v)", len(files), err)
	}
	return files
}

func mustRead(t testing.TB, file string) []byte {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// TestGolden: from what kubectl prints to what perch's Pod gets, one case a
// platform's feature.
func TestGolden(t *testing.T) {
	for _, file := range inputs(t) {
		name, _, _ := strings.Cut(filepath.Base(file), ".")
		t.Run(name, func(t *testing.T) {
			raw := mustRead(t, file)
			p, err := New(raw, optionsOf(t, raw))
			if err != nil {
				t.Fatal(err)
			}
			got, golden := shown(t, p), filepath.Join("testdata", name+".golden.yaml")
			if *update {
				if err := os.WriteFile(golden, got, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if want := mustRead(t, golden); !bytes.Equal(got, want) {
				t.Errorf("%s differs (write it anew with -update, and read the difference):\n%s", golden, got)
			}
			again, err := New(raw, optionsOf(t, raw))
			if err != nil || !bytes.Equal(shown(t, again), got) {
				t.Errorf("the same input gives another path: %v", err)
			}
		})
	}
}

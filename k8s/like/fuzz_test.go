package like

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"

	"perch.example/k8s"
)

// FuzzNew: whatever comes in, there is a path that nothing of the input selects,
// or an error that says something.
func FuzzNew(f *testing.F) {
	for _, file := range inputs(f) {
		f.Add(mustRead(f, file), "")
	}
	f.Add([]byte(app(", egress: a", ", affinity: {podAntiAffinity: {}}")), "deploy/checkout")
	f.Add([]byte("a: &a [x]\nb: [*a, *a]\n---\n{"), "/")
	f.Add([]byte("---\n---\n- 1\n"), "pod/")
	f.Add([]byte(`{"kind":"List","items":[{"kind":"PodList","items":[{}]}]}`), "")
	f.Fuzz(func(t *testing.T, raw []byte, workload string) {
		p, err := New(raw, Options{Name: "perch", Workload: workload, NoServices: len(raw)%2 == 0})
		if err != nil {
			if err.Error() == "" || p != nil {
				t.Fatalf("an error without words, or with a path: %q", err)
			}
			return
		}
		all, err := read(raw)
		if err != nil {
			t.Fatalf("read once and not again: %v", err)
		}
		set := labels.Merge(ownLabels("perch"), p.Labels)
		for _, g := range guardsOf(t, all, p.Namespace) {
			if maySelect(g.selector, set) {
				t.Fatalf("%s selects %s", g.who, set)
			}
		}
		for _, r := range append(p.Copied, p.Left...) {
			if strings.ContainsAny(r.What+r.Why, "\n\r\x1b") {
				t.Fatalf("more than a line: %q", r)
			}
		}
		shown(t, p)
	})
}

// guardsOf reads the guards of an input anew.
func guardsOf(t *testing.T, all []object, namespace string) []guard {
	t.Helper()
	in, _ := apart(all, "perch")
	here := object{Unstructured: &unstructured.Unstructured{Object: map[string]any{}}}
	here.SetNamespace(namespace)
	b := &builder{in: in, app: podOf(in, workload{object: here}), path: &k8s.Path{}}
	if err := b.readGuards(); err != nil {
		t.Fatal(err)
	}
	return b.guards
}

// TestABombIsRefused: aliases of aliases, and what is nested ten thousand deep,
// end in an error, soon.
func TestABombIsRefused(t *testing.T) {
	var aliases strings.Builder
	aliases.WriteString("a0: &a0 [x, x, x, x, x, x, x, x, x]\n")
	for i := 1; i < 12; i++ {
		fmt.Fprintf(&aliases, "a%d: &a%d [%s]\n", i, i, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d, ", i-1), 9), ", "))
	}
	for name, input := range map[string]string{
		"aliases":    aliases.String(),
		"deep":       strings.Repeat("[", 20_000),
		"deep JSON":  strings.Repeat(`{"a":`, 20_000),
		"deep block": "a: " + strings.Repeat("- ", 20_000),
		"to itself":  "a: &a {b: *a}",
		"many":       `{"kind": "List", "items": [{"apiVersion":"v1","kind":"A","metadata":{"name":"a"}}` + strings.Repeat(`,{"apiVersion":"v1","kind":"A","metadata":{"name":"a"}}`, maxObjects+1) + "]}",
		"no UTF-8":   "a: \xff\xfe",
		"a NUL":      "a: \x00",
	} {
		began := time.Now()
		_, err := New([]byte(input), Options{Name: "perch"})
		if err == nil || !strings.Contains(err.Error(), "document 1") || len(err.Error()) > 1000 {
			t.Errorf("%s: %.300v", name, err)
		}
		t.Logf("%s: %s: %.120v", name, time.Since(began), err)
		if took := time.Since(began); took > 20*time.Second {
			t.Errorf("%s: took %s", name, took)
		}
	}
}

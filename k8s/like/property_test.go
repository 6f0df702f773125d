package like

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"

	"perch.example/k8s"
)

// world makes inputs of every shape from few keys and values, so that selectors
// meet often, and perch's own labels among them.
type world struct{ *rand.Rand }

func (w world) pick(words ...string) string { return words[w.IntN(len(words))] }

func (w world) key() string {
	return w.pick("app", "tier", "team", "egress", "track", "app.kubernetes.io/name", "app.kubernetes.io/instance", "perch.example/path",
		"sidecar.istio.io/inject", "job-name", "pod-template-hash", "security.istio.io/tlsMode", "istio-prometheus-ignore")
}

func (w world) value() string { return w.pick("a", "b", "true", "perch", "istio") }

func (w world) set(most int) map[string]any {
	set := map[string]any{}
	for range w.IntN(most + 1) {
		set[w.key()] = w.value()
	}
	return set
}

// selector contradicts itself nowhere: what can select nothing at all may be
// refused as what could.
func (w world) selector() map[string]any {
	s, seen := map[string]any{}, map[string]any{}
	if w.IntN(3) > 0 {
		seen = w.set(2)
		s["matchLabels"] = maps.Clone(seen)
	}
	if w.IntN(2) == 0 {
		var all []any
		for range 1 + w.IntN(2) {
			key := w.key()
			if seen[key] != nil {
				continue
			}
			seen[key] = true
			e := map[string]any{"key": key, "operator": w.pick("In", "NotIn", "Exists", "DoesNotExist")}
			if o := e["operator"]; o == "In" || o == "NotIn" {
				e["values"] = []any{w.value(), w.value()}
			}
			all = append(all, e)
		}
		s["matchExpressions"] = all
	}
	return s
}

func (w world) object(group, kind, name string, spec map[string]any) map[string]any {
	return map[string]any{
		"apiVersion": group, "kind": kind, "spec": spec,
		"metadata": map[string]any{"name": name, "namespace": w.pick("shop", "shop", "shop", "other")},
	}
}

// input is a List with one workload called app and what may select it.
func (w world) input() []byte {
	template := func(set map[string]any) map[string]any {
		return map[string]any{"metadata": map[string]any{"labels": set}, "spec": map[string]any{"containers": []any{map[string]any{"name": "app"}}}}
	}
	own := w.set(5)
	own["app"] = "a"
	app := w.object("apps/v1", "Deployment", "app", map[string]any{"selector": map[string]any{"matchLabels": map[string]any{"app": "a"}}, "template": template(own)})
	app["metadata"].(map[string]any)["namespace"] = "shop"
	items := []any{app, w.object("v1", "Service", "svc", map[string]any{"selector": w.set(2)})}
	for i := range 1 + w.IntN(7) {
		name := fmt.Sprintf("o%d", i)
		switch w.IntN(8) {
		case 0:
			items = append(items, w.object("v1", "Service", name, map[string]any{"selector": w.set(2)}))
		case 1:
			items = append(items, w.object("policy/v1", "PodDisruptionBudget", name, map[string]any{"selector": w.selector()}))
		case 2:
			spec := map[string]any{"selector": w.selector()}
			if w.IntN(2) == 0 {
				spec["namespaceSelector"] = map[string]any{"any": w.IntN(2) == 0, "matchNames": []any{w.pick("shop", "other")}}
			}
			items = append(items, w.object("monitoring.coreos.com/v1", "PodMonitor", name, spec))
		case 3:
			items = append(items, w.object("apps/v1", w.pick("StatefulSet", "DaemonSet", "ReplicaSet"), name, map[string]any{
				"selector": map[string]any{"matchLabels": map[string]any{w.key(): w.value()}}, "template": template(w.set(3)),
			}))
		case 4:
			items = append(items, w.object("autoscaling/v2", "HorizontalPodAutoscaler", name, map[string]any{
				"scaleTargetRef": map[string]any{"kind": "Deployment", "name": w.pick("app", "elsewhere")},
			}))
		default:
			selector := w.selector()
			if w.IntN(2) == 0 {
				selector = map[string]any{"matchLabels": map[string]any{"app": "a"}}
			}
			items = append(items, w.object("networking.k8s.io/v1", "NetworkPolicy", name, map[string]any{
				"podSelector": selector, "policyTypes": []any{w.pick("Egress", "Ingress")}, "egress": []any{},
				"ingress": []any{map[string]any{"from": []any{map[string]any{"podSelector": w.selector()}}}},
			}))
		}
	}
	raw, err := json.Marshal(map[string]any{"apiVersion": "v1", "kind": "List", "items": items})
	if err != nil {
		panic(err) // of maps and strings
	}
	return raw
}

// TestNothingOfTheInputSelectsPerch: over generated inputs no Service, budget,
// monitor or workload, and so no autoscaler of one, selects perch's Pod; what is
// refused had to be; and each policy on what the workload sends holds for perch.
func TestNothingOfTheInputSelectsPerch(t *testing.T) {
	made, refusals, carried, cloned := 0, 0, 0, 0
	for seed := range uint64(350) {
		w := world{rand.New(rand.NewPCG(seed, 5))}
		raw := w.input()
		all, err := read(raw)
		if err != nil {
			t.Fatal(err)
		}
		judges := attracting(t, all)
		p, err := New(raw, Options{Name: "perch", Workload: "deployment/app"})
		if err != nil {
			refusals++
			if who := selecting(judges, "shop", baseLabels("perch")); !strings.Contains(err.Error(), "would select perch") || len(who) == 0 {
				t.Fatalf("seed %d: refused without need: %v (of %v)\n%s", seed, err, who, raw)
			}
			continue
		}
		made++
		set := labels.Merge(ownLabels("perch"), p.Labels)
		if who := selecting(judges, "shop", set); len(who) > 0 {
			t.Fatalf("seed %d: %v select perch's labels %s\n%s", seed, who, set, raw)
		}
		if len(p.Labels) > 1 {
			carried++
		}
		cloned += len(p.Policies)
		held(t, seed, all, p)
	}
	if made < 200 || refusals < 80 || carried < 30 || cloned < 30 {
		t.Errorf("%d paths, %d refusals, %d with labels, %d clones: the inputs prove little", made, refusals, carried, cloned)
	}
	t.Logf("%d paths, %d refusals, %d with labels, %d clones", made, refusals, carried, cloned)
}

// held fails where an egress policy of the workload selects neither perch nor has
// a clone that does.
func held(t *testing.T, seed uint64, all []object, p *k8s.Path) {
	t.Helper()
	var app labels.Set
	for _, o := range all {
		if o.GetName() == "app" {
			app, _, _ = unstructured.NestedStringMap(o.Object, "spec", "template", "metadata", "labels")
		}
	}
	for _, o := range all {
		if !o.is("networking.k8s.io", "NetworkPolicy") || o.GetNamespace() != "shop" {
			continue
		}
		types, _, _ := unstructured.NestedStringSlice(o.Object, "spec", "policyTypes")
		s, err := o.selector("spec", "podSelector")
		if err != nil {
			t.Fatal(err)
		}
		if types[0] != "Egress" || !s.Matches(app) || s.Matches(labels.Merge(ownLabels("perch"), p.Labels)) {
			continue
		}
		if !slices.ContainsFunc(p.Policies, func(c *unstructured.Unstructured) bool { return c.GetName() == "perch-"+o.GetName() }) {
			t.Fatalf("seed %d: %s selects the workload (%s), and nothing of it holds for perch", seed, o, app)
		}
	}
}

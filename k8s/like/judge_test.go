package like

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
)

// What follows judges a path without the code that made it: it asks each object
// of the input, by Kubernetes' own selectors, whether it selects a Pod.

// judged is an object's selector of Pods, and the namespaces where it holds; nil:
// every one.
type judged struct {
	who      string
	selector labels.Selector
	in       []string
}

// attracting are the selectors of the input that take what they select for an
// application: Services, budgets, monitors, workloads.
func attracting(t testing.TB, all []object) []judged {
	t.Helper()
	var found []judged
	for _, o := range all {
		if o.GetLabels()["app.kubernetes.io/name"] == "perch" {
			continue
		}
		add := func(s labels.Selector, in ...string) { found = append(found, judged{o.String(), s, in}) }
		switch o.GetKind() {
		case "Service":
			if set, _, _ := unstructured.NestedStringMap(o.Object, "spec", "selector"); len(set) > 0 {
				add(labels.SelectorFromSet(set), o.GetNamespace())
			}
		case "PodDisruptionBudget", "Deployment", "StatefulSet", "DaemonSet", "ReplicaSet", "Rollout":
			if s := labelSelector(t, o); s != nil {
				add(s, o.GetNamespace())
			}
		case "PodMonitor":
			spaces, _, _ := unstructured.NestedStringSlice(o.Object, "spec", "namespaceSelector", "matchNames")
			if len(spaces) == 0 {
				spaces = []string{o.GetNamespace()}
			}
			if wide, _, _ := unstructured.NestedBool(o.Object, "spec", "namespaceSelector", "any"); wide {
				spaces = nil
			}
			add(labelSelector(t, o), spaces...)
		}
	}
	return found
}

func labelSelector(t testing.TB, o object) labels.Selector {
	t.Helper()
	value, found, _ := unstructured.NestedMap(o.Object, "spec", "selector")
	if !found {
		return nil
	}
	raw, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	var s meta.LabelSelector
	if err := json.Unmarshal(raw, &s); err != nil {
		t.Fatal(err)
	}
	selector, err := meta.LabelSelectorAsSelector(&s)
	if err != nil {
		t.Fatal(err)
	}
	return selector
}

// selecting returns who of the input selects a Pod with these labels, whatever
// Kubernetes adds to them.
func selecting(all []judged, namespace string, set labels.Set) []string {
	var who []string
	for _, j := range all {
		if j.in != nil && !slices.Contains(j.in, namespace) {
			continue
		}
		for _, later := range added() {
			if j.selector.Matches(labels.Merge(later, set)) {
				who = append(who, fmt.Sprintf("%s (%s)", j.who, j.selector))
				break
			}
		}
	}
	return who
}

// added are the labels that Kubernetes and a mesh may add to perch's Pod, in every
// combination of a Job's, a Deployment's and a mesh's.
func added() []labels.Set {
	var all []labels.Set
	for _, job := range []labels.Set{nil, {
		"job-name": "perch-29411830", "batch.kubernetes.io/job-name": "perch-29411830", "controller-uid": "9", "batch.kubernetes.io/controller-uid": "9",
		"batch.kubernetes.io/job-completion-index": "0",
	}} {
		for _, rollout := range []labels.Set{nil, {"pod-template-hash": "6b7f9c4d5"}} {
			for _, mode := range []string{"", "istio", "a", "b", "true", "perch"} {
				set := labels.Merge(job, rollout)
				set["topology.kubernetes.io/zone"], set["linkerd.io/workload-ns"] = "a", "shop"
				if mode != "" {
					set["security.istio.io/tlsMode"] = mode
				}
				all = append(all, set)
			}
		}
	}
	return all
}

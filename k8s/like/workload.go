package like

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation"
)

// workload is the application whose path is copied.
type workload struct {
	object   object
	template corev1.PodTemplateSpec
	selector labels.Selector // of its Pods; nil: it has none of its own
}

// templatePath is where a kind keeps its Pods' template; an empty path: the
// object is a Pod itself.
func templatePath(o object) (path []string, is bool) {
	switch {
	case o.is("", "Pod"):
		return nil, true
	case o.is("batch", "CronJob"):
		return []string{"spec", "jobTemplate", "spec", "template"}, true
	case o.is("apps", "Deployment"), o.is("apps", "StatefulSet"), o.is("apps", "DaemonSet"), o.is("apps", "ReplicaSet"),
		o.is("batch", "Job"), o.is("argoproj.io", "Rollout"):
		return []string{"spec", "template"}, true
	}
	return nil, false
}

// choose finds the workload: the named one, or the only one.
func choose(in []object, named string) (workload, error) {
	var found []object
	for _, o := range in {
		if _, is := templatePath(o); is && !ofPerch(o) && (named == "" || answersTo(o, named)) {
			found = append(found, o)
		}
	}
	if named == "" {
		found = owners(found)
	}
	switch {
	case len(found) == 0 && named != "":
		return workload{}, fmt.Errorf("--workload %s: no such workload in the input; want kind/name, as deployment/checkout", named)
	case len(found) == 0:
		return workload{}, errors.New("--like: the input holds no Deployment, StatefulSet, DaemonSet, CronJob, Pod or Rollout whose path could be copied")
	case len(found) > 1 && named != "":
		return workload{}, fmt.Errorf("--workload %s: the input holds %s; give the objects of one namespace", named, listed(found))
	case len(found) > 1:
		return workload{}, fmt.Errorf("--like: the input holds several workloads: %s; choose with --workload, as --workload %s", listed(found), reference(found[0]))
	}
	return newWorkload(in, found[0])
}

// owners leaves out what another of the input owns, and of several Pods of one
// owner all but the first. What has an owner is chosen only where nothing else is there.
func owners(found []object) []object {
	taken := map[string]bool{}
	for _, o := range found {
		if o.is("argoproj.io", "Rollout") {
			taken[refName(o)] = true // the Deployment that it takes its template from
		}
	}
	seen := map[meta.OwnerReference]bool{}
	var free, owned []object
	for _, o := range found {
		owner := meta.GetControllerOf(o)
		switch {
		case taken[o.GetKind()+"/"+o.GetNamespace()+"/"+o.GetName()]:
		case owner == nil:
			free = append(free, o)
		case !seen[meta.OwnerReference{Kind: owner.Kind, Name: owner.Name}]:
			seen[meta.OwnerReference{Kind: owner.Kind, Name: owner.Name}] = true
			owned = append(owned, o)
		}
	}
	if len(free) > 0 {
		return free
	}
	return owned
}

// reference is what --workload takes. It stands in command lines that a person
// may copy, so nothing but a name may.
func reference(o object) string {
	name := o.GetName()
	if len(validation.IsDNS1123Subdomain(name)) > 0 {
		name = "NAME"
	}
	return strings.ToLower(o.GetKind()) + "/" + name
}

// answersTo reports whether a reference such as deploy/checkout names an object.
func answersTo(o object, named string) bool {
	kind, name, _ := strings.Cut(named, "/")
	kind, _, _ = strings.Cut(strings.ToLower(kind), ".") // deployment.apps
	own := strings.ToLower(o.GetKind())
	short := map[string]string{
		"deployment": "deploy", "statefulset": "sts", "daemonset": "ds", "cronjob": "cj", "pod": "po", "replicaset": "rs", "rollout": "ro",
	}
	return name == o.GetName() && (kind == own || kind == own+"s" || kind == short[own])
}

func newWorkload(in []object, o object) (workload, error) {
	w := workload{object: o}
	if wrong := validation.IsDNS1123Label(o.GetNamespace()); len(wrong) > 0 && o.GetNamespace() != "" {
		return w, o.wrong("metadata.namespace", wrong[0])
	}
	if wrong := validation.IsDNS1123Subdomain(o.GetName()); len(wrong) > 0 {
		return w, o.wrong("metadata.name", wrong[0])
	}
	var err error
	if w.selector, err = workloadSelector(o); err != nil {
		return w, err
	}
	from, err := templateFrom(in, o)
	if err != nil {
		return w, err
	}
	if w.selector == nil {
		if w.selector, err = workloadSelector(from); err != nil {
			return w, err
		}
	}
	path, _ := templatePath(from)
	if len(path) == 0 {
		err = errors.Join(from.decode(&w.template.ObjectMeta, "metadata"), from.decode(&w.template.Spec, "spec"))
	} else {
		err = from.decode(&w.template, path...)
	}
	if err == nil && len(w.template.Spec.Containers) == 0 {
		err = from.wrong(strings.Join(append(path, "spec", "containers"), "."), "want the workload's containers")
	}
	if err == nil && onWindows(w.template.Spec) {
		err = fmt.Errorf("--like: %s runs on Windows nodes, for which perch has no image", o)
	}
	return w, err
}

// workloadSelector is what a workload takes for its Pods. A Job's names the
// Job's own uid, and a CronJob and a Pod have none.
func workloadSelector(o object) (labels.Selector, error) {
	if o.is("", "Pod") || o.group() == "batch" {
		return nil, nil
	}
	return o.selector("spec", "selector")
}

// templateFrom is the object that has the template: the workload, or what a
// Rollout's workloadRef names.
func templateFrom(in []object, o object) (object, error) {
	name := refName(o)
	if name == "" {
		return o, nil
	}
	for _, other := range in {
		if other.GetKind()+"/"+other.GetNamespace()+"/"+other.GetName() == name {
			return other, nil
		}
	}
	kind, full, _ := strings.Cut(name, "/")
	return o, fmt.Errorf("--like: %s takes its Pods from %s %s, which the input does not hold; collect it too", o, kind, full)
}

// refName is what a Rollout's workloadRef names, as "Deployment/shop/checkout";
// empty: it has none.
func refName(o object) string {
	var ref struct {
		Kind string `json:"kind"`
		Name string `json:"name"`
	}
	if !o.is("argoproj.io", "Rollout") || o.decode(&ref, "spec", "workloadRef") != nil || ref.Name == "" {
		return ""
	}
	return ref.Kind + "/" + o.GetNamespace() + "/" + ref.Name
}

func onWindows(spec corev1.PodSpec) bool {
	return spec.NodeSelector[corev1.LabelOSStable] == "windows" || (spec.OS != nil && spec.OS.Name == corev1.Windows)
}

// mainContainer is the application's: the one that kubectl would take, which is
// the annotated or the first, sidecars of a mesh aside.
func mainContainer(t corev1.PodTemplateSpec) corev1.Container {
	own := slices.DeleteFunc(slices.Clone(t.Spec.Containers), func(c corev1.Container) bool { return meshOf(c) != "" })
	if named := t.Annotations["kubectl.kubernetes.io/default-container"]; named != "" {
		for _, c := range own {
			if c.Name == named {
				return c
			}
		}
	}
	if len(own) == 0 {
		return t.Spec.Containers[0]
	}
	return own[0]
}

// Package like copies an application's network path: from its Kubernetes objects
// it makes what perch's own Pod needs to stand on the same path, without a label
// by which a Service, a PodDisruptionBudget, a monitor or an autoscaler would
// take perch for the application.
package like

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"perch.example/k8s"
	"perch.example/probes"
)

// pathLabel is the label of perch's Pod that cloned policies select.
const pathLabel = "perch.example/path"

// Options say for whom a path is copied.
type Options struct {
	Name     string // of perch's objects
	Workload string // "deployment/checkout"; empty: the only one of the input
	// NoServices says that the namespace has none. Without it an input that holds
	// none is refused, for nothing could tell then which labels attract traffic.
	NoServices bool
	Targets    []probes.Target // perch's, for what has to be said of them
}

// New reads a v1 List, YAML documents or JSON with a workload and what selects
// it, and returns the workload's path. Errors say what is wrong, in which object,
// and what would be right; the input's values stand in none.
func New(raw []byte, o Options) (*k8s.Path, error) {
	all, err := read(raw)
	if err != nil {
		return nil, fmt.Errorf("reading the objects of --like: %w", err)
	}
	in, own := apart(all, o.Name)
	w, err := choose(in, o.Workload)
	if err != nil {
		return nil, err
	}
	if !o.NoServices && !slices.ContainsFunc(in, isService) {
		return nil, fmt.Errorf("--like: the input holds no Service, so nothing tells which labels attract traffic; collect them too:\n\n  %s\n\nIf the namespace has none: --like-no-services", collect(w))
	}
	b := newBuilder(in, w, o)
	if b.app.namespace != "" {
		b.copied("namespace "+b.app.namespace, "policies and accounts are those of a namespace")
	}
	if err := b.build(); err != nil {
		return nil, err
	}
	if len(own) > 0 {
		b.left("objects of perch", "%s: perch's own, read as if they were not there", listed(own))
	}
	return b.path, nil
}

// builder makes one path.
type builder struct {
	in       []object // the input, without perch's own objects
	w        workload
	o        Options
	app      pod // a Pod of the workload
	perch    pod // perch's, with the labels that were chosen
	main     corev1.Container
	guards   []guard
	policies []policy
	peers    []peer
	path     *k8s.Path
	names    map[k8s.Ref]bool // of the input and of the clones, without namespaces
}

func newBuilder(in []object, w workload, o Options) *builder {
	b := &builder{in: in, w: w, o: o, main: mainContainer(w.template), path: &k8s.Path{
		Workload: w.object.String(), Namespace: w.object.GetNamespace(), Annotations: map[string]string{}, Taken: taken(in, w),
	}}
	b.names = map[k8s.Ref]bool{}
	for _, r := range b.path.Taken {
		r.Namespace = ""
		b.names[r] = true
	}
	b.app = podOf(in, w)
	b.perch = b.app
	b.perch.labels, b.perch.account, b.perch.accountLabels = baseLabels(o.Name), o.Name, nil
	b.path.Pod.Containers = []corev1.Container{{Name: "perch"}}
	return b
}

// build takes the path through every part of it. The account and the labels come
// before policies, which hold for some of them already.
func (b *builder) build() error {
	for _, part := range []func() error{
		b.readGuards, b.readPolicies, b.readPeers,
		b.identity, b.labels, b.clones, b.admitted,
		b.place, b.network, b.annotations,
		b.environment, b.authorities, b.beside, b.mesh, b.unseen,
	} {
		if err := part(); err != nil {
			return err
		}
	}
	b.path.Labels = maps.Clone(b.perch.labels)
	for key := range ownLabels(b.o.Name) {
		delete(b.path.Labels, key) // perch's Pod has them anyway
	}
	return nil
}

func (b *builder) copied(what, why string, args ...any) {
	b.path.Copied = append(b.path.Copied, k8s.Reason{What: clean(what), Why: clean(fmt.Sprintf(why, args...))})
}

func (b *builder) left(what, why string, args ...any) {
	b.path.Left = append(b.path.Left, k8s.Reason{What: clean(what), Why: clean(fmt.Sprintf(why, args...))})
}

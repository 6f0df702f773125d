package like

import (
	"maps"
	"strings"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
)

// pod is what selectors of every kind look at: the application's, or perch's.
type pod struct {
	namespace     string
	labels        labels.Set
	spaceLabels   labels.Set // its Namespace's
	account       string
	accountLabels labels.Set
}

// podOf is a Pod of the workload. What the input does not tell of its Namespace
// and its ServiceAccount stays empty, but for the name that every Namespace is
// labelled with.
func podOf(in []object, w workload) pod {
	p := pod{namespace: w.object.GetNamespace(), labels: w.template.Labels, account: w.template.Spec.ServiceAccountName}
	if p.account == "" {
		p.account = "default"
	}
	p.spaceLabels = labels.Set{"kubernetes.io/metadata.name": p.namespace}
	if space, found := namespaceOf(in, p.namespace); found {
		maps.Copy(p.spaceLabels, space.GetLabels())
	}
	if account, found := accountOf(in, p); found {
		p.accountLabels = account.GetLabels()
	}
	return p
}

func namespaceOf(in []object, name string) (object, bool) {
	for _, o := range in {
		if o.is("", "Namespace") && o.GetName() == name {
			return o, true
		}
	}
	return object{}, false
}

func accountOf(in []object, p pod) (object, bool) {
	for _, o := range in {
		if o.is("", "ServiceAccount") && o.in(p.namespace) && o.GetName() == p.account {
			return o, true
		}
	}
	return object{}, false
}

// Keys by which Cilium selects what is no label of the Pod itself.
const (
	ciliumNamespace  = "io.kubernetes.pod.namespace"
	ciliumAccount    = "io.cilium.k8s.policy.serviceaccount"
	ciliumSpaceLabel = "io.cilium.k8s.namespace.labels."
)

// facts are the labels of a Pod, and what Cilium gives it beside them. No other
// selector asks for those keys.
func (p pod) facts() labels.Set {
	set := labels.Set{ciliumNamespace: p.namespace, ciliumAccount: p.account}
	for key, value := range p.spaceLabels {
		set[ciliumSpaceLabel+key] = value
	}
	maps.Copy(set, p.labels)
	return set
}

// with is the Pod with more labels.
func (p pod) with(more labels.Set) pod {
	p.labels = labels.Merge(p.labels, more)
	return p
}

// fate says of a label's key whether Kubernetes or a mesh may add it to perch's
// Pod later, and whether its value would then be one of a kind: a name or a hash
// that no selector of the input can hold.
func fate(key string) (later, unique bool) {
	switch key {
	case "pod-template-hash", "controller-revision-hash", "controller-uid", "batch.kubernetes.io/controller-uid", "job-name", "batch.kubernetes.io/job-name":
		return true, true
	case "batch.kubernetes.io/job-completion-index", "topology.kubernetes.io/zone", "topology.kubernetes.io/region",
		"security.istio.io/tlsMode", "service.istio.io/canonical-name", "service.istio.io/canonical-revision":
		return true, false
	}
	return strings.HasPrefix(key, "linkerd.io/"), false
}

// maySelect reports whether a selector could select a Pod with these labels, be
// it by a label that the Pod gets later. Where that cannot be known the answer is
// yes: who asks must not be selected.
func maySelect(s labels.Selector, set labels.Set) bool {
	requirements, selectable := s.Requirements()
	if !selectable {
		return false
	}
	for _, r := range requirements {
		later, unique := fate(r.Key())
		if later && !set.Has(r.Key()) && (!unique || !needsValue(r.Operator())) {
			continue
		}
		if !r.Matches(set) {
			return false
		}
	}
	return true
}

// needsValue reports whether a requirement holds only for values that it names.
func needsValue(o selection.Operator) bool {
	return o == selection.In || o == selection.Equals || o == selection.DoubleEquals
}

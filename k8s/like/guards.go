package like

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// guard is a selector that must not select perch.
type guard struct {
	who      string // "Service shop/checkout"
	harm     string // what would come of it
	selector labels.Selector
}

// readGuards finds every selector that holds for Pods of the workload's
// namespace and takes what it selects for an application.
func (b *builder) readGuards() error {
	for _, o := range b.in {
		for _, find := range []func(object) ([]guard, error){
			b.service, b.disruption, b.monitor, b.endpoints, b.workloads, b.neighbours, b.strangers,
		} {
			found, err := find(o)
			if err != nil {
				return err
			}
			b.guards = append(b.guards, found...)
		}
		b.scaler(o)
	}
	return nil
}

// guarded returns the first guard that could select a Pod with these labels.
func (b *builder) guarded(set labels.Set) *guard {
	for i, g := range b.guards {
		if maySelect(g.selector, set) {
			return &b.guards[i]
		}
	}
	return nil
}

// guardKeys are the labels that guards ask for. A label that none of them asks
// for cannot change what any of them selects.
func (b *builder) guardKeys() map[string]bool {
	keys := map[string]bool{}
	for _, g := range b.guards {
		requirements, _ := g.selector.Requirements()
		for _, r := range requirements {
			keys[r.Key()] = true
		}
	}
	return keys
}

// one makes the guard of a selector; nil selects nothing.
func one(o object, harm string, s labels.Selector) []guard {
	if s == nil {
		return nil
	}
	return []guard{{who: o.String(), harm: harm, selector: s}}
}

// byPairs makes the guard of a map of labels; an empty one selects nothing.
func byPairs(o object, harm string, set labels.Set) []guard {
	if len(set) == 0 {
		return nil
	}
	return one(o, harm, set.AsSelectorPreValidated())
}

func (b *builder) service(o object) ([]guard, error) {
	if !isService(o) || !o.in(b.app.namespace) {
		return nil, nil
	}
	set, err := o.pairs("spec", "selector")
	return byPairs(o, "perch would receive its traffic", set), err
}

func (b *builder) disruption(o object) ([]guard, error) {
	if !o.is("policy", "PodDisruptionBudget") || !o.in(b.app.namespace) {
		return nil, nil
	}
	s, err := o.selector("spec", "selector")
	return one(o, "it would count perch, and could block the drain of a node", s), err
}

// monitor is for what scrapes Pods by their labels. A ServiceMonitor takes
// Services, which are guards themselves.
func (b *builder) monitor(o object) ([]guard, error) {
	const harm = "perch would be scraped as the application"
	switch {
	case o.is("monitoring.coreos.com", "PodMonitor"), o.is("operator.victoriametrics.com", "VMPodScrape"):
		var spaces struct {
			Any        bool     `json:"any"`
			MatchNames []string `json:"matchNames"`
		}
		if err := o.decode(&spaces, "spec", "namespaceSelector"); err != nil {
			return nil, err
		}
		if !spaces.Any && !slices.Contains(spaces.MatchNames, b.app.namespace) && (len(spaces.MatchNames) > 0 || !o.in(b.app.namespace)) {
			return nil, nil
		}
	case o.is("monitoring.googleapis.com", "PodMonitoring") && o.in(b.app.namespace):
	case o.is("monitoring.googleapis.com", "ClusterPodMonitoring"):
	default:
		return nil, nil
	}
	s, err := o.selector("spec", "selector")
	return one(o, harm, s), err
}

// endpoints is for what sends traffic to Pods beside Services.
func (b *builder) endpoints(o object) ([]guard, error) {
	const harm = "perch would receive its traffic"
	switch {
	case o.is("networking.istio.io", "ServiceEntry") && o.in(b.app.namespace):
		set, err := o.pairs("spec", "workloadSelector", "labels")
		return byPairs(o, harm, set), err
	case o.is("networking.istio.io", "Gateway"): // of every namespace, by default
		set, err := o.pairs("spec", "selector")
		return byPairs(o, harm, set), err
	case o.is("cilium.io", "CiliumLocalRedirectPolicy") && o.in(b.app.namespace):
		s, err := ciliumSelector(o, "spec", "redirectBackend", "localEndpointSelector")
		return one(o, harm, s), err
	}
	return nil, nil
}

// workloads is for those of the namespace: by its selector a workload finds its
// Pods, and an autoscaler the Pods that it measures.
func (b *builder) workloads(o object) ([]guard, error) {
	if !o.in(b.app.namespace) {
		return nil, nil
	}
	const harm = "it, and an autoscaler of it, would take perch for one of its Pods"
	if o.is("", "ReplicationController") || o.is("apps.openshift.io", "DeploymentConfig") {
		set, err := o.pairs("spec", "selector")
		return byPairs(o, harm, set), err
	}
	if _, is := templatePath(o); !is {
		return nil, nil
	}
	s, err := workloadSelector(o)
	if err != nil || s == nil || s.Empty() {
		return nil, err
	}
	return one(o, harm, s), nil
}

// neighbours is for a workload's own terms about which Pods it may not share a
// node with, or is spread among: perch must neither push it off nodes nor skew
// the spread.
func (b *builder) neighbours(o object) ([]guard, error) {
	path, is := templatePath(o)
	if !is {
		return nil, nil
	}
	var spec corev1.PodSpec
	if err := o.decode(&spec, append(slices.Clone(path), "spec")...); err != nil {
		return nil, err
	}
	var all []guard
	if a := spec.Affinity; a != nil && a.PodAntiAffinity != nil {
		for _, term := range a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution {
			s, err := b.termSelector(o, term)
			if err != nil {
				return nil, err
			}
			all = append(all, one(o, "its anti-affinity would keep its own Pods off perch's node", s)...)
		}
	}
	for _, spread := range spec.TopologySpreadConstraints {
		if spread.LabelSelector == nil || !o.in(b.app.namespace) {
			continue
		}
		s, err := o.asSelector(spread.LabelSelector, "topologySpreadConstraints")
		if err != nil {
			return nil, err
		}
		all = append(all, one(o, "its topology spread would count perch", s)...)
	}
	return all, nil
}

// strangers is for kinds that perch does not know and that ask for labels by
// spec.selector, as workloads of other makers do. A selector that asks for none
// is the like of a policy's, of which unseen tells.
func (b *builder) strangers(o object) ([]guard, error) {
	if readable(o) || !o.in(b.app.namespace) {
		return nil, nil
	}
	s, err := o.selector("spec", "selector")
	if set, notPairs := o.pairs("spec", "selector"); notPairs == nil && len(set) > 0 {
		s, err = set.AsSelectorPreValidated(), nil
	}
	if err != nil || s == nil {
		return nil, nil //nolint:nilerr // a selector of another form, Calico's for example, is no mistake
	}
	requirements, _ := s.Requirements()
	if !slices.ContainsFunc(requirements, func(r labels.Requirement) bool { return wanted(r.Operator()) }) {
		return nil, nil
	}
	return one(o, "perch does not know what it does with the Pods that it selects", s), nil
}

// scaler says where an autoscaler's own target is not there to be looked at.
func (b *builder) scaler(o object) {
	if !o.in(b.app.namespace) || (!o.is("autoscaling", "HorizontalPodAutoscaler") && !o.is("keda.sh", "ScaledObject")) {
		return
	}
	var target struct {
		Kind string `json:"kind"`
		Name string `json:"name"`
	}
	if o.decode(&target, "spec", "scaleTargetRef") != nil || target.Name == "" {
		return
	}
	if target.Kind == "" {
		target.Kind = "Deployment" // what KEDA takes
	}
	for _, other := range b.in {
		if other.GetKind() == target.Kind && other.GetName() == target.Name && other.in(b.app.namespace) {
			return
		}
	}
	b.left(o.String(), "it scales %s %s, which the input does not hold: whether its selector takes perch for one of its Pods cannot be seen; collect that too", target.Kind, target.Name)
}

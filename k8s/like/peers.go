package like

import (
	networking "k8s.io/api/networking/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// peer is a rule elsewhere that lets callers in, or routes them, by the caller's
// own labels: no clone can help, for the rule belongs to whom is called.
type peer struct {
	who      string
	selector labels.Selector // of the caller's labels; nil: any
	admits   func(pod) bool
	advice   string
}

// readPeers finds the rules that tell callers apart. One about the workload's own
// Pods is none: perch calls others.
func (b *builder) readPeers() error {
	for _, o := range b.in {
		for _, find := range []func(object) ([]peer, error){b.fromPods, b.fromEndpoints, b.sourceLabels} {
			found, err := find(o)
			if err != nil {
				return err
			}
			b.peers = append(b.peers, found...)
		}
	}
	return nil
}

// admitted says which rules let the workload in and not perch.
func (b *builder) admitted() error {
	said := map[string]bool{}
	for _, p := range b.peers {
		if !p.admits(b.app) || p.admits(b.perch) || said[p.who] || b.admittedBy(p.who) {
			continue
		}
		said[p.who] = true
		b.left(p.who, "knows the workload by labels that perch must not carry (%s): %s %s=%s", p.selector, p.advice, pathLabel, b.o.Name)
	}
	return nil
}

// admittedBy reports whether a rule of an object lets both in.
func (b *builder) admittedBy(who string) bool {
	for _, p := range b.peers {
		if p.who == who && p.admits(b.app) && p.admits(b.perch) {
			return true
		}
	}
	return false
}

// fromPods reads the callers that a NetworkPolicy lets in.
func (b *builder) fromPods(o object) ([]peer, error) {
	if !o.is("networking.k8s.io", "NetworkPolicy") {
		return nil, nil
	}
	var spec networking.NetworkPolicySpec
	if err := o.decode(&spec, "spec"); err != nil {
		return nil, err
	}
	if own, err := o.asSelector(&spec.PodSelector, "spec.podSelector"); err != nil || (o.in(b.app.namespace) && own.Matches(b.app.labels)) {
		return nil, err
	}
	var found []peer
	for _, rule := range spec.Ingress {
		for _, from := range rule.From {
			pods, err := b.orNil(o, from.PodSelector)
			if err != nil {
				return nil, err
			}
			spaces, err := b.orNil(o, from.NamespaceSelector)
			if err != nil {
				return nil, err
			}
			if pods == nil && spaces == nil {
				continue // by address
			}
			found = append(found, peer{
				who: o.String(), selector: pods, advice: "add to its ingress a `from` with podSelector",
				admits: func(p pod) bool {
					here := spaces == nil && o.in(p.namespace)
					return (here || (spaces != nil && spaces.Matches(p.spaceLabels))) && matches(pods, p.labels)
				},
			})
		}
	}
	return found, nil
}

func (b *builder) orNil(o object, s *meta.LabelSelector) (labels.Selector, error) {
	if s == nil {
		return nil, nil
	}
	return o.asSelector(s, "spec.ingress")
}

// fromEndpoints reads the callers that a Cilium policy lets in. Without a
// namespace among its keys it means its own.
func (b *builder) fromEndpoints(o object) ([]peer, error) {
	wide := o.is("cilium.io", "CiliumClusterwideNetworkPolicy")
	if !wide && !o.is("cilium.io", "CiliumNetworkPolicy") {
		return nil, nil
	}
	rules, err := ciliumRules(o)
	if err != nil {
		return nil, err
	}
	var found []peer
	for _, r := range rules {
		if (wide || o.in(b.app.namespace)) && r.selector.Matches(b.app.facts()) {
			continue
		}
		var ingress []struct {
			From []map[string]any `json:"fromEndpoints"`
		}
		if err := o.as(&ingress, r.fields["ingress"], "ingress"); err != nil {
			return nil, err
		}
		for _, rule := range ingress {
			for _, from := range rule.From {
				s, err := ciliumOf(o, from)
				if err != nil {
					return nil, err
				}
				found = append(found, peer{
					who: o.String(), selector: s, advice: "add to its fromEndpoints",
					admits: func(p pod) bool {
						return (wide || o.in(p.namespace) || asksForNamespace(s)) && s.Matches(p.facts())
					},
				})
			}
		}
	}
	return found, nil
}

func asksForNamespace(s labels.Selector) bool {
	return policy{selector: s}.asksFor(ciliumNamespace)
}

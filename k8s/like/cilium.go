package like

import (
	"strings"

	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
)

// ciliumPolicy reads a CiliumNetworkPolicy or the cluster's: one rule, or a list
// of rules that each select for themselves.
func (b *builder) ciliumPolicy(o object) ([]policy, error) {
	wide := o.is("cilium.io", "CiliumClusterwideNetworkPolicy")
	if !wide && (!o.is("cilium.io", "CiliumNetworkPolicy") || !o.in(b.app.namespace)) {
		return nil, nil
	}
	rules, err := ciliumRules(o)
	if err != nil {
		return nil, err
	}
	var found []policy
	for i, r := range rules {
		found = append(found, policy{
			object: o, part: i, selector: r.selector, shared: wide,
			egress: r.rules || r.isolates, isolates: r.isolates,
			covers: func(p pod) bool { return r.selector.Matches(p.facts()) },
			clone:  func() map[string]any { return b.ciliumClone(r.fields, wide) },
		})
	}
	return found, nil
}

// ciliumRule is one of a policy's.
type ciliumRule struct {
	fields   map[string]any
	selector labels.Selector
	rules    bool // it has rules on what leaves
	isolates bool // what it does not allow may not leave
}

// ciliumLeaves says what a rule does to what leaves. Where enableDefaultDeny says
// nothing it isolates by having rules; an empty list is none.
func ciliumLeaves(o object, fields map[string]any) (rules, isolates bool, err error) {
	var spec struct {
		Egress     []any `json:"egress"`
		EgressDeny []any `json:"egressDeny"`
		ByDefault  struct {
			Egress *bool `json:"egress"`
		} `json:"enableDefaultDeny"`
	}
	if err := o.as(&spec, fields, "spec"); err != nil {
		return false, false, err
	}
	rules = len(spec.Egress)+len(spec.EgressDeny) > 0
	if said := spec.ByDefault.Egress; said != nil {
		return rules, *said, nil
	}
	return rules, rules, nil
}

// ciliumRules returns a policy's rules that select Pods; those for nodes hold
// for perch as for everything on its node.
func ciliumRules(o object) ([]ciliumRule, error) {
	var several []map[string]any
	if err := o.decode(&several, "specs"); err != nil {
		return nil, err
	}
	if one := within(o.Object, "spec"); len(one) > 0 {
		several = append([]map[string]any{one}, several...)
	}
	var rules []ciliumRule
	for _, fields := range several {
		if fields["nodeSelector"] != nil {
			continue
		}
		s, err := ciliumOf(o, fields["endpointSelector"])
		if err != nil {
			return nil, err
		}
		r := ciliumRule{fields: fields, selector: s}
		if r.rules, r.isolates, err = ciliumLeaves(o, fields); err != nil {
			return nil, err
		}
		rules = append(rules, r)
	}
	return rules, nil
}

func (b *builder) ciliumClone(fields map[string]any, wide bool) map[string]any {
	spec := runtime.DeepCopyJSON(fields)
	selector := b.onLabel()
	if wide {
		selector["matchLabels"].(map[string]any)["k8s:"+ciliumNamespace] = b.app.namespace
	}
	spec["endpointSelector"] = selector
	delete(spec, "ingress")
	delete(spec, "ingressDeny")
	if byDefault := within(spec, "enableDefaultDeny"); len(byDefault) > 0 {
		delete(byDefault, "ingress")
	}
	return spec
}

// egressGateway reads the policies that choose the address a Pod leaves with.
func (b *builder) egressGateway(o object) ([]policy, error) {
	if !o.is("cilium.io", "CiliumEgressGatewayPolicy") {
		return nil, nil
	}
	var selectors []map[string]any
	if err := o.decode(&selectors, "spec", "selectors"); err != nil {
		return nil, err
	}
	var found []policy
	for i, fields := range selectors {
		pods, err := ciliumOf(o, fields["podSelector"])
		if err != nil {
			return nil, err
		}
		spaces, err := ciliumOf(o, fields["namespaceSelector"])
		if err != nil {
			return nil, err
		}
		found = append(found, policy{
			object: o, part: i, selector: pods, shared: true, egress: true,
			covers: func(p pod) bool { return pods.Matches(p.facts()) && spaces.Matches(p.spaceLabels) },
			clone: func() map[string]any {
				spec := specOf(o)
				selector := b.onLabel()
				selector["matchLabels"].(map[string]any)[ciliumNamespace] = b.app.namespace
				chosen := runtime.DeepCopyJSON(fields)
				delete(chosen, "namespaceSelector")
				chosen["podSelector"] = selector
				spec["selectors"] = []any{chosen}
				return spec
			},
		})
	}
	return found, nil
}

// ciliumSelector decodes a selector whose keys may name a label's source.
func ciliumSelector(o object, path ...string) (labels.Selector, error) {
	var value any
	if err := o.decode(&value, path...); err != nil || value == nil {
		return nil, err
	}
	return ciliumOf(o, value)
}

// ciliumOf evaluates what a selector says of a Pod's labels, its namespace and its
// account. A key of another source (reserved, cidr) belongs to no Pod, so that
// what asks for it selects none. Nothing there selects everything.
func ciliumOf(o object, value any) (labels.Selector, error) {
	if value == nil {
		return labels.Everything(), nil
	}
	fields, is := value.(map[string]any)
	if !is {
		return nil, o.wrong("selector", "want an object with matchLabels or matchExpressions")
	}
	var s meta.LabelSelector
	if err := o.as(&s, fields, "selector"); err != nil {
		return nil, err
	}
	plainLabels := map[string]string{}
	for key, value := range s.MatchLabels {
		short, ofPod := ofSource(key)
		if !ofPod {
			return labels.Nothing(), nil
		}
		plainLabels[short] = value
	}
	s.MatchLabels = plainLabels
	for i, r := range s.MatchExpressions {
		short, ofPod := ofSource(r.Key)
		if !ofPod && (r.Operator == meta.LabelSelectorOpIn || r.Operator == meta.LabelSelectorOpExists) {
			return labels.Nothing(), nil
		}
		if !ofPod {
			short = "perch.example/no-such-label" // which nothing has: it holds
		}
		s.MatchExpressions[i].Key = short
	}
	return o.asSelector(&s, "selector")
}

// ofSource takes the source off a key; ofPod: a Pod's label may be meant.
func ofSource(key string) (short string, ofPod bool) {
	source, rest, named := strings.Cut(key, ":")
	if !named {
		return key, true
	}
	return rest, source == "k8s" || source == "any"
}

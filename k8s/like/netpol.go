package like

import (
	"slices"

	networking "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
)

// networkPolicy reads Kubernetes' own policies, and GKE's by names of hosts,
// which select alike.
func (b *builder) networkPolicy(o object) ([]policy, error) {
	hosts := o.is("networking.gke.io", "FQDNNetworkPolicy")
	if (!o.is("networking.k8s.io", "NetworkPolicy") && !hosts) || !o.in(b.app.namespace) {
		return nil, nil
	}
	s, err := o.selector("spec", "podSelector")
	if err != nil {
		return nil, err
	}
	if s == nil {
		s = labels.Everything() // required by the API; left out, it is the empty one
	}
	egress := hosts
	if !hosts {
		if egress, err = leaves(o); err != nil {
			return nil, err
		}
	}
	return []policy{{
		object: o, selector: s, egress: egress, isolates: true,
		covers: func(p pod) bool { return s.Matches(p.labels) },
		clone: func() map[string]any {
			spec := specOf(o)
			spec["podSelector"] = b.onLabel()
			delete(spec, "ingress")
			if !hosts {
				spec["policyTypes"] = []any{string(networking.PolicyTypeEgress)}
			}
			return spec
		},
	}}, nil
}

// leaves reports whether a NetworkPolicy is about what its Pods send.
func leaves(o object) (bool, error) {
	var spec networking.NetworkPolicySpec
	if err := o.decode(&spec, "spec"); err != nil {
		return false, err
	}
	if len(spec.PolicyTypes) == 0 {
		return len(spec.Egress) > 0, nil // as the API server fills it in
	}
	return slices.Contains(spec.PolicyTypes, networking.PolicyTypeEgress), nil
}

// specOf is a copy of an object's spec.
func specOf(o object) map[string]any { return runtime.DeepCopyJSON(within(o.Object, "spec")) }

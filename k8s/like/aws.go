package like

import "k8s.io/apimachinery/pkg/labels"

// securityGroups reads what gives Pods on EKS security groups of their own: by
// the Pod's labels, its ServiceAccount's, or both. The clone goes by perch's label
// alone, so that perch needs no account of the application for it.
func (b *builder) securityGroups(o object) ([]policy, error) {
	if !o.is("vpcresources.k8s.aws", "SecurityGroupPolicy") || !o.in(b.app.namespace) {
		return nil, nil
	}
	pods, err := o.selector("spec", "podSelector")
	if err != nil {
		return nil, err
	}
	accounts, err := o.selector("spec", "serviceAccountSelector")
	if err != nil {
		return nil, err
	}
	return []policy{{
		object: o, selector: pods, egress: true,
		covers: func(p pod) bool {
			return (pods != nil || accounts != nil) && matches(pods, p.labels) && matches(accounts, p.accountLabels)
		},
		clone: func() map[string]any {
			spec := specOf(o)
			delete(spec, "serviceAccountSelector")
			spec["podSelector"] = b.onLabel()
			return spec
		},
	}}, nil
}

// matches takes a selector that is not there as one that asks for nothing.
func matches(s labels.Selector, set labels.Set) bool { return s == nil || s.Matches(set) }

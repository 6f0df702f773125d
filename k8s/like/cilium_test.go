package like

import "testing"

// TestWhenCiliumIsolates: by having rules on what leaves, unless enableDefaultDeny
// says otherwise. An empty list has none.
func TestWhenCiliumIsolates(t *testing.T) {
	for name, c := range map[string]struct {
		spec     string
		isolated bool
		clones   int
	}{
		"rules":               {"egress: [{}]", true, 1},
		"denials":             {"egressDeny: [{toCIDR: [192.0.2.0/24]}]", true, 1},
		"an empty list":       {"egress: [], ingress: [{}]", false, 0},
		"two empty lists":     {"egress: [], egressDeny: []", false, 0},
		"rules, told not to":  {"egress: [{toPorts: [{ports: [{port: '53'}]}]}], enableDefaultDeny: {egress: false, ingress: false}", false, 1},
		"rules, told half":    {"egress: [{}], enableDefaultDeny: {ingress: false}", true, 1},
		"no rules, but told":  {"ingress: [{}], enableDefaultDeny: {egress: true}", true, 1},
		"what only receives":  {"ingress: [{}]", false, 0},
		"a null, as if empty": {"egress: null, ingress: [{}]", false, 0},
	} {
		p := made(t, app("", "", "{apiVersion: cilium.io/v2, kind: CiliumNetworkPolicy, metadata: {name: dns, namespace: shop}, spec: {endpointSelector: {matchLabels: {app: checkout}}, "+c.spec+"}}"))
		if p.Isolated != c.isolated || len(p.Policies) != c.clones {
			t.Errorf("%s: isolated %v, clones %v", name, p.Isolated, p.Policies)
		}
	}
}

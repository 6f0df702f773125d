package like

import "k8s.io/apimachinery/pkg/labels"

// istioRoot is the namespace whose objects hold for all, unless a mesh is set up
// with another.
const istioRoot = "istio-system"

// istioSelector is where a kind that configures what leaves a workload names the
// workload.
func istioSelector(o object) (path []string, is bool) {
	switch {
	case o.is("networking.istio.io", "Sidecar"), o.is("networking.istio.io", "EnvoyFilter"):
		return []string{"workloadSelector", "labels"}, true
	case o.is("networking.istio.io", "DestinationRule"):
		return []string{"workloadSelector", "matchLabels"}, true
	case o.is("networking.istio.io", "ProxyConfig"):
		return []string{"selector", "matchLabels"}, true
	}
	return nil, false
}

// istioPolicy reads what configures the sidecar of the workloads that it selects:
// of its own namespace, or of all where it stands in the mesh's.
func (b *builder) istioPolicy(o object) ([]policy, error) {
	path, is := istioSelector(o)
	if !is || (!o.in(b.app.namespace) && o.GetNamespace() != istioRoot) {
		return nil, nil
	}
	set, err := o.pairs(append([]string{"spec"}, path...)...)
	if err != nil {
		return nil, err
	}
	s := set.AsSelectorPreValidated()
	return []policy{{
		object: o, selector: s, egress: true,
		covers: func(p pod) bool { return s.Matches(p.labels) },
		clone: func() map[string]any {
			spec := specOf(o)
			delete(spec, "ingress") // of a Sidecar
			delete(spec, "inboundConnectionPool")
			spec[path[0]] = map[string]any{path[1]: map[string]any{pathLabel: b.o.Name}}
			return spec
		},
	}}, nil
}

// sourceLabels reads the routes of a VirtualService that are for some callers
// only.
func (b *builder) sourceLabels(o object) ([]peer, error) {
	if !o.is("networking.istio.io", "VirtualService") {
		return nil, nil
	}
	type route struct {
		Match []struct {
			SourceLabels    labels.Set `json:"sourceLabels"`
			SourceNamespace string     `json:"sourceNamespace"`
		} `json:"match"`
	}
	var spec struct {
		HTTP []route `json:"http"`
		TLS  []route `json:"tls"`
		TCP  []route `json:"tcp"`
	}
	if err := o.decode(&spec, "spec"); err != nil {
		return nil, err
	}
	var found []peer
	for _, routes := range [][]route{spec.HTTP, spec.TLS, spec.TCP} {
		for _, r := range routes {
			for _, m := range r.Match {
				if len(m.SourceLabels) == 0 || (m.SourceNamespace != "" && m.SourceNamespace != b.app.namespace) {
					continue
				}
				s := m.SourceLabels.AsSelectorPreValidated()
				found = append(found, peer{
					who: o.String(), selector: s, admits: func(p pod) bool { return s.Matches(p.labels) },
					advice: "perch takes another of its routes: add a match on sourceLabels",
				})
			}
		}
	}
	return found, nil
}

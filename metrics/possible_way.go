package metrics

import (
	"slices"

	"perch.example/probes"
)

// wayReasons are what a proxy adds to the ends of a new connection: its own failure,
// and that of its name.
func wayReasons() []probes.Reason { return []probes.Reason{probes.ReasonProxy, probes.ReasonDNS} }

// withWay adds them where the config names a proxy. One that the environment may name
// adds nothing before it is met: most have none.
func withWay(s probes.Spec, fresh []probes.Reason) []probes.Reason {
	if s.Way.Proxy.URL == nil {
		return fresh
	}
	for _, r := range wayReasons() {
		if !slices.Contains(fresh, r) {
			fresh = append(fresh, r)
		}
	}
	return fresh
}

// metOnTheWay reports whether a saved counter goes on though its series is not there
// from the beginning: an end that a proxy of the environment gave an attempt.
func (m *Metrics) metOnTheWay(v *vector, labels []string) bool {
	if v != m.vectors.attempts || len(labels) != len(v.labels) {
		return false
	}
	of := func(label string) string { return labels[slices.Index(v.labels, label)] }
	s, there := m.specs[of("target")+"/"+of("probe")]
	return there && s.Way.Proxy.Environment && slices.Contains(wayReasons(), probes.Reason(of("reason"))) &&
		slices.ContainsFunc(s.can.connections, func(c onConnection) bool {
			return c.on != probes.ConnectionReused && string(c.on) == of("connection")
		})
}

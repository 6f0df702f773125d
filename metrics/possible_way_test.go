package metrics

import (
	"testing"

	"perch.example/probes"
)

// What a proxy does is counted on from run to run: at zero from the beginning where
// the config names it, and once it was met where the environment does.
func TestWhatAProxyDoesGoesOn(t *testing.T) {
	for name, c := range map[string]struct {
		proxy probes.Proxy
		first bool // the series is there before anything was met
		kept  bool
	}{
		"named":           {probes.Proxy{URL: parse(t, "http://proxy.example:3128")}, true, true},
		"the environment": {probes.Proxy{Environment: true}, false, true},
		"none":            {probes.Proxy{}, false, false},
	} {
		for _, kind := range []probes.Kind{probes.KindHTTP, probes.KindTLS, probes.KindIdle} {
			o := shop(t)
			spec := o.Targets[0].Probes[0]
			spec.Kind, spec.Way.Proxy = kind, c.proxy
			o.Targets[0].Probes = []probes.Spec{spec}
			labels := []string{spec.Target, spec.Probe, string(probes.ConnectionFresh), string(probes.ReasonProxy)}
			run := probes.Run{Started: moment(), Finished: moment(), Outcomes: []probes.Outcome{{
				Target: spec.Target, Probe: spec.Probe, Kind: kind, Verdict: probes.VerdictFail, Reason: probes.ReasonProxy,
				Attempts: []probes.Attempt{{Connection: probes.ConnectionFresh, Reason: probes.ReasonProxy}},
			}}}
			m := New(o)
			if got := m.vectors.attempts.has(labels...); got != c.first {
				t.Errorf("%s, %s: there at the beginning: %v, want %v", name, kind, got, c.first)
			}
			for n := 1.0; n <= 3; n++ {
				m.Observe(run)
				want := n
				if !c.kept {
					want = 1
				}
				if got := m.vectors.attempts.values[m.vectors.attempts.key(labels)]; got != want {
					t.Errorf("%s, %s: %v after run %v, want %v", name, kind, got, n, want)
				}
				m = next(t, m, o)
			}
		}
	}
}

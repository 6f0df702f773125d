package metrics

import (
	"net/url"
	"testing"
	"time"

	"perch.example/probes"
)

// BenchmarkObserveOne is what perch serve counts of one good fresh exchange, among
// 200 targets.
func BenchmarkObserveOne(b *testing.B) {
	targets := make([]probes.Target, 200)
	for i := range targets {
		name := "api-" + string(rune('a'+i%26)) + string(rune('a'+i/26))
		s := probes.Spec{Target: name, Probe: "get", Kind: probes.KindHTTP, URL: &url.URL{Scheme: "http", Host: "192.0.2.1"}, Every: time.Second}
		targets[i] = probes.Target{Name: name, URL: s.URL, RateLimit: 20, Share: 1, Probes: []probes.Spec{s}}
	}
	m := New(Options{Name: "bench", Vantage: "here", Targets: targets})
	at := time.Now()
	run := probes.Run{Started: at, Finished: at.Add(time.Millisecond), Budget: []probes.BudgetUse{{Target: targets[7].Name, Requests: 1}}}
	run.Outcomes = []probes.Outcome{{
		Target: targets[7].Name, Probe: "get", Kind: probes.KindHTTP, Verdict: probes.VerdictPass, Reason: probes.ReasonOK,
		Attempts: []probes.Attempt{{
			Connection: probes.ConnectionFresh, Reason: probes.ReasonOK, Status: 200, Elapsed: 2 * time.Millisecond,
			Phases: probes.Phases{Connect: 300 * time.Microsecond, Wait: time.Millisecond},
		}},
	}}
	b.ReportAllocs()
	for b.Loop() {
		m.Observe(run)
	}
}

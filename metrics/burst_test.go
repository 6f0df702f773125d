package metrics

import (
	"testing"
	"time"

	"perch.example/probes"
)

// withBurst is shop with a burst probe, whose calls are in a file as well.
func withBurst(t testing.TB) Options {
	o := shop(t)
	target := &o.Targets[0]
	target.Probes = append(target.Probes, probes.Spec{
		Target: "stock-api", Probe: "burst", Kind: probes.KindBurst, Method: "GET", URL: target.URL, Client: target.Client, KeepAlive: time.Minute,
		Every: 5 * time.Minute, Burst: &probes.Shape{Requests: 60, Connections: 20, Bursts: 2}, Calls: "calls.txt",
	})
	return o
}

// TestBurstMetrics: each call counts once, a prediction for the declared client is watched, and a run without one leaves it.
func TestBurstMetrics(t *testing.T) {
	spec := probes.Spec{
		Target: "api", Probe: "burst", Kind: probes.KindBurst, Burst: &probes.Shape{Requests: 4, Connections: 2, Bursts: 1}, Calls: "calls.txt",
		Client: &probes.Client{Kind: "okhttp"}, KeepAlive: time.Minute,
	}
	m := New(Options{Name: "shop", Vantage: "prod-tokyo", Targets: []probes.Target{{Name: "api", Probes: []probes.Spec{spec}}}})
	run := probes.Run{Outcomes: []probes.Outcome{{
		Target: "api", Probe: "burst", Kind: probes.KindBurst, Verdict: probes.VerdictPass, Reason: probes.ReasonOK,
		Attempts: []probes.Attempt{
			{Connection: probes.ConnectionFresh, Reason: probes.ReasonOK}, {Connection: probes.ConnectionReused, Reason: probes.ReasonOK},
			{Connection: probes.ConnectionReused, Reason: probes.ReasonIdleFIN}, {Connection: probes.ConnectionFresh, Reason: probes.ReasonReset},
			{Connection: probes.ConnectionControl, Reason: probes.ReasonOK},
		},
		Burst: &probes.BurstSeen{Calls: []probes.BurstCall{{Attempt: 0}, {Attempt: 1}, {Attempt: 2}, {Attempt: 3}, {Attempt: 9}, {Attempt: -1}}},
		Predicted: []probes.Prediction{
			{Declared: true, Calls: 100, Dead: 40, Failed: 10}, {Source: "calls.txt", Calls: 100, Dead: 7, Failed: 7},
		},
	}}}
	m.Observe(run)
	labels := `probe="burst",target="api"`
	expected := map[string]string{}
	for _, r := range callResults() {
		expected[`perch_burst_calls_total{probe="burst",result="`+r+`",target="api"}`] = "1"
	}
	for _, one := range []struct{ calls, dead, failed string }{{"shape", "0.4", "0.1"}, {"file", "0.07", "0.07"}} {
		expected[`perch_predicted_dead_share{calls="`+one.calls+`",`+labels+`}`] = one.dead
		expected[`perch_predicted_failed_share{calls="`+one.calls+`",`+labels+`}`] = one.failed
	}
	expected[`perch_keep_alive_expected_seconds{`+labels+`}`] = "60"
	want(t, exposed(t, m), expected)
	run.Outcomes[0].Predicted, run.Outcomes[0].Burst = nil, nil
	m.Observe(run)
	want(t, exposed(t, m), expected)
}

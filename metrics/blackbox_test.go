package metrics

import (
	"testing"
	"time"

	"perch.example/probes"
)

// The last run of each probe, under the names that blackbox_exporter's
// dashboards look for; only when asked for.
func TestBlackboxNames(t *testing.T) {
	o := shop(t)
	m := New(o)
	m.Observe(incident())
	want(t, exposed(t, m), map[string]string{`probe_success{` + calendarLabels + `}`: "absent", `probe_duration_seconds{` + calendarLabels + `}`: "absent"})

	o.BlackboxNames = true
	m = New(o)
	want(t, exposed(t, m), map[string]string{`probe_success{` + calendarLabels + `}`: "absent"})
	m.Observe(incident())
	run := map[string]string{
		`probe_success{` + calendarLabels + `}`:                                   "1",
		`probe_success{` + idleLabels + `}`:                                       "0",
		`probe_duration_seconds{` + calendarLabels + `}`:                          "0.166", // 1 + 20 + 45 + 100 ms
		`probe_duration_seconds{` + idleLabels + `}`:                              "0.186", // of the warm-up: the hold is no part of it
		`probe_http_duration_seconds{` + calendarLabels + `,phase="resolve"}`:     "0.001",
		`probe_http_duration_seconds{` + calendarLabels + `,phase="connect"}`:     "0.02",
		`probe_http_duration_seconds{` + calendarLabels + `,phase="tls"}`:         "0.045",
		`probe_http_duration_seconds{` + calendarLabels + `,phase="processing"}`:  "0.099",
		`probe_http_duration_seconds{` + calendarLabels + `,phase="transfer"}`:    "0.001",
		`probe_http_duration_seconds{` + calendarLabels + `,phase="wait"}`:        "absent",
		`probe_http_duration_seconds{` + idleLabels + `,phase="processing"}`:      "0.119",
		`perch_phase_duration_seconds_count{phase="wait",` + calendarLabels + `}`: "1",
		`perch_probe_success{` + calendarLabels + `}`:                             "1",
	}
	want(t, exposed(t, m), run)
	want(t, exposed(t, next(t, m, o)), run) // a run that looks at nothing keeps them
}

// A connection that was never opened has no answer's phases.
func TestBlackboxOfAFailedOpening(t *testing.T) {
	o := shop(t)
	o.BlackboxNames = true
	m := New(o)
	m.Observe(incident())
	m.Observe(probes.Run{Outcomes: []probes.Outcome{
		{Target: "stock-api", Probe: "calendar", Kind: probes.KindHTTP, Verdict: probes.VerdictFail, Attempts: []probes.Attempt{
			{Connection: probes.ConnectionFresh, Reason: probes.ReasonConnectTimeout, Elapsed: 3 * time.Second,
				Phases: probes.Phases{DNS: 2 * time.Millisecond}}}},
		{Target: "stock-api", Probe: "idle", Kind: probes.KindIdle, Verdict: probes.VerdictIncomplete},
	}})
	want(t, exposed(t, m), map[string]string{
		`probe_success{` + calendarLabels + `}`:                                  "0",
		`probe_duration_seconds{` + calendarLabels + `}`:                         "3",
		`probe_http_duration_seconds{` + calendarLabels + `,phase="resolve"}`:    "0.002",
		`probe_http_duration_seconds{` + calendarLabels + `,phase="connect"}`:    "absent",
		`probe_http_duration_seconds{` + calendarLabels + `,phase="processing"}`: "absent",
		`probe_success{` + idleLabels + `}`:                                      "0", // nothing was judged, nothing sent
		`probe_duration_seconds{` + idleLabels + `}`:                             "0.186",
	})
}

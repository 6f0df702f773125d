package metrics

import (
	"slices"
	"testing"
	"time"

	"perch.example/probes"
)

const (
	calendarLabels = `probe="calendar",target="stock-api"`
	idleLabels     = `probe="idle",target="stock-api"`
)

// What was never measured is absent, whatever the config says of it.
func TestUnknownIsAbsent(t *testing.T) {
	got := exposed(t, New(shop(t)))
	for _, key := range []string{
		`perch_probe_success{` + calendarLabels + `}`,
		`perch_probe_last_run_timestamp_seconds{` + idleLabels + `}`,
		`perch_idle_timeout_seconds{` + idleLabels + `}`,
		`perch_idle_survived_seconds{` + idleLabels + `}`,
		`perch_idle_died_seconds{` + idleLabels + `}`,
		`perch_idle_advertised_seconds{` + idleLabels + `}`,
		`perch_client_danger_band_seconds{bound="from",` + idleLabels + `}`,
		`perch_finding{diagnosis="early_close",` + idleLabels + `}`,
		`perch_incident_open{family="connection",target="stock-api"}`,
		`perch_tls_certificate_expiry_timestamp_seconds{target="stock-api"}`,
		`perch_run_duration_seconds{}`,
		`perch_run_last_completed_timestamp_seconds{}`,
		`perch_notices_pending{destination="slack"}`,
		`perch_notices_oldest_pending_timestamp_seconds{destination="slack"}`,
		`perch_attempts_total{connection="fresh",` + calendarLabels + `,reason="idle_fin"}`,
		`perch_attempts_total{connection="fresh",` + calendarLabels + `,reason="skipped"}`,
		`perch_runs_total{verdict="skipped"}`,
	} {
		want(t, got, map[string]string{key: "absent"})
	}
}

// A run that judged nothing leaves what the last one found.
func TestARunCutShortTakesNothingBack(t *testing.T) {
	m := New(shop(t))
	m.Observe(incident())
	m.Observe(probes.Run{Started: moment(), Finished: moment().Add(time.Minute), CutShort: "deadline",
		Outcomes: []probes.Outcome{
			{Target: "stock-api", Probe: "idle", Kind: probes.KindIdle, Verdict: probes.VerdictIncomplete, Reason: probes.ReasonCanceled,
				Client: &probes.ClientOutcome{Kind: "apache-httpclient-4.5"}},
			{Target: "stock-api", Probe: "calendar", Kind: probes.KindHTTP, Verdict: probes.VerdictSkipped, Reason: probes.ReasonSkipped},
		},
		Idle: []probes.IdleResult{{Target: "stock-api", Probe: "idle"}},
	})
	want(t, exposed(t, m), map[string]string{
		`perch_probe_success{` + idleLabels + `}`:                                      "0",
		`perch_probe_success{` + calendarLabels + `}`:                                  "1",
		`perch_probe_last_run_timestamp_seconds{` + idleLabels + `}`:                   "1.7960076e+09",
		`perch_finding{diagnosis="early_close",` + idleLabels + `}`:                    "1",
		`perch_idle_timeout_seconds{` + idleLabels + `}`:                               "60.1",
		`perch_client_danger_band_seconds{bound="from",` + idleLabels + `}`:            "60",
		`perch_outcomes_total{` + idleLabels + `,verdict="incomplete"}`:                "1",
		`perch_outcomes_total{` + calendarLabels + `,verdict="skipped"}`:               "1",
		`perch_runs_total{verdict="incomplete"}`:                                       "1",
		`perch_run_duration_seconds{}`:                                                 "60",
		`perch_run_last_completed_timestamp_seconds{}`:                                 "1.7960076e+09",
		`perch_holds_total{hold_seconds="59",` + idleLabels + `,result="survived"}`:    "1",
		`perch_retries_total{` + calendarLabels + `,result="failed"}`:                  "0",
		`perch_attempts_total{connection="fresh",` + idleLabels + `,reason="skipped"}`: "absent",
	})
}

// A whole run that finds the fault gone says so.
func TestAGoodRunClearsWhatTheLastFound(t *testing.T) {
	m := New(shop(t))
	m.Observe(incident())
	m.Observe(probes.Run{Started: moment(), Finished: moment().Add(time.Minute),
		Outcomes: []probes.Outcome{{Target: "stock-api", Probe: "idle", Kind: probes.KindIdle, Verdict: probes.VerdictPass,
			Client: &probes.ClientOutcome{Kind: "apache-httpclient-4.5"}}},
		Idle: []probes.IdleResult{{Target: "stock-api", Probe: "idle", Survived: 120 * time.Second}},
	})
	want(t, exposed(t, m), map[string]string{
		`perch_probe_success{` + idleLabels + `}`:                           "1",
		`perch_finding{diagnosis="early_close",` + idleLabels + `}`:         "0",
		`perch_idle_survived_seconds{` + idleLabels + `}`:                   "120",
		`perch_idle_died_seconds{` + idleLabels + `}`:                       "absent",
		`perch_idle_timeout_seconds{` + idleLabels + `}`:                    "absent",
		`perch_idle_advertised_seconds{` + idleLabels + `}`:                 "absent",
		`perch_client_danger_band_seconds{bound="from",` + idleLabels + `}`: "absent",
		`perch_client_danger_band_seconds{bound="to",` + idleLabels + `}`:   "absent",
	})
	m.Pending("slack", 0, time.Time{})
	want(t, exposed(t, m), map[string]string{
		`perch_notices_pending{destination="slack"}`:                          "0",
		`perch_notices_oldest_pending_timestamp_seconds{destination="slack"}`: "absent",
	})
}

// A band that never ends has no upper bound, which is not 0.
func TestABandWithoutEnd(t *testing.T) {
	m := New(shop(t))
	rung := func(b probes.Band) probes.Outcome {
		return probes.Outcome{Target: "stock-api", Probe: "idle", Kind: probes.KindIdle, Verdict: probes.VerdictDegraded,
			Client: &probes.ClientOutcome{Kind: "c", Band: &b}}
	}
	m.Observe(probes.Run{Outcomes: []probes.Outcome{
		rung(probes.Band{From: 60 * time.Second, To: 90 * time.Second}), rung(probes.Band{From: 50 * time.Second, Open: true})}})
	want(t, exposed(t, m), map[string]string{
		`perch_client_danger_band_seconds{bound="from",` + idleLabels + `}`: "50",
		`perch_client_danger_band_seconds{bound="to",` + idleLabels + `}`:   "absent",
	})
}

// Whatever a caller hands in, a label's values stay a closed set, and what is
// unset is never a pass.
func TestUnsetValuesAreNeverAPass(t *testing.T) {
	m := New(shop(t))
	m.Observe(probes.Run{
		Outcomes: []probes.Outcome{{Target: "stock-api", Probe: "calendar", Kind: probes.KindHTTP,
			Retry: probes.RetryOutcome{Result: "odd"}, Attempts: []probes.Attempt{{Connection: probes.ConnectionFresh}}}},
		Problems: []probes.Problem{{Part: "odd"}},
	})
	m.SetIncident("stock-api", "odd", true)
	got := exposed(t, m)
	want(t, got, map[string]string{
		`perch_probe_success{` + calendarLabels + `}`:                                       "absent",
		`perch_outcomes_total{` + calendarLabels + `,verdict="incomplete"}`:                 "1",
		`perch_attempts_total{connection="fresh",` + calendarLabels + `,reason="internal"}`: "1",
		`perch_retries_total{` + calendarLabels + `,result="odd"}`:                          "absent",
		`perch_problems_total{part="internal"}`:                                             "1",
		`perch_incident_open{family="odd",target="stock-api"}`:                              "absent",
	})
}

// Every reason of a reuse says what became of the hold, or that nothing did.
func TestHoldResults(t *testing.T) {
	reused := func(r probes.Reason) probes.Outcome {
		return probes.Outcome{Kind: probes.KindIdle, Attempts: []probes.Attempt{
			{Connection: probes.ConnectionFresh, Reason: probes.ReasonOK}, {Connection: probes.ConnectionReused, Reason: r}}}
	}
	for _, c := range []struct {
		result  string
		reasons []probes.Reason
	}{
		{"survived", []probes.Reason{probes.ReasonOK, probes.ReasonUnavailable, probes.ReasonStatus, probes.ReasonSlow}},
		{"closed", []probes.Reason{probes.ReasonIdleFIN, probes.ReasonIdleRST, probes.ReasonIdleCloseNotify, probes.ReasonIdleBytes,
			probes.ReasonCrossedClose, probes.ReasonEOF, probes.ReasonReset, probes.ReasonProxyUpstreamReset}},
		{"died", []probes.Reason{probes.ReasonBlackhole, probes.ReasonNoResponse, probes.ReasonPartialBody}},
		{"", []probes.Reason{probes.ReasonCanceled, probes.ReasonInternal, ""}},
	} {
		for _, r := range c.reasons {
			if got := holdResult(reused(r)); got != c.result {
				t.Errorf("%s: got %q, want %q", r, got, c.result)
			}
		}
	}
	for _, s := range []probes.Spec{{Kind: probes.KindIdle, URL: parse(t, "https://a.example/")}} {
		for _, on := range possibleFor(s).connections {
			for _, r := range on.reasons {
				if on.on == probes.ConnectionReused && holdResult(reused(r)) == "" && r != probes.ReasonCanceled && r != probes.ReasonInternal {
					t.Errorf("%s: a reuse can end so, and no result is said", r)
				}
			}
		}
	}
	if got := holdResult(probes.Outcome{Close: &probes.Close{Age: time.Second}}); got != holdClosed {
		t.Errorf("a close while searching: got %q, want closed", got)
	}
	if got := holdResult(probes.Outcome{Attempts: []probes.Attempt{{Connection: probes.ConnectionFresh, Reason: probes.ReasonRefused}}}); got != "" {
		t.Errorf("a failed warm-up: got %q, want nothing", got)
	}
}

// Rungs that follow from a measurement share one label: their lengths change with
// it.
func TestHoldLabels(t *testing.T) {
	configured := probes.Spec{Holds: []time.Duration{59 * time.Second, 1500 * time.Millisecond}}
	ladder := probes.Spec{Rungs: configured.Holds}
	for _, c := range []struct {
		spec probes.Spec
		hold time.Duration
		want string
	}{
		{ladder, 59 * time.Second, "59"},
		{ladder, 58 * time.Second, "search"},
		{configured, 59 * time.Second, "59"},
		{configured, 1500 * time.Millisecond, "1.5"},
		{configured, 60 * time.Second, "search"},
		{probes.Spec{}, 59 * time.Second, "search"},
		{probes.Spec{Holds: configured.Holds, Search: true}, 59 * time.Second, "search"},
	} {
		if got := holdLabel(c.spec, c.hold); got != c.want {
			t.Errorf("hold %s of %v: got %q, want %q", c.hold, c.spec.Holds, got, c.want)
		}
	}
}

// What a ladder can be labelled with exists from the start: `search` only where
// the plan makes the ladder, which may look for what was measured.
func TestHoldsThatExist(t *testing.T) {
	rungs := []time.Duration{30 * time.Second, 59 * time.Second}
	for _, c := range []struct {
		spec probes.Spec
		want []string
	}{
		{probes.Spec{Holds: rungs, Client: &probes.Client{}}, []string{"30", "59"}},
		{probes.Spec{Rungs: rungs}, []string{"30", "59", "search"}},
		{probes.Spec{Rungs: rungs, Client: &probes.Client{}}, []string{"30", "59", "search"}},
		{probes.Spec{Rungs: rungs, Search: true}, []string{"search"}},
		{probes.Spec{}, []string{"search"}},
	} {
		if got := holdsOf(c.spec); !slices.Equal(got, c.want) {
			t.Errorf("holds %v, rungs %v: got %q, want %q", c.spec.Holds, c.spec.Rungs, got, c.want)
		}
	}
}

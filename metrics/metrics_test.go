package metrics

import (
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"perch.example/probes"
)

// moment is when every test's run ends.
func moment() time.Time { return time.Date(2026, 11, 30, 3, 0, 0, 0, time.UTC) }

func parse(t testing.TB, raw string) *url.URL {
	t.Helper()
	u, err := url.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// shop is a config with an http probe that tries again, and an idle probe.
func shop(t testing.TB) Options {
	t.Helper()
	client := &probes.Client{Kind: "apache-httpclient-4.5", Retry: &probes.RetryPolicy{Attempts: 3}}
	u := parse(t, "https://api.partner.example/v1")
	return Options{
		Name: "shop", Vantage: "prod-tokyo", Version: "1.2.3", GoVersion: "go1.26.8", Revision: "abc123",
		Destinations: []string{"slack"},
		Targets: []probes.Target{{
			Name: "stock-api", URL: u, RateLimit: 20, Share: 0.1, Client: client,
			Probes: []probes.Spec{
				{Target: "stock-api", Probe: "calendar", Kind: probes.KindHTTP, Method: "GET", URL: u,
					Every: 5 * time.Minute, Retry: probes.Retry{Attempts: 2}},
				{Target: "stock-api", Probe: "idle", Kind: probes.KindIdle, Method: "GET", URL: u, Client: client,
					KeepAlive: 60 * time.Second, Holds: []time.Duration{30 * time.Second, 59 * time.Second, 61500 * time.Millisecond}},
			},
		}},
	}
}

// incident is a run of shop: the http probe recovered on its second try, one
// rung of three was closed early.
func incident() probes.Run {
	expiry := moment().Add(30 * 24 * time.Hour)
	answered := func(on probes.Connection, took time.Duration) probes.Attempt {
		a := probes.Attempt{Connection: on, Reason: probes.ReasonOK, Status: 200, Elapsed: took,
			Phases: probes.Phases{Wait: took - time.Millisecond, Transfer: time.Millisecond}}
		if on != probes.ConnectionReused {
			a.Phases.DNS, a.Phases.Connect, a.Phases.TLS = time.Millisecond, 20*time.Millisecond, 45*time.Millisecond
			a.TLSExpiry = expiry
		}
		return a
	}
	rung := func(hold time.Duration, attempts ...probes.Attempt) probes.Outcome {
		return probes.Outcome{Target: "stock-api", Probe: "idle", Kind: probes.KindIdle, Verdict: probes.VerdictPass,
			Reason: probes.ReasonOK, Hold: hold, Attempts: attempts, Retry: probes.RetryOutcome{Result: probes.RetryNotNeeded},
			Client: &probes.ClientOutcome{Kind: "apache-httpclient-4.5"}}
	}
	died := rung(61500*time.Millisecond, answered(probes.ConnectionFresh, 120*time.Millisecond),
		probes.Attempt{Connection: probes.ConnectionReused, Reason: probes.ReasonIdleFIN, Elapsed: 21 * time.Millisecond},
		answered(probes.ConnectionControl, 110*time.Millisecond))
	died.Verdict, died.Reason, died.Diagnosis, died.Family = probes.VerdictFail, probes.ReasonIdleFIN, probes.DiagnosisEarlyClose, probes.FamilyConnection
	died.Retry.Result = probes.RetryRecovered
	died.Client.Band = &probes.Band{From: 60 * time.Second, To: 90 * time.Second}
	died.RetryGaps = []probes.RetryGap{
		{Client: "apache-httpclient-4.5", Reason: probes.ReasonIdleFIN, Gap: true},
		{Client: "apache-httpclient-4.5", Reason: probes.ReasonReset},
	}
	calendar := probes.Outcome{Target: "stock-api", Probe: "calendar", Kind: probes.KindHTTP, Verdict: probes.VerdictDegraded,
		Reason: probes.ReasonReset, Diagnosis: probes.DiagnosisUnstable, Family: probes.FamilyReachability,
		Retry: probes.RetryOutcome{Result: probes.RetryRecovered},
		Attempts: []probes.Attempt{
			{Connection: probes.ConnectionFresh, Reason: probes.ReasonReset, Elapsed: 30 * time.Millisecond},
			answered(probes.ConnectionFresh, 100*time.Millisecond),
		}}
	return probes.Run{
		Name: "shop", Vantage: "prod-tokyo", Started: moment().Add(-75 * time.Second), Finished: moment(),
		Outcomes: []probes.Outcome{calendar,
			rung(30*time.Second, answered(probes.ConnectionFresh, 120*time.Millisecond), answered(probes.ConnectionReused, 95*time.Millisecond)),
			rung(59*time.Second, answered(probes.ConnectionFresh, 120*time.Millisecond), answered(probes.ConnectionReused, 95*time.Millisecond)),
			died},
		Idle: []probes.IdleResult{{Target: "stock-api", Probe: "idle", Survived: 59 * time.Second, Died: 61500 * time.Millisecond,
			Measured: 60100 * time.Millisecond, Advertised: 60 * time.Second, How: probes.HowFIN}},
		Budget:   []probes.BudgetUse{{Target: "stock-api", LimitPerSecond: 2, Requests: 9, Waited: 50 * time.Millisecond}},
		Problems: []probes.Problem{{Part: probes.PartState, Text: "disk full"}},
		Delays:   []time.Duration{40 * time.Microsecond, 2 * time.Millisecond},
	}
}

// exposed returns what a scrape sees: "name{labels}" to value. The labels
// perch and vantage are checked and taken off.
func exposed(t testing.TB, m *Metrics) map[string]string {
	t.Helper()
	var b strings.Builder
	if err := m.Text(&b); err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for line := range strings.Lines(b.String()) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		i := strings.LastIndex(line, " ")
		key, value := line[:i], strings.TrimSpace(line[i+1:])
		for _, own := range []string{`perch="shop"`, `vantage="prod-tokyo"`} {
			if !strings.Contains(key, own) {
				t.Errorf("series %s: no label %s", key, own)
			}
			key = strings.Replace(key, own, "", 1)
		}
		all[sorted(key)] = value
	}
	return all
}

// sorted puts a series' labels in order, so that a test can write them in its
// own. No value in these tests holds a comma.
func sorted(key string) string {
	name, labels, _ := strings.Cut(strings.TrimSuffix(key, "}"), "{")
	all := strings.Split(labels, ",")
	all = slices.DeleteFunc(all, func(s string) bool { return s == "" })
	slices.Sort(all)
	return name + "{" + strings.Join(all, ",") + "}"
}

// want compares some series; "absent" means that there must be none.
func want(t *testing.T, got map[string]string, series map[string]string) {
	t.Helper()
	for key, value := range series {
		have, there := got[sorted(key)]
		switch {
		case value == "absent" && there:
			t.Errorf("%s: got %s, want none", key, have)
		case value != "absent" && have != value:
			t.Errorf("%s: got %q, want %q", key, have, value)
		}
	}
}

func TestEveryMetricOfARun(t *testing.T) {
	m := New(shop(t))
	m.Observe(incident())
	m.Notices("slack", true)
	m.Notices("slack", false)
	m.Pending("slack", 1, moment().Add(-time.Hour))
	m.IncidentsKnown()
	m.SetIncident("stock-api", probes.FamilyConnection, true)
	m.Problem(probes.PartPush)
	const idle = `probe="idle",target="stock-api"`
	const http = `probe="calendar",target="stock-api"`
	want(t, exposed(t, m), map[string]string{
		`perch_probe_success{` + http + `}`:                                              "1",
		`perch_probe_success{` + idle + `}`:                                              "0",
		`perch_probe_last_run_timestamp_seconds{` + idle + `}`:                           "1.7960076e+09",
		`perch_probe_interval_seconds{` + http + `}`:                                     "300",
		`perch_probe_interval_seconds{` + idle + `}`:                                     "absent",
		`perch_outcomes_total{` + idle + `,verdict="pass"}`:                              "2",
		`perch_outcomes_total{` + idle + `,verdict="fail"}`:                              "1",
		`perch_outcomes_total{` + idle + `,verdict="skipped"}`:                           "0",
		`perch_attempts_total{connection="fresh",` + http + `,reason="reset"}`:           "1",
		`perch_attempts_total{connection="reused",` + idle + `,reason="idle_fin"}`:       "1",
		`perch_attempts_total{connection="control",` + idle + `,reason="ok"}`:            "1",
		`perch_attempts_total{connection="fresh",` + http + `,reason="blackhole"}`:       "0",
		`perch_attempts_total{connection="reused",` + http + `,reason="ok"}`:             "absent",
		`perch_attempt_duration_seconds_count{connection="fresh",` + http + `}`:          "1", // the reset was not answered
		`perch_attempt_duration_seconds_count{connection="reused",` + idle + `}`:         "2",
		`perch_attempt_duration_seconds_sum{connection="reused",` + idle + `}`:           "0.19",
		`perch_phase_duration_seconds_count{phase="connect",` + idle + `}`:               "4",
		`perch_phase_duration_seconds_count{phase="wait",` + idle + `}`:                  "6",
		`perch_retries_total{` + http + `,result="recovered"}`:                           "1",
		`perch_retries_total{` + idle + `,result="recovered"}`:                           "1",
		`perch_retries_total{` + idle + `,result="failed"}`:                              "0",
		`perch_retries_total{` + idle + `,result="unsafe"}`:                              "absent", // a GET never is
		`perch_holds_total{hold_seconds="59",` + idle + `,result="survived"}`:            "1",
		`perch_holds_total{hold_seconds="61.5",` + idle + `,result="closed"}`:            "1",
		`perch_holds_total{hold_seconds="61.5",` + idle + `,result="died"}`:              "0",
		`perch_idle_timeout_seconds{` + idle + `}`:                                       "60.1",
		`perch_idle_survived_seconds{` + idle + `}`:                                      "59",
		`perch_idle_died_seconds{` + idle + `}`:                                          "61.5",
		`perch_idle_advertised_seconds{` + idle + `}`:                                    "60",
		`perch_keep_alive_expected_seconds{` + idle + `}`:                                "60",
		`perch_client_danger_band_seconds{bound="from",` + idle + `}`:                    "60",
		`perch_client_danger_band_seconds{bound="to",` + idle + `}`:                      "90",
		`perch_finding{diagnosis="early_close",` + idle + `}`:                            "1",
		`perch_finding{diagnosis="silent_drop",` + idle + `}`:                            "0",
		`perch_finding{diagnosis="unstable",` + http + `}`:                               "1",
		`perch_finding{diagnosis="early_close",` + http + `}`:                            "absent",
		`perch_retry_gap{client="apache-httpclient-4.5",` + idle + `,reason="idle_fin"}`: "1",
		`perch_retry_gap{client="apache-httpclient-4.5",` + idle + `,reason="reset"}`:    "0",
		`perch_tls_certificate_expiry_timestamp_seconds{target="stock-api"}`:             "1.7985996e+09",
		`perch_requests_total{target="stock-api"}`:                                       "9",
		`perch_budget_limit_requests_per_second{target="stock-api"}`:                     "2",
		`perch_budget_wait_seconds_total{target="stock-api"}`:                            "0.05",
		`perch_runs_total{verdict="fail"}`:                                               "1",
		`perch_runs_total{verdict="pass"}`:                                               "0",
		`perch_run_duration_seconds{}`:                                                   "75",
		`perch_run_last_completed_timestamp_seconds{}`:                                   "1.7960076e+09",
		`perch_scheduling_delay_seconds_count{}`:                                         "2",
		`perch_scheduling_delay_seconds_bucket{le="0.0001"}`:                             "1",
		`perch_notices_total{destination="slack",result="delivered"}`:                    "1",
		`perch_notices_total{destination="slack",result="failed"}`:                       "1",
		`perch_notices_pending{destination="slack"}`:                                     "1",
		`perch_notices_oldest_pending_timestamp_seconds{destination="slack"}`:            "1.796004e+09",
		`perch_problems_total{part="state"}`:                                             "1",
		`perch_problems_total{part="push"}`:                                              "1",
		`perch_problems_total{part="config"}`:                                            "0",
		`perch_build_info{goversion="go1.26.8",revision="abc123",version="1.2.3"}`:       "1",
		`perch_incident_open{family="connection",target="stock-api"}`:                    "1",
		`perch_incident_open{family="latency",target="stock-api"}`:                       "0",
	})
}

package metrics

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"
	dto "github.com/prometheus/client_model/go"

	"perch.example/probes"
)

// everything is a run that makes every series that shop's probes can make.
func everything(o Options) *Metrics {
	o.Serves = true
	m := New(o)
	m.IncidentsKnown()
	run := probes.Run{Started: moment(), Finished: moment()}
	for _, t := range o.Targets {
		for _, s := range t.Probes {
			out := probes.Outcome{Target: s.Target, Probe: s.Probe, Kind: s.Kind, Verdict: probes.VerdictPass}
			for _, c := range possibleFor(s).connections {
				for _, r := range c.reasons {
					out.Attempts = append(out.Attempts, probes.Attempt{Connection: c.on, Reason: r, Status: 200, TLSExpiry: expiryOf(s),
						Elapsed: time.Second, Phases: phasesFor(s)})
				}
			}
			if s.Client != nil && s.Client.Retry != nil {
				out.Client = &probes.ClientOutcome{Kind: s.Client.Kind, Band: &probes.Band{From: time.Second, To: 2 * time.Second}}
				for _, r := range gapReasons(s) {
					out.RetryGaps = append(out.RetryGaps, probes.RetryGap{Client: s.Client.Kind, Reason: r})
				}
			}
			for range predictedFrom(s) {
				out.Predicted = append(out.Predicted, probes.Prediction{Declared: len(out.Predicted) == 0 && s.Burst != nil, Calls: 1})
			}
			if idles(s) {
				run.Idle = append(run.Idle, probes.IdleResult{Target: s.Target, Probe: s.Probe,
					Survived: time.Second, Died: 2 * time.Second, Measured: time.Second, Advertised: time.Second})
			} else {
				out.Client = nil // the danger band is about idle ages
			}
			run.Outcomes = append(run.Outcomes, out)
		}
	}
	m.Observe(run)
	m.Reloaded(true, moment())
	m.Leads(true)
	for _, d := range o.Destinations {
		m.Pending(d, 1, moment())
	}
	return m
}

func phasesFor(s probes.Spec) probes.Phases {
	p := probes.Phases{Connect: 1, Wait: 1, Transfer: 1}
	if named(s) {
		p.DNS = 1
	}
	if secure(s) {
		p.TLS = 1
	}
	return p
}

func expiryOf(s probes.Spec) time.Time {
	if secure(s) {
		return moment()
	}
	return time.Time{}
}

// count counts series as Prometheus stores them: a classic histogram's buckets
// are one each.
func count(t testing.TB, m *Metrics) int {
	t.Helper()
	families, err := m.Gatherer().Gather()
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, f := range families {
		for _, s := range f.GetMetric() {
			if h := s.GetHistogram(); h != nil {
				n += len(h.GetBucket()) + 3 // without end, sum, count
				continue
			}
			n++
		}
	}
	return n
}

func TestSeriesIsWhatAConfigCanMake(t *testing.T) {
	plain, address, bare := shop(t), shop(t), shop(t)
	for i := range plain.Targets[0].Probes {
		plain.Targets[0].Probes[i].URL = parse(t, "http://api.partner.example/")
		address.Targets[0].Probes[i].URL = parse(t, "https://[2001:db8::1]:8443/")
		p := &bare.Targets[0].Probes[i]
		p.Client, p.KeepAlive, p.Holds, p.Every, p.Retry = nil, 0, nil, 0, probes.Retry{}
	}
	bare.Destinations = nil
	blackbox := shop(t)
	blackbox.BlackboxNames, blackbox.Destinations = true, []string{"alertmanager", "slack", "webhook"}
	for name, o := range map[string]Options{"tls": shop(t), "plain": plain, "address": address, "bare": bare, "blackbox": blackbox, "burst": withBurst(t), "empty": {Name: "shop", Vantage: "here"}} {
		t.Run(name, func(t *testing.T) {
			got, want := count(t, everything(o)), Series(o)
			if got != want {
				t.Errorf("Series says %d, New and Observe made %d", want, got)
			}
			if start := count(t, New(o)); start > want {
				t.Errorf("New alone makes %d, more than Series' %d", start, want)
			}
		})
	}
}

// The default max_series must hold a config of 200 targets with one http
// probe each.
func TestTwoHundredTargetsFitTheDefault(t *testing.T) {
	u := parse(t, "https://api.partner.example/")
	target := probes.Target{Name: "a", URL: u, Probes: []probes.Spec{{Kind: probes.KindHTTP, URL: u, Every: time.Minute}}}
	if n := Series(Options{Targets: slices.Repeat([]probes.Target{target}, 200), Destinations: []string{"slack"}}); n > 20000 {
		t.Errorf("200 targets make %d series, more than the default max_series of 20000", n)
	}
}

func TestLint(t *testing.T) {
	o := shop(t)
	o.BlackboxNames = true
	problems, err := testutil.GatherAndLint(everything(o).Gatherer())
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		t.Errorf("%s: %s", p.Metric, p.Text)
	}
}

// contract lists the names and types that dashboards hold on to.
func contract() map[string]dto.MetricType {
	const g, c, h = dto.MetricType_GAUGE, dto.MetricType_COUNTER, dto.MetricType_HISTOGRAM
	return map[string]dto.MetricType{
		"perch_probe_success": g, "perch_probe_last_run_timestamp_seconds": g, "perch_probe_interval_seconds": g,
		"perch_outcomes_total": c, "perch_attempts_total": c,
		"perch_attempt_duration_seconds": h, "perch_phase_duration_seconds": h, "perch_retries_total": c,
		"perch_holds_total": c, "perch_idle_timeout_seconds": g, "perch_idle_survived_seconds": g,
		"perch_idle_died_seconds": g, "perch_idle_advertised_seconds": g,
		"perch_keep_alive_expected_seconds": g, "perch_client_danger_band_seconds": g,
		"perch_burst_calls_total": c, "perch_predicted_dead_share": g, "perch_predicted_failed_share": g,
		"perch_finding": g, "perch_retry_gap": g, "perch_incident_open": g,
		"perch_tls_certificate_expiry_timestamp_seconds": g,
		"perch_requests_total":                           c, "perch_budget_limit_requests_per_second": g, "perch_budget_wait_seconds_total": c,
		"perch_runs_total": c, "perch_run_duration_seconds": g, "perch_run_last_completed_timestamp_seconds": g,
		"perch_scheduling_delay_seconds": h,
		"perch_notices_total":            c, "perch_notices_pending": g, "perch_notices_oldest_pending_timestamp_seconds": g,
		"perch_problems_total": c, "perch_build_info": g,
		"perch_leader": g, "perch_config_last_reload_successful": g, "perch_config_last_reload_success_timestamp_seconds": g,
		"perch_ticks_missed_total": c,
	}
}

func TestNamesTypesAndLabelsAreTheContracts(t *testing.T) {
	families, err := everything(withBurst(t)).Gatherer().Gather()
	if err != nil {
		t.Fatal(err)
	}
	left := contract()
	for _, f := range families {
		want, known := left[f.GetName()]
		if !known {
			t.Errorf("%s: not in the contract", f.GetName())
		} else if f.GetType() != want {
			t.Errorf("%s: type %s, want %s", f.GetName(), f.GetType(), want)
		}
		delete(left, f.GetName())
		for _, l := range f.GetMetric()[0].GetLabel() {
			switch l.GetName() {
			case "namespace", "pod", "job", "instance", "service", "cluster":
				t.Errorf("%s: label %s is the scraper's own", f.GetName(), l.GetName())
			}
		}
	}
	for name := range left {
		t.Errorf("%s: in the contract, not made", name)
	}
}

func TestHistogramsAreNativeToo(t *testing.T) {
	m := New(shop(t))
	m.Observe(incident())
	families, err := m.Gatherer().Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		for _, s := range f.GetMetric() {
			if h := s.GetHistogram(); h != nil && (h.Schema == nil || h.GetSchema() != 3 || len(h.GetBucket()) == 0) {
				t.Errorf("%s: schema %v with %d classic buckets, want schema 3 and some", f.GetName(), h.Schema, len(h.GetBucket()))
			}
		}
	}
}

func TestExposition(t *testing.T) {
	update := flag.Lookup("update").Value.String() == "true"
	m := New(shop(t))
	fresh := exposition(t, m)
	m.Observe(incident())
	for name, got := range map[string]string{"new.txt": fresh, "run.txt": exposition(t, m)} {
		path := filepath.Join("testdata", name)
		if update {
			if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if got != string(want) {
			t.Errorf("%s differs; look at it with -update and git diff", path)
		}
	}
}

func exposition(t *testing.T, m *Metrics) string {
	t.Helper()
	var b strings.Builder
	if err := m.Text(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestMain declares -update: golden files are rewritten by it.
func TestMain(m *testing.M) {
	flag.Bool("update", false, "rewrite the golden files")
	flag.Parse()
	os.Exit(m.Run())
}

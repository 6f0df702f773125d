package metrics

import (
	"bytes"
	"encoding/json"
	"flag"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"perch.example/probes"
)

// snapshot is what the next run is told.
func snapshot(t testing.TB, m *Metrics) json.RawMessage {
	t.Helper()
	raw, err := m.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// next is a new process of the same config, or of another, that goes on from
// what m leaves.
func next(t testing.TB, m *Metrics, o Options) *Metrics {
	t.Helper()
	n := New(o)
	if err := n.Restore(snapshot(t, m)); err != nil {
		t.Fatal(err)
	}
	return n
}

// random is a run of everything that the config's probes can end in.
func random(r *rand.Rand, o Options) probes.Run {
	run := probes.Run{Started: moment(), Finished: moment().Add(time.Duration(r.Int64N(1e12)))}
	for _, t := range o.Targets {
		for _, s := range t.Probes {
			if r.IntN(3) == 0 {
				continue // not due
			}
			run.Outcomes = append(run.Outcomes, randomOutcome(r, s))
			if s.Kind == probes.KindIdle {
				length := func() time.Duration { return time.Duration(r.IntN(3)) * time.Second }
				run.Idle = append(run.Idle, probes.IdleResult{Target: s.Target, Probe: s.Probe, Survived: length(), Died: length(), Measured: length()})
			}
		}
		run.Budget = append(run.Budget, probes.BudgetUse{Target: t.Name, Requests: r.IntN(20), Waited: time.Duration(r.IntN(1000)) * time.Millisecond})
	}
	run.Delays = []time.Duration{time.Duration(r.IntN(1e7))}
	return run
}

func randomOutcome(r *rand.Rand, s probes.Spec) probes.Outcome {
	o := probes.Outcome{Target: s.Target, Probe: s.Probe, Kind: s.Kind, Verdict: one(r, probes.Verdicts())}
	can := possibleFor(s)
	if r.IntN(2) == 0 {
		o.Diagnosis = one(r, can.diagnoses)
	}
	if len(s.Holds) > 0 {
		o.Hold = one(r, s.Holds)
	}
	for range r.IntN(4) {
		on := one(r, can.connections)
		a := probes.Attempt{Connection: on.on, Reason: one(r, on.reasons), Elapsed: time.Duration(r.ExpFloat64() * 1e8)}
		if r.IntN(2) == 0 {
			a.Status = 200
			a.Phases = probes.Phases{Wait: time.Duration(r.ExpFloat64() * 1e8), Connect: time.Duration(r.IntN(1e6))}
		}
		o.Attempts = append(o.Attempts, a)
	}
	if s.Client != nil {
		o.Client = &probes.ClientOutcome{Kind: s.Client.Kind}
		if r.IntN(2) == 0 {
			o.Client.Band = &probes.Band{From: time.Second, To: 2 * time.Second, Open: r.IntN(2) == 0}
		}
		o.RetryGaps = []probes.RetryGap{{Client: s.Client.Kind, Reason: one(r, gapReasons(s)), Gap: r.IntN(2) == 0}}
	}
	return o
}

func one[T any](r *rand.Rand, all []T) T { return all[r.IntN(len(all))] }

// However a sequence of runs is cut into processes, what is exposed is what one
// process would show: to the last digit of the sums, and to the last native
// bucket as long as there are not too many.
func TestProcessesTogetherAreOneProcess(t *testing.T) {
	o := shop(t)
	o.BlackboxNames = true
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 1))
		whole := New(o)
		cut := New(o)
		for range 12 {
			run := random(r, o)
			whole.Observe(run)
			cut.Observe(run)
			for range r.IntN(3) { // 0: the same process; 2: one that did nothing
				cut = next(t, cut, o)
			}
		}
		if got, want := exposition(t, cut), exposition(t, whole); got != want {
			t.Fatalf("seed %d: cut\n%s\nwhole\n%s", seed, got, want)
		}
		if got, want := snapshot(t, cut), snapshot(t, whole); !bytes.Equal(got, want) {
			t.Fatalf("seed %d: cut\n%s\nwhole\n%s", seed, got, want)
		}
	}
}

// The form is kept by a golden file: a later perch has to read it.
func TestSnapshotForm(t *testing.T) {
	m := New(shop(t))
	m.Observe(incident())
	m.Notices("slack", true)
	path := filepath.Join("testdata", "snapshot.json")
	var got bytes.Buffer
	if err := json.Indent(&got, snapshot(t, m), "", " "); err != nil {
		t.Fatal(err)
	}
	if flag.Lookup("update").Value.String() == "true" {
		if err := os.WriteFile(path, got.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got.String() != string(want) {
		t.Errorf("%s differs; look at it with -update and git diff", path)
	}
	if strings.Contains(string(want), "perch_build_info") || strings.Contains(string(want), "perch_notices_pending") {
		t.Error("what is this run's alone is saved")
	}
	restored := New(shop(t))
	if err := restored.Restore(want); err != nil {
		t.Error(err)
	}
	if exposition(t, restored) != exposition(t, m) {
		t.Error("what the golden file restores is not what was saved")
	}
}

// A perch that had one label for all rungs of a ladder leaves counts that go on
// where there still is such a rung, and nothing where there is none.
func TestASnapshotOfASearch(t *testing.T) {
	const survived = `,` + idleLabels + `,result="survived"}`
	before, ladder := shop(t), shop(t)
	before.Targets[0].Probes[1].Holds, ladder.Targets[0].Probes[1].Holds = nil, nil
	ladder.Targets[0].Probes[1].Rungs = []time.Duration{30 * time.Second, 59 * time.Second}
	m := New(before)
	m.Observe(incident())
	want(t, exposed(t, m), map[string]string{`perch_holds_total{hold_seconds="search"` + survived: "2"})

	n := next(t, m, ladder)
	n.Observe(incident())
	want(t, exposed(t, n), map[string]string{
		`perch_holds_total{hold_seconds="search"` + survived: "2",
		`perch_holds_total{hold_seconds="30"` + survived:     "1",
		`perch_holds_total{hold_seconds="59"` + survived:     "1",
	})
	ladder.Targets[0].Probes[1].Holds = ladder.Targets[0].Probes[1].Rungs
	want(t, exposed(t, next(t, m, ladder)), map[string]string{
		`perch_holds_total{hold_seconds="search"` + survived: "absent",
		`perch_holds_total{hold_seconds="30"` + survived:     "0",
	})
}

func TestAFirstRunRestoresNothing(t *testing.T) {
	for _, raw := range []json.RawMessage{nil, {}, []byte(`{"v":1,"vectors":[]}`)} {
		m := New(shop(t))
		if err := m.Restore(raw); err != nil {
			t.Errorf("%s: %v", raw, err)
		}
		if exposition(t, m) != exposition(t, New(shop(t))) {
			t.Errorf("%s: something is there", raw)
		}
	}
}

// What this run is alone comes from its own config and memory.
func TestThisRunsOwnIsNotRestored(t *testing.T) {
	m := New(shop(t))
	m.Observe(incident())
	m.IncidentsKnown()
	m.SetIncident("stock-api", probes.FamilyConnection, true)
	m.Pending("slack", 3, moment())
	o := shop(t)
	o.Version = "9"
	o.Targets[0].RateLimit = 100
	o.Targets[0].Probes[0].Every = time.Hour
	o.Targets[0].Probes[1].KeepAlive = 0
	want(t, exposed(t, next(t, m, o)), map[string]string{
		`perch_incident_open{family="connection",target="stock-api"}`:               "absent",
		`perch_notices_pending{destination="slack"}`:                                "absent",
		`perch_notices_oldest_pending_timestamp_seconds{destination="slack"}`:       "absent",
		`perch_probe_interval_seconds{` + calendarLabels + `}`:                      "3600",
		`perch_keep_alive_expected_seconds{` + idleLabels + `}`:                     "absent",
		`perch_budget_limit_requests_per_second{target="stock-api"}`:                "10",
		`perch_build_info{goversion="go1.26.8",revision="abc123",version="1.2.3"}`:  "absent",
		`perch_build_info{goversion="go1.26.8",revision="abc123",version="9"}`:      "1",
		`perch_run_last_completed_timestamp_seconds{}`:                              "1.7960076e+09",
		`perch_attempts_total{connection="fresh",` + idleLabels + `,reason="ok"}`:   "3",
		`perch_attempts_total{connection="fresh",` + idleLabels + `,reason="slow"}`: "0",
	})
}

// What a run takes away stays away in the next.
func TestWhatWasTakenAwayStaysAway(t *testing.T) {
	m := New(shop(t))
	m.Observe(incident())
	m = next(t, m, shop(t))
	m.Observe(probes.Run{Started: moment(), Finished: moment().Add(time.Minute),
		Outcomes: []probes.Outcome{{Target: "stock-api", Probe: "idle", Kind: probes.KindIdle, Verdict: probes.VerdictPass,
			Client: &probes.ClientOutcome{Kind: "apache-httpclient-4.5"}}},
		Idle: []probes.IdleResult{{Target: "stock-api", Probe: "idle", Survived: 120 * time.Second}},
	})
	for _, each := range []*Metrics{m, next(t, m, shop(t))} {
		want(t, exposed(t, each), map[string]string{
			`perch_idle_survived_seconds{` + idleLabels + `}`:                   "120",
			`perch_idle_timeout_seconds{` + idleLabels + `}`:                    "absent",
			`perch_idle_died_seconds{` + idleLabels + `}`:                       "absent",
			`perch_client_danger_band_seconds{bound="to",` + idleLabels + `}`:   "absent",
			`perch_client_danger_band_seconds{bound="from",` + idleLabels + `}`: "absent",
			`perch_finding{diagnosis="early_close",` + idleLabels + `}`:         "0",
			`perch_probe_success{` + calendarLabels + `}`:                       "1", // not looked at since
			`perch_finding{diagnosis="unstable",` + calendarLabels + `}`:        "1",
		})
	}
}

// Whatever the config can make no more is gone, and is not stored again.
func TestRemovedSeriesAreDropped(t *testing.T) {
	full := shop(t)
	full.BlackboxNames = true
	full.Destinations = []string{"alertmanager", "slack", "webhook"}
	second := shop(t).Targets[0]
	second.Name = "old-api"
	second.Probes = slices.Clone(second.Probes)
	for i := range second.Probes {
		second.Probes[i].Target = second.Name
	}
	full.Targets = append(full.Targets, second)
	for name, c := range map[string]struct {
		change func(*Options)
		gone   string // in no series' name or labels
	}{
		"target":      {func(o *Options) { o.Targets = o.Targets[:1] }, `target="old-api"`},
		"renamed":     {func(o *Options) { o.Targets[1].Name = "new"; rename(o.Targets[1].Probes, "new") }, `target="old-api"`},
		"probe":       {func(o *Options) { o.Targets[0].Probes = o.Targets[0].Probes[1:] }, `probe="calendar",target="stock-api"`},
		"rung":        {func(o *Options) { o.Targets[0].Probes[1].Holds = o.Targets[0].Probes[1].Holds[:2] }, `hold_seconds="61.5",perch="shop",probe="idle",result="closed",target="stock-api"`},
		"client":      {func(o *Options) { o.Targets[0].Probes[1].Client = nil }, `client="apache-httpclient-4.5",perch="shop",probe="idle",reason="eof",target="stock-api"`},
		"tls":         {func(o *Options) { plain(t, o) }, `perch_tls_certificate`},
		"destination": {func(o *Options) { o.Destinations = o.Destinations[:2] }, `destination="webhook"`},
		"blackbox":    {func(o *Options) { o.BlackboxNames = false }, "\nprobe_"},
	} {
		t.Run(name, func(t *testing.T) {
			m := everything(full)
			for _, d := range full.Destinations {
				m.Notices(d, true)
			}
			m.Observe(probes.Run{Outcomes: []probes.Outcome{heldFor(61500*time.Millisecond, "stock-api"), heldFor(61500*time.Millisecond, "old-api")}})
			if !strings.Contains(exposition(t, m), c.gone) {
				t.Fatalf("%s is not there before", c.gone)
			}
			o := full
			o.Targets = []probes.Target{full.Targets[0], full.Targets[1]}
			for i := range o.Targets {
				o.Targets[i].Probes = slices.Clone(o.Targets[i].Probes)
			}
			c.change(&o)
			n := next(t, m, o)
			if text := exposition(t, n); strings.Contains(text, c.gone) {
				t.Errorf("%s is still there:\n%s", c.gone, text)
			}
			again := next(t, n, full) // put back, it starts anew
			key := `perch_attempts_total{connection="fresh",probe="idle",reason="ok",target="old-api"}`
			if name == "target" || name == "renamed" {
				want(t, exposed(t, again), map[string]string{key: "0"})
			} else {
				want(t, exposed(t, again), map[string]string{key: "1"})
			}
		})
	}
}

func heldFor(hold time.Duration, target string) probes.Outcome {
	return probes.Outcome{Target: target, Probe: "idle", Kind: probes.KindIdle, Hold: hold,
		Attempts: []probes.Attempt{{Connection: probes.ConnectionReused, Reason: probes.ReasonIdleFIN}}}
}

func rename(specs []probes.Spec, target string) {
	for i := range specs {
		specs[i].Target = target
	}
}

func plain(t *testing.T, o *Options) {
	for i := range o.Targets {
		for j := range o.Targets[i].Probes {
			o.Targets[i].Probes[j].URL = parse(t, "http://api.partner.example/")
		}
	}
}

// Every series that New makes is at zero, and stays when a run restores them.
func TestZerosExistAndAreNotStored(t *testing.T) {
	m := New(shop(t))
	raw := string(snapshot(t, m))
	if raw != `{"v":1,"vectors":[]}` {
		t.Errorf("a run that counted nothing leaves %s", raw)
	}
	before := exposed(t, m)
	m.Observe(incident())
	after := exposed(t, next(t, m, shop(t)))
	for _, key := range slices.Sorted(maps.Keys(before)) {
		if _, there := after[key]; !there {
			t.Errorf("%s is gone", key)
		}
	}
}

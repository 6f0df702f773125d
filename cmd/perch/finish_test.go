package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"perch.example/alert"
	"perch.example/config"
	"perch.example/probes"
	"perch.example/state"
)

// diary is what happened in a run, in order; it is a keeper and a transport.
type diary struct {
	mu     sync.Mutex // of events: perch serve sends beside its saves
	events []string
	doc    state.Document
	kept   []state.Document // every document that was saved
	// fails returns the error of a save or a request; nil: none fails.
	fails func(event string, nth int) error
}

func (d *diary) note(event string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	nth := 1
	for _, e := range d.events {
		if strings.HasPrefix(e, event) {
			nth++
		}
	}
	var err error
	if d.fails != nil {
		err = d.fails(event, nth)
	}
	if err != nil {
		event += " failed"
	}
	d.events = append(d.events, event)
	return err
}

func (d *diary) Load(context.Context) (state.Document, error) { return d.doc, nil }
func (d *diary) Reserve(context.Context, state.Reservation) error {
	return d.note("reserve")
}

func (d *diary) Save(_ context.Context, doc state.Document) error {
	if err := d.note("save"); err != nil {
		return err
	}
	copied := doc
	copied.Sections = map[string]json.RawMessage{}
	for name, content := range doc.Sections {
		copied.Sections[name] = slices.Clone(content)
	}
	d.doc = copied
	d.kept = append(d.kept, copied)
	return nil
}
func (d *diary) Warning() string             { return "" }
func (d *diary) Close(context.Context) error { return nil }

func (d *diary) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body != nil {
		_, _ = io.Copy(io.Discard, r.Body)
	}
	name, _, _ := strings.Cut(r.URL.Host, ".")
	if err := d.note(name); err != nil {
		return nil, err
	}
	return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader("ok")), Request: r}, nil
}

const noted = `
version: 1
name: noted
vantage: test
targets:
  - name: api
    url: http://api.example
    probes: [{name: get, kind: http, path: /}]
alerts: {fire_after: 1, resolve_after: 1}
slack: {webhook: {from: {env: HOOK}}}
metrics: {push: {url: http://push.example}}
state: {file: /nowhere/state}
`

// newPass is a run that a test takes through its stages.
func newPass(t *testing.T, text string, d *diary) (*pass, *bytes.Buffer) {
	t.Helper()
	sys := system{
		readFile: os.ReadFile, web: d,
		env: func(name string) (string, bool) { return "https://slack.example/services/T/B/x", name == "HOOK" },
	}
	cfg, err := config.Parse(configOptions(sys), config.File{Name: "perch.yaml", Data: []byte(text)})
	if err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	p := &pass{kept: &kept{store: d}, sys: sys, cfg: cfg, flags: runFlags{all: true, seed: 1}, log: slog.New(slog.NewTextHandler(&log, nil))}
	return p, &log
}

// take takes a run with that verdict through all stages but the probing.
func take(t *testing.T, p *pass, verdict probes.Verdict) probes.Run {
	t.Helper()
	return takeUntil(t.Context(), t, p, verdict)
}

// takeUntil is take with a context that a signal ends.
func takeUntil(ctx context.Context, t *testing.T, p *pass, verdict probes.Verdict) probes.Run {
	t.Helper()
	if err := p.open(ctx); err != nil {
		t.Fatal(err)
	}
	if err := p.makePlan(); err != nil {
		t.Fatal(err)
	}
	run := p.begin(ctx)
	if p.pushing != nil {
		<-p.pushing // so that its place in the diary is sure
	}
	run.Finished = run.Started.Add(time.Second)
	run.Budget = []probes.BudgetUse{{Target: "api", Requests: 1, Last: []time.Time{run.Started}, Allowed: 2}}
	o := probes.Outcome{
		Target: "api", Probe: "get", Kind: probes.KindHTTP, Verdict: verdict, Reason: probes.ReasonOK, Started: run.Started,
		Attempts: []probes.Attempt{{Connection: probes.ConnectionFresh, Reason: probes.ReasonOK, Status: 200, Elapsed: time.Millisecond}},
	}
	if verdict == probes.VerdictFail {
		o.Reason, o.Diagnosis, o.Family, o.Message = probes.ReasonStatus, probes.DiagnosisContract, probes.FamilyContract, "the answer is not what is expected"
		o.Attempts[0].Reason, o.Attempts[0].Status = probes.ReasonStatus, 404
	}
	run.Outcomes = []probes.Outcome{o}
	p.finish(ctx, &run)
	return run
}

// TestOrderOfOneRun is the order that finish.go promises, and what becomes of it
// when a part fails.
func TestOrderOfOneRun(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	fail := func(events ...string) func(string, int) error {
		return func(event string, nth int) error {
			for _, e := range events {
				name, at, numbered := strings.Cut(e, " ")
				if event == name && (!numbered || at == string(rune('0'+nth))) {
					return broken
				}
			}
			return nil
		}
	}
	for _, c := range []struct {
		name    string
		verdict probes.Verdict
		fails   func(string, int) error
		want    []string
		parts   []probes.Part
	}{
		{"healthy: one write", probes.VerdictPass, nil, []string{"reserve", "push", "save", "push"}, nil},
		{"something to tell: one more before", probes.VerdictFail, nil, []string{"reserve", "push", "save", "slack", "save", "push"}, nil},
		{
			"a push that fails is counted", probes.VerdictPass, fail("push 2"),
			[]string{"reserve", "push", "save", "push failed", "save"}, []probes.Part{probes.PartPush},
		},
		{
			"the first push may fail: in a new pod the network is not up yet", probes.VerdictPass, fail("push 1"),
			[]string{"reserve", "push failed", "save", "push"}, nil,
		},
		{
			"what is not kept is not pushed", probes.VerdictPass, fail("save"),
			[]string{"reserve", "push", "save failed"}, []probes.Part{probes.PartState},
		},
		{
			"nor told; and it is kept after all", probes.VerdictFail, fail("save 1"),
			[]string{"reserve", "push", "save failed", "save", "push"}, []probes.Part{probes.PartState},
		},
		{
			"told, and the end of it is not kept", probes.VerdictFail, fail("save 2"),
			[]string{"reserve", "push", "save", "slack", "save failed"}, []probes.Part{probes.PartState},
		},
		{
			"not told: it waits", probes.VerdictFail, fail("slack"),
			[]string{"reserve", "push", "save", "slack failed", "save", "push"}, []probes.Part{probes.PartNotices},
		},
		{
			"a reservation that fails is said, and the run goes on", probes.VerdictPass, fail("reserve"),
			[]string{"reserve failed", "push", "save", "push"}, []probes.Part{probes.PartState},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			d := &diary{fails: c.fails}
			p, _ := newPass(t, noted, d)
			run := take(t, p, c.verdict)
			if !slices.Equal(d.events, c.want) {
				t.Errorf("%q, want %q", d.events, c.want)
			}
			var parts []probes.Part
			for _, problem := range run.Problems {
				parts = append(parts, problem.Part)
			}
			if !slices.Equal(parts, c.parts) {
				t.Errorf("problems of %q, want %q", parts, c.parts)
			}
		})
	}
}

// TestAfterAKill: whatever the last save of a run was, the next one goes on
// from it: told once where that is sure, marked where it is not, never lost.
func TestAfterAKill(t *testing.T) {
	t.Parallel()
	first := &diary{}
	p, _ := newPass(t, noted, first)
	take(t, p, probes.VerdictFail)
	if len(first.kept) != 2 {
		t.Fatalf("%d saves, want 2", len(first.kept))
	}
	for _, c := range []struct {
		name   string
		left   state.Document
		told   int  // by a next run that fails as well
		repeat bool // it says that it may be one
	}{
		{"before anything was saved", state.Document{}, 1, false},
		{"between the save and the telling, or after", first.kept[0], 1, true},
		{"at the end", first.kept[1], 0, false},
	} {
		d := &diary{doc: c.left}
		p, _ := newPass(t, noted, d)
		if err := p.load(t.Context()); err != nil {
			t.Fatal(err)
		}
		marked := slices.ContainsFunc(p.memory.Outbox, func(n alert.Notice) bool { return n.Ways[0].Sending })
		take(t, p, probes.VerdictFail)
		told := 0
		for _, e := range d.events {
			if e == "slack" {
				told++
			}
		}
		if told != c.told || marked != c.repeat {
			t.Errorf("%s: told %d times, marked %v; want %d, %v", c.name, told, marked, c.told, c.repeat)
		}
		if open := p.memory.Open(); len(open) != 1 || open[0].Number != 1 || len(p.memory.Outbox) != 0 {
			t.Errorf("%s: open %+v, %d in the outbox", c.name, open, len(p.memory.Outbox))
		}
	}
}

// TestAFailedPushIsInTheNextOne: it was counted after the push, and kept.
func TestAFailedPushIsInTheNextOne(t *testing.T) {
	t.Parallel()
	d := &diary{fails: func(event string, nth int) error {
		if event == "push" && nth == 2 {
			return errors.New("gone")
		}
		return nil
	}}
	for range 2 {
		p, _ := newPass(t, noted, d)
		take(t, p, probes.VerdictPass)
		if len(d.events) < 6 {
			continue
		}
		var text bytes.Buffer
		if err := p.metrics.Text(&text); err != nil {
			t.Fatal(err)
		}
		want(t, "the second run's metrics", text.String(),
			`perch_problems_total{part="push",perch="noted",vantage="test"} 1`, `perch_runs_total{perch="noted",vantage="test",verdict="pass"} 2`)
		return
	}
	t.Errorf("the push did not fail: %q", d.events)
}

// TestAStateThatIsTooLarge loses what is needed least, and says so.
func TestAStateThatIsTooLarge(t *testing.T) {
	t.Parallel()
	d := &diary{fails: func(event string, nth int) error {
		if event == "save" && nth < 3 {
			return &state.TooLargeError{Size: 2, Limit: 1, Largest: `section "alert"`}
		}
		return nil
	}}
	p, log := newPass(t, noted, d)
	now := time.Now()
	for n := range 8 {
		p.memory.Count++
		p.memory.Incidents = append(p.memory.Incidents, alert.Incident{Number: n + 1, Target: "api", Family: probes.FamilyContract, State: alert.StateResolved, Ended: now})
	}
	raw, err := json.Marshal(p.memory)
	if err != nil {
		t.Fatal(err)
	}
	d.doc.SetSection(sectionAlert, raw)
	run := take(t, p, probes.VerdictPass)
	if len(run.Problems) > 0 || len(d.kept) != 1 {
		t.Errorf("problems %v, %d saves; want it saved", run.Problems, len(d.kept))
	}
	if n := len(p.memory.Incidents); n != 2 || p.memory.Incidents[0].Number != 7 {
		t.Errorf("%d incidents are kept, want the two newest", n)
	}
	want(t, "the log", log.String(), "too large", "incidents=8")

	// With nothing left to drop it is a problem.
	d = &diary{fails: func(event string, _ int) error {
		if event == "save" {
			return &state.TooLargeError{Size: 2, Limit: 1, Largest: `section "metrics"`}
		}
		return nil
	}}
	p, _ = newPass(t, noted, d)
	run = take(t, p, probes.VerdictPass)
	if len(run.Problems) != 1 || run.Problems[0].Part != probes.PartState {
		t.Errorf("problems %v, want one of the state", run.Problems)
	}
}

// TestTheFirstPushKnowsTheMemory: it replaces what the last run pushed, and an
// incident must not seem over while the next run probes.
func TestTheFirstPushKnowsTheMemory(t *testing.T) {
	t.Parallel()
	d := &diary{fails: func(event string, _ int) error {
		if event == "slack" {
			return errors.New("gone")
		}
		return nil
	}}
	p, _ := newPass(t, noted, d)
	take(t, p, probes.VerdictFail)
	p, _ = newPass(t, noted, d)
	if err := p.open(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := p.makePlan(); err != nil {
		t.Fatal(err)
	}
	p.begin(t.Context())
	<-p.pushing
	var text bytes.Buffer
	if err := p.metrics.Text(&text); err != nil {
		t.Fatal(err)
	}
	want(t, "the first push", text.String(), `perch_incident_open{family="contract",perch="noted",target="api",vantage="test"} 1`,
		`perch_notices_pending{destination="slack",perch="noted",vantage="test"} 1`, "perch_notices_oldest_pending_timestamp_seconds{",
		`perch_attempts_total{connection="fresh",perch="noted",probe="get",reason="status",target="api",vantage="test"} 1`)
}

// TestReportModeTellsNobody: it decides, remembers and shows.
func TestReportModeTellsNobody(t *testing.T) {
	t.Parallel()
	d := &diary{}
	p, _ := newPass(t, strings.Replace(noted, "fire_after: 1", "mode: report, fire_after: 1", 1), d)
	run := take(t, p, probes.VerdictFail)
	if want := []string{"reserve", "push", "save", "push"}; !slices.Equal(d.events, want) {
		t.Errorf("%q, want %q", d.events, want)
	}
	want(t, "what would be sent", p.notices, "FIRING api")
	if len(run.Incidents) != 1 || len(p.memory.Outbox) != 0 {
		t.Errorf("incidents %+v, %d in the outbox", run.Incidents, len(p.memory.Outbox))
	}
	want(t, "the report", strings.Join(run.Notices, "\n"), "nothing is sent: alerts.mode is report")
}

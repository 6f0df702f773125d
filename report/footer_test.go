package report

import (
	"strings"
	"testing"
	"time"

	"perch.example/probes"
)

// A budget is said as it is enforced: 2/s at the peak is no breach of 1/s.
func TestBudgetSaysItsRule(t *testing.T) {
	for _, tt := range []struct {
		use  probes.BudgetUse
		want string
	}{
		{probes.BudgetUse{LimitPerSecond: 1, Requests: 9, PeakPerSecond: 2}, "api: 9 requests, at most 2 in a second; its budget of 1/s allows 2 in any 2 s"},
		{probes.BudgetUse{LimitPerSecond: 10, Requests: 14, PeakPerSecond: 8}, "api: 14 requests, at most 8 in a second; its budget is 10/s"},
		{probes.BudgetUse{LimitPerSecond: 2, Requests: 1, PeakPerSecond: 1}, "api: 1 request; its budget is 2/s"},
		{probes.BudgetUse{LimitPerSecond: 0.3, Requests: 2, PeakPerSecond: 2}, "api: 2 requests, at most 2 in a second; its budget of 0.3/s allows 2 in any 6.7 s"},
		{probes.BudgetUse{LimitPerSecond: 2.5}, "api: 0 requests; its budget of 2.5/s allows 2 in any 1 s"},
		{probes.BudgetUse{LimitPerSecond: 1, Denied: 1}, "api: 0 requests; its budget of 1/s allows 2 in any 2 s; 1 request was not sent"},
		{probes.BudgetUse{Denied: 2, Waited: 40 * ms}, "api: 0 requests; waited 40 ms for it; 2 requests were not sent"},
	} {
		tt.use.Target = "api"
		if got := budgetUse(tt.use); got != tt.want {
			t.Errorf("got  %s\nwant %s", got, tt.want)
		}
	}
}

// perch's own delay is said only where it may be taken for a failure.
func TestOwnDelayIsSaidWhereItMatters(t *testing.T) {
	for _, tt := range []struct {
		name  string
		run   probes.Run
		delay time.Duration
		want  bool
	}{
		{"large, and something failed", mixed(), 235 * ms, true},
		{"large, and all passed", allPass(), 235 * ms, false},
		{"small, and something failed", mixed(), 50 * ms, false},
	} {
		tt.run.Delays = []time.Duration{0, tt.delay, ms}
		if got := strings.Contains(text(t, tt.run, Style{}), "Own delay"); got != tt.want {
			t.Errorf("%s: said %v, want %v", tt.name, got, tt.want)
		}
	}
}

func TestHeadlines(t *testing.T) {
	for _, tt := range []struct {
		run  probes.Run
		want string
	}{
		{nothingDue(), "PASS: nothing was due: stock-api/calendar, stock-api/calendar-idle (`--all` runs them all the same)"},
		{probes.Run{}, "PASS: no probe ran"},
		{noKeepAlive(), "PASS: 1 of 1 probe held nothing (the API ends each connection)"},
		{undeclared(), "DEGRADED: 1 of 1 probe degraded: stock-api/calendar-idle (undeclared_close)"},
	} {
		if got := Headline(tt.run); got != tt.want {
			t.Errorf("got  %s\nwant %s", got, tt.want)
		}
	}
}

// A bar never shows life where no rung worked.
func TestBarOfSilence(t *testing.T) {
	o := dropped(60 * time.Second)
	for _, tt := range []struct {
		survived time.Duration
		want     string
	}{{0, "?????✗"}, {12 * time.Second, "━━???✗"}} {
		if got := (chart{cells: 6, scale: 60 * time.Second, survived: tt.survived}).bar(&o); got != tt.want {
			t.Errorf("survived %v: got %s, want %s", tt.survived, got, tt.want)
		}
	}
}

// What perch looked at late is not known to the resolution of its look.
func TestResolutionIsLeftOutWherePerchWasLate(t *testing.T) {
	for _, tt := range []struct {
		delay time.Duration
		want  bool
	}{{0, true}, {100 * us, true}, {235 * ms, false}} {
		run := search()
		a := attempt(&run.Outcomes[1], probes.ConnectionReused)
		a.Delay, a.DelayKnown = tt.delay, true
		if got := strings.Contains(agreement(targets(run)[0].probes[0].outcomes), "each known to within"); got != tt.want {
			t.Errorf("late by %v: said %v, want %v", tt.delay, got, tt.want)
		}
	}
}

func TestAgreement(t *testing.T) {
	run := search()
	outcomes := targets(run)[0].probes[0].outcomes
	for i, want := range []string{
		"Seen on 1 connection, known", "Seen on 2 connections, closed at 1 s to 1.001 s, each", "Seen on 3 connections, closed at 0.998 s to 1.001 s, each",
	} {
		if got := agreement(outcomes[:i+1]); !strings.HasPrefix(got, want) {
			t.Errorf("got %s, want %s...", got, want)
		}
	}
	outcomes[1].Close.Age, outcomes[2].Close.Age = outcomes[0].Close.Age, outcomes[0].Close.Age+10*us
	if got := agreement(outcomes); !strings.HasPrefix(got, "Seen on 3 connections, all closed at 1 s, each") {
		t.Errorf("got %s", got)
	}
}

// What stopped a step stands in its line.
func TestWhyAStepWasStopped(t *testing.T) {
	o := httpOK("stock-api", "calendar", 131*ms)
	o.Verdict, o.Reason, o.Message = probes.VerdictSkipped, probes.ReasonSkipped, "not judged: it was not tried (the API asked to wait 2 min)"
	if got := exchange(&o); !strings.HasSuffix(got, "; "+o.Message) {
		t.Errorf("got %s", got)
	}
	idle := rungOK(time.Second)
	idle.Verdict, idle.Reason, idle.Message, idle.Attempts = o.Verdict, o.Reason, o.Message, []probes.Attempt{try(1, probes.ConnectionFresh, probes.ReasonSkipped, 0, 0)}
	if got := notHeld(probeView{outcomes: []*probes.Outcome{&idle}}); got != o.Message {
		t.Errorf("got %s", got)
	}
}

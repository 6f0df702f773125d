package main

import (
	"errors"
	"strings"
	"testing"
	"time"

	"perch.example/alert"
	"perch.example/probes"
)

// stands takes runs with those verdicts (f fails, p passes) through all stages,
// and returns the report's incidents and notices of the last one.
func stands(t *testing.T, text, runs string) probes.Run {
	t.Helper()
	d := &diary{}
	now := time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)
	var last probes.Run
	for _, r := range runs {
		p, _ := newPass(t, text, d)
		p.sys.now = func() time.Time { return now }
		verdict := probes.VerdictPass
		if r == 'f' {
			verdict = probes.VerdictFail
		}
		last = take(t, p, verdict)
		now = now.Add(5 * time.Minute)
	}
	return last
}

// TestTheLifeOfAnIncidentIsVisible at each of its stations, with what would
// move it on and what people have heard.
func TestTheLifeOfAnIncidentIsVisible(t *testing.T) {
	t.Parallel()
	two := strings.Replace(noted, "fire_after: 1, resolve_after: 1", "fire_after: 2, resolve_after: 2", 1)
	three := strings.Replace(noted, "fire_after: 1", "fire_after: 3", 1)
	muted := strings.Replace(noted, "fire_after: 1", `silences: [{match: api, until: "2027-01-01", reason: moving}], fire_after: 1`, 1)
	for _, c := range []struct {
		name, config, runs string
		state              probes.IncidentState
		notice             probes.NoticeState
		says               string
	}{
		{"pending", two, "f", probes.IncidentPending, probes.NoticeNone,
			"api (contract) is pending since 2026-03-01 10:00 UTC: 1 of 2 failed runs: the next one fires"},
		{"pending, and far", three, "f", probes.IncidentPending, probes.NoticeNone, "1 of 3 failed runs: 2 more fire"},
		{"pending, with a good run between", two, "fp", probes.IncidentPending, probes.NoticeNone, "1 of 2 failed runs: the next one fires"},
		{"pending, about to be forgotten", two, "fpp", probes.IncidentPending, probes.NoticeNone, "1 of 2 failed runs: 2 more fire"},
		{"firing", two, "ff", probes.IncidentFiring, probes.NoticeTold, "is firing since 2026-03-01 10:00 UTC: 2 of 2 runs failed; told"},
		{"mending", two, "ffp", probes.IncidentFiring, probes.NoticeTold, "2 of 3 runs failed; 1 of 2 good runs in a row, then it is resolved; told"},
		{"resolved", two, "ffpp", probes.IncidentResolved, probes.NoticeTold, "is resolved in this run: it was open since 2026-03-01 10:00 UTC, 2 of 4 runs failed; told"},
		{"flapping", noted, "fpfpf", probes.IncidentFlapping, probes.NoticeTold, "is held open until no run has failed for an hour, the last did at 2026-03-01 10:20 UTC; told"},
		{"flapping, and good for now", noted, "fpfpfp", probes.IncidentFlapping, probes.NoticeTold, "the last did at 2026-03-01 10:20 UTC; told"},
		{"muted", muted, "f", probes.IncidentFiring, probes.NoticeMuted, "its notices are muted until 2027-01-02 00:00 UTC (moving)"},
	} {
		run := stands(t, c.config, c.runs)
		if len(run.Incidents) != 1 {
			t.Errorf("%s: %d incidents, want one", c.name, len(run.Incidents))
			continue
		}
		i := run.Incidents[0]
		if i.State != c.state || i.Notice != c.notice || !strings.Contains(i.Said, c.says) {
			t.Errorf("%s: %s, %s: %q\nwant %s, %s: %q", c.name, i.State, i.Notice, i.Said, c.state, c.notice, c.says)
		}
		if i.Target != "api" || i.Family != probes.FamilyContract || !strings.HasPrefix(i.Name, "api/contract#") || i.Counted == 0 {
			t.Errorf("%s: %+v", c.name, i)
		}
		if (c.name == "muted") == i.MutedUntil.IsZero() {
			t.Errorf("%s: muted until %s", c.name, i.MutedUntil)
		}
		if len(run.Notices) > 0 {
			t.Errorf("%s: %q, want nothing of notices", c.name, run.Notices)
		}
	}
	if run := stands(t, two, "ffppp"); len(run.Incidents) > 0 {
		t.Errorf("one that was over before this run is shown: %+v", run.Incidents)
	}
	if run := stands(t, two, "fppp"); len(run.Incidents) > 0 {
		t.Errorf("one that never was is shown: %+v", run.Incidents)
	}
}

// TestPendingWordsAreTrue: the incident fires after as many failed runs as said.
func TestPendingWordsAreTrue(t *testing.T) {
	t.Parallel()
	o := alert.Options{ResolveAfter: 1, Destinations: []string{"x"}, Mode: alert.ModeNotify}
	run := func(m alert.Memory, v probes.Verdict) alert.Memory {
		m, _ = alert.Decide(m, probes.Run{Outcomes: []probes.Outcome{{Target: "a", Probe: "b", Family: probes.FamilyContract, Verdict: v}}}, o)
		return m
	}
	for o.FireAfter = 1; o.FireAfter <= 4; o.FireAfter++ {
		for past := range 1 << 6 {
			var m alert.Memory
			for bit := range 6 {
				m = run(m, []probes.Verdict{probes.VerdictPass, probes.VerdictFail}[past>>bit&1])
			}
			pending := len(m.Incidents) > 0 && m.Incidents[len(m.Incidents)-1].State == alert.StatePending
			if !pending {
				continue
			}
			more := moreToFire(m.Incidents[len(m.Incidents)-1].Runs, o.FireAfter)
			for n := 1; n <= more; n++ {
				m = run(m, probes.VerdictFail)
				if fires := len(m.Open()) > 0; fires != (n == more) {
					t.Fatalf("fire_after %d, past %06b: after %d failed runs firing is %v, want it after %d", o.FireAfter, past, n, fires, more)
				}
			}
		}
	}
}

// TestAnEndThatMendsNothingIsSaid: accepted, or out of the config.
func TestAnEndThatMendsNothingIsSaid(t *testing.T) {
	t.Parallel()
	d := &diary{}
	p, _ := newPass(t, noted, d)
	take(t, p, probes.VerdictFail)
	p, _ = newPass(t, strings.Replace(noted, "name: get", "name: other", 1), d)
	run := take(t, p, probes.VerdictPass)
	if len(run.Incidents) != 1 || run.Incidents[0].State != probes.IncidentClosed {
		t.Fatalf("%+v, want a closed one", run.Incidents)
	}
	want(t, "the report", run.Incidents[0].Said, "is closed in this run, and was open since ", "its probes are no longer in the config; told")
	for by, state := range map[alert.EndedBy]probes.IncidentState{
		alert.EndedAccepted: probes.IncidentClosed, alert.EndedRemoved: probes.IncidentClosed, alert.EndedRecovered: probes.IncidentResolved, "": probes.IncidentResolved,
	} {
		if got := stationOf(alert.Incident{State: alert.StateResolved, EndedBy: by}); got != state {
			t.Errorf("ended by %q: %s, want %s", by, got, state)
		}
	}
}

// TestWhyNobodyHears: what waits, and why nothing is sent.
func TestWhyNobodyHears(t *testing.T) {
	t.Parallel()
	d := &diary{fails: func(event string, _ int) error {
		if event == "slack" {
			return errors.New("away")
		}
		return nil
	}}
	p, _ := newPass(t, noted, d)
	run := take(t, p, probes.VerdictFail)
	if len(run.Incidents) != 1 || run.Incidents[0].Notice != probes.NoticeWaiting {
		t.Fatalf("%+v, want one whose notice waits", run.Incidents)
	}
	want(t, "the incident", run.Incidents[0].Said, "what there is to tell of it waits")
	want(t, "the notices", strings.Join(run.Notices, "\n"), "1 notice waits to be told, since ")

	p, log := newPass(t, strings.Replace(noted, "fire_after: 1", "mode: report, fire_after: 1", 1), d)
	run = take(t, p, probes.VerdictFail)
	want(t, "the notices", strings.Join(run.Notices, "\n"), "1 notice waits", "nothing is sent: alerts.mode is report")
	want(t, "the log", log.String(), "notices wait", "alerts.mode is report", "notices=1")

	p, log = newPass(t, strings.Replace(noted, "slack: {webhook: {from: {env: HOOK}}}\n", "", 1), d)
	run = take(t, p, probes.VerdictFail)
	want(t, "the notices", strings.Join(run.Notices, "\n"), "nothing is sent: the config names no destination")
	want(t, "the log", log.String(), "notices that waited are dropped", "notices=1")
}

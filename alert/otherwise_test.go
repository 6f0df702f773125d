package alert

import (
	"strings"
	"testing"
	"time"

	"perch.example/probes"
)

// TestUnjudged: an incident whose probe fails otherwise stays open, and nothing
// says that it fails so still.
func TestUnjudged(t *testing.T) {
	refused := single("shop", "quote", probes.VerdictFail, probes.DiagnosisUnreachable, probes.FamilyReachability)
	down := single("shop", "quote", probes.VerdictFail, probes.DiagnosisServiceDown, probes.FamilyReachability)
	missing := single("shop", "quote", probes.VerdictFail, probes.DiagnosisContract, probes.FamilyContract)
	well := single("shop", "quote", probes.VerdictPass, "", "")
	steps := map[byte]probes.Run{'R': runOf(refused), 'D': runOf(down), '4': runOf(missing), 'g': runOf(well), '-': runOf()}
	const reach = "last seen failing so at 2026-03-02 12:10 UTC; since 2026-03-02 12:15 UTC shop/quote fails otherwise (contract: the answer is not what is expected), which neither confirms nor ends it"
	for _, tt := range []struct{ runs, want, title string }{
		{"RRD", "", "STILL FIRING shop: requests on fresh connections fail"},
		{"RRD4", reach, "STILL OPEN shop: no connection can be made"},
		{"RRD444", reach, "STILL OPEN shop: no connection can be made"},
		{"RRD4-", reach, "STILL OPEN shop: no connection can be made"},
		{"RRD4R", "", "STILL FIRING shop: no connection can be made"},
		{"RRD4g", "", "STILL OPEN shop: no connection can be made"},
		{"RRD-", "", "STILL FIRING shop: no connection can be made"},
	} {
		var sequence []probes.Run
		for _, c := range []byte(tt.runs) {
			sequence = append(sequence, steps[c])
		}
		m, _ := decideAll(options, sequence...)
		m = remember(t, m)
		var open Incident
		for _, i := range m.Open() {
			if i.Family == probes.FamilyReachability {
				open = i
			}
		}
		if got := open.Unjudged(); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.runs, got, tt.want)
		}
		last := sequence[len(sequence)-1]
		n := Ongoing(m, at(last, len(sequence)-1), options(len(sequence)-1))[0]
		if n.Title != tt.title || n.About[0].Family != probes.FamilyReachability {
			t.Errorf("%s: the title is %q, want %q", tt.runs, n.Title, tt.title)
		}
		if says := strings.Contains(wordsOf(n), "neither confirms nor ends it") && strings.Contains(n.Summary, "neither confirms nor ends it"); says != (tt.want != "") {
			t.Errorf("%s: it says %q\n%s", tt.runs, n.Summary, Text(n))
		}
		if len(tt.want) == 0 && tt.runs[len(tt.runs)-1] == '-' && !strings.Contains(n.Summary, "Last seen failing so at 2026-03-02 12:10 UTC") {
			t.Errorf("%s: it says %q", tt.runs, n.Summary)
		}
	}
}

// TestAnotherTroubleIsNoOtherwise: what is left out, cut short or accepted.
func TestAnotherTroubleIsNoOtherwise(t *testing.T) {
	accepted := single("shop", "idle", probes.VerdictFail, probes.DiagnosisContract, probes.FamilyContract)
	accepted.Accepted = march()
	for name, last := range map[string]probes.Run{"skipped": runs()['s'], "incomplete beside a failure": runs()['I'], "accepted": runOf(accepted), "nothing": runOf()} {
		m, _ := decideAll(options, runs()['F'], runs()['F'], last)
		if got := m.Open()[0].Unjudged(); got != "" {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// TestTheFirstWordIsNotStill: the run that opens it is told as firing.
func TestTheFirstWordIsNotStill(t *testing.T) {
	m, _ := decideAll(options, incident(), incident())
	if got := Ongoing(m, at(incident(), 1), options(1))[0].Title; !strings.HasPrefix(got, "FIRING stock-api: ") {
		t.Errorf("the first is %q", got)
	}
	if got := Ongoing(m, at(incident(), 2), options(2))[0].Title; !strings.HasPrefix(got, "STILL FIRING stock-api: ") {
		t.Errorf("the second is %q", got)
	}
	strict := func(n int) Options {
		o := options(n)
		o.FireAfter, o.ResolveAfter = 1, 1
		return o
	}
	m, _ = decideAll(strict, sequence("FgFgF")...)
	if got := Ongoing(m, at(runs()['F'], 4), strict(4))[0].Title; !strings.HasPrefix(got, "FLAPPING shop: ") {
		t.Errorf("of a flapping one the first is %q", got)
	}
}

// TestEveryWithoutAnInterval: probes that are in each run are as often looked at
// as the last runs were apart.
func TestEveryWithoutAnInterval(t *testing.T) {
	every := func(d time.Duration, n int) probes.Run {
		run := incident()
		for i := range run.Outcomes {
			run.Outcomes[i].Every = d
		}
		return at(run, n)
	}
	for name, tt := range map[string]struct {
		runs []probes.Run
		want time.Duration
	}{
		"one run":                   {[]probes.Run{every(0, 0)}, 0},
		"two":                       {[]probes.Run{every(0, 0), every(0, 1)}, 5 * time.Minute},
		"the last two":              {[]probes.Run{every(0, 0), every(0, 1), every(0, 4)}, 15 * time.Minute},
		"what does not count":       {[]probes.Run{every(0, 0), every(0, 1), at(runOf(), 2), every(0, 3)}, 10 * time.Minute},
		"an interval is better":     {[]probes.Run{every(time.Hour, 0), every(time.Hour, 1)}, time.Hour},
		"until it is there no more": {[]probes.Run{every(time.Hour, 0), every(0, 1)}, 5 * time.Minute},
	} {
		var m Memory
		for _, run := range tt.runs {
			o := options(0)
			o.Now, o.FireAfter = run.Started.Add(4*time.Second), 1
			m, _ = Decide(remember(t, m), run, o)
		}
		if got := m.Incidents[0].about().Every; got != tt.want {
			t.Errorf("%s: %s, want %s", name, got, tt.want)
		}
	}
}

// TestEndedBy: machines can tell a mending from the other ends.
func TestEndedBy(t *testing.T) {
	gone := func(n int) Options {
		o := options(n)
		o.Known = []string{"stock-api/calendar-idle"}[:max(0, 1-n/2)]
		return o
	}
	for want, tt := range map[EndedBy]struct {
		o    func(int) Options
		runs []probes.Run
	}{
		EndedRecovered: {options, []probes.Run{incident(), incident(), mended(), mended()}},
		EndedAccepted:  {options, []probes.Run{incident(), incident(), accepted(), accepted()}},
		EndedRemoved:   {gone, []probes.Run{incident(), incident(), runOf()}},
	} {
		m, told := decideAll(tt.o, tt.runs...)
		end := told[len(told)-1][0]
		if end.About[0].EndedBy != want || documentOf(end).Incidents[0].EndedBy != want || remember(t, m).Incidents[0].EndedBy != want {
			t.Errorf("%s: the end is %+v", want, end.About[0])
		}
		if open := told[1][0].About[0]; open.EndedBy != "" {
			t.Errorf("the opening is ended by %s", open.EndedBy)
		}
	}
}

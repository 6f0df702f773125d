package alert

import (
	"testing"
	"time"

	"perch.example/probes"
)

// TestReportMode: everything is decided and shown once, nothing waits; whoever
// turns notifying on hears of what is still open, and of no end without a
// beginning.
func TestReportMode(t *testing.T) {
	const steps = "FFFgggFFFF"
	notifyFrom := map[string]int{"never": 99, "while it is open": 8, "after the first ended": 5}
	want := map[string]string{"never": ".F..R..F..", "while it is open": ".F..R..FF.", "after the first ended": ".F..R..F.."}
	for name, from := range notifyFrom {
		var sequence []probes.Run
		for _, c := range []byte(steps) {
			sequence = append(sequence, runs()[c])
		}
		m, told := decideAll(func(n int) Options {
			o := options(n)
			if n < from {
				o.Mode = ModeReport
			}
			return o
		}, sequence...)
		if got := shorthand(told); got != want[name] {
			t.Errorf("%s: told %s, want %s", name, got, want[name])
		}
		if len(m.Outbox) != 0 {
			t.Errorf("%s: %d notices wait", name, len(m.Outbox))
		}
	}

	report, notify := options(0), options(0)
	report.Mode = ModeReport
	m, _ := Decide(Memory{}, at(incident(), 0), report)
	m, shown := Decide(m, at(incident(), 1), report)
	if len(shown) != 1 {
		t.Fatalf("report mode showed %d notices at the opening, want 1", len(shown))
	}
	open := m
	m, told := Decide(open, at(incident(), 2), notify)
	if len(told) != 1 || told[0].Kind != KindFiring {
		t.Errorf("turning notify on while it is open told %+v, want the opening", told)
	}
	if _, told = Decide(m, at(incident(), 3), notify); len(told) != 1 {
		t.Errorf("the next run has %d to tell, want the same one, still waiting", len(told))
	}
	m, _ = Decide(open, at(mended(), 2), notify)
	if _, told = Decide(m, at(mended(), 3), notify); len(told) != 0 {
		t.Errorf("an end whose beginning nobody heard was told: %+v", told)
	}
}

// TestReportModeShowsEveryKind once, and keeps none for sending; neither does
// notify mode without a destination.
func TestReportModeShowsEveryKind(t *testing.T) {
	stalled := runOf(single("shop", "idle", probes.VerdictFail, probes.DiagnosisStalled, probes.FamilyConnection))
	all := append(sequence("FFF"), stalled)
	all = append(all, sequence("Fgg")...)
	all[1].Outcomes = append(all[1].Outcomes, single("else", "p", probes.VerdictDegraded, probes.DiagnosisUnstable, probes.FamilyReachability))
	for name, change := range map[string]func(*Options){
		"report":         func(o *Options) { o.Mode = ModeReport },
		"no mode":        func(o *Options) { o.Mode = "" },
		"no destination": func(o *Options) { o.Destinations = nil },
	} {
		m, told := decideAll(spaced(5*time.Hour, func(o *Options) {
			o.RemindEvery = 5 * time.Hour
			change(o)
		}), all...)
		if got := shorthand(told); got != ".Fm+m.R" || told[3][0].Kind != KindSharper || told[3][1].Kind != KindDigest {
			t.Errorf("%s: shown %s, want .Fm+m.R with sharper evidence and a digest", name, got)
		}
		if len(m.Outbox)+len(m.Muted) > 0 || len(m.Threads) > 0 {
			t.Errorf("%s: kept %+v, %+v", name, m.Outbox, m.Muted)
		}
	}
}

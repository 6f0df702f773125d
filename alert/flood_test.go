package alert

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"perch.example/probes"
)

// several are the outcomes of that many targets, and of one more that is well.
func several(targets int, v probes.Verdict, change func(at int, o *probes.Outcome)) probes.Run {
	all := []probes.Outcome{single("another", "p", probes.VerdictPass, "", "")}
	for n := range targets {
		o := single(fmt.Sprintf("target%02d", n), "p", v, probes.DiagnosisUnreachable, probes.FamilyReachability)
		if v == probes.VerdictPass {
			o.Diagnosis, o.Family = "", ""
		}
		if change != nil {
			change(n, &o)
		}
		all = append(all, o)
	}
	return runOf(all...)
}

// TestWhatWasToldAsOneGoesOnAsOne: whatever becomes of it at once is one
// message, not one of each.
func TestWhatWasToldAsOneGoesOnAsOne(t *testing.T) {
	const targets, tick = 20, 5 * time.Minute
	bad, well := several(targets, probes.VerdictFail, nil), several(targets, probes.VerdictPass, nil)
	accepted := several(targets, probes.VerdictFail, func(_ int, o *probes.Outcome) { o.Accepted = march() })
	down := several(targets, probes.VerdictFail, func(_ int, o *probes.Outcome) { o.Diagnosis = probes.DiagnosisServiceDown })
	half := several(targets, probes.VerdictPass, func(n int, o *probes.Outcome) {
		if n >= targets/2 {
			*o = bad.Outcomes[n+1]
		}
	})
	silenced := func(a *telling) {
		a.o.Silences = []Silence{{Match: "*", Until: a.now.Add(time.Hour), Reason: "maintenance"}}
	}
	told := []string{"slack"}
	tests := []struct {
		name string
		then func(t *testing.T, a *telling)
		want []string // of the titles, in order
		says string
	}{
		{"accepted", func(t *testing.T, a *telling) { a.run(t, tick, accepted, told...) }, []string{"CLOSED 20 targets (no connection can be made): accepted"}, "Accepted until"},
		{"removed", func(t *testing.T, a *telling) {
			a.o.Known = []string{"another/p"}
			a.run(t, tick, runOf(), told...)
		}, []string{"CLOSED 20 targets (no connection can be made): no longer in the config"}, "The config no longer has target00/p"},
		{"sharper", func(t *testing.T, a *telling) { a.run(t, tick, down, told...) }, []string{"CHANGED 20 targets: "}, "It opened as"},
		{"ended in a silence, at once", func(t *testing.T, a *telling) {
			silenced(a)
			a.run(t, tick, well, told...)
			a.run(t, 2*time.Hour, well, told...)
		}, []string{"RESOLVED 20 targets (no connection can be made)"}, "They ended at 2026-03-02 12:05 UTC, while they were silenced until 2026-03-02 13:00 UTC (maintenance)"},
		{"ended in a silence, one after the other", func(t *testing.T, a *telling) {
			silenced(a)
			a.run(t, tick, half, told...)
			a.run(t, tick, well, told...)
			a.run(t, 2*time.Hour, well, told...)
		}, []string{"RESOLVED 20 targets (no connection can be made)"}, "target00: over at 2026-03-02 12:05 UTC, after 5 min"},
		{"ended while nothing is told", func(t *testing.T, a *telling) {
			a.o.Mode = ModeReport
			a.run(t, tick, well, told...)
			a.o.Mode = ModeNotify
			a.run(t, tick, well, told...)
		}, []string{"RESOLVED 20 targets (no connection can be made)"}, "while perch told nobody"},
		{"flapping", func(t *testing.T, a *telling) {
			for range 4 {
				a.run(t, tick, well, told...)
				a.run(t, tick, bad, told...)
			}
		}, []string{"RESOLVED 20 ", "FIRING 20 ", "RESOLVED 20 ", "FLAPPING 20 targets: no connection can be made"}, "It opened 3 times within an hour"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a := newTelling("slack")
			a.run(t, 0, bad, "slack")
			tt.then(t, a)
			got := a.to["slack"].got[1:]
			if len(got) != len(tt.want) || len(a.m.Outbox)+len(a.m.Muted) > 0 {
				t.Fatalf("told %d notices, want %d: %q", len(got), len(tt.want), a.to["slack"].kinds())
			}
			for n, want := range tt.want {
				if !strings.HasPrefix(got[n].Title, want) || len(got[n].About) != targets {
					t.Errorf("told %q of %d, want %q", got[n].Title, len(got[n].About), want)
				}
			}
			last := got[len(got)-1]
			if text := strings.Join(strings.Fields(Text(last)), " "); !strings.Contains(text, tt.says) {
				t.Errorf("%q is missing in\n%s", tt.says, text)
			}
			if tt.name == "removed" && strings.Contains(Text(last), "perch run") {
				t.Errorf("a probe that is gone cannot be run:\n%s", Text(last))
			}
		})
	}
}

// TestTheEndWhileNothingIsToldIsToldOnce to those who know of the beginning, and
// shown when it happens.
func TestTheEndWhileNothingIsToldIsToldOnce(t *testing.T) {
	a := newTelling("slack")
	a.run(t, 0, incident(), "slack")
	a.o.Mode = ModeReport
	m, shown := Decide(a.m, at(mended(), 1), a.o)
	if len(shown) != 1 || shown[0].Kind != KindResolved || len(m.Outbox) > 0 || len(m.Muted) != 1 {
		t.Fatalf("shown are %d notices, %d wait, %d are kept; want 1, 0, 1", len(shown), len(m.Outbox), len(m.Muted))
	}
	a.m = m
	a.o.Mode = ModeNotify
	for range 3 {
		a.run(t, time.Hour, mended(), "slack")
	}
	if got := a.to["slack"].kinds(); got != "firing resolved" {
		t.Errorf("slack was told %q", got)
	}
}

// TestManyEndsInASilenceAreBounded, also where each was told by itself.
func TestManyEndsInASilenceAreBounded(t *testing.T) {
	const targets = 130
	apart := func(n int, o *probes.Outcome) { o.Notice.Channel = fmt.Sprint("#", n) }
	a := newTelling("slack")
	a.run(t, 0, several(targets, probes.VerdictFail, apart), "slack")
	a.o.Silences = []Silence{{Match: "*", Until: a.now.Add(time.Hour)}}
	a.run(t, 5*time.Minute, several(targets, probes.VerdictPass, apart), "slack")
	whole := 0
	for _, n := range a.m.Muted {
		if !n.isSlim() {
			whole++
		}
	}
	if len(a.m.Muted) != targets || whole != mostWhole {
		t.Fatalf("%d ends are kept, %d of them whole; want %d and %d", len(a.m.Muted), whole, targets, mostWhole)
	}
	m := a.m
	for more := true; more; {
		m, more = m.Shrink()
	}
	for _, n := range m.Muted {
		if !n.isSlim() {
			t.Fatalf("%s stays whole in a memory that is too large", n.ID)
		}
	}
	a.run(t, 2*time.Hour, runOf(), "slack")
	if got := a.to["slack"].kinds(); strings.Count(got, "resolved") != targets {
		t.Errorf("%d ends were told, want %d", strings.Count(got, "resolved"), targets)
	}
}

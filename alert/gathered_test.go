package alert

import (
	"slices"
	"strings"
	"testing"

	"perch.example/probes"
)

// gathering folds runs into a memory, which tells nothing of what opens.
func gathering(runs ...probes.Run) (Memory, []Notice) {
	var m Memory
	var told []Notice
	for n, run := range runs {
		o := options(n)
		o.FireAfter, o.ResolveAfter, o.Gather = 1, 1, true
		var notices []Notice
		m, notices = Decide(m, at(run, n), o)
		told = append(told, notices...)
	}
	return m, told
}

func downAt(target string) probes.Outcome {
	return single(target, "p", probes.VerdictFail, probes.DiagnosisServiceDown, probes.FamilyReachability)
}

// What opened in several runs is told as one, and counted once a run.
func TestGatheredTellsAsOne(t *testing.T) {
	m, told := gathering(runOf(downAt("a")), runOf(downAt("b")), runOf(downAt("c")), runOf(downAt("a")))
	if len(told) != 0 || len(m.Open()) != 3 || len(m.Gathering()) != 3 || !m.Untold(m.Open()[0]) {
		t.Fatalf("told %d, open %+v", len(told), m.Open())
	}
	for range 2 { // the second has nothing to tell
		before := m
		m, told = Gathered(m, runOf(downAt("a"), downAt("b"), downAt("c")), options(4))
		if len(told) != 1 || told[0].Kind != KindFiring || !strings.Contains(told[0].Title, "3 targets") {
			t.Fatalf("told %+v", told)
		}
		if len(before.Gathering()) != 0 && before.Outbox != nil {
			t.Error("the memory before was changed")
		}
	}
	for n, i := range m.Open() {
		if i.Gathering || !i.Announced || i.Failed != []int{2, 1, 1}[n] || i.Counted != i.Failed {
			t.Errorf("%+v", i)
		}
	}
}

// What mends before it was told is found, so that it is told first.
func TestMends(t *testing.T) {
	m, _ := gathering(runOf(downAt("a")), runOf(downAt("b")))
	good := func(target, probe string) probes.Outcome { return single(target, probe, probes.VerdictPass, "", "") }
	for name, tt := range map[string]struct {
		run  probes.Run
		want bool
	}{
		"fails":          {runOf(downAt("a")), false},
		"another target": {runOf(good("c", "p")), false},
		"another probe":  {runOf(good("a", "q")), false},
		"a rung of it":   {runOf(good("a", "p"), downAt("a")), false},
		"passes":         {runOf(downAt("b"), good("a", "p")), true},
	} {
		if got := m.Mends(tt.run); got != tt.want {
			t.Errorf("%s: %t, want %t", name, got, tt.want)
		}
	}
	m, _ = Gathered(m, runOf(downAt("a"), downAt("b")), options(2))
	if m.Mends(runOf(good("a", "p"))) {
		t.Error("what was told still gathers")
	}
	o := options(3)
	o.ResolveAfter = 1
	_, told := Decide(m, at(runOf(good("a", "p")), 3), o)
	if got := kindsOf(told); !slices.Equal(got, []Kind{KindFiring, KindFiring, KindResolved}) {
		t.Errorf("waits to be told: %q", got)
	}
}

// A silence that begins meanwhile holds, and what no run shows failing is told by its
// next failed run.
func TestGatheredUnderASilenceAndUnseen(t *testing.T) {
	m, _ := gathering(runOf(downAt("a")), runOf(downAt("b")))
	o := options(2)
	o.Silences = []Silence{{Match: "a", Until: o.Now.Add(1 << 40)}}
	m, told := Gathered(m, runOf(downAt("a")), o)
	if len(told) != 0 || len(m.Gathering()) != 0 || m.Open()[0].Silenced == (Hush{}) {
		t.Errorf("told %+v, %+v", told, m.Open())
	}
	_, told = Decide(m, at(runOf(downAt("a"), downAt("b")), 3), options(3))
	if got := kindsOf(told); len(got) != 2 {
		t.Errorf("told %q, want both, for the silence is over", got)
	}
}

func kindsOf(notices []Notice) []Kind {
	var all []Kind
	for _, n := range notices {
		all = append(all, n.Kind)
	}
	return all
}

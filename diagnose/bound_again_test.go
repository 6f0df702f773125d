package diagnose

import (
	"math/rand/v2"
	"net/netip"
	"testing"
	"time"

	"perch.example/probes"
)

// pathOf plays a path: end says how a rung ends: above 0 it is closed at that age,
// below it dies in silence. The plan's common rungs are held and, around a hidden
// end, those of its search.
type pathOf struct {
	seed uint64
	runs int
	end  func(run int, hold time.Duration, dice *rand.Rand) (age time.Duration, remote byte)
}

func (p pathOf) play() (told []int, bound Bound) {
	dice := rand.New(rand.NewPCG(p.seed, 7))
	for run := range p.runs {
		var rungs []*build
		for i, hold := range plannedHolds(bound.Known) {
			age, remote := p.end(run, hold, dice)
			after := time.Duration(i) * 5 * time.Second
			r := rungAt(after, hold, probes.ReasonOK)
			switch {
			case age > 0 && hold >= age:
				r = rungAt(after, hold, probes.ReasonIdleFIN).closed(age, probes.HowFIN)
			case age < 0:
				r = rungAt(after, hold, probes.ReasonBlackhole)
			}
			rungs = append(rungs, r.reuse(func(a *probes.Attempt) {
				a.Remote = netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, 0, 0, remote}), 443)
			}))
		}
		in := idleInput(0, rungs...)
		in.Now = start().Add(time.Duration(run) * 15 * time.Minute)
		in.Last.Bound, in.Last.Seen = bound, run > 0
		l := newLadder(in)
		if l.change != nil {
			told = append(told, run+1)
		}
		bound = l.bound
	}
	return told, bound
}

// plannedHolds are the plan's, six at once.
func plannedHolds(b probes.Bracket) []time.Duration {
	const s = time.Second
	holds := append([]time.Duration{4 * s, 10 * s, 25 * s, 45 * s, 70 * s, 100 * s}, b.Cut(5)...)
	if b.Hidden() && b.Settled() {
		holds = append(holds, b.Survived-tolerance(b.Survived)*3/2, b.Died+tolerance(b.Died)*3/2)
	}
	return holds
}

func forgetsAt(bound, hold time.Duration) time.Duration {
	if hold >= bound {
		return -1
	}
	return 0
}

// TestTwoBackendsAreNoChange: of a name with two timeouts behind it, now the one
// is seen and now the other: once both were, nothing has moved.
func TestTwoBackendsAreNoChange(t *testing.T) {
	t.Parallel()
	const paths, runs = 40, 60
	timeouts := []time.Duration{30 * time.Second, 60 * time.Second}
	for name, end := range map[string]func(seed uint64, run int, dice *rand.Rand) (int, byte){
		"an address each connection": func(_ uint64, _ int, dice *rand.Rand) (int, byte) { k := dice.IntN(2); return k, byte(k) },
		"one address":                func(_ uint64, _ int, dice *rand.Rand) (int, byte) { return dice.IntN(2), 9 },
		"an address each run": func(seed uint64, run int, _ *rand.Rand) (int, byte) {
			k := rand.New(rand.NewPCG(seed, uint64(run))).IntN(2)
			return k, byte(k)
		},
	} {
		told, times := 0, 0
		for seed := range uint64(paths) {
			at, _ := pathOf{seed, runs, func(run int, _ time.Duration, dice *rand.Rand) (time.Duration, byte) {
				k, remote := end(seed, run, dice)
				return timeouts[k], remote
			}}.play()
			if times = max(times, len(at)); len(at) > 0 {
				told++
			}
		}
		// Three runs of one and then two of the other look like a move, until both are known.
		t.Logf("%s: told on %d of %d paths, at most %d times in %d runs", name, told, paths, times, runs)
		if times > 1 || told > paths/4 {
			t.Errorf("%s: told on %d of %d paths, up to %d times", name, told, paths, times)
		}
	}
}

// TestALostTableMovesNoBound: a device that lost all it knew in one run, whichever,
// leaves no bound that has moved two runs later, and no bracket without it.
func TestALostTableMovesNoBound(t *testing.T) {
	t.Parallel()
	const bound = time.Minute
	for lost := range 8 {
		for _, from := range []time.Duration{46 * time.Second, 50 * time.Second, 55 * time.Second, 59 * time.Second} {
			told, got := pathOf{1, 110, func(run int, hold time.Duration, _ *rand.Rand) (time.Duration, byte) {
				if run == lost {
					return forgetsAt(from, hold), 1
				}
				return forgetsAt(bound, hold), 1
			}}.play()
			if told != nil || got.Known.Survived >= bound || got.Known.Died < bound || !got.Known.Narrow() {
				t.Errorf("lost in run %d from %s on: told in runs %v, known is %+v", lost+1, from, told, got.Known)
			}
		}
	}
}

// TestASmallMoveIsFound: a bound that moves by less than is told for is known anew
// within a day and the search that follows; one that moves by more is told once.
func TestASmallMoveIsFound(t *testing.T) {
	t.Parallel()
	const s, change = time.Second, 20
	for _, to := range []time.Duration{59 * s, 61 * s, 58500 * time.Millisecond, 60500 * time.Millisecond, 62 * s, 57 * s, 30 * s, 64 * s} {
		told, got := pathOf{1, change + 110, func(run int, hold time.Duration, _ *rand.Rand) (time.Duration, byte) {
			if run < change {
				return forgetsAt(60*s, hold), 1
			}
			return forgetsAt(to, hold), 1
		}}.play()
		want := 0
		if (to - 60*s).Abs() >= 2*s {
			want = 1
		}
		if len(told) != want || got.Known.Survived >= to || got.Known.Died < to || !got.Known.Narrow() {
			t.Errorf("to %s: told in runs %v, known is %+v", to, told, got.Known)
		}
	}
}

// TestAContradictionBelowTheTolerance: two runs in a row widen a bracket that is
// wrong by less than a move is told for; one changes nothing.
func TestAContradictionBelowTheTolerance(t *testing.T) {
	t.Parallel()
	const s, ms = time.Second, time.Millisecond
	known := Bound{Known: probes.Bracket{Survived: 59900 * ms, Died: 60200 * ms, How: probes.HowSilent, Runs: 3}, Twice: 60200 * ms}
	for name, test := range map[string]struct {
		in             Input
		survived, died time.Duration
	}{
		"earlier": {silentPath(59*s, 58*s, 59200*ms, 62*s), 58 * s, 59200 * ms},
		"later":   {silentPath(62*s, 58*s, 60900*ms, 62*s), 60900 * ms, 62 * s},
	} {
		bound := known
		for run, want := range []probes.Bracket{known.Known, {Survived: test.survived, Died: test.died, How: probes.HowSilent, Runs: 3, Tries: 1}} {
			test.in.Last.Bound = bound
			l := newLadder(test.in)
			if bound = l.bound; bound.Known != want || l.change != nil {
				t.Errorf("%s, run %d: known is %+v, want %+v, change %v", name, run+1, bound.Known, want, l.change)
			}
		}
	}
}

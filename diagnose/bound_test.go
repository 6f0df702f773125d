package diagnose

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"perch.example/probes"
)

// silentPath is a ladder on a path that forgets what is idle for bound, its
// rungs warmed apart.
func silentPath(bound time.Duration, holds ...time.Duration) Input {
	return forgettingPath(probes.ReasonBlackhole, bound, holds...)
}

// forgettingPath is a path whose reuse ends in reason once it idled for bound.
func forgettingPath(end probes.Reason, bound time.Duration, holds ...time.Duration) Input {
	var rungs []*build
	for i, hold := range holds {
		reason := probes.ReasonOK
		if hold >= bound {
			reason = end
		}
		rungs = append(rungs, rungAt(time.Duration(i)*400*time.Millisecond, hold, reason))
	}
	return idleInput(0, rungs...)
}

// closingPath likewise closes what is idle for bound, where everybody sees it.
func closingPath(bound time.Duration, holds ...time.Duration) Input {
	var rungs []*build
	for i, hold := range holds {
		after := time.Duration(i) * 5 * time.Second
		if hold >= bound {
			rungs = append(rungs, rungAt(after, hold, probes.ReasonIdleFIN).closed(bound, probes.HowFIN))
		} else {
			rungs = append(rungs, rungAt(after, hold, probes.ReasonOK))
		}
	}
	return idleInput(0, rungs...)
}

// after plays runs one after the other, and returns the outcomes of each and
// what is known at the end.
func after(runs ...Input) (outcomes [][]probes.Outcome, bound Bound) {
	for _, in := range runs {
		in.Last.Bound, in.Last.Seen = bound, len(outcomes) > 0
		outcomes = append(outcomes, Judge(in))
		bound = NextBound(in)
	}
	return outcomes, bound
}

// changes lists the runs (from 1) and messages in which a bound is said to have
// changed.
func changes(outcomes [][]probes.Outcome) (runs []int, said []string) {
	for i, run := range outcomes {
		for _, o := range run {
			if o.Diagnosis == probes.DiagnosisBoundChanged || strings.Contains(o.Message, "bound has moved") {
				runs = append(runs, i+1)
				said = append(said, string(o.Verdict)+" "+string(o.Diagnosis)+": "+o.Message)
			}
		}
	}
	return runs, said
}

// TestRunsNarrowTheBracket: whatever the bound and the ladder, what the runs
// know contains it, never grows, and is what the result says.
func TestRunsNarrowTheBracket(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(6, 2))
	for range 300 {
		bound := time.Second + time.Duration(r.Int64N(int64(time.Minute)))
		var known Bound
		holds := []time.Duration{500 * time.Millisecond, 4 * time.Second, 10 * time.Second, 25 * time.Second, 45 * time.Second, 70 * time.Second}
		for run := range 8 {
			in := silentPath(bound, append(holds, known.Known.Cut(5)...)...)
			in.Last.Bound = known
			next := NextBound(in)
			if b := next.Known; b.Survived >= bound || b.Died < bound {
				t.Fatalf("bound %s, run %d: %+v does not contain it", bound, run+1, b)
			}
			if run > 0 && next.Known.Width() > known.Known.Width() {
				t.Fatalf("bound %s, run %d: from %+v to %+v", bound, run+1, known.Known, next.Known)
			}
			if got := Idle(in); got.Survived != next.Known.Survived || got.Died != next.Known.Died || got.How != probes.HowSilent {
				t.Fatalf("bound %s, run %d: the result is %+v, known is %+v", bound, run+1, got, next.Known)
			}
			known = next
		}
		if !known.Known.Narrow() {
			t.Fatalf("bound %s: %+v after 8 runs", bound, known.Known)
		}
	}
}

// TestABoundThatMoves is told once, by a rung that does not fail by itself, when
// two runs in a row agree.
func TestABoundThatMoves(t *testing.T) {
	t.Parallel()
	const s = time.Second
	minute := func(bound time.Duration) Input { return closingPath(bound, 30*s, 59*s, 61*s, 120*s) }
	forgets := func(bound time.Duration) Input { return silentPath(bound, 2*s, 4*s, 10*s, 25*s) }
	for name, test := range map[string]struct {
		runs []Input
		told []int // runs
		said string
	}{
		"a close that comes earlier":  {[]Input{minute(60 * s), minute(40 * s), minute(40 * s), minute(40 * s)}, []int{3}, "degraded bound_changed"},
		"a close that comes later":    {[]Input{minute(60 * s), minute(90 * s), minute(90 * s)}, []int{3}, "at 60 s, and now at 90 s"},
		"one that comes no more":      {[]Input{minute(60 * s), minute(300 * s), minute(300 * s)}, []int{3}, "at 60 s, and now after more than 120 s"},
		"a path that forgets earlier": {[]Input{forgets(20 * s), forgets(3 * s), forgets(3 * s), forgets(3 * s)}, []int{3}, "degraded bound_changed"},
		"a path that forgets later":   {[]Input{forgets(3 * s), forgets(20 * s), forgets(20 * s)}, []int{3}, "between 2 s and 4 s, and now between 10 s and 25 s"},
		"silence in place of a close": {[]Input{minute(60 * s), forgets(20 * s), forgets(20 * s)}, []int{3}, "at 60 s, and now between 10 s and 25 s"},
		"forth and back":              {[]Input{minute(60 * s), minute(40 * s), minute(40 * s), minute(40 * s), minute(60 * s), minute(60 * s)}, []int{3}, "at 60 s, and now at 40 s"},
		"and back after long":         {slices.Concat([]Input{minute(60 * s)}, slices.Repeat([]Input{minute(40 * s)}, otherRuns+3), []Input{minute(60 * s), minute(60 * s)}), []int{3, otherRuns + 6}, "at 40 s, and now at 60 s"},
		"back before it is firm":      {[]Input{minute(60 * s), minute(40 * s), minute(40 * s), minute(60 * s), minute(60 * s)}, []int{3}, "at 60 s, and now at 40 s"},
		"one run only":                {[]Input{minute(60 * s), minute(40 * s), minute(60 * s), minute(40 * s), minute(60 * s)}, nil, ""},
		"two that do not agree":       {[]Input{minute(60 * s), minute(40 * s), minute(20 * s), minute(60 * s)}, nil, ""},
		"within the tolerance":        {[]Input{minute(60 * s), minute(60*s + 900*time.Millisecond), minute(60*s + 900*time.Millisecond)}, nil, ""},
		"ticks":                       {[]Input{minute(62 * s), minute(66 * s), minute(64 * s), minute(65 * s), minute(62 * s), minute(66 * s)}, nil, ""},
	} {
		// The first bound is firm: three runs agree on it.
		outcomes, _ := after(append([]Input{test.runs[0], test.runs[0]}, test.runs...)...)
		told, said := changes(outcomes[2:])
		if len(told) != len(test.told) {
			t.Errorf("%s: told in runs %v, want %v: %q", name, told, test.told, said)
			continue
		}
		for i, run := range test.told {
			if told[i] != run {
				t.Errorf("%s: told in runs %v, want %v", name, told, test.told)
			}
		}
		if test.said != "" && !strings.Contains(said[len(said)-1], test.said) {
			t.Errorf("%s: %q, want %q in it", name, said[len(said)-1], test.said)
		}
	}
}

// TestAReloadIsNoChange: what ends for another reason than idleness moves no
// bound, however often it comes.
func TestAReloadIsNoChange(t *testing.T) {
	t.Parallel()
	const s = time.Second
	usual := closingPath(60*s, 30*s, 59*s, 61*s, 120*s)
	reload := idleInput(0, rungAt(0, 30*s, probes.ReasonIdleFIN).closed(15*s, probes.HowFIN), rungAt(5*s, 59*s, probes.ReasonIdleFIN).closed(10*s, probes.HowFIN))
	instant := idleInput(0, rungAt(0, 30*s, probes.ReasonIdleFIN).closed(20*time.Millisecond, probes.HowFIN), rungAt(5*s, 59*s, probes.ReasonOK))
	outlived := idleInput(0, rungAt(0, 30*s, probes.ReasonIdleFIN).closed(10*s, probes.HowFIN), rungAt(5*s, 59*s, probes.ReasonOK))
	answers := idleInput(0, rungAt(0, 30*s, probes.ReasonUnavailable))
	down := idleInput(0, rungAt(0, 30*s, probes.ReasonBlackhole).control(probes.ReasonConnectTimeout))
	for name, other := range map[string]Input{
		"several closed at one moment": reload, "closed with the answer": instant, "outlived by another": outlived,
		"an answer that the reuse alone gave": answers, "a service that is down": down,
	} {
		outcomes, bound := after(usual, usual, usual, other, other, other, usual)
		if told, said := changes(outcomes); told != nil || bound.Known.Measured != 60*s || bound.Suspect != (probes.Bracket{}) {
			t.Errorf("%s: told in runs %v (%q), known is %+v", name, told, said, bound)
		}
	}
}

// TestAFailIsNotHiddenByAChange: where each rung that shows the change fails by
// itself, the fail stays, and tells of it.
func TestAFailIsNotHiddenByAChange(t *testing.T) {
	t.Parallel()
	const s = time.Second
	firm := silentPath(20*s, 8*s, 12*s, 25*s)
	outcomes, _ := after(firm, firm, firm, silentPath(3*s, 8*s, 12*s, 25*s), silentPath(3*s, 8*s, 12*s, 25*s))
	last := outcomes[4]
	if told, said := changes(outcomes); len(told) != 1 || told[0] != 5 || !strings.HasPrefix(said[0], "fail silent_drop: ") {
		t.Errorf("told in runs %v: %q", told, said)
	}
	for _, o := range last {
		if o.Verdict != probes.VerdictFail || o.Diagnosis != probes.DiagnosisSilentDrop {
			t.Errorf("held %s: %s %s", o.Hold, o.Verdict, o.Diagnosis)
		}
	}
}

// TestPacketsAreSaidToHelp: what a client's TCP keep-alive changes is compared
// with what was known without, and is no change of the path.
func TestPacketsAreSaidToHelp(t *testing.T) {
	t.Parallel()
	const s = time.Second
	without, with := silentPath(3*s, 2*s, 4*s, 10*s), silentPath(time.Hour, 2*s, 4*s, 10*s)
	with.Spec.Client = &probes.Client{Kind: "go-net-http", TCPKeepAlive: s}
	outcomes, bound := after(without, with, with, with)
	if told, said := changes(outcomes); told != nil {
		t.Errorf("told in runs %v: %q", told, said)
	}
	const want = "; TCP keep-alive every 1 s kept it: without, idle connections ended between 2 s and 4 s in an earlier run"
	for i, run := range outcomes[1:] {
		for _, o := range run {
			if says := strings.Contains(o.Message, want); says != (o.Hold > 4*s) || o.Verdict != probes.VerdictPass {
				t.Errorf("run %d, held %s: %s: %q", i+2, o.Hold, o.Verdict, o.Message)
			}
		}
	}
	if bound.Known.Died != 0 || bound.Without.Died != 4*s || bound.Packets != s {
		t.Errorf("known is %+v", bound)
	}
	without.Last.Bound = bound
	if got := NextBound(without); got.Packets != 0 || got.Known.Died != 4*s || got.Suspect != (probes.Bracket{}) || got.Without != (probes.Bracket{}) {
		t.Errorf("without packets again: %+v", got)
	}
}

// TestASearchGivesUp: a path on which the same hold works and does not is looked
// at a few times, and then left at what is known.
func TestASearchGivesUp(t *testing.T) {
	t.Parallel()
	const s = time.Second
	first := silentPath(3*s, 2*s, 4*s)
	mixed := idleInput(0, rungAt(0, 2500*time.Millisecond, probes.ReasonBlackhole), rungAt(s, 3*s, probes.ReasonOK), rungAt(2*s, 4*s, probes.ReasonBlackhole))
	_, bound := after(first, mixed, mixed, mixed)
	if b := bound.Known; b.Survived != 2*s || b.Died != 4*s || !b.Settled() || b.Cut(5) != nil {
		t.Errorf("known is %+v", b)
	}
}

// TestTheFirstBoundIsNotFirm: what one run saw, or two, may have been a reload:
// another bound replaces it without a word.
func TestTheFirstBoundIsNotFirm(t *testing.T) {
	t.Parallel()
	const s = time.Second
	odd, usual := closingPath(9*s, 30*s, 59*s), closingPath(60*s, 30*s, 59*s, 61*s)
	for _, runs := range [][]Input{{odd, usual, usual, usual}, {odd, odd, usual, usual, usual}} {
		outcomes, bound := after(runs...)
		if told, said := changes(outcomes); told != nil || bound.Known.Measured != 60*s {
			t.Errorf("told in runs %v: %q; known is %+v", told, said, bound.Known)
		}
	}
}

package plan

import (
	"cmp"
	"slices"
	"time"

	"perch.example/config"
	"perch.example/probes"
)

const (
	longestApart    = 5 * time.Second
	leastTolerance  = 100 * time.Millisecond
	widestTolerance = time.Second
	leastHold       = 10 * time.Millisecond // as in the config
)

// rank says how much a ladder needs a rung, the most needed first: where not all
// of them fit, those of the last rank go first.
type rank int

const (
	rankHolds     rank = iota // the config's own
	rankKeepAlive             // what the ladder is for: the plan is refused without
	rankCommon                // what it is for where no keep_alive is given
	rankMeasured              // where the application failed in the last run
	rankExpected              // where it would fail if keep_alive is true
	rankBelow                 // the last age at which the client still uses a connection blindly
	rankAbove
	rankPackets
	rankBeside
	rankConfirm // beside the bracket around an end that nobody saw
	rankSearch  // inside of it
)

// rung is one hold of a ladder.
type rung struct {
	hold time.Duration
	rank rank
	from string // where it comes from, for people
}

// needed reports whether the plan is refused rather than made without the rung.
func (r rung) needed() bool { return r.rank <= rankKeepAlive }

// spare reports whether the rung may be left out for others to fit.
func (r rung) spare() bool { return r.rank > rankCommon }

// ladder is what the rungs of an idle probe that names no holds follow from.
type ladder struct {
	spec    probes.Spec
	end     time.Duration // idle age at which the last run saw the path end connections too early; 0: it did not
	longest time.Duration // hold that fits; 0: any
	known   probes.Bracket
	atOnce  int // connections that may be open
	rungs   []rung
}

// build returns the rungs, shortest first, and those that are too long. With
// keep_alive they straddle it by the tolerance of the verdicts, with half and
// double of it beside; without, they lie between the idle timeouts that servers
// and load balancers are commonly set to, up to six minutes. Each limit of the
// declared client is straddled too, and its danger band gets a rung. Where the
// path is known to end connections unseen, rungs look for the age.
func (l *ladder) build() (kept, left []rung) {
	wanted := slices.Concat(expectation(l.spec.KeepAlive), straddles(l.spec.Client))
	slices.SortStableFunc(wanted, func(a, b rung) int { return cmp.Compare(a.rank, b.rank) })
	for _, r := range wanted {
		if r.hold >= leastHold && !slices.ContainsFunc(l.rungs, r.like) {
			l.rungs = append(l.rungs, r)
		}
	}
	l.rungs = append(l.rungs, l.packets()...)
	slices.SortStableFunc(l.rungs, byHold)
	l.rungs, left = shortened(l.rungs, l.longest)
	l.rungs = append(l.rungs, l.inExpectedBand()...)
	l.rungs = append(l.rungs, l.inMeasuredBand()...)
	l.rungs = append(l.rungs, l.search()...)
	slices.SortStableFunc(l.rungs, byHold)
	return l.rungs, left
}

// WithRungs returns the config's targets, each idle probe that names no holds
// with the rungs of its ladder that follow from the config alone, shortest first:
// what metrics can name before anything ran. A plan makes those of them that its
// deadline and the budget leave room for, and no others but one inside a danger
// band and those of a search. The config stays as it is.
func WithRungs(c config.Config) []probes.Target {
	targets := slices.Clone(c.Targets)
	for i := range targets {
		targets[i].Probes = slices.Clone(targets[i].Probes)
		for k := range targets[i].Probes {
			s := &targets[i].Probes[k]
			if s.Kind != probes.KindIdle || len(s.Holds) > 0 {
				continue
			}
			longest, _ := capped(s.Every-s.Every/10, "", c.Policy)
			l := &ladder{spec: *s, longest: longest}
			kept, _ := l.build()
			s.Rungs = make([]time.Duration, len(kept))
			for n, r := range kept {
				s.Rungs[n] = r.hold
			}
		}
	}
	return targets
}

func byHold(a, b rung) int { return cmp.Compare(a.hold, b.hold) }

// expectation returns the rungs that a keep_alive asks for; 0: none is given.
func expectation(k time.Duration) []rung {
	if k == 0 {
		var rungs []rung
		for _, hold := range between() {
			rungs = append(rungs, rung{hold, rankCommon, "between common timeouts"})
		}
		return rungs
	}
	words := "keep_alive " + short(k)
	return []rung{
		{k - near(k), rankKeepAlive, "just below " + words}, {k + near(k), rankKeepAlive, "just above " + words},
		{k / 2, rankBeside, "half of " + words}, {2 * k, rankBeside, "twice " + words},
	}
}

// between returns holds that tell the common idle timeouts apart (field facts:
// 5, 6, 15, 30, 60, 75, 90, 120, 180, 240, 300, 350 s): a connection that dies
// at one of them lives on one rung and is dead on the next.
func between() []time.Duration {
	seconds := []int{4, 10, 25, 45, 70, 100, 150, 210, 270, 355}
	holds := make([]time.Duration, len(seconds))
	for i, s := range seconds {
		holds[i] = time.Duration(s) * time.Second
	}
	return holds
}

// near is how far beside an age its rungs lie: far enough for a close at that
// age to be told from one that is early or late.
func near(age time.Duration) time.Duration { return min(tolerance(age), age/2) }

// tolerance is how far from keep_alive a close still counts as on time:
// judging.md's 5%, at least 100 ms, at most 1 s.
func tolerance(keepAlive time.Duration) time.Duration {
	return min(max(keepAlive/20, leastTolerance), widestTolerance)
}

// like reports whether a rung would say what another one says: it lies within
// half of what tells two ages apart. One that is only beside gives way earlier.
func (r rung) like(other rung) bool {
	apart, tells := (r.hold - other.hold).Abs(), near(min(r.hold, other.hold))
	return 2*apart < tells || r.rank == rankBeside && apart <= tells
}

// shortened parts what is longer than the longest hold from the rest, but never
// takes all.
func shortened(rungs []rung, longest time.Duration) (kept, left []rung) {
	for _, r := range rungs {
		if longest > 0 && r.hold > longest && !r.needed() {
			left = append(left, r)
		} else {
			kept = append(kept, r)
		}
	}
	if len(kept) == 0 {
		return rungs[:1], rungs[1:]
	}
	return kept, left
}

// apart is the least time between the warm-ups of a probe's rungs, so that
// closes that follow the idle age are told from one that hits all connections at
// once: 5 s, or a tenth of keep_alive (without it, of the shortest hold) if that
// is less.
func apart(s *probes.Spec, rungs []rung) time.Duration {
	if s.KeepAlive > 0 {
		return min(longestApart, s.KeepAlive/10)
	}
	shortest := slices.MinFunc(rungs, byHold)
	return min(longestApart, shortest.hold/10)
}

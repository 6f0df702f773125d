package plan

import (
	"slices"
	"time"

	"perch.example/diagnose/clients"
	"perch.example/probes"
)

const (
	longestApart    = 5 * time.Second
	leastTolerance  = 100 * time.Millisecond
	widestTolerance = time.Second
)

// rung is one hold of a ladder that the plan made. A needed one is why the
// ladder exists; the others are left out where they do not fit.
type rung struct {
	hold   time.Duration
	needed bool
}

// Ladder returns the rungs, shortest first, of an idle probe that names none.
// With keep_alive they straddle it by the tolerance of the verdicts, with half
// and double of it beside; without, they lie between the idle timeouts that
// servers and load balancers are commonly set to, up to six minutes. The limits
// of the declared client are added, and rungs too long for `every` left out.
func Ladder(s probes.Spec) []time.Duration {
	var holds []time.Duration
	for _, r := range ladder(s) {
		holds = append(holds, r.hold)
	}
	return holds
}

func ladder(s probes.Spec) []rung {
	var rungs []rung
	near := leastTolerance
	if s.KeepAlive > 0 {
		near = tolerance(s.KeepAlive)
		rungs = append(rungs,
			rung{s.KeepAlive - near, true}, rung{s.KeepAlive + near, true},
			rung{s.KeepAlive / 2, false}, rung{2 * s.KeepAlive, false})
	} else {
		for _, hold := range between() {
			rungs = append(rungs, rung{hold, false})
		}
	}
	for _, limit := range clientLimits(s.Client) {
		if s.KeepAlive > 0 && limit > s.KeepAlive+near {
			limit -= near // the last age at which the client would still use a closed connection
		}
		rungs = append(rungs, rung{limit, false})
	}
	return thinned(shortened(rungs, s.Every), near/2)
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

// tolerance is how far from keep_alive a close still counts as on time:
// judging.md's 5%, at least 100 ms, at most 1 s.
func tolerance(keepAlive time.Duration) time.Duration {
	return min(max(keepAlive/20, leastTolerance), widestTolerance)
}

// clientLimits returns the idle ages up to which the declared client uses a
// connection blindly, as configured or by its own defaults: until it stops or
// looks first, and, since looking cannot see a silent end, until it stops. They
// are the upper ends of its danger band on a path that closes at once.
func clientLimits(c *probes.Client) []time.Duration {
	if c == nil {
		return nil
	}
	var limits []time.Duration
	for _, silent := range []bool{false, true} {
		band := clients.BandOn(*c, clients.Path{Timeout: 1, Silent: silent})
		if band != nil && !band.Open && !slices.Contains(limits, band.To) {
			limits = append(limits, band.To)
		}
	}
	return limits
}

// shortened drops what cannot end before the probe is due again, but never all.
func shortened(rungs []rung, every time.Duration) []rung {
	if every == 0 {
		return rungs
	}
	kept := slices.DeleteFunc(slices.Clone(rungs), func(r rung) bool {
		return !r.needed && r.hold > every-every/10
	})
	if len(kept) == 0 {
		return rungs[:1]
	}
	return kept
}

// thinned sorts rungs and drops those that would say what a neighbour says. Of
// two neighbours the needed one stays.
func thinned(rungs []rung, near time.Duration) []rung {
	slices.SortStableFunc(rungs, func(a, b rung) int { return int(a.hold - b.hold) })
	var kept []rung
	for _, r := range rungs {
		if r.hold <= 0 {
			continue
		}
		last := len(kept) - 1
		switch {
		case last < 0 || r.hold-kept[last].hold >= near:
			kept = append(kept, r)
		case r.needed && !kept[last].needed:
			kept[last] = r
		case r.needed && r.hold != kept[last].hold:
			kept = append(kept, r)
		}
	}
	return kept
}

// apart is the least time between the warm-ups of a probe's rungs, so that
// closes that follow the idle age are told from one that hits all connections at
// once: 5 s, or a tenth of keep_alive (without it, of the shortest hold) if that
// is less.
func apart(s *probes.Spec, holds []time.Duration) time.Duration {
	if s.KeepAlive > 0 {
		return min(longestApart, s.KeepAlive/10)
	}
	return min(longestApart, slices.Min(holds)/10)
}

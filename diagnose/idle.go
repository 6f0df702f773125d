package diagnose

import (
	"slices"
	"time"

	"perch.example/diagnose/clients"
	"perch.example/probes"
)

// Idle sums up a probe's ladder. Where it met an end that nobody saw, Survived
// and Died are the narrowest that all runs know. Measured is the least idle age of the closes
// that follow idle age, from which the limits and bands follow: mass closes, and
// those that another rung outlived, are left out. Of several addresses of a host's it
// is about that whose connections ended first.
func Idle(in Input) probes.IdleResult {
	l, several := telling(in)
	result := l.idle
	if several {
		result.Address = addressOf(l.rungs[0].obs.Attempts)
	}
	return result
}

// IdlePath is what Idle's ladder says of how idle connections end, for
// clients.BandOn: the same that the outcomes' bands and advice are made of. A
// zero Timeout: nothing ended.
func IdlePath(in Input) clients.Path {
	l, _ := telling(in)
	return l.path()
}

func (l *ladder) result() probes.IdleResult {
	res := probes.IdleResult{Target: l.in.Spec.Target, Probe: l.in.Spec.Probe}
	for i := range l.rungs {
		r := &l.rungs[i]
		if r.warm != nil {
			res.Advertised = max(res.Advertised, r.warm.Advertised)
		}
		if r.worked() {
			res.Survived = max(res.Survived, r.reuseAge())
		}
	}
	if shortest := l.shortestDied(); shortest != nil {
		res.Died, res.How = shortest.reuseAge(), shortest.how()
	}
	if len(l.ends) > 0 {
		res.Measured = l.earliest(l.ends[0])
	}
	return res
}

// shortestDied is the rung that was idle for the shortest time of those that
// ended for their idle age, as far as can be told; nil: none did.
func (l *ladder) shortestDied() *rungView {
	var shortest *rungView
	for _, i := range l.died {
		if r := &l.rungs[i]; !l.notIdle(i) && !l.notAge(i) && (shortest == nil || r.reuseAge() < shortest.reuseAge()) {
			shortest = r
		}
	}
	return shortest
}

// notAge reports whether rung i was seen to end with others of other ages, or at an age
// that another rung outlived: a reload's closes are no idle timeout. What the last run
// saw at the same ages is one all the same, of a server that looks at its ticks.
func (l *ladder) notAge(i int) bool {
	switch {
	case l.rungs[i].obs.Close == nil:
		return false // when it ended is not known
	case l.in.Spec.Search && len(l.ends) > 0 || l.again(i):
		return false
	}
	return l.outlived(i) || l.massClosed(i)
}

// idleEnds are the idle ages of the closes that follow idle age, ascending. A
// close right after the answer follows that, and counts where there is no other.
// A search that saw no others takes those at one moment, and those that another
// rung outlived: servers that sweep once a second close what started together
// together, and let one connection live up to a second longer than another.
func (l *ladder) idleEnds() []time.Duration {
	var ages, swept, instant []time.Duration
	unseen := false // whether one ended that was not seen to close
	for _, i := range l.died {
		r := &l.rungs[i]
		switch {
		case l.notIdle(i):
		case r.obs.Close == nil:
			unseen = true
		case l.outlived(i) || l.massClosed(i):
			swept = append(swept, r.obs.Close.Age)
		case r.instant():
			instant = append(instant, r.obs.Close.Age)
		default:
			ages = append(ages, r.obs.Close.Age)
		}
	}
	switch {
	case len(ages) > 0:
	case len(instant) > 0 && !unseen:
		ages = instant
	case l.in.Spec.Search:
		ages = swept
	}
	slices.Sort(ages)
	return ages
}

// how says by what the connection was seen to end.
func (r rungView) how() probes.HowClosed {
	if r.obs.Close != nil && r.obs.Close.How != "" {
		return r.obs.Close.How
	}
	if r.reuse == nil {
		return ""
	}
	switch r.reuse.Reason {
	case probes.ReasonIdleFIN, probes.ReasonCrossedClose, probes.ReasonEOF:
		return probes.HowFIN
	case probes.ReasonIdleRST, probes.ReasonReset:
		return probes.HowRST
	case probes.ReasonIdleBytes, probes.ReasonUnavailable, probes.ReasonStatus, probes.ReasonExpectation:
		return probes.HowBytes
	case probes.ReasonIdleCloseNotify:
		return probes.HowCloseNotify
	case probes.ReasonIdleGoaway, probes.ReasonGoawayUnprocessed, probes.ReasonGoawayProcessed:
		return probes.HowGoaway
	case probes.ReasonBlackhole, probes.ReasonNoResponse:
		return probes.HowSilent
	default:
		return ""
	}
}

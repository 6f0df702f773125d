package plan

import (
	"fmt"
	"slices"
	"time"

	"perch.example/probes"
)

// What a probe takes that makes many requests on one connection, and one that also
// holds connections that carried none.

// many reports whether a probe makes more than one request on its connection.
func many(s *probes.Spec) bool { return s.Kind == probes.KindHTTP && s.Requests > 1 }

// paced returns a probe with the gap that its requests really have: as long as the
// config says, and so long that half of the target's budget stays for others. It asks
// one connection: no second try and no redirect, which need another.
func paced(s *probes.Spec, t *probes.Target) *probes.Spec {
	if !many(s) {
		return s
	}
	c := NewCalendar(t.Budget())
	own := *s
	own.Retry, own.Redirects = probes.Retry{}, 0
	own.Gap = max(s.Gap, roundUp(2*c.Window()/time.Duration(max(1, c.Allowed())), time.Millisecond))
	return &own
}

// following are the bookings of the requests after the first, since the step's start.
func following(s *probes.Spec) []Booking {
	if !many(s) {
		return nil
	}
	next := make([]Booking, s.Requests-1)
	for i := range next {
		at := time.Duration(i+1) * s.Gap
		next[i] = Booking{From: at, To: at + Opening(s)}
	}
	return next
}

// lasting is how long the requests after the first take.
func lasting(s *probes.Spec) time.Duration {
	switch {
	case s.Burst != nil:
		return s.Burst.Lasts()
	case !many(s):
		return 0
	}
	return time.Duration(s.Requests-1) * s.Gap
}

// checkRequests refuses requests that are not over when the probe is due again, and
// reports whether it did.
func (j *job) checkRequests(r *Refusal) bool {
	s := j.spec
	takes := lasting(s) + Reach(s)
	if !many(s) || s.Every == 0 || takes <= s.Every {
		return false
	}
	fewer := ""
	if most := int((s.Every-Reach(s))/s.Gap) + 1; most > 1 {
		fewer = fmt.Sprintf("up to %d requests", most)
	}
	r.add(s.ID(), "its %d requests take %s, one each %s, every is %s: %s",
		s.Requests, short(roundUp(takes, time.Second)), short(s.Gap), short(s.Every), wouldFit("every "+short(roundUp(takes, time.Second)), fewer))
	return true
}

// holds is how many connections a ladder holds: each rung one, and with unused one
// more, which carried nothing before.
func (j *job) holds() int {
	if j.spec.Unused {
		return 2 * len(j.rungs)
	}
	return len(j.rungs)
}

// steps are those of one rung.
func (r dueRung) steps() []Step {
	used := Step{Spec: r.job.spec, Hold: r.hold, From: r.from, Rungs: r.job.holds()}
	if !used.Spec.Unused {
		return []Step{used}
	}
	unused := used
	unused.Unused, unused.From = true, "unused, "+used.From
	return []Step{used, unused}
}

// Slots are all bookings of a step; those that it does not have are 0.
func (s Step) Slots() []Slot {
	return slices.Concat([]Slot{s.Warm, s.Reuse, s.Control, s.Describe}, s.Next, s.Controls)
}

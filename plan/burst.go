package plan

import (
	"fmt"
	"sort"
	"time"

	"perch.example/probes"
)

// What a probe takes that calls in bursts, through a pool.

// burstBookings are all of a burst probe's requests, since the step's start: its calls,
// and each burst's control, which may leave at any time while the burst lasts. One that
// follows a call without an answer is later, and finds a gap.
func burstBookings(s *probes.Spec) []Booking {
	shape := s.Burst
	bookings := make([]Booking, 0, shape.Calls()+shape.Bursts)
	for i := range shape.Calls() {
		at := shape.Offset(i)
		bookings = append(bookings, Booking{From: at, To: at + Opening(s)})
	}
	for b := range shape.Bursts {
		from, last := shape.Offset(b*shape.Requests), shape.Offset((b+1)*shape.Requests-1)
		bookings = append(bookings, Booking{From: from, To: last + Reach(s) + ControlDelay})
	}
	return bookings
}

// fitsAlone reports whether bookings fit a budget that nobody else uses.
func fitsAlone(rate float64, s *probes.Spec) bool {
	c := NewCalendar(rate)
	return c.shadows(Shape(s, 0)).max() <= c.allowed
}

// checkBurst refuses bursts that are more than the budget gives, or not over when the
// probe is due again, and reports whether it did.
func (d *desk) checkBurst(j *job, r *Refusal) bool {
	s := j.spec
	if s.Burst == nil {
		return false
	}
	late := j.burstLate(r)
	if fitsAlone(d.target.Budget(), s) {
		return late
	}
	shape := s.Burst
	r.add(s.ID(), "%d requests over %s are one each %s, and with a control beside them more than the budget of %s/s (rate_limit %s/s x share %s), which allows %d in %s: %s",
		shape.Requests, short(shape.Over), short(shape.Between()), number(d.target.Budget()), number(float64(d.target.RateLimit)), percent(d.target.Share),
		d.cal.Allowed(), short(d.cal.guarded), wouldFit(overThatFits(d.target.Budget(), s), fewerThatFit(d.target.Budget(), s), budgetOf(rateThatFits(s), d.target)))
	return true
}

// burstLate refuses bursts that are not over when the probe is due again.
func (j *job) burstLate(r *Refusal) bool {
	s := j.spec
	takes := s.Burst.Lasts() + Reach(s)
	if s.Every == 0 || takes <= s.Every {
		return false
	}
	fewer := ""
	for n := s.Burst.Bursts - 1; n > 1 && fewer == ""; n-- { // one has no gap: another measurement
		shape := *s.Burst
		if shape.Bursts = n; shape.Lasts()+Reach(s) <= s.Every {
			fewer = count(n, "burst")
		}
	}
	what := "its burst takes"
	if n := s.Burst.Bursts; n > 1 {
		what = fmt.Sprintf("its %d bursts take", n)
	}
	r.add(s.ID(), "%s %s, every is %s: %s",
		what, short(roundUp(takes, time.Second)), short(s.Every), wouldFit("every "+short(roundUp(takes, time.Second)), fewer))
	return true
}

// fillsLate says that a burst's pool takes longer to fill than its connections are expected to
// be kept: they die while the application's would be in use. Empty: it does not.
func fillsLate(s *probes.Spec) string {
	if s.Burst == nil || s.KeepAlive == 0 {
		return ""
	}
	full := time.Duration(s.Burst.Connections-1) * s.Burst.Between()
	if full < s.KeepAlive {
		return ""
	}
	return fmt.Sprintf("%s: its pool of %d is full %s after the first call, and keep_alive is %s: connections may end before, which is the replay's doing; fewer connections, or a shorter over, would fill it in time",
		s.ID(), s.Burst.Connections, short(roundUp(full, 100*time.Millisecond)), short(s.KeepAlive))
}

// overThatFits is the shortest `over` for as many requests; empty: none within a day.
func overThatFits(rate float64, s *probes.Spec) string {
	unit := time.Second
	if s.Burst.Over < 10*time.Second {
		unit = 100 * time.Millisecond
	}
	most := int(day / unit)
	units := sort.Search(most, func(n int) bool {
		return fitsAlone(rate, withBurst(s, func(shape *probes.Shape) { shape.Over = time.Duration(n+1) * unit }))
	})
	if units == most {
		return ""
	}
	return "over " + short(time.Duration(units+1)*unit)
}

// fewerThatFit is how many requests there may be in the same time; empty: none.
func fewerThatFit(rate float64, s *probes.Spec) string {
	n := sort.Search(s.Burst.Requests, func(n int) bool {
		return !fitsAlone(rate, withBurst(s, func(shape *probes.Shape) { shape.Requests = n + 1 }))
	})
	if n < s.Burst.Connections {
		return "" // the pool would not be filled
	}
	return "up to " + count(n, "request")
}

// rateThatFits is the least budget, in requests a second.
func rateThatFits(s *probes.Spec) float64 {
	low, high := 0.0, float64(2*s.Burst.Calls()+2) // all within the shortest window
	for range 40 {
		middle := (low + high) / 2
		if fitsAlone(middle, s) {
			high = middle
		} else {
			low = middle
		}
	}
	return high
}

// withBurst is a probe with another shape.
func withBurst(s *probes.Spec, change func(*probes.Shape)) *probes.Spec {
	other, shape := *s, *s.Burst
	change(&shape)
	other.Burst = &shape
	return &other
}

// burstText says what a burst does, for people.
func burstText(s *probes.Spec) string {
	b := s.Burst
	text := fmt.Sprintf("%d over %s (one each %s), through %s (%s)",
		b.Requests, short(b.Over), short(b.Between()), count(b.Connections, "connection"), s.PoolOrder)
	if b.Bursts > 1 {
		text = fmt.Sprintf("%d bursts of %s, %s idle between", b.Bursts, text, short(b.Gap))
	}
	return text
}

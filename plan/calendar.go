package plan

import (
	"maps"
	"math"
	"slices"
	"time"
)

// Booking is an interval in which one request leaves, both ends included, in
// time since the run's start. An instant has From == To.
type Booking struct{ From, To time.Duration }

// At returns the booking of a request that leaves at exactly t.
func At(t time.Duration) Booking { return Booking{From: t, To: t} }

// Slot is the handle of a booking in one Calendar. The zero Slot is no booking.
type Slot int

// Never is what Earliest returns for a shape that does not even fit in an empty
// calendar.
const Never = time.Duration(math.MaxInt64)

const (
	shortestWindow = time.Second
	longestWindow  = 365 * 24 * time.Hour // keeps sums of times far from overflow
)

// Calendar books requests to one target so that in any window of W at most
// rate x W of them leave. It looks at windows that are 5% longer than W, which
// pays for the time between a request's booking and its first byte on the wire.
// An interval counts in every window that it touches, wherever in it the request
// will leave. Make one with NewCalendar. Not safe for concurrent use.
type Calendar struct {
	window  time.Duration
	guarded time.Duration // W and 5%
	allowed int
	last    Slot
	booked  map[Slot]Booking
	// load counts, for each instant x, the bookings that the guarded window
	// [x, x+guarded) meets: booking [a, b] is met by the x in (a-guarded, b].
	load profile
	past int // the largest number in a second among what Forget dropped
}

// NewCalendar returns an empty calendar for a rate in requests a second (> 0;
// what is smaller than two a year counts as that).
func NewCalendar(rate float64) *Calendar {
	window := longestWindow
	// Comparing this way round keeps zero, negative and NaN rates at the longest.
	if seconds := 2 / rate; seconds > 0 && seconds < longestWindow.Seconds() {
		// Rounded up, so that two requests always fit.
		window = max(shortestWindow, time.Duration(math.Ceil(seconds*float64(time.Second))))
	}
	// The tolerance forgives that 0.7 x 10/s is 6.999999999999999.
	allowed := max(2, int(math.Floor(rate*window.Seconds()+1e-6)))
	return &Calendar{
		window:  window,
		guarded: window + window/20,
		allowed: allowed,
		booked:  map[Slot]Booking{},
	}
}

// Window returns W = max(1 s, 2/rate).
func (c *Calendar) Window() time.Duration { return c.window }

// Allowed returns how many requests may leave in any window of W: rate x W, at
// least 2.
func (c *Calendar) Allowed() int { return c.allowed }

// Fits reports whether all of bs could be booked together.
func (c *Calendar) Fits(bs ...Booking) bool {
	return c.load.earliest(0, c.shadows(bs), c.allowed) == 0
}

// Book books all of bs, or none when they do not fit together. The slots stand
// in the order of bs.
func (c *Calendar) Book(bs ...Booking) ([]Slot, bool) {
	if !c.Fits(bs...) {
		return nil, false
	}
	slots := make([]Slot, len(bs))
	for i, b := range bs {
		c.last++
		slots[i] = c.last
		c.put(c.last, b)
	}
	return slots, true
}

// Move puts a booking elsewhere. It returns false, and changes nothing, when
// that does not fit or the slot is not booked. A booking that only shrinks
// always fits, even where Force has overfilled the calendar.
func (c *Calendar) Move(s Slot, to Booking) bool {
	old, ok := c.booked[s]
	if !ok {
		return false
	}
	c.Release(s)
	shrinks := to.From >= old.From && to.last() <= old.last()
	if !shrinks && !c.Fits(to) {
		c.put(s, old)
		return false
	}
	c.put(s, to)
	return true
}

// Force records what really happened, whether it fits or not. A slot that was
// released is booked again.
func (c *Calendar) Force(s Slot, to Booking) {
	c.Release(s)
	if s == 0 { // nobody holds a handle, but the request counts all the same
		c.last++
		s = c.last
	}
	c.put(s, to)
}

// Rebook moves several bookings as a whole: slots[i] is booked at shape[i]
// moved by the smallest t >= after at which all of them fit, which it returns.
// It is what a warm-up needs that leaves later than booked (the dial took its
// time): its reuse and control come along. It returns Never, and changes
// nothing, when shape does not fit by itself.
func (c *Calendar) Rebook(after time.Duration, slots []Slot, shape []Booking) time.Duration {
	if c.shadows(shape).max() > c.allowed {
		return Never
	}
	for _, s := range slots {
		c.Release(s)
	}
	t := c.Earliest(after, shape...)
	for i, s := range slots {
		c.Force(s, Booking{From: shape[i].From + t, To: shape[i].last() + t})
	}
	return t
}

// Release drops a booking. A slot that is not booked is ignored.
func (c *Calendar) Release(s Slot) {
	b, ok := c.booked[s]
	if !ok {
		return
	}
	delete(c.booked, s)
	c.load.add(b.From-c.guarded+1, b.last()+1, -1)
}

// Earliest returns the smallest t >= after such that shape, moved by t as a
// whole, can be booked. It returns Never when shape does not fit by itself.
func (c *Calendar) Earliest(after time.Duration, shape ...Booking) time.Duration {
	return c.load.earliest(after, c.shadows(shape), c.allowed)
}

// Clone returns a copy with the same slots.
func (c *Calendar) Clone() *Calendar {
	clone := *c
	clone.booked = maps.Clone(c.booked)
	clone.load = slices.Clone(c.load)
	return &clone
}

// Forget drops the bookings that cannot share a window with a request at or
// after the instant, so that a long run's calendar stays small. Their slots are
// not booked any more; Peak remembers them.
func (c *Calendar) Forget(before time.Duration) {
	c.past = max(c.past, c.busiest(func(b Booking) bool { return b.last() < before }))
	for s, b := range c.booked {
		if b.last() < before-c.guarded {
			c.Release(s)
		}
	}
}

// Peak returns the largest number of booked requests in any window of a second.
func (c *Calendar) Peak() float64 {
	return float64(max(c.past, c.busiest(func(Booking) bool { return true })))
}

// busiest returns the largest number in a second among the bookings that count.
func (c *Calendar) busiest(counts func(Booking) bool) int {
	var load profile
	for _, b := range c.booked {
		if counts(b) {
			load.add(b.From-time.Second+1, b.last()+1, 1)
		}
	}
	return load.max()
}

func (c *Calendar) put(s Slot, b Booking) {
	c.booked[s] = b
	c.load.add(b.From-c.guarded+1, b.last()+1, 1)
}

// shadows returns the load that bs put on an empty calendar.
func (c *Calendar) shadows(bs []Booking) profile {
	shape := make(profile, 0, 2*len(bs))
	for _, b := range bs {
		shape.add(b.From-c.guarded+1, b.last()+1, 1)
	}
	return shape
}

// last is To, or From in a booking whose ends are the wrong way round.
func (b Booking) last() time.Duration { return max(b.From, b.To) }

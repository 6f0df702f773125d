package plan

import (
	"slices"
	"sort"
	"time"

	"perch.example/probes"
)

// Open is how many connections to a target steps have open, over the time since
// the run's start. Make one with NewOpen. Not safe for concurrent use.
type Open struct {
	most int
	load profile
}

// NewOpen returns an Open for at most that many connections at once.
func NewOpen(most int) *Open { return &Open{most: most} }

// Lay adds the connections of a step that has its start.
func (o *Open) Lay(s Step) { o.load.lay(s.opens(), s.Start) }

// Forget drops what was before the instant, so that it stays small in a process
// that places steps for weeks.
func (o *Open) Forget(before time.Duration) {
	i := sort.Search(len(o.load), func(i int) bool { return o.load[i].from > before })
	if i > 1 {
		o.load = append(profile(nil), o.load[i-1:]...)
	}
	if len(o.load) == 1 { // nothing is open any more
		o.load = nil
	}
}

// Place gives a step the earliest start, not before after, at which its bookings
// fit the calendar and its connections fit o, and takes both. False, and nothing
// is taken: they do not fit even where there is nothing else.
func (c *Calendar) Place(s *Step, after time.Duration, o *Open) bool {
	shape, opens := Shape(s.Spec, s.Hold), s.opens()
	start := after
	for {
		next := c.Earliest(start, shape...)
		next = o.load.earliest(next, opens, o.most)
		if next == Never {
			return false
		}
		if next == start {
			break
		}
		start = next
	}
	slots, ok := c.Book(movedBy(start, shape)...)
	if !ok {
		return false
	}
	s.Start, s.Warm = start, slots[0]
	if s.Spec.Reflects() {
		s.Describe, slots = slots[len(slots)-1], slots[:len(slots)-1]
	}
	switch b := s.Spec.Burst; {
	case b != nil:
		s.Next, s.Controls = slots[1:b.Calls()], slots[b.Calls():]
	case many(s.Spec):
		s.Next = slots[1:]
	case len(slots) > 1:
		s.Reuse, s.Control = slots[1], slots[2]
	}
	o.Lay(*s)
	return true
}

// opens returns the step's open connections, since its start. A control counts
// beside the held connection, which may still be closing.
func (s Step) opens() profile {
	var open profile
	lasts := s.end() - s.Start
	if b := s.Spec.Burst; b != nil {
		open.add(0, lasts, b.Connections)
		return open
	}
	open.add(0, lasts, 1)
	if s.Spec.Kind == probes.KindIdle || many(s.Spec) {
		open.add(s.Hold, lasts, 1)
	}
	return open
}

func movedBy(t time.Duration, shape []Booking) []Booking {
	moved := slices.Clone(shape)
	for i := range moved {
		moved[i].From += t
		moved[i].To += t
	}
	return moved
}

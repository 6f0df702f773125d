package plan

import "maps"

// Relimit returns a calendar for another rate with the same slots and bookings,
// whether they fit it or not.
func (c *Calendar) Relimit(rate float64) *Calendar {
	next := NewCalendar(rate)
	next.last, next.past, next.booked = c.last, c.past, maps.Clone(c.booked)
	for _, b := range next.booked {
		next.load.add(b.From-next.guarded+1, b.last()+1, 1)
	}
	return next
}

// Limit changes how many connections may be open at once. What is placed stays.
func (o *Open) Limit(most int) { o.most = most }

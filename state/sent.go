package state

import (
	"maps"
	"slices"
	"time"
)

// mostInstants bounds what is kept of a target. A window longer than a second
// allows two requests, and needs two instants; within one of a second, what is
// beyond the bound counts a moment too long.
const mostInstants = 8

// Sent is what left to a target last, over all runs: what may still share a
// window of its budget with the next request.
type Sent struct {
	Requests int       `json:"requests"` // all of them
	At       time.Time `json:"at"`       // of the last of them
	// Earlier holds those of them that left before At, the oldest first. A perch
	// that does not know it takes all for sent at At: too strict, never too loose.
	Earlier []Left `json:"earlier,omitempty"`
}

// Left is how many requests left at an instant, or before it at the latest.
type Left struct {
	Requests int       `json:"requests"`
	At       time.Time `json:"at"`
}

// Instants returns all that left, the oldest first.
func (s Sent) Instants() []Left {
	rest := s.Requests
	all := make([]Left, 0, len(s.Earlier)+2) // and one that is added
	for _, before := range s.Earlier {
		rest -= before.Requests
		all = append(all, before)
	}
	if rest > 0 || len(all) == 0 && s.Requests > 0 {
		all = append(all, Left{rest, s.At})
	}
	slices.SortStableFunc(all, func(a, b Left) int { return a.At.Compare(b.At) })
	return all
}

// sentOf joins what left at one instant, and of too many instants the oldest,
// each counted at the later one. It keeps all, and changes it.
func sentOf(all []Left) Sent {
	slices.SortStableFunc(all, func(a, b Left) int { return a.At.Compare(b.At) })
	kept := all[:0]
	for _, one := range all {
		if last := len(kept) - 1; last >= 0 && kept[last].At.Equal(one.At) {
			kept[last].Requests = addUp(kept[last].Requests, one.Requests)
		} else if one.Requests > 0 {
			kept = append(kept, Left{one.Requests, one.At.UTC().Round(0)})
		}
	}
	for len(kept) > mostInstants {
		kept[1].Requests = addUp(kept[0].Requests, kept[1].Requests)
		kept = kept[1:]
	}
	if len(kept) == 0 {
		return Sent{}
	}
	sum := 0
	for _, one := range kept {
		sum = addUp(sum, one.Requests)
	}
	last := len(kept) - 1
	return Sent{Requests: sum, At: kept[last].At, Earlier: slices.Clip(kept[:last:last])}
}

// newest leaves of what left the last n requests.
func newest(all []Left, n int) []Left {
	for i := len(all) - 1; i >= 0; i-- {
		if all[i].Requests >= n {
			all[i].Requests = n
			return all[i:]
		}
		n -= all[i].Requests
	}
	return all
}

// AddSent remembers that requests left to a target, at or before an instant, on
// top of what is known.
func (d *Document) AddSent(target string, requests int, at time.Time) {
	if requests <= 0 {
		return
	}
	if d.Sent == nil {
		d.Sent = map[string]Sent{}
	}
	d.Sent[target] = sentOf(append(d.Sent[target].Instants(), Left{requests, at.UTC().Round(0)}))
}

// KeepSent forgets all that left to a target but the last requests: as many as
// one window of its budget allows (at least 1) decide when the next may leave.
func (d *Document) KeepSent(target string, most int) {
	if have, there := d.Sent[target]; there {
		d.Sent[target] = sentOf(newest(have.Instants(), most))
	}
}

// BoundSent takes what is said to leave later than any clock knows for sent by
// then. A run that was killed reserved beyond its end, and whoever has the state
// now knows that it sends no more; a clock that was ahead must not limit for as
// long as it was wrong.
func (d *Document) BoundSent(now time.Time) {
	latest := slices.MaxFunc([]time.Time{now, d.Clocks.Last, d.Clocks.Before}, time.Time.Compare)
	if !slices.ContainsFunc(slices.Collect(maps.Values(d.Sent)), func(s Sent) bool { return s.At.After(latest) }) {
		return
	}
	d.Sent = maps.Clone(d.Sent) // a store may hold the same map
	for target, have := range d.Sent {
		all := have.Instants()
		for i, one := range all {
			if one.At.After(latest) {
				all[i].At = latest
			}
		}
		d.Sent[target] = sentOf(all)
	}
}

// mergeSent joins what each side sent since base, instant by instant: neither
// waited for the other, so all of it counts. A side may have less than base: it
// took a reservation back, or forgot what no window meets any more.
func mergeSent(b, m, t Sent) Sent {
	type side struct{ base, mine, theirs int }
	sides := map[time.Time]*side{}
	of := func(s Sent, count func(*side) *int) {
		for _, one := range s.Instants() {
			at := one.At.UTC().Round(0) // equal where it is the same instant
			if sides[at] == nil {
				sides[at] = &side{}
			}
			n := count(sides[at])
			*n = addUp(*n, one.Requests)
		}
	}
	of(b, func(s *side) *int { return &s.base })
	of(m, func(s *side) *int { return &s.mine })
	of(t, func(s *side) *int { return &s.theirs })
	var all []Left
	for at, s := range sides {
		all = append(all, Left{addUp(s.base, s.mine-s.base, s.theirs-s.base), at})
	}
	return sentOf(all)
}

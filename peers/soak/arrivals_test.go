//go:build soak

package soak

import (
	"slices"
	"sync"
	"testing"
	"time"

	"perch.example/internal/stood"
)

// arrivals are the instants at which requests reached the plain server, by path.
// Safe for concurrent use.
type arrivals struct {
	mu sync.Mutex
	at map[string][]time.Time
}

func (a *arrivals) add(path string, at time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.at == nil {
		a.at = map[string][]time.Time{}
	}
	a.at[path] = append(a.at[path], at)
}

func (a *arrivals) of(path string) []time.Time {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.at[path])
}

// stalls watches how late the machine lets this very process wake, with nothing to
// do: what is late then is the machine's fault, and no schedule's.
type stalls struct {
	mu    sync.Mutex
	spans []span // none meets another
}

type span struct{ from, to time.Time }

const (
	// stalledFrom is how late a wake must be: perch may be as late, twice, in
	// one probe.
	stalledFrom = 15 * time.Millisecond
	// stallReach is for how long before it what arrives is not judged, and for how long
	// after it, beyond as long again as it was: what was due meanwhile is done then, too.
	stallReach = 100 * time.Millisecond
)

// watchStalls watches until the test ends.
func watchStalls(t *testing.T) *stalls {
	s := &stalls{}
	stood.Watch(t, stalledFrom, func(from, to time.Time) {
		s.add(span{from.Add(-stallReach), to.Add(to.Sub(from) + stallReach)})
	})
	return s
}

func (s *stalls) add(one span) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if last := len(s.spans) - 1; last >= 0 && !one.from.After(s.spans[last].to) {
		if one.to.After(s.spans[last].to) {
			s.spans[last].to = one.to
		}
		return
	}
	s.spans = append(s.spans, one)
}

// total is how long the machine stood still, and for how long therefore nothing is
// judged.
func (s *stalls) total() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	var sum time.Duration
	for _, one := range s.spans {
		sum += one.to.Sub(one.from)
	}
	return sum
}

// meets reports whether the machine stood still at some time between the two.
func (s *stalls) meets(from, to time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	i, _ := slices.BinarySearchFunc(s.spans, from, func(one span, at time.Time) int { return one.to.Compare(at) })
	return i < len(s.spans) && s.spans[i].from.Before(to)
}

// lateness holds a probe's arrivals against its own grid: one each `every`, at a
// phase that is the median of theirs. A tick at which nothing came is as late as it
// can be, and one of none. What met a stall of the machine is left out, and counted.
func lateness(at []time.Time, every time.Duration, machine *stalls) (late []time.Duration, none []time.Time, left int) {
	if len(at) < 3 {
		return nil, nil, 0
	}
	phases := make([]time.Duration, len(at))
	for i, t := range at { // around the first one, so that none is cut by the circle's end
		phases[i] = (t.Sub(at[0])+every/2)%every - every/2
	}
	slices.Sort(phases)
	grid := at[0].Add(phases[len(phases)/2])
	next := 0
	for tick := grid; tick.Before(at[len(at)-1]); tick = tick.Add(every) {
		for next < len(at) && at[next].Before(tick.Add(-every/2)) {
			next++
		}
		off := every / 2
		if next < len(at) && at[next].Before(tick.Add(every/2)) {
			off = at[next].Sub(tick).Abs()
		}
		if machine.meets(tick, tick.Add(off)) {
			left++
			continue
		}
		if off == every/2 {
			none = append(none, tick)
		}
		late = append(late, off)
	}
	return late, none, left
}

// busiest is the largest number of arrivals in any window of that length, whose ends
// are not both in it. What left while the machine stood still arrives with what leaves
// after it: such windows are left out.
func busiest(at []time.Time, window time.Duration, machine *stalls) int {
	most, first := 0, 0
	for i := range at {
		for at[i].Sub(at[first]) >= window {
			first++
		}
		if n := i - first + 1; n > most && !machine.meets(at[first], at[i]) {
			most = n
		}
	}
	return most
}

// quantile of durations, which it sorts.
func quantile(all []time.Duration, q float64) time.Duration {
	if len(all) == 0 {
		return 0
	}
	slices.Sort(all)
	return all[min(len(all)-1, int(q*float64(len(all))))]
}

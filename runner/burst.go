package runner

import (
	"time"

	"perch.example/plan"
	"perch.example/probes"
)

// bursts are the places of a burst step's requests. Its calls ask side by side, and one
// whose connection cannot be opened asks for none: so a call takes the place nearest to
// now, not the next one. Guarded by the budget's lock.
type bursts struct {
	calls    []place // after the first
	taken    []bool  // of calls
	controls []place // one a burst, from its beginning to its end
}

// burstPlaces are nil for any other step.
func burstPlaces(s plan.Step) *bursts {
	shape := s.Spec.Burst
	if shape == nil {
		return nil
	}
	b := &bursts{taken: make([]bool, len(s.Next))}
	for i, slot := range s.Next {
		b.calls = append(b.calls, place{slot: slot, at: s.Start + shape.Offset(i+1), held: true})
	}
	for i, slot := range s.Controls {
		b.controls = append(b.controls, place{slot: slot, at: s.Start + shape.Offset(i*shape.Requests), early: true})
	}
	return b
}

// call takes the place of a call that asks now; a gap where none is left.
func (b *bursts) call(off time.Duration) *place {
	nearest := -1
	for i := range b.calls {
		if !b.taken[i] && (nearest < 0 || (b.calls[i].at-off).Abs() <= (b.calls[nearest].at-off).Abs()) {
			nearest = i
		}
	}
	if nearest < 0 {
		return &place{held: true}
	}
	b.taken[nearest] = true
	return &b.calls[nearest]
}

// control is the place of the control of the burst that is under way; a gap where that
// had one.
func (b *bursts) control(off time.Duration) *place {
	for i := len(b.controls) - 1; i >= 0; i-- {
		if p := &b.controls[i]; (p.at <= off || i == 0) && !p.used {
			return p
		} else if p.at <= off {
			break
		}
	}
	return &place{early: true}
}

// controlPlace is the place of a step's control that asks now. The lock is held.
func (s *slots) controlPlace() *place {
	if s.bursts != nil {
		return s.bursts.control(time.Since(s.budget.start))
	}
	return &s.control
}

// nextPlace takes the place of a request that follows the first.
func (s *slots) nextPlace() *place {
	s.budget.mu.Lock()
	defer s.budget.mu.Unlock()
	if s.bursts != nil {
		return s.bursts.call(time.Since(s.budget.start))
	}
	return s.following()
}

// placeOfControl is controlPlace without the lock.
func (s *slots) placeOfControl() *place {
	s.budget.mu.Lock()
	defer s.budget.mu.Unlock()
	return s.controlPlace()
}

// places are all of a burst's.
func (b *bursts) places() []*place {
	if b == nil {
		return nil
	}
	all := make([]*place, 0, len(b.calls)+len(b.controls))
	for i := range b.calls {
		all = append(all, &b.calls[i])
	}
	for i := range b.controls {
		all = append(all, &b.controls[i])
	}
	return all
}

// unmade counts the calls of a burst that ended early, but for those that were counted as
// they were refused.
func (s *slots) unmade(o probes.Observation) {
	if o.Burst == nil {
		return
	}
	s.budget.mu.Lock()
	defer s.budget.mu.Unlock()
	s.tally.denied += max(0, o.Burst.NotMade()-o.Burst.Refused)
}

// slots are those of all places, in their order.
func (b *bursts) slots() []plan.Slot {
	var all []plan.Slot
	for _, p := range b.places() {
		all = append(all, p.slot)
	}
	return all
}

// move puts all places later, together with their step.
func (b *bursts) move(by time.Duration) {
	for _, p := range b.places() {
		p.at += by
	}
}

// burstNeeds is how many requests a burst step is promised: its calls and their
// controls.
func burstNeeds(s *probes.Spec) int { return s.Burst.Calls() + s.Burst.Bursts }

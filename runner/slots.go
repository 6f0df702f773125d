package runner

import (
	"context"
	"time"

	"perch.example/plan"
	"perch.example/probes"
)

// slots is one step's part of its target's budget.
type slots struct {
	budget               *budget
	warm, reuse, control place
}

func newSlots(b *budget, s plan.Step) *slots {
	return &slots{
		budget: b, warm: place{slot: s.Warm, at: s.Start},
		reuse: place{slot: s.Reuse}, control: place{slot: s.Control},
	}
}

// Send waits for the last gate. perch's own second tries and redirects have no
// booking: they use gaps.
func (s *slots) Send(ctx context.Context, role probes.Role) error {
	switch role {
	case probes.RoleWarm:
		return s.budget.pass(ctx, &s.warm)
	case probes.RoleReuse:
		return s.budget.pass(ctx, &s.reuse)
	case probes.RoleControl:
		return s.budget.pass(ctx, &s.control)
	default:
		return s.budget.pass(ctx, &place{})
	}
}

// HoldUntil shrinks the reuse's booking (an interval as wide as a warm-up may
// take) to its instant, and the control's to the moment after it.
func (s *slots) HoldUntil(reuse time.Time) bool {
	b := s.budget
	b.mu.Lock()
	defer b.mu.Unlock()
	s.reuse.at = reuse.Sub(b.start)
	s.control.at = s.reuse.at + plan.ControlDelay
	if b.cal.Move(s.reuse.slot, plan.At(s.reuse.at)) && b.cal.Move(s.control.slot, plan.At(s.control.at)) {
		return true
	}
	// The warm-up outlasted what was booked: the control gives way first, a
	// reuse at its instant is worth more than a control at once.
	b.cal.Release(s.control.slot)
	s.control = place{}
	return b.cal.Move(s.reuse.slot, plan.At(s.reuse.at))
}

// release gives back what the step booked and did not use: what was used
// stays booked, since it counts in the windows to come.
func (s *slots) release() {
	s.budget.mu.Lock()
	defer s.budget.mu.Unlock()
	for _, p := range []*place{&s.warm, &s.reuse, &s.control} {
		if p.slot != 0 && !p.used {
			s.budget.cal.Release(p.slot)
		}
	}
}

// Dial waits for one of the target's connections.
func (s *slots) Dial(ctx context.Context) (func(), error) {
	select {
	case s.budget.open <- struct{}{}:
		return func() { <-s.budget.open }, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

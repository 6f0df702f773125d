package runner

import (
	"context"
	"time"

	"perch.example/plan"
	"perch.example/probes"
)

// place is a booking and its instant. The zero place is none.
type place struct {
	slot  plan.Slot
	at    time.Duration
	early bool // may leave before its instant
	held  bool // on a connection that is held for it: it may miss its instant
	used  bool // a request left
	asks  bool // a denial that has room later is none: it is asked again at once, with a connection of its own
}

// pass is the last gate: it returns when one request may leave. The booking is
// moved to the instant at which it really does.
func (s *slots) pass(ctx context.Context, p *place) error {
	at, err := s.settle(p)
	if err != nil {
		return err
	}
	if err := sleep(ctx, time.Until(at)); err != nil {
		return err
	}
	before := time.Now()
	if err := s.budget.limiter.Wait(ctx); err != nil {
		return err
	}
	s.addWait(time.Since(before))
	for {
		more, err := s.budget.leave(s, p)
		if err != nil {
			return err
		}
		if more <= 0 {
			return nil
		}
		if err := sleep(ctx, more); err != nil {
			return err
		}
	}
}

// settle says when the request of that booking leaves: at its instant, now, or
// in the next gap.
func (s *slots) settle(p *place) (time.Time, error) {
	b := s.budget
	b.mu.Lock()
	defer b.mu.Unlock()
	now := time.Now()
	if err := b.refused(s); err != nil {
		return now, err
	}
	off := now.Sub(b.start)
	if p.slot != 0 {
		if !p.early && off < p.at {
			return b.start.Add(p.at), nil
		}
		near := time.Duration(slackShare * float64(b.cal.Window()))
		if (off - p.at).Abs() <= near {
			b.cal.Force(p.slot, plan.At(off))
			return now, nil
		}
		if b.cal.Move(p.slot, plan.At(off)) {
			return now, nil
		}
		if off < p.at { // no room before its instant, which is its own
			return b.start.Add(p.at), nil
		}
		b.cal.Release(p.slot)
		p.slot = 0
	}
	longest := longestUnused
	if p.held {
		longest = longestGap
	}
	if err := b.gap(s.tally, p, off, longest); err != nil {
		return now, err
	}
	return b.start.Add(p.at), nil
}

// Send waits for the last gate. perch's own second tries and redirects have no
// booking of the plan's: they use gaps.
func (s *slots) Send(ctx context.Context, role probes.Role) error {
	switch role {
	case probes.RoleWarm:
		if err := s.catchUp(); err != nil {
			return err
		}
		return s.pass(ctx, &s.warm)
	case probes.RoleDescribe:
		if s.describe.used { // one more
			return s.pass(ctx, &place{asks: true})
		}
		return s.pass(ctx, &s.describe)
	case probes.RoleReuse:
		return s.pass(ctx, &s.reuse)
	case probes.RoleControl:
		return s.pass(ctx, s.placeOfControl())
	case probes.RoleNext:
		return s.pass(ctx, s.nextPlace())
	default:
		gap := s.gap // what Dial booked, if it did
		s.gap = place{}
		gap.asks = role == probes.RoleRedirect && gap.slot == 0
		return s.pass(ctx, &gap)
	}
}

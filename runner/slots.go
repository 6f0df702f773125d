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
	tally                *tally       // of the step's wave
	allowed              func() error // what the fence says, and a policy that came since the step began; nil: nothing
	fence                func() error // nil: there is none
	promised             int          // requests that it may still send whatever the others do
	begun                bool         // a request left
	warm, reuse, control place
	describe             place          // server reflection's first request
	next                 []place        // many on one connection, after the first
	nextUsed             int            // how many of them were asked for
	bursts               *bursts        // kind burst; nil: another
	gap                  place          // for a second try or a redirect
	dialled              time.Time      // when it last began to open a connection
	dialling             probes.Role    // and for which request; empty: that has left
	many                 bool           // it tries all addresses of the host
	failed, answered     bool           // one of them
	shape                []plan.Booking // of all but describe, which leaves before them
}

func newSlots(b *budget, w *tally, s plan.Step, promised int) *slots {
	shape := plan.Shape(s.Spec, s.Hold)
	if s.Spec.Reflects() {
		shape = shape[:len(shape)-1]
	}
	var next []place
	own := burstPlaces(s)
	if own == nil && len(s.Next) > 0 {
		shape, next = shape[:1], following(s)
	}
	return &slots{
		budget: b, tally: w, promised: promised, warm: place{slot: s.Warm, at: s.Start},
		reuse: place{slot: s.Reuse, held: true}, control: place{slot: s.Control, early: true},
		describe: place{slot: s.Describe, at: s.Start}, shape: shape, next: next, bursts: own,
		many: s.Spec.Way.Addresses == probes.AddressesAll && s.Spec.Kind != probes.KindIdle,
	}
}

// catchUp moves the whole step when its dial took longer than was booked and
// the calendar has no room for a warm-up alone: its reuse and control come along.
func (s *slots) catchUp() error {
	b := s.budget
	b.mu.Lock()
	defer b.mu.Unlock()
	off := time.Since(b.start)
	if off <= s.warm.at || b.cal.Move(s.warm.slot, plan.At(off)) {
		return nil
	}
	if !s.rebook(off, longestUnused, plan.At(0)) {
		return &probes.Denied{Why: "the connection took longer to open than was booked, and the budget has no room soon after"}
	}
	return nil
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
	s.control.slot = 0
	if !b.cal.Move(s.reuse.slot, plan.At(s.reuse.at)) {
		return false
	}
	if slots, ok := b.cal.Book(plan.At(s.control.at)); ok { // only the reuse's old interval was in the way
		s.control.slot = slots[0]
	}
	return true
}

// unbook releases what was booked and not used. The lock is held.
func (b *budget) unbook(p *place) {
	if p.slot != 0 && !p.used {
		b.cal.Release(p.slot)
	}
}

// release gives back what the step was promised or had booked, and did not
// use: what was used stays booked, since it counts in the windows to come.
func (s *slots) release() {
	s.stepDown()
	s.budget.mu.Lock()
	defer s.budget.mu.Unlock()
	s.budget.promised -= s.promised
	s.promised = 0
	for _, p := range []*place{&s.warm, &s.reuse, &s.control, &s.describe, &s.gap} {
		s.budget.unbook(p)
	}
	for i := range s.next {
		s.budget.unbook(&s.next[i])
	}
	for _, p := range s.bursts.places() {
		s.budget.unbook(p)
	}
}

// Together moves the reuse and its control to the next gap that has room for
// both, and waits for it.
func (s *slots) Together(ctx context.Context) error {
	b := s.budget
	b.mu.Lock()
	b.cal.Release(s.reuse.slot)
	b.cal.Release(s.control.slot)
	s.reuse.slot, s.control.slot = 0, 0
	off := time.Since(b.start)
	at := b.cal.Earliest(off, plan.At(0), plan.At(plan.ControlDelay))
	if slots, ok := b.cal.Book(plan.At(at), plan.At(at+plan.ControlDelay)); ok {
		s.reuse.slot, s.reuse.at = slots[0], at
		s.control.slot, s.control.at = slots[1], at+plan.ControlDelay
	}
	b.mu.Unlock()
	return sleep(ctx, at-off)
}

// Dial waits for one of the target's connections. What has no booking first
// waits for its gap, less the time that dialling takes.
func (s *slots) Dial(ctx context.Context, role probes.Role) (func(), error) {
	if leads(role) {
		if err := s.awaitTurn(ctx); err != nil {
			return nil, err
		}
	}
	if err := s.awaitGap(ctx, role); err != nil {
		return nil, err
	}
	if err := s.stopped(ctx); err != nil {
		return nil, err
	}
	release, err := s.budget.open.take(ctx)
	if err != nil {
		return nil, err
	}
	s.budget.mu.Lock()
	defer s.budget.mu.Unlock()
	s.dialled, s.dialling = time.Now(), role
	return release, nil
}

// stopped says why no connection may be opened any more.
func (s *slots) stopped(ctx context.Context) error {
	if s.fence != nil {
		if err := s.fence(); err != nil {
			return err
		}
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return nil
}

// controlFits reports whether the control can leave about now. Its booking is
// for a reuse that fails at once; one that ran into its timeout ends long after
// it, and then the control waits for a gap before it dials, not with an open
// connection. The lock is held.
func (s *slots) controlFits(p *place) bool {
	b := s.budget
	off := time.Since(b.start)
	if p.slot == 0 {
		return false
	}
	if off <= p.at || b.cal.Move(p.slot, plan.At(off)) {
		return true
	}
	b.cal.Release(p.slot)
	p.slot = 0
	return false
}

// awaitGap refuses a connection for a request that could not leave.
func (s *slots) awaitGap(ctx context.Context, role probes.Role) error {
	b := s.budget
	b.mu.Lock()
	err := b.refused(s)
	var p *place
	switch role {
	case probes.RoleAgain, probes.RoleRedirect:
		p = &s.gap
	case probes.RoleControl:
		if c := s.controlPlace(); !s.controlFits(c) {
			p = c
		}
	default:
	}
	if err != nil || p == nil {
		b.mu.Unlock()
		return err
	}
	err = b.gap(s.tally, p, time.Since(b.start), longestGap)
	wait := time.Until(b.start.Add(p.at - b.leadLocked()))
	b.mu.Unlock()
	if err != nil {
		return err
	}
	if err := sleep(ctx, wait); err != nil {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.refused(s) // what it was asked to leave alone meanwhile is not dialled either
}

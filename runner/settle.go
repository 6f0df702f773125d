package runner

import (
	"context"
	"log/slog"
	"time"

	"perch.example/plan"
	"perch.example/probes"
)

// settlePace is how far apart a target is dialled while its connections cannot
// be opened.
const settlePace = time.Second

// settling is a target's first seconds, in which a new pod's network may not be
// up: a connection that cannot be opened is tried again. One step, the leader,
// tries for all; the others wait, so that the target is dialled about once a
// second. Until anything was opened the target's whole calendar moves along with
// the leader's tries: nothing has left, so that every distance in it stays. Guarded
// by the budget's lock.
type settling struct {
	began, until time.Time // until then nothing counts; zero: everything does
	log          *slog.Logger
	leader       *slots        // who tries for all; nil: nobody has to
	freed        chan struct{} // closed when the leader need not be waited for any more
	opened       bool          // any connection of the target
	told         probes.Settled
}

// note counts a failure that is tried again. The lock is held.
func (f *settling) note(why probes.Reason, now time.Time) {
	f.told.Times++
	f.told.Reason, f.told.After = why, now.Sub(f.began)
	if f.told.Times == 1 {
		f.log.Info("a connection cannot be opened yet, it is tried again", "target", f.told.Target, "reason", why, "until", f.until)
	}
}

// free lets those go on that wait for a leader. The lock is held.
func (f *settling) free() {
	if f.leader != nil {
		f.leader = nil
		close(f.freed)
	}
}

// stepDown ends s's being the leader, if it is.
func (s *slots) stepDown() {
	s.budget.mu.Lock()
	defer s.budget.mu.Unlock()
	if s.budget.first.leader == s {
		s.budget.first.free()
	}
}

// Opened ends the waiting of those that could not open a connection.
func (s *slots) Opened() {
	s.budget.mu.Lock()
	defer s.budget.mu.Unlock()
	f := &s.budget.first
	if f.told.Times > 0 && !f.opened {
		f.log.Info("the first connection was opened", "target", f.told.Target, "tries", f.told.Times+1, "after", time.Since(f.began))
	}
	f.opened = true
	f.free()
}

// Unopened reports whether a connection that could not be opened is to be tried
// again. It returns when that may be: a control and a second try after the pace,
// a warm-up after it has become the leader, or to wait for one in Dial.
func (s *slots) Unopened(ctx context.Context, role probes.Role, why probes.Reason) bool {
	wait, again := s.tryAgain(role, why)
	if !again {
		s.stepDown()
		return false
	}
	if sleep(ctx, wait) != nil {
		s.stepDown()
		return true // Dial says why
	}
	b := s.budget
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case role == probes.RoleAgain:
		b.cal.Release(s.gap.slot)
		s.gap = place{}
	case b.first.leader == s && !b.first.opened:
		b.start = time.Now().Add(b.leadLocked() - s.warm.at)
	}
	return true
}

// leads reports whether a request is a step's first, for which it may try to open
// a connection for all.
func leads(role probes.Role) bool { return role == probes.RoleWarm || role == probes.RoleDescribe }

// tryAgain says after which wait the next try may be, if there is one.
func (s *slots) tryAgain(role probes.Role, why probes.Reason) (wait time.Duration, again bool) {
	s.budget.mu.Lock()
	defer s.budget.mu.Unlock()
	f, now := &s.budget.first, time.Now()
	if role == probes.RoleRedirect || !now.Before(f.until) {
		return 0, false
	}
	f.note(why, now)
	if leads(role) {
		if f.leader == nil {
			f.leader, f.freed = s, make(chan struct{})
		}
		if f.leader != s {
			return 0, true
		}
	}
	next := s.dialled.Add(settlePace)
	if next.After(f.until) {
		next = f.until // the last try, which counts
	}
	return next.Sub(now), true
}

// awaitTurn keeps a warm-up from dialling beside the leader, and before the
// instant to which its booking has moved meanwhile. Without trouble it returns
// at once: the step was started in time.
func (s *slots) awaitTurn(ctx context.Context) error {
	for {
		freed, wait, err := s.turn()
		switch {
		case err != nil:
			return err
		case freed != nil:
			select {
			case <-freed:
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		case wait > 0: // and look again: the calendar may move meanwhile
			if err := sleep(ctx, wait); err != nil {
				return err
			}
		default:
			return nil
		}
	}
}

// turn says what a warm-up has to wait for: the leader, or its own instant,
// which is a new one where the old one has passed.
func (s *slots) turn() (freed chan struct{}, wait time.Duration, err error) {
	b := s.budget
	b.mu.Lock()
	defer b.mu.Unlock()
	f := &b.first
	if f.told.Times == 0 {
		return nil, 0, nil
	}
	if f.leader != nil && f.leader != s {
		return f.freed, 0, nil
	}
	if off := time.Since(b.start); off > s.warm.at && !s.rebook(off+b.leadLocked(), longestGap, s.shape[0]) {
		return nil, 0, &probes.Denied{Why: "the connection could not be opened at its time, and the budget has no room soon after"}
	}
	return nil, time.Until(b.start.Add(s.warm.at - b.leadLocked())), nil
}

// rebook moves the whole step, its warm-up's booking being first: its reuse and
// control come along, and all of a burst's calls. False, and a denial counted: not within longest. The lock
// is held.
func (s *slots) rebook(after, longest time.Duration, first plan.Booking) bool {
	b := s.budget
	if !s.describe.used { // it finds a gap, or what it asks for is remembered
		b.cal.Release(s.describe.slot)
		s.describe.slot = 0
	}
	moved := b.cal.Clone()
	shape := append([]plan.Booking{first}, s.shape[1:]...)
	var held []plan.Slot
	if s.bursts != nil {
		held = append([]plan.Slot{s.warm.slot}, s.bursts.slots()...)
	} else {
		held = []plan.Slot{s.warm.slot, s.reuse.slot, s.control.slot}[:len(shape)]
	}
	at := moved.Rebook(after, held, shape)
	if at-after > longest {
		s.tally.denied++
		return false
	}
	s.bursts.move(at - s.warm.at)
	b.cal, s.warm.at = moved, at
	return true
}

package runner

import (
	"slices"
	"time"

	"perch.example/plan"
	"perch.example/probes"
)

// What a wave has to do with a budget that it shares.

// tally is what one wave did with a target's budget, guarded by the budget's
// lock.
type tally struct {
	sent     int
	last     []time.Time // of the sent, as many as one window allows
	peak     peak        // of all waves, while this one is under way
	waited   time.Duration
	denied   int
	failures int // fresh exchanges in a row, of all waves
	settled  int // tries before this wave began
}

// enter begins a wave. Each begins anew with what it makes of failures: a
// target that was down is tried again, a few times.
func (b *budget) enter() *tally {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.waves) == 0 {
		b.dialled = 0
	}
	w := &tally{settled: b.first.told.Times}
	b.waves[w] = true
	return w
}

// exit ends a wave, and says what it did.
func (b *budget) exit(w *tally, t probes.Target) (use probes.BudgetUse, settled probes.Settled) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.waves, w)
	if b.first.told.Times > w.settled {
		settled = b.first.told
	}
	return b.useLocked(w, t), settled
}

// place books a wave's step at the earliest instant at which the calendar has
// room for it, and the target's connections.
func (b *budget) place(s *plan.Step, after time.Duration) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.cal.Place(s, after, b.room)
}

// occupy counts the connections of a step that the calendar has already.
func (b *budget) occupy(s plan.Step) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.room.Lay(s)
}

// giveBack releases what is booked for a step that was not started.
func (b *budget) giveBack(s plan.Step) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, slot := range s.Slots() {
		b.cal.Release(slot)
	}
}

// forget drops what no request from now on can meet, and returns what now is in
// the calendar's time, and a dial from now.
func (b *budget) forget(now time.Time) (soonest time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	off := now.Sub(b.start)
	b.cal.Forget(off)
	b.room.Forget(off)
	return off + b.leadLocked()
}

// at is an instant of the calendar.
func (b *budget) at(off time.Duration) time.Time {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.start.Add(off)
}

// useLocked is what a wave used.
func (b *budget) useLocked(w *tally, t probes.Target) probes.BudgetUse {
	return probes.BudgetUse{
		Target: t.Name, LimitPerSecond: t.Budget(), Requests: w.sent,
		PeakPerSecond: w.peak.perSecond(), Waited: w.waited, Denied: w.denied, LeaveAlone: b.blocked,
		Last: slices.Clone(w.last), Allowed: b.gate.Allowed(),
	}
}

// note counts a request that leaves now: for the windows to come, and as the
// wave's. The lock is held.
func (b *budget) note(w *tally, now time.Time) {
	b.recent = append(b.recent, now)
	w.sent++
	w.last = append(w.last, now)
	if len(w.last) > b.gate.Allowed() {
		w.last = w.last[1:]
	}
}

// sentBefore takes what earlier processes sent until then, for the last gate.
func (b *budget) sentBefore(all []plan.Sent, then time.Time) {
	for _, sent := range all {
		for range min(sent.Requests, b.gate.Allowed()) {
			b.recent = append(b.recent, then.Add(-sent.Ago))
		}
	}
	slices.SortFunc(b.recent, time.Time.Compare)
	b.recent = b.recent[max(0, len(b.recent)-b.gate.Allowed()):]
}

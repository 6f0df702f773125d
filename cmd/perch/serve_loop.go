package main

import (
	"context"
	"slices"
	"time"

	"perch.example/plan"
	"perch.example/probes"
)

// slowest is how much longer than its steps a wave may take before its loop is
// said to be stuck: others are told and saved first, each within a minute.
const slowest = 10 * time.Minute

// loop runs what has one `every`, a wave after the other.
type loop struct {
	every    time.Duration
	probes   map[string]bool // target/probe
	patience time.Duration   // what is longer is stuck
	begun    bool            // a wave was played: from then on its ticks say what is due
}

func (l *loop) name() string { return "every " + probes.Spoken(l.every) }

// loop plays a wave at each tick until ctx ends.
func (s *service) loop(ctx context.Context, l *loop) {
	tick := s.firstTick(l)
	for {
		s.health.expect(l.name(), tick.Add(l.patience))
		s.board.expect(l.probes, tick)
		if !until(ctx, tick) {
			return
		}
		s.health.expect(l.name(), time.Now().Add(l.patience))
		s.wave(ctx, l)
		next, missed := tickAfter(tick, l.every, time.Now())
		if missed > 0 && ctx.Err() == nil {
			s.log.Warn("waves fell out, since the last one took longer than its every", "loop", l.name(), "missed", missed, "took", time.Since(tick).Round(time.Millisecond))
		}
		tick = next
	}
}

// until waits for an instant, and reports whether ctx lasted so long.
func until(ctx context.Context, at time.Time) bool {
	t := time.NewTimer(time.Until(at))
	defer t.Stop()
	select {
	case <-t.C:
		return ctx.Err() == nil
	case <-ctx.Done():
		return false
	}
}

// tickAfter returns the first tick at or after now that follows another one, and
// how many between them have passed.
func tickAfter(tick time.Time, every time.Duration, now time.Time) (next time.Time, missed int) {
	next = tick.Add(every)
	if late := now.Sub(next); late > 0 {
		passed := (late + every - 1) / every
		return next.Add(passed * every), int(passed)
	}
	return next, 0
}

// firstTick is when the first of the loop's probes is due, as the state says.
func (s *service) firstTick(l *loop) time.Time {
	s.turn.take()
	defer s.turn.give()
	now, first := s.sys.clock(), l.every
	for id := range l.probes {
		if s.kept.store == nil || s.kept.doc.IsDue(id, l.every, now) {
			return time.Now()
		}
		first = min(first, s.kept.doc.Due[id].Add(l.every).Sub(now))
	}
	return time.Now().Add(first)
}

// wave is one run of what has the loop's `every`. Its stages are those of
// finish.go; what the process has kept is its own while it begins, and again from
// when it has been probed.
func (s *service) wave(ctx context.Context, l *loop) {
	w, run, ok := s.begin(ctx, l)
	if !ok {
		return
	}
	seen := w.play(ctx, &run)
	muted := s.silencesNow(ctx)
	s.turn.take()
	defer s.turn.give()
	w.judge(&run, seen)
	w.past = surelyPast(w.doc, run.Finished)
	if muted != nil {
		w.silenced = muted
	}
	if s.untold = ctx.Err() != nil; s.untold {
		w.takeIn(&run) // stop tells and saves, once for all
	} else {
		w.finish(ctx, &run)
	}
	s.last = run
	s.board.take(run, w.doc.RequestsToday)
	s.health.setState(w.unsaved)
	s.sayWave(w, l, run)
	if err := taken(w.unsaved); err != nil {
		s.end(err)
	}
}

// begin plans a wave and reserves what it may send. False: there is nothing to
// do.
func (s *service) begin(ctx context.Context, l *loop) (*pass, probes.Run, bool) {
	s.turn.take()
	defer s.turn.give()
	if ctx.Err() != nil {
		return nil, probes.Run{}, false
	}
	w := s.newWave()
	if err := w.planWave(l); err != nil {
		w.observed = true // it is counted, though no run will be
		w.problem(probes.PartInternal, err)
		return nil, probes.Run{}, false
	}
	l.begun = true
	if len(w.plan.Steps) == 0 {
		return nil, probes.Run{}, false
	}
	s.sayNotes(w.plan)
	run := w.newRun()
	w.reserve(ctx, run.Started)
	s.health.setReserved(w.unkept)
	return w, run, true
}

// planWave plans what has the loop's `every`; the first time only what is due,
// for an earlier process may have run some of it.
func (p *pass) planWave(l *loop) error {
	now := p.sys.clock()
	made, err := plan.New(p.cfg, plan.Options{
		Seed: p.flags.seed, Only: p.flags.only, Sent: p.sentBefore(now), Ends: ends(p.doc, p.cfg), Brackets: brackets(p.doc), Env: p.sys.env,
		Due: func(s probes.Spec) bool {
			return s.Every == l.every && (l.begun || p.store == nil || p.doc.IsDue(s.ID(), s.Every, now))
		},
	})
	if err != nil {
		return err
	}
	p.plan = made
	p.plan.NotDue = slices.DeleteFunc(p.plan.NotDue, func(id string) bool { return !l.probes[id] }) // those have loops of their own
	return nil
}

// turn is taken by one wave at a time. It is no Mutex, for a test's time stands
// still while anybody waits for one, and a wave that tells takes its time.
type turn chan struct{}

func (t turn) take() { t <- struct{}{} }

func (t turn) give() { <-t }

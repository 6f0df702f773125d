package main

import (
	"context"
	"errors"
	"slices"
	"time"

	"perch.example/diagnose"
	"perch.example/plan"
	"perch.example/probes"
)

// mostRounds bounds a search: each round leaves less than half of what was
// open, so that a day is down to a tenth of a second in fewer.
const mostRounds = 24

// errEnough ends a round's holds that can tell nothing more.
var errEnough = errors.New("a shorter hold died already")

// search is perch idle on its way to the bound. Where a close is seen the first
// round is the last. Where nobody sees connections end, each further one holds
// several at once inside the bracket that the ones before left.
type search struct {
	*pass
	seen     []probes.Observation
	shortest time.Duration // hold that the budget allows
	atOnce   int
	began    time.Time
	width    time.Duration // of the bracket after the last round; 0: there was none
}

// bound plays round after round until the bound is known as well as it can be,
// and returns all that was observed.
func (s *search) bound(ctx context.Context, run *probes.Run) []probes.Observation {
	s.began = s.sys.clock()
	live := s.live()
	defer live.stop()
	var all []probes.BudgetUse
	for round := 1; ; round++ {
		// A runner of its own: the last one's still has room kept for what was given up.
		s.runner = s.newRunner(s.sys.clock(), s.plan.Settle, live.watch)
		s.round(ctx, run)
		all = append(all, run.Budget...)
		s.remember(run.Budget)
		holds := s.next()
		if len(holds) == 0 || ctx.Err() != nil || round == mostRounds || !s.replan(holds) {
			break
		}
		s.log.Info("idle connections die unseen: looking closer", "round", round+1, "holds", holds)
	}
	run.Budget = joinedUse(all)
	return s.seen
}

// round plays the plan. Once a hold has died unseen and no shorter one is under
// way, the longer ones are given up: they would die as well. Beside those that
// carried nothing before, all are held: theirs is another bound.
func (s *search) round(ctx context.Context, run *probes.Run) {
	ctx, enough := context.WithCancelCause(ctx)
	defer enough(nil)
	var waiting []time.Duration
	for _, step := range s.plan.Steps {
		waiting = append(waiting, step.Hold)
	}
	var died time.Duration
	delays, settled := run.Delays, run.Settled
	keep := func(o probes.Observation) {
		if i := slices.Index(waiting, o.Hold); i >= 0 {
			waiting = slices.Delete(waiting, i, i+1)
		}
		if o.Cut == probes.CutCanceled && errors.Is(context.Cause(ctx), errEnough) {
			return
		}
		s.seen = append(s.seen, o)
		if age := diedUnseen(o); age > 0 && (died == 0 || age < died) {
			died = age
		}
		if died > 0 && !s.cfg.Targets[0].Probes[0].Unused && !slices.ContainsFunc(waiting, func(hold time.Duration) bool { return hold < died }) {
			enough(errEnough)
		}
	}
	played := s.runner.Play(ctx, s.plan, keep)
	run.Finished, run.Budget, run.CutShort = s.sys.clock(), played.Budget, played.CutShort
	if errors.Is(context.Cause(ctx), errEnough) {
		run.CutShort = ""
	}
	run.Delays, run.Settled = append(delays, played.Delays...), append(settled, played.Settled...)
}

// diedUnseen returns the idle age at which a connection turned out to be dead
// that nobody saw end, while a fresh one worked; 0: it did not.
func diedUnseen(o probes.Observation) time.Duration {
	reuse, control := o.Attempt(probes.ConnectionReused), o.Attempt(probes.ConnectionControl)
	if o.Unused || o.Close != nil || reuse == nil || reuse.OK() || control == nil || !control.OK() {
		return 0
	}
	return reuse.IdleTime
}

// next returns the holds of the next round; none: the bound is known, or holds
// would not tell more of it.
func (s *search) next() []time.Duration {
	spec := s.cfg.Targets[0].Probes[0]
	b := diagnose.NextBound(diagnose.Input{Spec: spec, Observations: s.seen}).Known
	width := s.width
	s.width = b.Width()
	switch {
	case b.Settled() || b.Died-s.shortest <= b.Resolution(), width > 0 && s.width >= width:
		return nil
	case b.Survived < s.shortest:
		b.Survived = s.shortest
		return append([]time.Duration{s.shortest}, b.Cut(s.atOnce-1)...)
	}
	return b.Cut(s.atOnce)
}

// remember keeps what left, for the next round to stay within the budget.
func (s *search) remember(used []probes.BudgetUse) {
	s.runner = nil
	for _, use := range used {
		for _, at := range use.Last {
			s.doc.AddSent(use.Target, 1, at)
		}
	}
}

// replan makes the plan of the next round, and reports whether it fits what is
// left of the time.
func (s *search) replan(holds []time.Duration) bool {
	s.cfg.Targets[0].Probes[0].Holds = holds
	o := plan.Options{Seed: s.flags.seed, Env: s.sys.env, Sent: s.sentBefore(s.sys.clock())}
	if s.flags.deadline > 0 {
		o.Deadline = max(1, s.flags.deadline-s.sys.clock().Sub(s.began))
	}
	next, err := plan.New(s.cfg, o)
	if err != nil {
		s.log.Info("the search ends here: another round does not fit", "problem", err.Error())
		return false
	}
	s.plan = next
	return true
}

// joinedUse adds up what the rounds used of a target's budget.
func joinedUse(all []probes.BudgetUse) []probes.BudgetUse {
	if len(all) == 0 {
		return nil
	}
	joined := all[len(all)-1]
	for _, use := range all[:len(all)-1] {
		joined.Requests += use.Requests
		joined.PeakPerSecond = max(joined.PeakPerSecond, use.PeakPerSecond)
		joined.Waited += use.Waited
		joined.Denied += use.Denied
	}
	return []probes.BudgetUse{joined}
}

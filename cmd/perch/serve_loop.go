package main

import (
	"context"
	"errors"
	"slices"
	"time"

	"perch.example/config"
	"perch.example/plan"
	"perch.example/probes"
	"perch.example/state"
)

// slowest is how much longer than its steps a wave may take before its probe is said
// to be stuck.
const slowest = time.Minute

// loop runs one probe, a wave after the other: it never overlaps itself.
type loop struct {
	id     string // target/probe
	spec   *probes.Spec
	cancel context.CancelCauseFunc
	done   chan struct{} // closed when its last wave is over

	// Guarded by the service's lock: a reload may change what surrounds the probe.
	near  *config.Config // the config, narrowed to the loop's target; nothing of it is changed
	made  *plan.Plan     // of a wave, which others of the same near are alike; nil: none is known
	most  int            // requests of a wave
	lasts time.Duration  // of a wave, when every timeout is used up
	last  time.Time      // when its last wave began
	gone  bool           // it is no longer in the config: what it finds is not judged
}

// errGone is why a wave is cut short whose probe is taken out, or becomes another one.
var errGone = errors.New("the probe is no longer in the config")

// run plays a wave at each tick until ctx ends.
func (s *service) run(ctx context.Context, l *loop, tick time.Time) {
	defer close(l.done)
	for before := (time.Time{}); ; {
		k, patience := s.paceOf(l)
		s.expect(l, tick, tick.Add(patience))
		if !until(ctx, tick) {
			return
		}
		if k, patience = s.paceOf(l); !before.IsZero() {
			if soonest, _ := k.after(before, before); soonest.After(tick) { // by a policy that came meanwhile
				tick = soonest
				continue
			}
		}
		before = tick
		s.begins(l, tick.Add(k.every), patience)
		s.wave(ctx, l)
		next, missed := k.after(tick, time.Now())
		if missed > 0 && ctx.Err() == nil {
			s.fellOut(l, missed)
		}
		tick = next
	}
}

// paceOf is when a loop's probe runs, and how long a wave may take.
func (s *service) paceOf(l *loop) (ticks, time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return ticksOf(l.near.Name, l.id, l.spec.Every, leastEvery(s.policy)), 2*l.lasts + slowest
}

// expect says when the loop's probe is due next, and by when it must have gone on.
func (s *service) expect(l *loop, tick, by time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if l.gone {
		return
	}
	s.health.expect(l.id, by)
	s.board.expect(map[string]bool{l.id: true}, tick)
	s.ledger.due(l.id, ahead{target: l.spec.Target, tick: tick, every: l.spec.Every, most: l.most, lasts: l.lasts, token: tokenOf(l.spec)})
}

// begins says that a wave begins, and when the next one is due.
func (s *service) begins(l *loop, next time.Time, patience time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if l.last = s.sys.clock(); l.gone {
		return
	}
	s.health.expect(l.id, time.Now().Add(patience))
	s.board.expect(map[string]bool{l.id: true}, next)
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

// played is a wave that is over.
type played struct {
	loop *loop
	near *config.Config // by which it was planned
	run  probes.Run
	seen []probes.Observation

	failed bool // an attempt was not answered as it should be
}

// wave plans one run of a probe, plays it, and hands it in. It waits for nothing but
// its own target, and for the state where not all that it may send is reserved there.
func (s *service) wave(ctx context.Context, l *loop) {
	made, near, err := s.planned(l)
	switch {
	case err != nil:
		s.cannot(err)
		return
	case made == nil:
		return
	}
	version, _ := build()
	started := s.sys.clock()
	pl := &played{loop: l, near: near, run: probes.Run{
		Version: version, Name: near.Name, Vantage: near.Vantage, Seed: made.Seed, Started: started, RunID: runID(started, made.Seed, near.Shard),
	}}
	if !s.ledger.draw(ctx, pl, made) {
		return
	}
	w := pass{kept: s.kept, sys: s.sys, plan: made}
	pl.seen = w.play(ctx, &pl.run)
	s.handIn(pl)
}

// planned plans a wave; nil: there is nothing to do. Only the loop's target is looked
// at: the whole config was planned when it was taken in.
func (s *service) planned(l *loop) (*plan.Plan, *config.Config, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	seed := s.newSeed()
	sent := s.sentBefore(l, s.sys.clock())
	if l.made != nil && len(sent) == 0 {
		made := *l.made
		made.Seed = seed
		return &made, l.near, nil
	}
	known := s.known[l.spec.Target]
	made, err := plan.New(*l.near, plan.Options{
		Seed: seed, Sent: sent, Ends: known.ends, Brackets: known.brackets, Env: s.sys.env,
		Due: func(other probes.Spec) bool { return other.ID() == l.id },
	})
	if err != nil {
		return nil, nil, err
	}
	made.NotDue = nil // those have loops of their own
	if len(made.Steps) == 0 {
		return nil, nil, nil
	}
	l.most, l.lasts = max(l.most, mostOf(made)), max(l.lasts, made.LongestWall)
	s.sayNotes(made)
	if len(sent) == 0 && repeats(made) {
		l.made = made
	}
	return made, l.near, nil
}

// repeats reports whether the next wave's plan differs in nothing but its seed: one
// exchange, on which neither what is known of the path nor chance has a say. A runner
// changes nothing of it.
func repeats(made *plan.Plan) bool {
	step := made.Steps[0]
	return len(made.Steps) == 1 && step.Spec.Kind != probes.KindIdle && step.Spec.Kind != probes.KindBurst && len(step.Next) == 0
}

// sentBefore is what earlier processes sent to a loop's target, where this one does not
// know more itself. The lock is held.
func (s *service) sentBefore(l *loop, now time.Time) map[string][]plan.Sent {
	if len(s.sent) == 0 || s.runner.Knows(l.spec.Target) {
		return nil
	}
	p := &pass{kept: &kept{runner: s.runner, doc: state.Document{Sent: s.sent}}, cfg: *l.near}
	return p.sentBefore(now)
}

// mostOf is how many requests a plan for one target sends at most.
func mostOf(p *plan.Plan) int {
	most := 0
	for _, t := range p.Targets {
		most += t.MaxRequests
	}
	return most
}

// tokenOf is where a probe gets a bearer token; empty: it has none.
func tokenOf(s *probes.Spec) (asked token) {
	if s.OAuth != nil {
		asked = token{key: s.OAuth.Key(), host: s.OAuth.Host()}
	}
	return asked
}

// narrowed is a config with one target alone, and of that the probes that run here.
func narrowed(cfg config.Config, t probes.Target, runs map[string]bool) config.Config {
	t.Probes = slices.DeleteFunc(slices.Clone(t.Probes), func(s probes.Spec) bool { return !runs[s.ID()] })
	cfg.Targets, cfg.AllTargets = []probes.Target{t}, nil
	return cfg
}

// turn is taken by one at a time. It is no Mutex, for a test's time stands still while
// anybody waits for one.
type turn chan struct{}

func (t turn) take() { t <- struct{}{} }

func (t turn) give() { <-t }

package main

import (
	"context"
	"maps"
	"reflect"
	"strings"
	"time"

	"perch.example/alert"
	"perch.example/config"
	"perch.example/plan"
	"perch.example/probes"
	"perch.example/runner"
)

const (
	// mostMistakes of a config are logged.
	mostMistakes = 50
	// mostRefused configs are remembered as told.
	mostRefused = 100
)

// reload takes in a config that has changed, or refuses it as a whole.
func (s *service) reload(ctx context.Context, c candidate) {
	s.takeArrived(ctx) // by the config by which they were probed
	s.showNew()
	if c.err != nil {
		s.refuse(c)
		return
	}
	s.goOn(ctx, c.fit)
	if len(s.refused) > 0 {
		clear(s.refused)
		s.tellReloaded(nil)
	}
}

// refuse says what is wrong with a config: to the log, in a metric, and once to people.
// The one before it stays. What the platform team allows now holds all the same, for
// each byte that leaves.
func (s *service) refuse(c candidate) {
	mistakes := strings.Split(c.err.Error(), "\n")
	for _, text := range mistakes[:min(len(mistakes), mostMistakes)] {
		s.log.Error("the changed config is refused, the one before it stays", "mistake", text)
	}
	s.kept.metrics.Reloaded(false, s.sys.clock())
	s.board.refuse(mistakes)
	if c.policy != nil {
		s.mu.Lock()
		s.policy = c.policy
		cfg := s.cfg
		s.mu.Unlock()
		cfg.Policy = c.policy
		s.runner.Update(s.runnerOptions(cfg))
		s.limits = limitsOf(cfg)
	}
	if s.refused[c.err.Error()] {
		return
	}
	if len(s.refused) >= mostRefused {
		clear(s.refused)
	}
	s.refused[c.err.Error()] = true
	s.tellReloaded(mistakes)
}

// tellReloaded has people told of a config's mistakes; with none, that it is good again.
func (s *service) tellReloaded(mistakes []string) {
	s.mu.Lock()
	w := s.newPass()
	s.mu.Unlock()
	now := s.sys.clock()
	run := probes.Run{Name: w.cfg.Name, Vantage: w.cfg.Vantage, RunID: runID(now, w.flags.seed, w.cfg.Shard), Started: now, Finished: now}
	o := w.alertOptions(now)
	if w.store == nil {
		o.Mode = alert.ModeReport
	}
	var notices []alert.Notice
	w.memory, notices = alert.Reloaded(w.memory, mistakes, run, o)
	if o.Mode == alert.ModeReport {
		for _, n := range notices {
			s.log.Info("nothing is sent; this would be", "why", w.untold(), "title", n.Title, "summary", n.Summary)
		}
		return
	}
	s.moved, s.dirty = true, true
}

// runnerOptions are those of a config.
func (s *service) runnerOptions(cfg config.Config) runner.Options {
	s.mu.Lock()
	w := s.newPass()
	s.mu.Unlock()
	w.cfg = cfg
	return w.runnerOptions(s.sys.clock(), s.board.watch)
}

// goOn goes on with another config. A probe that is the same in both is not touched: a
// hold goes on, and no tick is lost.
func (s *service) goOn(ctx context.Context, f *fit) {
	before := len(s.loops)
	gone := s.change(f)
	for _, l := range gone {
		l.cancel(errGone)
	}
	s.runner.Update(s.runnerOptions(f.cfg))
	s.limits = limitsOf(f.cfg)
	s.board.configure(f.cfg)
	s.forget(f.cfg)
	s.closeGone(ctx)
	s.kept.metrics.Retarget(plan.WithRungs(f.cfg), destinations(f.cfg))
	if s.stands {
		s.showSaved() // of these targets
	}
	s.kept.metrics.Reloaded(true, s.sys.clock())
	stay := len(s.loops)
	s.start(ctx, f)
	s.dirty = true
	s.log.Info("the changed config is in use", "probes", len(f.probes), "new", len(s.loops)-stay, "gone", before-stay)
}

// change takes over a config, and returns the loops that end: of probes that are gone,
// or others now.
func (s *service) change(f *fit) []*loop {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cfg, s.policy = f.cfg, f.cfg.Policy
	maps.DeleteFunc(s.ending, func(_ string, l *loop) bool { return l.over() })
	var gone []*loop
	for id, l := range s.loops {
		if p := f.probes[id]; p != nil && same(*l.spec, *p.spec) {
			l.near, l.made, l.most, l.lasts = p.near, nil, p.most, p.lasts
			continue
		}
		l.gone = true
		gone = append(gone, l)
		s.ending[id] = l
		delete(s.loops, id)
		s.ledger.forget(id)
		s.health.forget(id)
	}
	s.known = map[string]knowledge{}
	if s.store != nil {
		for _, p := range f.probes {
			if p.spec.Kind == probes.KindIdle {
				s.known[p.spec.Target] = knownOf(s.doc, p.near)
			}
		}
	}
	return gone
}

// same reports whether two probes do the same. What is said of what they find may be
// another: it counts from the next wave on.
func same(a, b probes.Spec) bool {
	if !a.Expect.Equal(b.Expect) {
		return false
	}
	a.Accepted, a.Notice, a.Expect = b.Accepted, b.Notice, b.Expect
	return reflect.DeepEqual(a, b)
}

// over reports whether the loop's last wave is.
func (l *loop) over() bool {
	select {
	case <-l.done:
		return true
	default:
		return false
	}
}

// forget drops what is known of probes that are gone.
func (s *service) forget(cfg config.Config) {
	ids, names := map[string]bool{}, map[string]bool{}
	for _, t := range cfg.Targets {
		names[t.Name] = true
	}
	for _, id := range probesOf(cfg) {
		ids[id] = true
	}
	maps.DeleteFunc(s.found, func(at finding, _ saying) bool { return !ids[at.id] })
	s.dropPreviewed(func(id string) bool { return !ids[id] })
	s.forgetRecurring(ids)
	maps.DeleteFunc(s.answered, func(target string, _ time.Time) bool { return !names[target] })
}

// closeGone ends the incidents of what is no longer in the config.
func (s *service) closeGone(ctx context.Context) {
	s.mu.Lock()
	w := s.newPass()
	s.mu.Unlock()
	now := s.sys.clock()
	run := probes.Run{Name: w.cfg.Name, Vantage: w.cfg.Vantage, RunID: runID(now, w.flags.seed, w.cfg.Shard), Started: now, Finished: now}
	before := len(w.memory.Open())
	if w.store == nil || before == 0 || ctx.Err() != nil {
		return
	}
	w.observed = true
	w.past = surelyPast(w.doc, now)
	w.decide(&run)
	w.sayIncidents(&run)
	s.moved = s.sayIncidents(run.Incidents) || s.moved
	s.showIncidents(w)
}

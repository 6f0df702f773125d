package main

import (
	"cmp"
	"context"
	"slices"
	"time"

	"perch.example/probes"
)

const (
	// takenEach is how far apart the taking in of waves is: what is over by then is
	// one run. What comes alone is taken in at once.
	takenEach = time.Second
	// savedEach is how far apart the state is saved where nothing has moved.
	savedEach = 10 * time.Second
	// storedWithin bounds one turn of saving and telling.
	storedWithin = 20 * time.Second
)

// handIn gives a wave that is over to whoever takes waves in. It never waits.
func (s *service) handIn(pl *played) {
	s.mu.Lock()
	defer s.mu.Unlock()
	pl.failed = slices.ContainsFunc(pl.seen, failed)
	if s.arrived = append(s.arrived, pl); len(s.arrived) == 1 { // no other makes the next turn sooner
		s.poke()
	}
}

// poke wakes whoever takes waves in.
func (s *service) poke() {
	select {
	case s.wake <- struct{}{}:
	default: // it is awake
	}
}

// takeAll takes in what comes, until ctx ends. It alone has what the process keeps:
// the state, what was told, and the metrics. Nobody waits for it.
func (s *service) takeAll(ctx context.Context) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for ctx.Err() == nil {
		s.health.expect(takingIn, time.Now().Add(storedWithin+slowest))
		if next := s.nextTurn(time.Now()); next.IsZero() {
			timer.Stop()
		} else {
			timer.Reset(time.Until(next))
		}
		select {
		case <-ctx.Done():
			return
		case c := <-s.reloads:
			s.reload(ctx, c)
		case <-s.wake:
		case <-timer.C:
		}
		now := time.Now()
		s.showFellOut()
		if next := s.nextTurn(now); ctx.Err() == nil && !next.IsZero() && !next.After(now) {
			s.turnOf(ctx, now)
		}
		s.sayFellOut(now)
		s.sayUnread(now)
	}
}

// takingIn is what /healthz calls it.
const takingIn = "the taking in of what was found"

// nextTurn is when there is something to do next; zero: nobody knows yet.
func (s *service) nextTurn(now time.Time) time.Time {
	var next time.Time
	sooner := func(at, earliest time.Time) {
		if at.IsZero() {
			return
		}
		if at = latest(at, earliest); next.IsZero() || at.Before(next) {
			next = at
		}
	}
	sooner(s.takeAt(now), s.turned.Add(takenEach))
	sooner(s.gatherAt, now)
	if s.store == nil {
		return next
	}
	if s.moved || s.asked.Load() {
		sooner(now, s.keptAt.Add(takenEach))
	}
	if s.dirty {
		sooner(s.keptAt, s.keptAt.Add(savedEach))
	}
	sooner(s.ledger.wanted(), s.keptAt.Add(takenEach))
	sooner(s.tellTime(now), s.keptAt.Add(takenEach))
	return next
}

// takeAt is when what has arrived is taken in; zero: nothing has.
func (s *service) takeAt(now time.Time) time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.arrived) == 0 {
		return time.Time{}
	}
	return now
}

// turnOf takes in what has arrived, and saves and tells where that is due.
func (s *service) turnOf(ctx context.Context, now time.Time) {
	if at := s.takeAt(now); !at.IsZero() && !at.After(now) && !now.Before(s.turned.Add(takenEach)) {
		s.turned = now
		s.takeArrived(ctx)
	}
	s.tellDue(ctx, now)
	if s.store == nil {
		s.showNew()
		return
	}
	if next := s.nextTurn(now); !next.IsZero() && !next.After(now) {
		s.keep(ctx, now)
	}
}

// takeArrived takes in what has arrived.
func (s *service) takeArrived(ctx context.Context) {
	s.mu.Lock()
	all := s.arrived
	s.arrived = nil
	s.mu.Unlock()
	var muted silences
	if inTrouble(s.memory) || slices.ContainsFunc(all, func(pl *played) bool { return pl.failed }) { // else nothing is told
		muted = s.silencesNow(ctx)
	}
	for _, layer := range layers(all) {
		s.takeIn(ctx, layer, muted)
	}
}

// layers are runs of what has arrived, in order: in each a probe is at most once, as
// alerts count runs; and all began at about one time, which is when what they found
// began.
func layers(all []*played) [][]*played {
	var out [][]*played
	from := map[string]int{} // the first layer that a probe is not in
	for _, pl := range all {
		n := from[pl.loop.id]
		for n < len(out) && out[n][0].run.Started.Sub(pl.run.Started).Abs() > gatherFor {
			n++
		}
		if from[pl.loop.id] = n + 1; n == len(out) {
			out = append(out, nil)
		}
		out[n] = append(out[n], pl)
	}
	return out
}

// takeIn judges one layer, counts what it sent, and decides what is told of it.
func (s *service) takeIn(ctx context.Context, layer []*played, muted silences) {
	s.mu.Lock()
	w := s.newPass()
	s.mu.Unlock()
	run := w.joined(layer)
	most := 0
	for _, pl := range layer {
		most += len(pl.seen)
	}
	all := make([]probes.Observation, 0, most)
	for _, pl := range layer {
		all = append(all, pl.seen...)
	}
	probes.SettlePaths(all)
	for _, pl := range layer {
		pl.seen, all = all[:len(pl.seen):len(pl.seen)], all[len(pl.seen):]
		s.answers(pl)
	}
	each := *w
	run.Outcomes = make([]probes.Outcome, 0, most) // most have one each
	for _, pl := range layer {
		s.judge(&each, &run, pl)
		s.ledger.counted(pl)
	}
	w.problems = each.problems
	w.past = surelyPast(w.doc, run.Finished)
	if muted != nil {
		w.silenced = muted
	}
	w.count(run)
	run.Budget = slices.DeleteFunc(run.Budget, func(u probes.BudgetUse) bool { // what is gone is not shown again
		_, there := s.limits[u.Target]
		return !there
	})
	run.Problems = w.problems
	s.unseen = append(s.unseen, run)
	w.observed = true
	s.gather(w, run)
	w.decide(&run)
	s.gathered()
	if w.store == nil {
		w.sayUnkept(&run)
	} else {
		w.sayIncidents(&run)
	}
	w.export(ctx, run)
	s.last, s.dirty = run, true
	s.board.take(run, w.doc.RequestsToday)
	s.moved = s.sayRun(w, run) || s.moved
}

// judge adds to a run what a wave of it found, by the config that it was planned by,
// which it leaves in w. What is no longer in the config only counts.
func (s *service) judge(w *pass, run *probes.Run, pl *played) {
	s.mu.Lock()
	gone := pl.loop.gone
	s.mu.Unlock()
	if gone {
		return
	}
	w.cfg = *pl.near
	w.judge(&pl.run, pl.seen)
	s.sayRecurring(pl)
	run.Outcomes, run.Idle = append(run.Outcomes, pl.run.Outcomes...), append(run.Idle, pl.run.Idle...)
	if pl.loop.spec.Kind == probes.KindIdle {
		s.learn(pl)
	}
}

// joined is the run that several waves are. Each was judged by its own times.
func (p *pass) joined(layer []*played) probes.Run {
	v, _ := build()
	first := layer[0].run
	run := probes.Run{Version: v, Name: p.cfg.Name, Vantage: p.cfg.Vantage, Seed: first.Seed, Started: first.Started, Finished: first.Finished}
	budgets := map[string]int{}
	for _, pl := range layer {
		if pl.run.Started.Before(run.Started) {
			run.Started = pl.run.Started
		}
		run.Finished = latest(run.Finished, pl.run.Finished)
		if pl.run.CutShort != errGone.Error() {
			run.CutShort = cmp.Or(run.CutShort, pl.run.CutShort)
		}
		run.Delays, run.Settled = append(run.Delays, pl.run.Delays...), append(run.Settled, pl.run.Settled...)
		for host, n := range pl.run.Tokens {
			if run.Tokens == nil {
				run.Tokens = map[string]int{}
			}
			run.Tokens[host] += n
		}
		for _, use := range pl.run.Budget {
			at, known := budgets[use.Target]
			if !known {
				budgets[use.Target] = len(run.Budget)
				run.Budget = append(run.Budget, use)
				continue
			}
			run.Budget[at] = bothUses(run.Budget[at], use)
		}
	}
	run.RunID = runID(run.Started, run.Seed, p.cfg.Shard)
	return run
}

// bothUses is what two waves used of a target's budget.
func bothUses(a, b probes.BudgetUse) probes.BudgetUse {
	b.Requests, b.Waited, b.Denied = a.Requests+b.Requests, a.Waited+b.Waited, a.Denied+b.Denied
	b.PeakPerSecond, b.LeaveAlone = max(a.PeakPerSecond, b.PeakPerSecond), latest(a.LeaveAlone, b.LeaveAlone)
	b.Last = slices.Concat(a.Last, b.Last)
	slices.SortFunc(b.Last, time.Time.Compare)
	b.Last = b.Last[max(0, len(b.Last)-b.Allowed):]
	return b
}

// knowledge is what planning takes from the state of a target's idle probes.
type knowledge struct {
	ends     map[string]time.Duration
	brackets map[string]probes.Bracket
}

// learn takes over what is known of a target's idle probes now.
func (s *service) learn(pl *played) {
	s.know(pl.loop.spec.Target, knownOf(s.doc, pl.near))
}

func (s *service) know(target string, k knowledge) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.known[target] = k
}

// answers keeps when targets last gave a whole answer: what a connection that timed
// out is compared with.
func (s *service) answers(pl *played) {
	for i := range pl.seen {
		if at := lastAnswer(&pl.seen[i]); !at.IsZero() {
			target := pl.seen[i].Target
			s.answered[target] = latest(s.answered[target], at)
		}
	}
}

// cannot says what kept a wave from being.
func (s *service) cannot(err error) {
	s.mu.Lock()
	w := s.newPass()
	s.mu.Unlock()
	w.observed = true // it is counted, though no run will be
	w.problem(probes.PartInternal, err)
}

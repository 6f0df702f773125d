package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	"perch.example/config"
	"perch.example/state"
)

const (
	// waitTurn is how often a state that another perch holds is looked at. A
	// ConfigMap's Lease is waited for beyond that.
	waitTurn = 2 * time.Second
	sayTurn  = time.Minute
	// silencesWithin bounds reading the silences that somebody may have added.
	silencesWithin = 5 * time.Second
	leastFlush     = 500 * time.Millisecond
)

// open takes the state, when it is its turn, and makes what all waves share; it returns
// what is to be probed by then. No error and an ended ctx: perch was told to stop
// meanwhile.
func (s *service) open(ctx context.Context, f *fit) (*fit, error) {
	p := s.newPass()
	held := s.waitingFor("another perch holds the state", func(err error) {
		s.log.Warn("another perch holds the state: waiting for it to end", "error", err)
	})
	gone := s.waitingFor("a secret cannot be read", func(err error) {
		s.log.Warn("a secret cannot be read: waiting for it to be there", "error", err)
	})
	p.turn.waiting = func(locked *state.LockedError) { held(locked) }
	s.standBy(p)
	for waited := false; ; waited = true {
		err := p.open(ctx)
		var locked *state.LockedError
		var secrets *secretsError
		switch {
		case err == nil:
			refused := s.catchUp(ctx, p, &f)
			if err := s.lead.begin(p, func() { s.makeShared(ctx, p) }); err != nil || refused == nil {
				return f, err
			}
			s.refuse(*refused)
			return f, nil
		case ctx.Err() != nil:
			return nil, nil
		case errors.As(err, &locked):
			held(locked)
		case waited && errors.As(err, &secrets): // it was there: who rotates it may take a moment
			gone(secrets)
		default:
			return nil, err
		}
		until(ctx, time.Now().Add(waitTurn))
	}
}

// waitingFor says what serve waits for: to /readyz at once, and to the log at once
// and each sayTurn.
func (s *service) waitingFor(what string, say func(error)) func(error) {
	var said time.Time
	return func(err error) {
		s.health.setWaiting(what + ": " + err.Error())
		if said.IsZero() || time.Since(said) >= sayTurn {
			said = time.Now()
			say(err)
		}
	}
}

// makeShared makes the metrics, which go on from the state, and the runner, and
// reserves what is going to be sent first.
func (s *service) makeShared(ctx context.Context, p *pass) {
	p.metrics, s.savedCounts = p.newMetrics(), p.doc.Sections[sectionMetrics]
	for _, problem := range p.problems {
		p.metrics.Problem(problem.Part)
	}
	p.observed = true
	p.beginExport()
	p.exportInBackground(s.keepSoon)
	p.metrics.Reloaded(true, s.sys.clock())
	p.runner = p.newRunner(s.sys.clock(), s.cfg.Alerts.Settle, s.board.watch)
	scrape := p.metrics.Handler(s.log)
	s.scrape.Store(&scrape)
	s.limits = limitsOf(s.cfg)
	s.board.begin(p.doc, s.sys.clock())
	s.showIncidents(p)
	if s.ledger.off = p.store == nil; s.ledger.off {
		return
	}
	p.showMemory()
	s.sent = maps.Clone(p.doc.Sent)
	p.store = &bookkeeper{p.store, s.ledger, s.leftToday}
}

// knownOf is what planning takes from the state of a target's probes.
func knownOf(d state.Document, near *config.Config) knowledge {
	var mine state.Document
	for _, s := range near.Targets[0].Probes {
		id := s.ID()
		if closes, there := d.EarlyCloses[id]; there {
			mine.SetEarlyCloses(id, closes, nil)
		}
		if b, there := d.Brackets[id]; there {
			mine.SetBracket(id, b)
		}
	}
	return knowledge{ends(mine, *near), brackets(mine)}
}

// silencesNow reads what the state mutes: perch silence may have edited it. nil:
// what is known holds.
func (s *service) silencesNow(ctx context.Context) silences {
	if !s.cfg.State.Kept() || ctx.Err() != nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, silencesWithin)
	defer cancel()
	d, err := readState(ctx, s.sys, s.cfg)
	if err == nil && d.Empty() {
		return nil // somebody took it away: the next save puts it there again
	}
	var all silences
	if err == nil {
		all, err = silencesOf(d)
	}
	if err != nil {
		s.log.Warn("reading the silences anew", "error", err)
	}
	return all
}

// stop takes in, tells and saves what the last waves left, and lets the state go.
func (s *service) stop(ctx context.Context, stopped func() time.Time) error {
	s.mu.Lock()
	all := s.arrived
	s.arrived = nil
	s.mu.Unlock()
	for _, layer := range layers(all) {
		s.takeIn(ctx, layer, nil)
	}
	s.showNew()
	s.showFellOut()
	p := s.newPass()
	p.observed = true
	defer p.close(ctx)
	lost := ownCause(ctx)
	known := s.dirty || p.unsaved != nil // of what is not saved
	if lost == nil {
		s.tellGathered(p)
		s.flush(ctx, p, max(leastFlush, flushWithin-time.Since(stopped())))
	}
	saved := any(p.store != nil && p.unsaved == nil)
	if !s.cfg.State.Kept() && p.store == nil {
		saved = "no state is configured"
	}
	s.log.Info("stopped", "saved", saved)
	switch {
	case lost != nil:
		return lost
	case p.unsaved != nil && known:
		return own(fmt.Errorf("what was known at the end could not be saved: %w", p.unsaved))
	}
	return nil
}

// flush tells, sends and saves what is left, within that time.
func (s *service) flush(ctx context.Context, p *pass, within time.Duration) {
	s.ledger.stop()
	ctx, cancel := p.bounded(ctx, within)
	defer cancel()
	if p.store != nil {
		p.tell(ctx, s.toTell(s.sys.clock()))
	}
	sending, done := p.share(ctx)
	defer done()
	p.endExport(sending)
	if p.store != nil {
		p.save(ctx)
	}
}

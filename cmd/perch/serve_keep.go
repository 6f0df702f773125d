package main

import (
	"context"
	"errors"
	"sync"
	"time"

	"perch.example/alert"
	"perch.example/config"
	"perch.example/metrics"
	"perch.example/plan"
	"perch.example/probes"
	"perch.example/state"
)

const (
	// tellAgain is how soon what could not be told is tried again; it doubles, up to
	// tellAtLast.
	tellAgain  = 10 * time.Second
	tellAtLast = time.Minute
	// hearEach is how often a destination hears again what is firing that forgets it
	// else, after 15 minutes at the soonest.
	hearEach = time.Minute
)

// ahead of what is sent, each write of the state reserves it: bookkeeper is the
// state's keeper with a ledger.
type bookkeeper struct {
	keeper
	ledger *ledger
	left   func(target string) (int, bool)
}

// Save writes the document and what is reserved on top of it.
func (b *bookkeeper) Save(ctx context.Context, d state.Document) error {
	err := b.keeper.Save(ctx, d.Reserved(b.ledger.reserve(b.left)))
	var aside *state.AsideError
	var lost *state.LostError
	b.ledger.written(err == nil || errors.As(err, &aside) && !errors.As(err, &lost))
	return err
}

// leftToday is how many requests of its day a target may still be sent; not known
// where the day ends before what is reserved.
func (s *service) leftToday(target string) (int, bool) {
	now := s.sys.clock()
	t, known := s.limits[target]
	if !known || now.UTC().Day() != now.Add(aheadFor).UTC().Day() {
		return 0, false
	}
	return t - s.doc.RequestsToday(target, now), true
}

// limitsOf are the days' limits of a config's targets.
func limitsOf(cfg config.Config) map[string]int {
	all := map[string]int{}
	for _, t := range cfg.Targets {
		all[t.Name] = cfg.Policy.Limits(t).DailyLimit
	}
	return all
}

// tellTime is when there is something to tell; zero: there is nothing.
func (s *service) tellTime(now time.Time) time.Time {
	switch {
	case s.store == nil || s.onlyReports():
		return time.Time{}
	case len(s.memory.Outbox) > 0:
		return latest(now, s.tellAt)
	case s.ongoing():
		return latest(s.heardAt.Add(hearEach), s.tellAt)
	}
	return time.Time{}
}

func (s *service) onlyReports() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.newPass().alertMode() != alert.ModeNotify
}

// ongoing reports whether an incident is open of which people were told.
func (s *service) ongoing() bool {
	for _, i := range s.memory.Incidents {
		if i.State == alert.StateFiring && i.Announced {
			return true
		}
	}
	return false
}

// showNew hands to the metrics what was taken in since they were shown last. With a
// state counters are shown once they are saved, and no sooner: one that was scraped
// and not saved would go backwards in the next process, which Prometheus takes for
// a restart.
func (s *service) showNew() {
	if s.store != nil && len(s.unseen) > 0 && !s.stands {
		s.showSaved()
	}
	for _, run := range s.unseen {
		s.kept.metrics.Observe(run)
	}
	s.unseen = nil
}

// showFellOut hands to the metrics which ticks fell out, as showNew does with runs.
func (s *service) showFellOut() {
	s.mu.Lock()
	fell := s.fell
	if len(fell) == 0 { // asked with the lock: a loop may count the next one as soon as it is given back
		s.mu.Unlock()
		return
	}
	s.fell = map[*loop]int{}
	s.mu.Unlock()
	if s.store != nil && !s.stands {
		s.showSaved()
	}
	for l, missed := range fell {
		s.kept.metrics.Missed(l.spec.Target, l.spec.Probe, missed)
	}
	s.dirty = true
}

// showSaved has scrapes see counters as they were saved last. Few ask while a save is
// under way: only then it is made.
func (s *service) showSaved() {
	s.stands = true
	s.mu.Lock()
	w := s.newPass()
	s.mu.Unlock()
	o := w.metricsOptions()
	raw, cfg := s.savedCounts, w.cfg
	s.kept.metrics.ShowSaved(sync.OnceValue(func() *metrics.Metrics {
		o.Targets = plan.WithRungs(cfg)
		m := metrics.New(o)
		if err := m.Restore(raw); err != nil {
			s.log.Error("showing the counters as they were saved", "error", err)
		}
		return m
	}))
}

// keep saves what is known, and tells what there is to tell. Its time is bounded.
func (s *service) keep(ctx context.Context, now time.Time) {
	s.mu.Lock()
	w := s.newPass()
	s.mu.Unlock()
	w.observed = true
	at := s.tellTime(now)
	tells := !at.IsZero() && !at.After(now)
	ctx, cancel := w.bounded(ctx, storedWithin)
	defer cancel()
	s.showNew()
	if tells {
		w.tell(ctx, s.toTell(now))
		s.heardAt = now
	}
	s.saved(w, w.save(ctx), tells)
	if tells {
		s.showIncidents(w)
	}
}

// saved takes over how a save went, and what it leaves to be told.
func (s *service) saved(w *pass, ok, told bool) {
	now := time.Now()
	s.keptAt, s.dirty, s.moved = now, !ok, false
	if ok {
		s.savedCounts = s.doc.Sections[sectionMetrics]
	}
	if ok && s.stands {
		s.stands = false
		s.kept.metrics.ShowSaved(nil)
	}
	s.asked.Store(false)
	s.health.setState(w.unsaved)
	switch {
	case len(s.memory.Outbox) == 0:
		s.tellAt, s.tellPause = time.Time{}, 0
	case !ok:
		s.tellAt = now.Add(tellAgain)
	case told:
		s.tellPause = min(max(tellAgain, 2*s.tellPause), tellAtLast)
		s.tellAt = now.Add(s.tellPause)
	}
	if err := taken(w.unsaved); err != nil {
		s.end(err)
	}
}

// toTell is the last run with what was found last of all that is open: what is
// ongoing is told with what it shows.
func (s *service) toTell(now time.Time) probes.Run {
	return s.lastOf(s.memory.Open(), now)
}

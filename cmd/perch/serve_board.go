package main

import (
	"cmp"
	"maps"
	"slices"
	"sync"
	"time"

	"perch.example/config"
	"perch.example/probes"
	"perch.example/state"
)

// board is what serve knows of the moment: what each probe last found, what is held,
// and when what is due next. It is a copy: who looks at it waits for no wave, and no
// wave for who looks. Safe for concurrent use.
type board struct {
	began time.Time

	mu   sync.Mutex
	held map[holding]probes.Event
	facts
}

// facts are what a board has beside what is held. Nothing that its maps hold is
// changed once it is there.
type facts struct {
	cfg       config.Config
	knows     bool                         // the state was read
	before    map[string]state.LastVerdict // by target/probe: what the processes before found last
	read      time.Time                    // when the config was read again; zero: it is that of the start
	refused   refusal                      // of the config in the files; zero: it is in use
	last      map[string][]probes.Outcome  // by target/probe: the newest of each rung
	idle      map[string]probes.IdleResult // likewise
	next      map[string]time.Time         // likewise: when it is due
	used      map[string]probes.BudgetUse  // by target: of its last wave
	sent      map[string]sentBy            // likewise
	incidents []probes.Incident
	notices   []string
	problems  []probes.Problem // of the last wave
}

// refusal is why a changed config is not in use.
type refusal struct {
	at       time.Time
	mistakes []string
}

// sentBy is how many requests of a UTC day had been sent by a moment in it.
type sentBy struct {
	at       time.Time
	requests int
}

// holding names one held connection.
type holding struct {
	target, probe string
	step          int
	hold          time.Duration
}

func newBoard(cfg config.Config) *board {
	b := &board{began: time.Now(), held: map[holding]probes.Event{}}
	b.configure(cfg)
	b.read = time.Time{}
	return b
}

// begin takes over what the state knows of the processes before.
func (b *board) begin(d state.Document, now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.knows, b.before = true, maps.Clone(d.Verdicts)
	for _, t := range b.cfg.Targets {
		b.sent[t.Name] = sentBy{now, d.RequestsToday(t.Name, now)}
	}
}

// configure takes over the config that holds from now on. What is known of probes that
// are no longer in it is forgotten.
func (b *board) configure(cfg config.Config) {
	ids, names := map[string]bool{}, map[string]bool{}
	for _, t := range cfg.Targets {
		names[t.Name] = true
		for _, s := range t.Probes {
			ids[s.ID()] = true
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.cfg, b.read, b.refused = cfg, time.Now(), refusal{}
	b.last, b.idle, b.next = keep(b.last, ids), keep(b.idle, ids), keep(b.next, ids)
	b.used, b.sent = keep(b.used, names), keep(b.sent, names)
}

// refuse takes over why a changed config is not taken.
func (b *board) refuse(mistakes []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.refused = refusal{time.Now(), mistakes}
}

// keep is a map without the keys that are gone.
func keep[V any](all map[string]V, there map[string]bool) map[string]V {
	kept := map[string]V{}
	for key, v := range all {
		if there[key] {
			kept[key] = v
		}
	}
	return kept
}

// watch takes what a runner tells while it runs.
func (b *board) watch(e probes.Event) {
	b.mu.Lock()
	defer b.mu.Unlock()
	at := holding{e.Target, e.Probe, e.Step, e.Hold}
	switch e.What {
	case probes.EventHolding, probes.EventClosed:
		if before, there := b.held[at]; there && e.Until.IsZero() {
			e.Until = before.Until
		}
		b.held[at] = e
	case probes.EventDone, probes.EventStarted: // a burst that goes on after its gap starts again
		delete(b.held, at)
	}
}

// expect takes over when probes are due next.
func (b *board) expect(ids map[string]bool, at time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for id := range ids {
		b.next[id] = at
	}
}

// take takes in what a run found, and what it has sent of each target's day.
func (b *board) take(run probes.Run, today func(target string, now time.Time) int) {
	byProbe := map[string][]probes.Outcome{}
	for _, o := range run.Outcomes {
		byProbe[o.ID()] = append(byProbe[o.ID()], o)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	maps.Copy(b.last, byProbe)
	for _, r := range run.Idle {
		b.idle[r.Target+"/"+r.Probe] = r
	}
	for _, u := range run.Budget {
		b.used[u.Target] = u
		b.sent[u.Target] = sentBy{run.Finished, today(u.Target, run.Finished)}
	}
	b.incidents, b.notices, b.problems = run.Incidents, run.Notices, run.Problems
}

// stand takes over where incidents stand, and what waits to be told.
func (b *board) stand(incidents []probes.Incident, notices []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.incidents, b.notices = incidents, notices
}

// now is a copy of all of it: the facts, and what is held, the first to be reused
// first.
func (b *board) now() (facts, []probes.Event) {
	b.mu.Lock()
	defer b.mu.Unlock()
	f := b.facts
	f.last, f.idle, f.next, f.used, f.sent = maps.Clone(f.last), maps.Clone(f.idle), maps.Clone(f.next), maps.Clone(f.used), maps.Clone(f.sent)
	held := slices.Collect(maps.Values(b.held))
	slices.SortFunc(held, func(x, y probes.Event) int {
		return cmp.Or(x.Until.Compare(y.Until), cmp.Compare(x.Target, y.Target), cmp.Compare(x.Probe, y.Probe), cmp.Compare(x.Step, y.Step))
	})
	return f, held
}

package main

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"perch.example/probes"
)

// board is what serve knows of the moment: what each probe last found, and what is
// held. Safe for concurrent use.
type board struct {
	mu   sync.Mutex
	last map[string][]probes.Outcome // by target/probe: the newest of each rung
	held map[holding]probes.Event
}

// holding names one held connection.
type holding struct {
	target, probe string
	step          int
	hold          time.Duration
}

func newBoard() *board {
	return &board{last: map[string][]probes.Outcome{}, held: map[holding]probes.Event{}}
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
	case probes.EventDone:
		delete(b.held, at)
	case probes.EventStarted:
	}
}

// take takes in what a run found.
func (b *board) take(run probes.Run) {
	byProbe := map[string][]probes.Outcome{}
	for _, o := range run.Outcomes {
		byProbe[o.ID()] = append(byProbe[o.ID()], o)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for id, outcomes := range byProbe {
		b.last[id] = outcomes
	}
}

// holds are the connections that are held now, those that are reused first first.
func (b *board) holds() []probes.Event {
	b.mu.Lock()
	defer b.mu.Unlock()
	all := make([]probes.Event, 0, len(b.held))
	for _, e := range b.held {
		all = append(all, e)
	}
	slices.SortFunc(all, func(x, y probes.Event) int {
		return cmp.Or(x.Until.Compare(y.Until), cmp.Compare(x.Target, y.Target), cmp.Compare(x.Probe, y.Probe), cmp.Compare(x.Step, y.Step))
	})
	return all
}

// outcomes are what a probe last found; nil: nothing yet.
func (b *board) outcomes(id string) []probes.Outcome {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.last[id]
}

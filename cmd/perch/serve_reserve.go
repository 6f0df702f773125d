package main

import (
	"context"
	"sync"
	"time"

	"perch.example/plan"
	"perch.example/state"
)

const (
	// aheadFor is for how long the state reserves what is going to be sent. A
	// process that is killed counts as one that has sent all of it.
	aheadFor = time.Minute
	// aheadBy is how long before a tick the state is written that reserves it: longer
	// than a Slack that hangs keeps that from being done.
	aheadBy = storedWithin + 5*time.Second
)

// ledger is what may be sent by what the state says already. The state is written
// ahead of what is sent, in bulk: each write reserves what is under way and what the
// next minute's ticks may send. A wave draws from that, and waits only where there is
// too little. Safe for concurrent use.
type ledger struct {
	clock func() time.Time // the wall's; ticks have time.Now's, which nobody sets
	ask   func()           // wants a write soon

	mu       sync.Mutex
	off      bool // there is no state
	failing  bool // the last write failed, or did not end in time: probing goes on
	next     map[string]ahead
	under    map[*played]drawn // under way, or not counted yet
	accounts map[string]*account
	ended    chan struct{} // closed when the write under way, or the next one, ends
	covered  time.Time     // until then ticks are reserved
}

// ahead is a probe's next tick.
type ahead struct {
	target string
	tick   time.Time
	every  time.Duration
	most   int
	lasts  time.Duration
	token  token
}

// token is where a bearer token comes from.
type token struct{ key, host string }

// drawn is what a wave may send.
type drawn struct {
	target string
	most   int
	ends   time.Time
	token  token
}

// account is what waves may still draw for one target.
type account struct {
	left    int
	granted int  // by the write that is under way
	since   int  // drawn since that began
	all     bool // the day's limit is reserved as a whole
}

func newLedger(clock func() time.Time, ask func()) *ledger {
	return &ledger{clock: clock, ask: ask, next: map[string]ahead{}, under: map[*played]drawn{}, accounts: map[string]*account{}, ended: make(chan struct{})}
}

// due says when a probe runs next.
func (g *ledger) due(id string, a ahead) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.next[id] = a
}

// forget drops a probe that is gone.
func (g *ledger) forget(id string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.next, id)
}

// draw takes what a wave may send. Where the state does not say yet that it may have
// left, it waits for a write, but no longer than reserveWithin: without a state that
// works, probing goes on. False: ctx ended.
func (g *ledger) draw(ctx context.Context, w *played, p *plan.Plan) bool {
	d := drawn{target: w.loop.spec.Target, most: mostOf(p), ends: time.Now().Add(p.LongestWall), token: tokenOf(w.loop.spec)}
	ended, ok := g.try(w, d, false)
	if ok { // as nearly always: no timer is made
		return ctx.Err() == nil
	}
	limit := time.NewTimer(reserveWithin)
	defer limit.Stop()
	for late := false; !ok; ended, ok = g.try(w, d, late) {
		g.ask()
		select {
		case <-ended:
		case <-limit.C:
			late = true
		case <-ctx.Done():
			return false
		}
	}
	return ctx.Err() == nil
}

func (g *ledger) try(w *played, d drawn, late bool) (ended chan struct{}, ok bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	a := g.accounts[d.target]
	if a == nil {
		a = &account{}
		g.accounts[d.target] = a
	}
	g.failing = g.failing || late
	if !g.off && !g.failing && !a.all && a.left < d.most {
		return g.ended, false
	}
	a.left, a.since = a.left-d.most, a.since+d.most
	g.under[w] = d
	if next, there := g.next[w.loop.id]; there { // with it, at once: no write may see neither
		next.tick = next.tick.Add(next.every)
		g.next[w.loop.id] = next
	}
	return nil, true
}

// counted says that what a wave sent stands in the document that is saved next.
func (g *ledger) counted(w *played) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.under, w)
}

// stop says that nothing more is sent: what was reserved is taken back.
func (g *ledger) stop() {
	g.mu.Lock()
	defer g.mu.Unlock()
	clear(g.next)
	clear(g.under)
}

// reserve begins a write: it returns what the state has to say beside what is
// counted. left is how many requests a target's day still allows.
func (g *ledger) reserve(left func(target string) (int, bool)) state.Reservation {
	g.mu.Lock()
	defer g.mu.Unlock()
	now := time.Now()
	until := now.Add(aheadFor)
	last := until // when all of it has left
	wall := g.clock()
	r := state.Reservation{Most: map[string]int{}, Due: map[string]time.Time{}, Now: wall.Add(aheadFor)} // across midnight it counts for the new day, and for the old one
	tokens := map[token]bool{}
	for w, d := range g.under {
		r.Due[w.loop.id] = w.run.Started
		r.Most[d.target] += d.most
		tokens[d.token] = true
		last = latest(last, d.ends)
	}
	for _, a := range g.accounts {
		a.granted, a.since, a.all = 0, 0, false
	}
	for id, a := range g.next {
		n := a.within(now, until)
		if n == 0 {
			continue
		}
		if g.accounts[a.target] == nil {
			g.accounts[a.target] = &account{}
		}
		g.accounts[a.target].granted += n * a.most
		r.Most[a.target] += n * a.most
		r.Due[id] = wall.Add(latest(now, a.tick).Add(time.Duration(n-1) * a.every).Sub(now))
		tokens[a.token] = true
		last = latest(last, until.Add(a.lasts))
	}
	for target, n := range r.Most {
		if most, known := left(target); known && n >= most {
			r.Most[target] = max(0, most)
			if a := g.accounts[target]; a != nil {
				a.all = true // nothing is sent beyond it
			}
		}
	}
	for t := range tokens {
		if t.host != "" {
			r.Most[tokensAt(t.host)]++
		}
	}
	r.Last = wall.Add(last.Sub(now))
	g.covered = until
	return r
}

// within is how many ticks come by then.
func (a ahead) within(now, until time.Time) int {
	if a.tick.After(until) {
		return 0
	}
	return 1 + int(until.Sub(latest(now, a.tick))/a.every)
}

// written ends a write.
func (g *ledger) written(ok bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	known := map[string]bool{}
	for _, a := range g.next {
		known[a.target] = true
	}
	for _, d := range g.under {
		known[d.target] = true
	}
	for target, a := range g.accounts {
		left := a.granted - a.since
		if !ok {
			left = min(left, a.left) // either may stand there
			a.all = false
		}
		a.left = left
		if !known[target] {
			delete(g.accounts, target)
		}
	}
	g.failing = !ok
	close(g.ended)
	g.ended = make(chan struct{})
}

// wanted is when the state has to be written next for what is going to be sent; zero:
// there is nothing.
func (g *ledger) wanted() time.Time {
	g.mu.Lock()
	defer g.mu.Unlock()
	var first time.Time
	if g.off {
		return first
	}
	for _, a := range g.next {
		tick := a.tick
		if behind := g.covered.Sub(tick); behind >= 0 {
			tick = tick.Add((behind/a.every + 1) * a.every)
		}
		if first.IsZero() || tick.Before(first) {
			first = tick
		}
	}
	if first.IsZero() {
		return first
	}
	return first.Add(-aheadBy)
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

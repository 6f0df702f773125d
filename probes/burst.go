package probes

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"perch.example/probes/wire"
)

// RunBurst calls an API as an application does: in bursts, through a pool of
// connections, each call at its planned instant. The first calls open a connection each
// until the pool is full, since an application's overlap and perch's hardly do; each
// later one takes what the pool's order gives it and writes blindly. What an idle
// connection showed is kept, and changes nothing. A call on a dead connection fails
// there. The first of each burst that fails on a connection of the pool's, whatever it
// met, is followed by a control, whose connection is closed after it: in the pool it would
// be one that an application has not.
func RunBurst(ctx context.Context, s *Spec, env Env) Observation {
	c := &call{spec: s, env: env}
	return c.play(func(o Observation) Observation {
		if err := env.Policy.Hold(s.Burst.Lasts()); err != nil {
			return denied(ctx, o, err)
		}
		b := &burst{call: c, shape: *s.Burst, obs: o, freed: make(chan struct{}, 1), controls: map[int]bool{}}
		b.pool.order = s.PoolOrder
		b.ctx, b.cancel = context.WithCancel(ctx)
		defer b.close()
		return b.play()
	})
}

// burst is a step of kind burst under way. Its calls are a goroutine each: one that is
// answered late holds up none of those after it.
type burst struct {
	call   *call
	shape  Shape
	obs    Observation
	ctx    context.Context // of the step; the idle connections' ends with it
	cancel context.CancelFunc
	calls  sync.WaitGroup
	freed  chan struct{} // something has changed for a call that waits for a connection

	mu       sync.Mutex
	pool     pool
	made     []made
	controls map[int]bool // bursts that had theirs
	failing  int          // fresh exchanges in a row that failed
	refused  error        // why nothing more may be sent; nil: it may
	asked    int          // calls that the budget was asked for, and refused
	broken   *Observation // a bug in perch; nil: none
}

// turn is one call that is to be made.
type turn struct {
	index         int
	burst, number int
	at            time.Time     // when it is to leave; zero: the step's first, which says when that is
	late          time.Duration // how late perch woke for it
}

func (b *burst) turn(i int) turn {
	return turn{index: i, burst: i/b.shape.Requests + 1, number: i%b.shape.Requests + 1}
}

// play makes all calls, or as many as may be made.
func (b *burst) play() Observation {
	start := b.first()
	for i := 1; i < b.shape.Calls() && b.goesOn(); i++ {
		t := b.turn(i)
		t.at = start.Add(b.shape.Offset(i))
		b.makeCall(t)
	}
	b.calls.Wait()
	return b.done()
}

// first makes the first call and returns when it left: all others follow from that.
func (b *burst) first() time.Time {
	left := make(chan time.Time, 2) // a second one, with another token
	c := b.call.copy()
	c.left = func() { left <- time.Now() }
	b.pool.open = 1
	ended := make(chan struct{})
	b.start(func() {
		defer close(ended)
		var o Observation
		x := c.warmUp(b.ctx, &o)
		for _, a := range o.Attempts { // its token was refused
			b.note(made{turn: b.turn(0), attempt: a, on: ConnectionFresh, beside: true})
		}
		b.opened(b.turn(0), &x)
	})
	select {
	case at := <-left:
		return at
	case <-ended:
		return time.Now()
	}
}

// goesOn reports whether there is more to be sent.
func (b *burst) goesOn() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.refused == nil && b.broken == nil && b.ctx.Err() == nil
}

// makeCall waits until a call is to leave, and for its connection, and lets it go.
func (b *burst) makeCall(t turn) {
	if t.number == 1 {
		b.tellIdle(t.at)
	}
	if t.index < b.shape.Connections {
		if b.await(&t, b.lead()) {
			b.open(t)
		}
		return
	}
	ahead := b.call.fetchAhead(b.ctx, t.at)
	woke := b.await(&t, 0)
	if ahead != nil {
		ahead.Stop()
	}
	for woke && b.goesOn() {
		p, room := b.take()
		switch {
		case p != nil:
			b.reuse(t, p)
			return
		case room:
			b.launch(t)
			return
		}
		select { // every connection of the pool is in use: an application's call waits, too
		case <-b.freed:
		case <-b.ctx.Done():
		}
	}
}

// await waits until a call is to leave, less lead, and notes how late perch woke; false:
// the step has ended.
func (b *burst) await(t *turn, lead time.Duration) bool {
	wake := t.at.Add(-lead)
	if d := time.Until(wake); d > 0 {
		if !wait(b.ctx, d) {
			return false
		}
		t.late = max(0, time.Since(wake))
	}
	if t.number == 1 && t.burst > 1 {
		b.call.env.tell(b.call.spec, Event{What: EventStarted, Hold: b.shape.Gap})
	}
	return b.goesOn()
}

const (
	// firstLead is how long before its call a connection of the pool's is opened, so
	// that the request leaves in time; longestLead is for how long any server leaves a
	// new one be.
	firstLead   = 100 * time.Millisecond
	longestLead = time.Second
)

// lead follows the longest opening that was seen.
func (b *burst) lead() time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	longest := time.Duration(0)
	for _, m := range b.made {
		p := m.attempt.Phases
		longest = max(longest, p.DNS+p.Connect+p.TLS)
	}
	return min(max(firstLead, longest+longest/2), longestLead)
}

// tellIdle tells who watches that the pool idles until a burst begins.
func (b *burst) tellIdle(until time.Time) {
	b.mu.Lock()
	open := b.pool.open // the last call may not have its answer yet
	b.mu.Unlock()
	b.call.env.Log.Debug("a pool idles", "target", b.call.spec.Target, "probe", b.call.spec.Probe, "connections", open, "gap", b.shape.Gap)
	if open > 0 {
		b.call.env.tell(b.call.spec, Event{What: EventHolding, Hold: b.shape.Gap, Until: until, Connections: open})
	}
}

// open makes a call on a connection of its own, which then belongs to the pool.
func (b *burst) open(t turn) {
	b.mu.Lock()
	b.pool.open++
	b.mu.Unlock()
	b.launch(t)
}

// launch is open where the pool has made room already.
func (b *burst) launch(t turn) {
	c := b.call.copy()
	b.start(func() {
		x := c.fresh(b.ctx, RoleNext)
		b.opened(t, &x)
	})
}

// opened takes in what a call on a new connection came to.
func (b *burst) opened(t turn, x *exchanged) {
	if x.denied != nil {
		b.drop(x)
		b.refuse(x.denied)
		return
	}
	n := 0
	if x.conn != nil {
		n = b.number()
	}
	b.note(made{turn: t, attempt: x.attempt, on: ConnectionFresh, connection: n})
	b.keep(n, x)
	if b.fails(x.attempt) {
		b.refuse(tooManyFresh())
	}
}

// tooManyFresh is why a burst is not played to its end.
func tooManyFresh() *downError {
	return &downError{fmt.Sprintf("%d new connections in a row failed", mostFailing)}
}

// downError says that the target is down: what was seen stands for itself.
type downError struct{ why string }

func (e *downError) Error() string { return e.why }

// fails counts the exchanges on new connections that failed in a row, and reports
// whether there are too many to go on.
func (b *burst) fails(a Attempt) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case a.Reason.Unwell():
		b.failing++
	case a.OK():
		b.failing = 0
	}
	return b.failing >= mostFailing
}

// reuse makes a call on a connection of the pool's.
func (b *burst) reuse(t turn, p *pooled) {
	held := p.draw()
	b.call.authorizeHeld(b.ctx)
	c := b.call.copy()
	b.start(func() {
		x := exchanged{conn: p.conn, release: p.release}
		ended := false
		defer func() {
			if !ended { // a bug panics
				b.drop(&x)
			}
		}()
		x.take(c.exchange(b.ctx, p.conn, RoleNext))
		ended = true
		if x.denied != nil {
			b.drop(&x)
			b.refuse(x.denied)
			return
		}
		if t.late > x.attempt.Delay {
			x.attempt.Delay, x.attempt.DelayKnown, x.attempt.WokeLate = t.late, true, t.late
		}
		m := made{turn: t, attempt: x.attempt, on: ConnectionReused, connection: p.number, end: b.closeOf(&x, held)}
		b.note(m)
		control, room := b.mayControl(t.burst, x.attempt.Reason)
		if control && !room {
			b.drop(&x)
		} else {
			b.keep(p.number, &x)
		}
		if control {
			b.control(c, t)
		}
	})
}

// control follows a call that failed.
func (b *burst) control(c *call, t turn) {
	x := c.fresh(b.ctx, RoleControl)
	b.drop(&x)
	if x.denied != nil {
		b.withoutControl(t, x.denied)
		return
	}
	b.note(made{turn: t, attempt: x.attempt, on: ConnectionControl})
	if b.fails(x.attempt) {
		b.refuse(tooManyFresh())
	}
}

// closeOf is the close that was seen of a connection before its call; nil: none.
func (b *burst) closeOf(x *exchanged, held wire.Held) *Close {
	var seen *Close
	if held.Close != nil {
		seen = seenClose(held.Close)
	}
	return closeSeen(x.attempt, x.evidence, seen)
}

// mayControl reports whether a call that came to this is the first of its burst to fail,
// and takes a place among the pool's connections for its control. No room: the call's own
// connection has to give up its place, even if it was answered.
func (b *burst) mayControl(burst int, reason Reason) (control, room bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !wantsControl(reason) || b.controls[burst] || b.refused != nil {
		return false, false
	}
	b.controls[burst] = true
	room = b.pool.open < b.shape.Connections
	b.pool.open++
	return true, room
}

// start runs a call. A bug of perch's in it ends the step, and nothing else.
func (b *burst) start(do func()) {
	b.calls.Go(func() {
		defer func() {
			if p := recover(); p != nil {
				b.breaks(p)
			}
		}()
		do()
	})
}

func (b *burst) breaks(p any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.broken == nil {
		o := Panicked(Observation{}, p)
		b.broken = &o
	}
	b.cancel()
}

func (b *burst) refuse(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.refused == nil {
		b.refused = err
	}
	if denied := (*Denied)(nil); errors.As(err, &denied) {
		b.asked++
	}
	b.wake()
}

// wake lets a call look again that waits for a connection.
func (b *burst) wake() {
	select {
	case b.freed <- struct{}{}:
	default:
	}
}

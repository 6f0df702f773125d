package probes

import (
	"context"
	"fmt"
	"runtime/debug"
	"time"

	"perch.example/probes/wire"
)

// rung is one hold of a ladder: warm, hold, reuse blindly, and on failure a
// control on a fresh connection. Warm-up, hold and reuse each run in a
// goroutine of their own: the hold's keeps the smallest stack there is, so
// that ten thousand held connections stay cheap.
type rung struct {
	call     *call
	obs      Observation
	hold     time.Duration
	conn     *wire.Conn
	release  func()
	ahead    *time.Timer // fetches the reuse's token; nil: none is needed
	done     func(Observation)
	closed   bool // the watcher was told that the peer ended the connection
	told     bool // the watcher, that it is done
	reported bool // to done
}

// StartIdle plays one rung and calls done with its observation, exactly once,
// from another goroutine. It returns at once.
func StartIdle(ctx context.Context, s *Spec, hold time.Duration, env Env, done func(Observation)) {
	r := &rung{call: &call{spec: s, env: env}, obs: begin(s), hold: hold, done: done}
	r.obs.Hold, r.obs.Search = hold, s.Search
	go r.warm(ctx)
}

func (r *rung) warm(ctx context.Context) {
	defer r.recover()
	s := r.call.spec
	if !r.ready(ctx) {
		return
	}
	x := r.call.warmUp(ctx, &r.obs)
	if x.denied != nil {
		r.finish(denied(ctx, r.obs, x.denied))
		return
	}
	r.conn, r.release = x.conn, x.release
	if x.attempt.OK() && x.attempt.CloseAfter {
		x.attempt.Reason, x.attempt.Detail = ReasonNoKeepAlive, "the answer ends its connection: nothing can be held"
	}
	r.call.add(&r.obs, x.attempt, ConnectionFresh)
	if !x.attempt.OK() {
		r.finish(r.obs)
		return
	}
	until := x.attempt.Started.Add(x.attempt.Elapsed + r.hold)
	if !r.call.env.Slots.HoldUntil(until) {
		r.finish(cutShort(r.obs, CutSkipped, "the budget has no room at the instant of the reuse: the warm-up took too long"))
		return
	}
	r.ahead = r.call.fetchAhead(ctx, until)
	r.call.env.tell(s, Event{What: EventHolding, Hold: r.hold, Until: until})
	r.call.env.Log.Debug("holding", "target", s.Target, "probe", s.Probe, "hold", r.hold)
	go r.holdOn(ctx, until)
}

// ready begins a rung; false: it has ended, as it may not be played, or cannot.
func (r *rung) ready(ctx context.Context) bool {
	r.call.env.tell(r.call.spec, Event{What: EventStarted, Hold: r.hold})
	if err := r.call.env.Policy.Hold(r.hold); err != nil {
		r.finish(denied(ctx, r.obs, err))
		return false
	}
	if err := r.call.prepare(); err != nil {
		r.finish(unprepared(r.obs, err))
		return false
	}
	return true
}

// holdOn does nothing but hold: its frames are all that stays in memory.
func (r *rung) holdOn(ctx context.Context, until time.Time) {
	defer r.recover()
	r.conn.OnEnd(func(c *wire.Close) { r.tellClose(seenClose(c)) })
	held := r.conn.Hold(ctx, until, r.call.spec.Search)
	go r.reuse(ctx, held)
}

func (r *rung) reuse(ctx context.Context, held wire.Held) {
	defer r.recover()
	if held.Close != nil {
		r.obs.Close = seenClose(held.Close)
		r.tellClose(r.obs.Close)
	}
	if held.Canceled {
		r.finish(denied(ctx, r.obs, context.Cause(ctx)))
		return
	}
	if s := r.call.spec; s.Search && held.Close != nil {
		// It is closed already: waiting changes nothing for the reuse, and the
		// control belongs beside it.
		if err := r.call.env.Slots.Together(ctx); err != nil {
			r.finish(denied(ctx, r.obs, err))
			return
		}
	}
	r.call.authorizeHeld(ctx)
	x := r.call.exchange(ctx, r.conn, RoleReuse)
	if x.denied != nil {
		r.finish(denied(ctx, r.obs, x.denied))
		return
	}
	r.call.add(&r.obs, x.attempt, ConnectionReused)
	r.obs.Close, r.obs.Limit = closeSeen(x.attempt, x.evidence, r.obs.Close), limitTold(x.attempt, x.evidence)
	r.closeHeld() // before the control, so that both never count as open at once
	if wantsControl(x.attempt.Reason) {
		r.control(ctx)
	}
	r.call.pinnedIP(ctx, &r.obs)
	r.finish(r.obs)
}

// tellClose tells the watcher, once, that the peer ended the connection.
func (r *rung) tellClose(c *Close) {
	if r.closed {
		return
	}
	r.closed = true
	r.call.env.tell(r.call.spec, Event{What: EventClosed, Hold: r.hold, Close: c})
}

// control follows a failed reuse at once: a dead connection and a dead
// service are told apart only by a fresh connection at the same moment.
func (r *rung) control(ctx context.Context) {
	x := r.call.fresh(ctx, RoleControl)
	switch {
	case x.denied == nil:
	case r.obs.without("control", x.denied):
		return
	default:
		r.obs = denied(ctx, r.obs, x.denied)
		return
	}
	x.close()
	r.call.add(&r.obs, x.attempt, ConnectionControl)
}

// wantsControl reports whether a reuse's reason leaves open if the service
// itself is well. An answer that is clear in itself, or that asks to be left
// alone, needs none.
func wantsControl(reason Reason) bool {
	switch reason {
	case ReasonOK, ReasonRateLimited, ReasonUnauthorized, ReasonRedirected, ReasonSlow, ReasonTooLarge,
		ReasonNoKeepAlive, ReasonCanceled, ReasonInternal, ReasonSkipped:
		return false
	default:
		return true
	}
}

func (r *rung) closeHeld() {
	if r.ahead != nil {
		r.ahead.Stop()
	}
	if r.conn != nil {
		_ = r.conn.Close() // what matters was read before; a dead connection's close may fail
		r.conn = nil
	}
	if release := r.release; release != nil {
		r.release = nil
		release()
	}
}

// finish reports the rung. It is the one place where done is called.
func (r *rung) finish(o Observation) {
	r.closeHeld()
	o.Ended, o.Path = time.Now(), r.call.env.path(r.call.spec, o.Attempts)
	if !r.told {
		r.told = true // before: a watcher that panics is not asked again
		r.call.env.tell(r.call.spec, Event{What: EventDone, Hold: r.hold, Reason: lastReason(o)})
	}
	r.reported = true
	r.done(o)
}

// recover makes a bug in perch an internal observation: one probe's bug never
// takes the others' results with it.
func (r *rung) recover() {
	p := recover()
	if p == nil {
		return
	}
	if r.reported {
		panic(p) // done's own bug: nobody could be told
	}
	r.finish(Panicked(r.obs, p))
}

// Panicked is the observation of a step that panicked.
func Panicked(o Observation, p any) Observation {
	return cutShort(o, CutInternal, fmt.Sprintf("a bug in perch: %v\n%s", p, debug.Stack()))
}

// lastReason is what a watcher is told of a step that has ended.
func lastReason(o Observation) Reason {
	switch {
	case o.Cut == CutCanceled:
		return ReasonCanceled
	case o.Cut == CutSkipped:
		return ReasonSkipped
	case o.Cut != "" || len(o.Attempts) == 0:
		return ReasonInternal
	}
	if a := o.Attempt(ConnectionReused); a != nil {
		return a.Reason
	}
	return o.Attempts[len(o.Attempts)-1].Reason
}

// seenClose takes over a close that the wire saw.
func seenClose(c *wire.Close) *Close {
	how := map[string]HowClosed{
		"fin": HowFIN, "rst": HowRST, "bytes": HowBytes, "close_notify": HowCloseNotify, "goaway": HowGoaway, "silent": HowSilent,
	}[c.State]
	return &Close{Age: c.Age, At: c.At, How: how, Resolution: c.Resolution, AfterReply: c.Age}
}

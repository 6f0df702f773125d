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
	call    *call
	obs     Observation
	hold    time.Duration
	conn    *wire.Conn
	release func()
	done    func(Observation)
}

// StartIdle plays one rung and calls done with its observation, exactly once,
// from another goroutine. It returns at once.
func StartIdle(ctx context.Context, s *Spec, hold time.Duration, env Env, done func(Observation)) {
	r := &rung{hold: hold, done: done}
	r.obs = begin(s, env)
	r.obs.Hold, r.obs.Search = hold, s.Search
	c, err := newCall(s, env)
	if err != nil {
		go r.finish(cutShort(r.obs, CutInternal, err.Error()))
		return
	}
	r.call = c
	go r.warm(ctx)
}

func (r *rung) warm(ctx context.Context) {
	defer r.recover()
	s := r.call.spec
	x := r.call.fresh(ctx, RoleWarm)
	if x.denied != nil {
		r.finish(denied(ctx, r.obs, x.denied))
		return
	}
	r.conn, r.release = x.conn, x.release
	if x.attempt.OK() && x.attempt.CloseAfter {
		x.attempt.Reason, x.attempt.Detail = ReasonNoKeepAlive, "the answer ends its connection: nothing can be held"
	}
	r.obs.add(x.attempt, ConnectionFresh)
	if !x.attempt.OK() {
		r.finish(r.obs)
		return
	}
	until := x.attempt.Started.Add(x.attempt.Elapsed + r.hold)
	if !r.call.env.Slots.HoldUntil(until) {
		r.finish(cutShort(r.obs, CutSkipped, "the budget has no room at the instant of the reuse: the warm-up took too long"))
		return
	}
	r.call.env.tell(s, Event{What: EventHolding, Hold: r.hold, Until: until})
	r.call.env.Log.Debug("holding", "target", s.Target, "probe", s.Probe, "hold", r.hold)
	go r.holdOn(ctx, until)
}

// holdOn does nothing but hold: its frames are all that stays in memory.
func (r *rung) holdOn(ctx context.Context, until time.Time) {
	defer r.recover()
	held := r.conn.Hold(ctx, until, r.call.spec.Search)
	go r.reuse(ctx, held)
}

func (r *rung) reuse(ctx context.Context, held wire.Held) {
	defer r.recover()
	if held.Close != nil {
		r.obs.Close = seenClose(held.Close)
		r.call.env.tell(r.call.spec, Event{What: EventClosed, Hold: r.hold, Close: r.obs.Close})
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
	x := r.call.exchange(ctx, r.conn, RoleReuse)
	if x.denied != nil {
		r.finish(denied(ctx, r.obs, x.denied))
		return
	}
	r.obs.add(x.attempt, ConnectionReused)
	r.obs.Close = closeSeen(x.attempt, x.evidence, r.obs.Close)
	r.closeHeld() // before the control, so that both never count as open at once
	if wantsControl(x.attempt.Reason) {
		r.control(ctx)
	}
	r.finish(r.obs)
}

// control follows a failed reuse at once: a dead connection and a dead
// service are told apart only by a fresh connection at the same moment.
func (r *rung) control(ctx context.Context) {
	x := r.call.fresh(ctx, RoleControl)
	if x.denied != nil {
		r.obs = denied(ctx, r.obs, x.denied)
		return
	}
	x.close()
	r.obs.add(x.attempt, ConnectionControl)
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
	if r.conn != nil {
		_ = r.conn.Close() // what matters was read before; a dead connection's close may fail
		r.conn = nil
	}
	if r.release != nil {
		r.release()
		r.release = nil
	}
}

// finish reports the rung. It is the one place where done is called.
func (r *rung) finish(o Observation) {
	r.closeHeld()
	o.Ended = time.Now()
	if r.call != nil {
		r.call.env.tell(r.call.spec, Event{What: EventDone, Hold: r.hold, Reason: lastReason(o)})
	}
	r.done(o)
}

// recover makes a bug in perch an internal observation: one probe's bug never
// takes the others' results with it.
func (r *rung) recover() {
	if p := recover(); p != nil {
		r.finish(Panicked(r.obs, p))
	}
}

// Panicked is the observation of a step that panicked.
func Panicked(o Observation, p any) Observation {
	return cutShort(o, CutInternal, fmt.Sprintf("a bug in perch: %v\n%s", p, debug.Stack()))
}

func lastReason(o Observation) Reason {
	if o.Cut != "" {
		return map[Cut]Reason{CutCanceled: ReasonCanceled, CutSkipped: ReasonSkipped, CutInternal: ReasonInternal}[o.Cut]
	}
	if a := o.Attempt(ConnectionReused); a != nil {
		return a.Reason
	}
	return o.Attempts[len(o.Attempts)-1].Reason
}

func seenClose(c *wire.Close) *Close {
	how := map[string]HowClosed{"fin": HowFIN, "rst": HowRST, "bytes": HowBytes}[c.State]
	return &Close{Age: c.Age, At: c.At, How: how, Resolution: c.Resolution, AfterReply: c.Age}
}

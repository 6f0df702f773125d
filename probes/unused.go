package probes

import (
	"context"
	"time"
)

// StartUnused plays one rung whose connection carries nothing before it is held, as
// one that a pool opened ahead: servers have another timeout for those, and some push
// a 408 when it passes. Like StartIdle it returns at once, and calls done once. The
// opening counts as a request, since it costs the server one.
func StartUnused(ctx context.Context, s *Spec, hold time.Duration, env Env, done func(Observation)) {
	r := &rung{call: &call{spec: s, env: env, unused: true}, obs: begin(s), hold: hold, done: done}
	r.obs.Hold, r.obs.Search, r.obs.Unused = hold, s.Search, true
	go r.openOnly(ctx)
}

// openOnly is a rung's warm-up without a request.
func (r *rung) openOnly(ctx context.Context) {
	defer r.recover()
	s := r.call.spec
	if !r.ready(ctx) {
		return
	}
	x, ok := r.call.authorize(ctx)
	if ok {
		x = r.call.connect(ctx, RoleWarm)
	}
	if x.denied != nil {
		r.finish(denied(ctx, r.obs, x.denied))
		return
	}
	if x.conn == nil {
		r.call.add(&r.obs, x.attempt, ConnectionFresh)
		r.finish(r.obs)
		return
	}
	r.conn, r.release = x.conn, x.release
	until := time.Now().Add(r.hold)
	if !r.call.env.Slots.HoldUntil(until) {
		r.finish(cutShort(r.obs, CutSkipped, "the budget has no room at the instant of the reuse: the connection took too long to open"))
		return
	}
	r.ahead = r.call.fetchAhead(ctx, until)
	r.call.env.tell(s, Event{What: EventHolding, Hold: r.hold, Until: until})
	go r.holdOn(ctx, until)
}

// opensAlone reports whether a connection is opened with no request to follow at
// once: then the opening itself is what is booked.
func (c *call) opensAlone(role Role) bool {
	return c.spec.Kind == KindTLS || c.unused && role == RoleWarm
}

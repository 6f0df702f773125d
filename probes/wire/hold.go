package wire

import (
	"context"
	"errors"
	"os"
	"time"
)

// idleRecord is what was seen of a connection since its last answer.
type idleRecord struct {
	frames bool // HTTP/2: bytes are frames, which are taken, and say nothing by having come
	events []Snapshot
	bytes  *Close // first bytes
	end    *Close // first FIN or RST

	ended func(*Close) // told of end as it is seen; nil: nobody is
}

// OnEnd has f told of the peer's FIN or RST as the next Hold sees it, in Hold's
// goroutine and before it returns.
func (c *Conn) OnEnd(f func(*Close)) { c.idle.ended = f }

// Hold waits until the instant until without consuming anything, so that what
// a client finds afterwards is what it would have found without us. With
// untilClosed it returns at the first event that may be a close. Exchange may
// follow in another goroutine. Over HTTP/2 it takes frames, as every client
// does, and a GOAWAY is a close.
//
// Under TLS bytes are ciphertext: on a connection that has not carried a
// request they are most likely session tickets and do not end the hold.
func (c *Conn) Hold(ctx context.Context, until time.Time, untilClosed bool) Held {
	c.held = true
	if c.h2 != nil {
		c.last = c.holdH2(ctx, until, untilClosed)
		return c.last
	}
	if c.kern == nil {
		c.last = sleep(ctx, until)
		return c.last
	}
	deadline(ctx, c.raw, until)
	cut := cutOn(ctx, c.raw)
	err := c.kern.watch(func(s *Snapshot) bool { return c.idleEvent(s) && untilClosed })
	cut.stop()

	h := Held{}
	switch {
	case ctx.Err() != nil:
		h.Canceled = true
	case err == nil:
	case errors.Is(err, os.ErrDeadlineExceeded):
		h.Late, h.LateKnown = time.Since(until), true
	case c.idle.end != nil && !untilClosed:
		h = sleep(ctx, until) // after a RST the poller may have nothing more to wait for
	default:
		h.Canceled = true // closed here
	}
	h.Close = c.idle.first(c.tls != nil)
	c.last = h
	return h
}

// sleep waits with nothing but the clock.
func sleep(ctx context.Context, until time.Time) Held {
	timer := time.NewTimer(time.Until(until))
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return Held{Canceled: true}
	case <-timer.C:
		return Held{Late: max(time.Since(until), 0), LateKnown: true}
	}
}

// idleEvent records what changed and reports whether it may be a close.
func (c *Conn) idleEvent(s *Snapshot) bool {
	c.idle.record(s, c.idleSince)
	if c.tls != nil && c.served == 0 {
		return s.State != StateEstablished
	}
	return !s.quiet()
}

// record keeps s if it shows anything new, and dates the first bytes and the
// first end. since is when idling began.
func (r *idleRecord) record(s *Snapshot, since time.Time) {
	if r.frames && s.State == StateEstablished {
		return
	}
	floor := since
	if n := len(r.events); n > 0 {
		last := &r.events[n-1]
		if last.State == s.State && last.Received == s.Received {
			return
		}
		if last.At.After(floor) {
			floor = last.At
		}
	} else if s.quiet() {
		return
	}
	s.Came = s.cameAt(floor)
	if len(r.events) < maxSteps {
		r.events = append(r.events, *s)
	}
	if s.Queued > 0 && r.bytes == nil && !r.frames {
		r.bytes = s.close("bytes", since)
	}
	if s.State != StateEstablished && r.end == nil {
		state := "fin"
		if s.State == StateClose {
			state = "rst"
		}
		r.end = s.close(state, since)
		if r.ended != nil {
			r.ended(r.end)
		}
	}
}

// first returns the first event that may be a close: under TLS, where bytes
// may be a ticket, a FIN or RST counts first.
func (r *idleRecord) first(tls bool) *Close {
	if r.bytes != nil && (!tls || r.end == nil) {
		return r.bytes
	}
	return r.end
}

// covering returns the first event at which bytes beyond a stream offset had
// come, or nil.
func (r *idleRecord) covering(offset int64) *Snapshot {
	for i := range r.events {
		if r.events[i].Received > offset {
			return &r.events[i]
		}
	}
	return nil
}

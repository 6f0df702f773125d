package wire

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"time"

	"golang.org/x/net/http2"
)

// pinger sends PINGs while a connection idles, as the application's client
// does.
type pinger struct {
	every   time.Duration // 0: never
	last    time.Time     // when the last one was sent
	sent    int           // since the last exchange
	pending int           // of them not answered
}

func (p *pinger) answered() { p.pending = max(p.pending-1, 0) }

// due is when the next one is to be sent; false: none is before until.
func (p *pinger) due(since, until time.Time) (time.Time, bool) {
	if p.every <= 0 {
		return until, false
	}
	at := since.Add(p.every)
	if p.last.After(since) {
		at = p.last.Add(p.every)
	}
	return at, at.Before(until)
}

// holdH2 waits until the instant until. A client of HTTP/2 reads while it
// idles: so frames are taken, PING and SETTINGS answered. A FIN or RST is looked
// at and left for the reuse to find. With untilClosed a GOAWAY ends the hold as
// a FIN does: a client sends nothing more on that connection.
func (c *Conn) holdH2(ctx context.Context, until time.Time, untilClosed bool) Held {
	h := c.h2
	cut := cutOn(ctx, c.raw)
	defer cut.stop()
	for {
		if untilClosed && c.closedH2() != nil {
			return Held{Close: c.closedH2()}
		}
		if c.kern == nil && !c.reads() {
			return c.sleepH2(ctx, until)
		}
		wake, ping := h.ping.due(c.idleSince, until)
		ping = ping && c.listens()
		if !ping {
			wake = until
		}
		deadline(ctx, c.raw, wake)
		err := c.awaitFrames(untilClosed)
		h.framing.rest()
		switch {
		case err == nil:
		case ctx.Err() != nil:
			return Held{Canceled: true, Close: c.closedH2()}
		case errors.Is(err, os.ErrDeadlineExceeded) && ping && time.Now().Before(until):
			deadline(ctx, c.raw, until) // the one that woke us has passed
			c.sendPing()
		case errors.Is(err, os.ErrDeadlineExceeded):
			late := time.Since(until)
			c.lastLook(ctx)
			return Held{Late: late, LateKnown: true, Close: c.closedH2()}
		case c.ended() && !untilClosed:
			return c.sleepH2(ctx, until) // the poller may have nothing more to wait for
		default:
			return Held{Canceled: true, Close: c.closedH2()} // closed here
		}
	}
}

// sleepH2 waits with nothing but the clock.
func (c *Conn) sleepH2(ctx context.Context, until time.Time) Held {
	held := sleep(ctx, until)
	held.Close = c.closedH2()
	return held
}

// awaitFrames waits for something to come and takes it.
func (c *Conn) awaitFrames(untilClosed bool) error {
	if c.kern == nil {
		return c.readFrames()
	}
	var came *Snapshot
	err := c.kern.watch(func(s *Snapshot) bool {
		c.idle.record(s, c.idleSince)
		if s.quiet() {
			c.h2.looked = s.At
		}
		came = s
		return s.Queued > 0 && c.reads() || untilClosed && s.State != StateEstablished
	})
	if err == nil {
		c.take(came, came.Queued, c.idleFrame)
		if c.tap.room <= 0 { // with the hold's end passed nothing is read: it is there still, and as old as it was
			c.h2.looked = came.At
		}
	}
	return err
}

// readFrames reads without a kernel to ask: a close is consumed, and the reuse
// finds it once more.
func (c *Conn) readFrames() error {
	f, err := c.next(frameReader{r: c.reader(), limit: defaultMaxHead})
	switch {
	case err == nil:
		c.idleFrame(f, nil)
		c.flush()
	case errors.Is(err, os.ErrDeadlineExceeded), errors.Is(err, net.ErrClosed):
		return err
	default:
		c.unread(err, nil)
	}
	return nil
}

// take takes frames that have come, room bytes of them at most, and waits for
// nothing. s is the look that showed them.
func (c *Conn) take(s *Snapshot, room int, each func(http2.Frame, *Snapshot)) {
	t := &c.tap
	t.only, t.room = true, room
	for c.reads() {
		f, err := c.next(frameReader{r: c.reader(), limit: defaultMaxHead})
		if errors.Is(err, os.ErrDeadlineExceeded) {
			break
		}
		if err != nil {
			c.unread(err, s)
			break
		}
		each(f, s)
	}
	t.only = false
	c.flush()
}

// lastLook takes what came while the hold's end woke us: on a busy machine both
// may have waited.
func (c *Conn) lastLook(ctx context.Context) {
	if c.kern == nil {
		return
	}
	s := c.kern.snapshot()
	c.idle.record(s, c.idleSince)
	deadline(ctx, c.raw, time.Now().Add(50*time.Millisecond)) // what is read is here, and replies are small
	c.take(s, s.Queued, c.idleFrame)
}

// arrived takes what came together with an answer.
func (c *Conn) arrived() {
	var s *Snapshot
	room := 0
	if c.kern != nil {
		s = c.kern.snapshot()
		room = s.Queued
	}
	c.take(s, room, func(f http2.Frame, _ *Snapshot) {
		if err := c.control(f); err != nil {
			c.h2.broken = err
		}
	})
}

// idleFrame takes a frame that came while no stream is open.
func (c *Conn) idleFrame(f http2.Frame, s *Snapshot) {
	if err := c.control(f); err != nil {
		c.h2.broken = err
		return
	}
	if _, ok := f.(*http2.GoAwayFrame); ok && c.h2.goneAt == nil {
		c.h2.goneAt = c.closedBy("goaway", s)
		c.h2.goaway.Idle, c.h2.goaway.Age = true, c.h2.goneAt.Age
	}
}

// unread notes why nothing more is read.
func (c *Conn) unread(err error, s *Snapshot) {
	switch {
	case c.tls != nil && c.tap.ended == "" && (errors.Is(err, io.EOF) || remoteAlert(err)):
		c.h2.notified = c.closedBy("close_notify", s)
	case c.tap.ended == "":
		c.h2.broken = err
	}
}

// closedBy is a close that a frame or an alert told, dated by the look that
// showed it; without one, by now.
func (c *Conn) closedBy(state string, s *Snapshot) *Close {
	if s == nil {
		now := time.Now()
		return &Close{Age: now.Sub(c.idleSince), At: now, State: state}
	}
	floor := c.idleSince
	if c.h2.looked.After(floor) {
		floor = c.h2.looked
	}
	dated := *s
	dated.Came = s.At.Add(-waited(s.LastDataRecv)) // frames and alerts are data: a FIN behind them came later
	if dated.Came.Before(floor) {
		dated.Came = floor
	}
	return dated.close(state, c.idleSince)
}

// closedH2 is what ended the held connection: a GOAWAY before the close_notify
// and the FIN that servers send with it.
func (c *Conn) closedH2() *Close {
	switch h := c.h2; {
	case h.goneAt != nil:
		return h.goneAt
	case h.notified != nil:
		return h.notified
	default:
		return c.idle.end
	}
}

// reads reports whether there is anything more to read frames from.
func (c *Conn) reads() bool {
	return c.h2.broken == nil && c.h2.notified == nil && c.tap.ended == ""
}

// ended reports whether a FIN or a RST was seen.
func (c *Conn) ended() bool { return c.idle.end != nil || c.tap.ended != "" }

// listens reports whether the peer may still answer a PING.
func (c *Conn) listens() bool { return c.reads() && !c.ended() && c.h2.lost == "" }

// sendPing sends one PING.
func (c *Conn) sendPing() {
	p := &c.h2.ping
	p.last = time.Now()
	p.sent, p.pending = p.sent+1, p.pending+1
	c.h2.queue(func(w *http2.Framer) error { return w.WritePing(false, [8]byte{'p', 'e', 'r', 'c', 'h'}) })
	c.flush()
}

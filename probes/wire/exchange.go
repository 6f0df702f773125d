package wire

import (
	"bytes"
	"context"
	"fmt"
	"time"
)

// exchange is one request and its answer, on their way.
type exchange struct {
	conn *Conn
	ctx  context.Context
	req  Request
	e    Evidence

	wire   []byte        // the request as it goes out: under TLS, records
	rest   []byte        // HTTP/2: of its body, what the peer had no room for yet
	from   int64         // offset in our stream at which it begins
	in     int64         // offset in the peer's stream that had been read before it
	before int64         // offset in the peer's stream up to which bytes had come before it
	stood  time.Duration // for how long this machine held up the write
	origin int64         // offset in the peer's stream of what decided: first byte, or alert
	source source

	leftStatus int // of the answer that follows ours unasked; 0: none does
}

// Exchange sends one request, blindly: it does not look whether the connection
// still stands, as a client with an idle pool does not. It reads the answer to
// its end. The answer is empty unless the evidence's Ending is EndWhole, and
// when what came was not an answer to us (Pushed, or not acknowledging).
func (c *Conn) Exchange(ctx context.Context, r Request) (Response, Evidence) {
	x := &exchange{conn: c, ctx: ctx, req: r}
	x.describe()
	if err := x.encode(); err != nil {
		x.unsendable(err)
		return Response{}, x.e
	}
	if r.Gate != nil {
		if err := r.Gate(ctx); err != nil {
			x.e.Refused, x.e.Canceled, x.e.Error = true, ctx.Err() != nil, err.Error()
			return Response{}, x.e
		}
	}
	cut := cutOn(ctx, c.raw)
	x.send()
	response := x.read()
	x.observe()
	cut.stop()
	x.finish()
	if x.e.Ending != EndWhole || x.unasked() {
		return Response{}, x.e
	}
	return response, x.e
}

// unsendable says why no request could be made. A peer's garbage that TLS has read
// while the connection was held is why it writes nothing more.
func (x *exchange) unsendable(err error) {
	x.e.Error = err.Error()
	if h := x.conn.h2; h != nil && h.broken != nil {
		x.e.Ending, x.e.Error, x.e.H2 = EndGarbage, h.broken.Error(), h.evidence(nil)
	}
}

// read reads the answer to its end.
func (x *exchange) read() Response {
	if x.conn.h2 != nil {
		return x.receiveH2()
	}
	return x.receive()
}

// describe fills in what is known before anything is sent.
func (x *exchange) describe() {
	c := x.conn
	x.e = c.opening.evidence()
	x.e.TLS, x.e.Kernel, x.e.Proto = c.tls != nil, c.kern != nil, c.proto()
	x.e.Held, x.e.Served, x.e.LeftOver = c.held || c.served > 0, c.served, c.leftOver
	x.e.PushedStatus = c.leftOf
	x.e.HoldLate, x.e.HoldKnown = c.last.Late, c.last.LateKnown
	if !x.e.Held {
		x.e.Phases = c.opening.phases
	}
}

// encode writes the request into memory, under TLS already sealed, so that it
// leaves in one write.
func (x *exchange) encode() error {
	var plain bytes.Buffer
	plain.Grow(512) // most fit
	if err := x.write(&plain); err != nil {
		return fmt.Errorf("encoding the request: %w", err)
	}
	var err error
	if x.wire, err = x.conn.seal(plain.Bytes()); err != nil {
		return fmt.Errorf("encrypting the request: %w", err)
	}
	x.e.RequestSize = int64(len(x.wire))
	return nil
}

func (x *exchange) write(plain *bytes.Buffer) (err error) {
	if x.conn.h2 == nil {
		return x.conn.write(x.req.HTTP, plain)
	}
	x.rest, err = x.conn.h2.encode(plain, x.req.HTTP, x.conn.tls != nil)
	return err
}

// send writes the request and takes the snapshots around the write.
func (x *exchange) send() {
	c, t := x.conn, &x.conn.tap
	x.in, x.before = t.in, t.in
	s := x.sendNow()
	x.e.Started, x.e.RequestBytes = s.started, int64(s.n)
	x.e.Before, x.stood = s.before, waited(s.stood)
	if !s.started.IsZero() {
		x.e.Age, x.e.Idle = s.started.Sub(c.opened), s.started.Sub(c.idleSince)
	}
	if s.before != nil {
		x.before = s.before.Received
		c.idle.record(s.before, c.idleSince)
		x.e.Events = c.idle.events
		x.e.Pushed = c.tls == nil && c.h2 == nil && s.before.Queued > 0
	}
	if s.err != nil {
		x.e.Error = s.err.Error()
		if !ours(s.err) { // reading ends by those too
			x.e.WriteErr = c.writeErr(s.err)
		}
	}
	t.watching, t.steps, t.after = true, nil, nil
	t.overdue = func() bool { return x.overdue(time.Now()) }
}

// until bounds the exchange: one deadline for all of it, so that a slow drip
// cannot stretch it.
func (x *exchange) until(start time.Time) {
	if x.req.Timeout > 0 {
		deadline(x.ctx, x.conn.raw, start.Add(x.req.Timeout))
		return
	}
	deadline(x.ctx, x.conn.raw, time.Time{})
}

// observe goes on looking, for a short while, when the answer's timeout was too
// short to tell silence from a slow server: Linux sends again after about 0.2
// and 0.4 s, and a delayed acknowledgement takes 40 ms.
func (x *exchange) observe() {
	b, c := x.e.Before, x.conn
	if c.kern == nil || b == nil || x.e.Stage != StageNone || x.e.Ending != EndTimeout {
		return
	}
	window := min(max(500*time.Millisecond, 2*b.RTO+100*time.Millisecond), 2*time.Second)
	for time.Since(x.e.Started) < window {
		s := c.kern.snapshot()
		if !s.quiet() || c.acked(s, x.from, x.e.RequestSize) > 0 || s.TotalRetrans-b.TotalRetrans >= 2 {
			return
		}
		if sleep(x.ctx, time.Now().Add(20*time.Millisecond)).Canceled {
			return // the timeout has been seen whole: not canceled
		}
	}
}

// unasked reports whether what came was sent before the peer had our request.
func (x *exchange) unasked() bool {
	if x.conn.h2 != nil {
		return false // what came on our stream is for us
	}
	first := x.e.First
	return x.e.Pushed || x.e.LeftOver > 0 || first != nil && x.source.stage != StageNone && first.Acked == 0
}

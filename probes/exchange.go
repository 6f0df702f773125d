package probes

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/netip"
	"net/url"
	"time"

	"perch.example/probes/wire"
)

// exchanged is one attempt and the connection that it leaves behind.
type exchanged struct {
	attempt  Attempt
	evidence wire.Evidence
	response wire.Response
	conn     *wire.Conn // nil: none was opened
	release  func()
	denied   error // nothing was sent: the budget, or the end of the context
	unended  error // something was answered, and what has to follow may not be sent; nil: it is whole
}

func (x *exchanged) close() {
	if x.conn != nil {
		_ = x.conn.Close() // everything was read; how it closes says nothing
	}
	if x.release != nil {
		x.release()
	}
	x.conn, x.release = nil, nil
}

// take puts the next request's part of x in the place of the last one's.
func (x *exchanged) take(next exchanged) {
	x.attempt, x.evidence, x.response, x.denied = next.attempt, next.evidence, next.response, next.denied
}

// fresh makes one exchange on a new connection, and follows redirects where
// the spec allows it.
func (c *call) fresh(ctx context.Context, role Role) (x exchanged) {
	if x, ok := c.authorize(ctx); !ok {
		return x
	}
	if x, ok := c.describe(ctx, role); !ok {
		return x
	}
	x = c.connect(ctx, role)
	if x.conn == nil {
		return x
	}
	whole := false
	defer func() {
		if !whole { // denied, or a bug panics
			x.close()
		}
	}()
	x.take(c.exchange(ctx, x.conn, role))
	if x.denied == nil && c.spec.Kind == KindHTTP {
		c.follow(ctx, &x)
	}
	whole = x.denied == nil
	return x
}

// connect opens a connection for one request. Without a connection the request
// was denied, or the attempt says how opening failed. While the pod's network
// settles it tries until it opens: those tries are no attempts.
func (c *call) connect(ctx context.Context, role Role) exchanged {
	c.takeTurn(ctx)
	for {
		x := c.open(ctx, role)
		switch {
		case c.env.Settler == nil, x.denied != nil:
			return x
		case x.conn != nil, x.attempt.ProxyAsked:
			c.env.Settler.Opened()
			return x
		case !x.attempt.Unopened() || !c.env.Settler.Unopened(ctx, role, x.attempt.Reason):
			return x
		}
	}
}

func (c *call) open(ctx context.Context, role Role) (x exchanged) {
	// Before a resolver is asked: its question leaves, too.
	if err := cmp.Or(c.allowed(), c.allowedWay(), c.env.Refusals.denied(c)); err != nil {
		return exchanged{denied: err}
	}
	release, err := c.env.Slots.Dial(ctx, role)
	if err != nil {
		return exchanged{denied: err}
	}
	x.release = release
	defer func() {
		if x.conn == nil { // it failed, or a bug panics
			x.close()
		}
	}()
	if err := c.handshakes(ctx, role); err != nil {
		x.denied = err
		return x
	}
	since := time.Now()
	c.asked, c.given = false, false
	o := c.options()
	var refused error
	o.Allow = func(a netip.Addr) error {
		err := cmp.Or(c.env.barred(), c.env.Policy.Address(a)) // a resolver may have taken seconds
		if refused == nil {
			refused = err
		}
		return err
	}
	conn, opening := wire.Open(ctx, o)
	switch {
	case conn != nil:
		x.conn = conn
	case ctx.Err() != nil:
		x.denied = context.Cause(ctx)
	case refused != nil && len(opening.Tried) == 0: // not one address may be dialled
		x.denied = refused
	default:
		x.attempt, x.evidence = c.attempt(opening, Classify(opening)), opening
		c.proxyAnswer(&x.attempt, opening.ProxyAnswer)
		x.attempt.Began = since
		c.own(&x.attempt, opening, since)
	}
	return x
}

// exchange makes one request on an open connection.
func (c *call) exchange(ctx context.Context, conn *wire.Conn, role Role) exchanged {
	req, span := c.request(&c.url, c.header)
	return c.send(ctx, conn, role, req, span)
}

func (c *call) send(ctx context.Context, conn *wire.Conn, role Role, req *http.Request, span string) exchanged {
	var refused error
	response, e := conn.Exchange(ctx, wire.Request{
		HTTP: req, MaxHead: maxHead, MaxBody: c.spec.MaxBody, Timeout: c.spec.Timeouts.Response,
		Gate: func(ctx context.Context) error {
			refused = c.leave(ctx, req, role)
			return refused
		},
	})
	switch {
	case refused != nil:
		return exchanged{denied: refused}
	case e.Canceled && ctx.Err() != nil:
		return exchanged{denied: context.Cause(ctx)}
	}
	if role == RoleRedirect {
		// Nothing was idle: a redirect is followed at once, and its attempt is
		// one on a fresh connection, which an idle_* reason does not suit.
		e.Held, e.IdleClose = false, nil
	}
	x := exchanged{attempt: c.attempt(e, Classify(e)), evidence: e, response: response}
	x.attempt.SpanID = span
	if x.attempt.Reason == ReasonOK {
		c.judge(&x.attempt, response, e.Elapsed)
		x.attempt.answer(response)
		c.proxyAnswered(&x.attempt)
	}
	x.attempt.Began = began(e)
	c.own(&x.attempt, e, x.attempt.Began)
	return x
}

// follow goes after redirects, never to another origin and never with
// credentials. The attempt is then that of the last hop.
func (c *call) follow(ctx context.Context, x *exchanged) {
	from := c.spec.URL // without secrets: what a Location leaves out is taken from here
	for range c.spec.Redirects {
		if x.denied != nil || x.attempt.Reason != ReasonRedirected {
			return
		}
		to := c.target(from, x.response.Header.Get("Location"))
		if to == nil {
			x.attempt.Detail += ": it leads to another host or port"
			return
		}
		next := c.hop(ctx, x, to)
		if x.unfollowed(next.denied) {
			return
		}
		a := x.attempt
		next.attempt.Hops = append(a.Hops, Hop{SpanID: a.SpanID, Status: a.Status, Started: a.Started, Elapsed: a.Elapsed})
		x.take(next)
		from = to
	}
}

// unfollowed notes that the budget, or the policy, refused the request that a
// redirect asks for, and reports whether it was that. What was answered is kept,
// and not judged: that it was not followed is no fault of the API's.
func (x *exchanged) unfollowed(err error) bool {
	var d *Denied
	if !errors.As(err, &d) {
		return false
	}
	x.attempt.Detail += ": " + d.Why
	x.unended = &Denied{Why: "its redirect was not followed: " + d.Why}
	return true
}

// hop makes the next request of a chain of redirects: on the same connection
// where that can still be used and the budget has room at once, else on a new
// one.
func (c *call) hop(ctx context.Context, x *exchanged, to *url.URL) exchanged {
	if !x.response.Close {
		next := c.ask(ctx, x.conn, to)
		var d *Denied
		if !errors.As(next.denied, &d) || !d.Later {
			return next
		}
	}
	x.close()
	again := c.connect(ctx, RoleRedirect)
	if again.conn == nil {
		return again
	}
	x.conn, x.release = again.conn, again.release
	return c.ask(ctx, x.conn, to)
}

// ask sends a request that carries no credentials.
func (c *call) ask(ctx context.Context, conn *wire.Conn, to *url.URL) exchanged {
	req, span := c.request(to, c.public)
	return c.send(ctx, conn, RoleRedirect, req, span)
}

// attempt turns evidence into the noun that everybody else sees.
func (c *call) attempt(e wire.Evidence, reason Reason) Attempt {
	a := Attempt{
		Reason: reason, Detail: Explain(e), Method: c.spec.Method, Proto: e.Proto, TraceID: c.trace,
		Started: e.Started, Elapsed: e.Elapsed, RTT: e.RTT, MinRTT: e.MinRTT, Hello: e.Hello, Phases: Phases(e.Phases),
		ConnectionAge: e.Age, Served: e.Served,
		RequestBytes: e.RequestBytes, RequestBytesAcked: e.RequestBytesAcked, ResponseBytes: e.ResponseBytes, PushedStatus: e.PushedStatus,
		Local: e.Local, Remote: e.Remote, Goaway: goawayOf(e.H2), TLS: e.Chain, TLSExpiry: expiresOf(e.Chain),
		Queued:  e.Before != nil && e.IdleClose != nil,
		NoHTTP1: noHTTP1(e), NoALPN: e.Unagreed,
	}
	if e.Held && (e.Served > 0 || c.unused) {
		a.IdleTime = e.Idle
	}
	if h := e.H2; h != nil {
		a.StreamReset, a.NoHTTP2, a.TextStatus = h.Reset, h.HTTP1, h.TextStatus
	}
	a.AckedAtFirst = ackedAtFirst(e, a.Queued)
	a.Delay, a.DelayKnown = e.Delay()
	a.WokeLate, a.Waited = e.HoldLate, e.Wait
	a.Address = c.pinned
	switch reason {
	case ReasonOK:
		a.Detail = ""
	case ReasonTLS:
		a.Detail += c.certificateAsked()
	default:
	}
	return a
}

// ackedAtFirst is what the first event after our write acknowledged; nil where
// it says nothing: it had come before, or is a RST, which carries none.
func ackedAtFirst(e wire.Evidence, queued bool) *int64 {
	f := e.First
	if f == nil || queued || e.Pushed || e.Alerted || goneBefore(e) || finBefore(e) || f.State == wire.StateClose && f.Acked == 0 {
		return nil
	}
	acked := f.Acked
	return &acked
}

// answer takes over what a whole answer said.
func (a *Attempt) answer(r wire.Response) {
	a.Status, a.Proto, a.CloseAfter = r.Status, r.Proto, r.Close
	a.Advertised, a.Via = advertised(r.Header), via(r.Header)
	if r.Status == http.StatusTooManyRequests || r.Status == http.StatusServiceUnavailable {
		a.RetryAfter = retryAfter(r.Header, time.Now())
	}
}

// closeSeen is how a held connection ended, once the reuse has told what the
// kernel's events alone could not: under TLS bytes may be a session ticket.
func closeSeen(a Attempt, e wire.Evidence, held *Close) *Close {
	if a.OK() || a.Reason == ReasonTLS { // a handshake that was taken back was not idle
		return nil
	}
	seen := held
	if e.IdleClose != nil {
		seen = seenClose(e.IdleClose)
	}
	if seen == nil {
		return nil
	}
	sharper := *seen
	switch a.Reason {
	case ReasonIdleGoaway:
		sharper.How = HowGoaway
	case ReasonIdleCloseNotify:
		sharper.How = HowCloseNotify
	case ReasonIdleBytes:
		sharper.How = HowBytes
	case ReasonIdleFIN:
		sharper.How = HowFIN
	case ReasonIdleRST:
		sharper.How = HowRST
	default: // what the kernel saw stands
	}
	return &sharper
}

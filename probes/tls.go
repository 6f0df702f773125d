package probes

import (
	"context"
	"time"

	"perch.example/probes/expect"
	"perch.example/probes/wire"
)

// RunTLS opens a connection, shakes hands and asks nothing: what the handshake shows is
// the result. It counts as a request, since it costs the server one and more, and is
// made again as RunHTTP's exchange is.
func RunTLS(ctx context.Context, s *Spec, env Env) Observation {
	c := &call{spec: handshakeOnly(s), env: env}
	return c.play(func(o Observation) Observation {
		if c.tls == nil {
			return cutShort(o, CutInternal, "a handshake needs https, and the url is "+c.url.Scheme)
		}
		if err := c.eachAddress(ctx, &o, c.shakes); err != nil {
			return denied(ctx, o, err)
		}
		return o
	})
}

// shakes makes one handshake, and the second tries.
func (c *call) shakes(ctx context.Context, o *Observation, role Role) error {
	for n := 1; ; n++ {
		x := c.connect(ctx, role)
		if x.conn != nil {
			x.attempt = c.shaken(ctx, x.conn)
			if ctx.Err() != nil {
				x.denied = context.Cause(ctx)
			}
		}
		x.close()
		if x.denied != nil {
			if n > 1 && o.without("second try", x.denied) {
				return nil
			}
			return x.denied
		}
		c.add(o, x.attempt, ConnectionFresh)
		if c.once || n >= c.spec.Retry.Attempts || !triesAgain(x.attempt) {
			return nil
		}
		if !wait(ctx, c.spec.Retry.Backoff) {
			return context.Cause(ctx)
		}
		role = RoleAgain
	}
}

// handshakeOnly is s without what only a request would carry: no secret is read for
// it.
func handshakeOnly(s *Spec) *Spec {
	bare := *s
	bare.Headers, bare.Query, bare.Body, bare.OAuth, bare.GRPC = nil, nil, nil, nil, nil
	return &bare
}

// handshakes asks for the booking of a handshake that no request follows, before
// it is made.
func (c *call) handshakes(ctx context.Context, role Role) error {
	if !c.opensAlone(role) {
		return nil
	}
	return c.env.Slots.Send(ctx, role)
}

// shaken is the attempt of a handshake that worked for us, judged.
func (c *call) shaken(ctx context.Context, conn *wire.Conn) Attempt {
	e := conn.Opening()
	a := c.attempt(e, ReasonOK)
	a.Method, a.TraceID, a.Started = "", "", time.Now().Add(-e.Elapsed) // no request carried them
	facts := a.TLS
	if how, err := conn.Refusal(ctx, refusalWait(e.Phases.TLS, c.spec.Timeouts.TLS)); how != "" {
		a.Reason, a.Detail = ReasonTLS, refusal(how, err)+c.certificateAsked()
		c.own(&a, e, a.Started)
		return a
	}
	if want := c.spec.Speaks(); want == ProtocolH2 && facts.ALPN != "h2" {
		a.Reason, a.NoALPN, a.Detail = ReasonTLS, true, "the server did not agree on h2 (ALPN)"
		return a
	}
	failures := c.spec.Expect.CheckHandshake(expect.Answer{
		Latency: e.Elapsed, TLS: facts.Version, Certificate: certificateShown(facts, time.Now()),
	})
	if len(failures) > 0 {
		a.Reason, a.Detail = worstFailure(failures)
	}
	return a
}

// refusalWait is how long a server may take to take a handshake back: a round trip,
// of which the handshake took one or more, and what it does meanwhile.
func refusalWait(handshake, timeout time.Duration) time.Duration {
	wait := 2*handshake + 50*time.Millisecond
	if timeout > 0 {
		wait = min(wait, timeout)
	}
	return wait
}

// refusal says how a server took back a handshake.
func refusal(how wire.Ending, err error) string {
	switch how {
	case wire.EndAlert:
		return "the server took the handshake back with a TLS alert: " + err.Error()
	case wire.EndGarbage:
		return "what came after the handshake is no TLS"
	case wire.EndReset:
		return "the server reset the connection right after the handshake"
	default:
		return "the server ended the connection right after the handshake"
	}
}

// certificateShown is what expectations see of a certificate; nil: none.
func certificateShown(f *TLSFacts, now time.Time) *expect.Certificate {
	if f == nil || f.Leaf.NotAfter.IsZero() {
		return nil
	}
	end := f.Earliest.NotAfter
	c := &expect.Certificate{
		NotAfter: end, DaysLeft: end.Sub(now).Hours() / 24, Subject: f.Leaf.Subject, Issuer: f.Leaf.Issuer, Names: f.Names,
	}
	if f.Staple != nil {
		c.Staple = string(f.Staple.Status)
	}
	return c
}

// certificateOf is what an answer's expectations see of the certificate; nil: none
// of them looks, or there is none.
func certificateOf(s *Spec, r wire.Response) *expect.Certificate {
	if r.TLS == nil || !s.Expect.Speaks("certificate") {
		return nil
	}
	return certificateShown(wire.FactsOf(*r.TLS, "", false), time.Now())
}

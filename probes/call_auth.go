package probes

import (
	"context"
	"errors"
	"net/http"
	"time"
)

// authorize gives the requests that follow a token that is good now. ok is false
// when there is none: x is then what becomes of the request.
func (c *call) authorize(ctx context.Context) (x exchanged, ok bool) {
	if c.spec.OAuth == nil {
		return x, true
	}
	err := c.takeToken(ctx, TokenWish{At: time.Now(), Refused: c.refused})
	if err == nil {
		return x, true
	}
	var none *TokenError
	if !errors.As(err, &none) {
		return exchanged{denied: err}, false
	}
	x.attempt = Attempt{NoToken: true, Reason: ReasonUnauthorized, Detail: "no token: " + none.Why, Method: c.spec.Method, TraceID: c.trace}
	return x, false
}

func (c *call) takeToken(ctx context.Context, w TokenWish) error {
	if c.env.Token == nil {
		return misfits("a bug in perch: nobody gives tokens")
	}
	t, err := c.env.Token(ctx, c.spec, w)
	if err != nil {
		return err
	}
	c.token = t
	c.set("Authorization", "Bearer "+t.Reveal(), false)
	return nil
}

// renews reports whether a request may be made again since its token was refused
// and there is another one now: once a step, and never with a POST of the config's.
// What else there is to say it adds to the attempt.
func (c *call) renews(ctx context.Context, a *Attempt) bool {
	if c.spec.OAuth == nil || !a.tokenRefused() || c.renewed {
		return false
	}
	c.refused, c.renewed = c.token, true
	err := c.takeToken(ctx, TokenWish{At: time.Now(), Refused: c.refused})
	switch {
	case err != nil:
		a.Detail += "; no other token: " + err.Error()
		return false
	case c.spec.Method == http.MethodPost && c.spec.GRPC == nil:
		a.Detail += "; there is another token, and a POST is not sent again"
		return false
	}
	a.Detail += "; asked again with another token"
	a.Renewed = true
	return true
}

// tokenRefused reports whether an answer says that another token may do: a 401, and
// gRPC's UNAUTHENTICATED, which comes with a 200. A 403 and PERMISSION_DENIED are
// of whom the token is for.
func (a *Attempt) tokenRefused() bool {
	return a.Reason == ReasonUnauthorized &&
		(a.Status == http.StatusUnauthorized || a.GRPC != nil && a.GRPC.Code == codeUnauthenticated)
}

// warmUp is a fresh exchange, made again when its token was refused and there is
// another one.
func (c *call) warmUp(ctx context.Context, o *Observation) exchanged {
	x := c.fresh(ctx, RoleWarm)
	if x.denied != nil || !c.renews(ctx, &x.attempt) {
		return x
	}
	x.close()
	c.add(o, x.attempt, ConnectionFresh)
	return c.fresh(ctx, RoleAgain)
}

// fetchAhead sees to it that a token that is good at the reuse's instant is there
// before it: the held connection is not touched, and nothing waits for it then.
func (c *call) fetchAhead(ctx context.Context, reuse time.Time) *time.Timer {
	if c.spec.OAuth == nil || c.env.Token == nil {
		return nil
	}
	t := c.spec.Timeouts
	lead := min(time.Until(reuse)/2, t.DNS+t.Connect+t.TLS+t.Response+time.Second)
	return time.AfterFunc(time.Until(reuse)-lead, func() {
		ctx, cancel := context.WithDeadline(ctx, reuse)
		defer cancel()
		_, _ = c.env.Token(ctx, c.spec, TokenWish{At: reuse}) // what fails here the reuse's answer tells
	})
}

// authorizeHeld gives the reuse the newest token that is there.
func (c *call) authorizeHeld(ctx context.Context) {
	if c.spec.OAuth != nil {
		_ = c.takeToken(ctx, TokenWish{At: time.Now(), AtOnce: true}) // without one, the warm-up's is sent, as an application would
	}
}

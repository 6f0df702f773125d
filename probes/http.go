package probes

import (
	"context"
	"errors"
	"time"
)

// longestRetryAfter is how long perch's own second try waits because the API
// asked for it. Beyond it the first attempt stands: a run must end.
const longestRetryAfter = 30 * time.Second

// RunHTTP makes one exchange on a fresh connection, and perch's own second try
// where the spec wants one and the reason allows it.
func RunHTTP(ctx context.Context, s *Spec, env Env) Observation {
	c := &call{spec: s, env: env}
	return c.play(func(o Observation) Observation {
		if err := c.eachAddress(ctx, &o, c.tries); err != nil {
			return denied(ctx, o, err)
		}
		return o
	})
}

// play is a step that runs in one go, from its beginning to its end: it is told to
// who watches, made ready, and made by do.
func (c *call) play(do func(Observation) Observation) (o Observation) {
	s, env := c.spec, c.env
	o = begin(s)
	hold := time.Duration(0)
	if s.Burst != nil {
		hold = s.Burst.Gap
	}
	env.tell(s, Event{What: EventStarted, Hold: hold})
	defer func() {
		o.Ended, o.Path = time.Now(), env.path(s, o.Attempts)
		env.tell(s, Event{What: EventDone, Hold: hold, Reason: lastReason(o)})
	}()
	if err := c.prepare(); err != nil {
		return unprepared(o, err)
	}
	return do(o)
}

// tries makes one exchange on a fresh connection, and the second tries.
func (c *call) tries(ctx context.Context, o *Observation, role Role) error {
	for n := 1; ; n++ {
		x := c.fresh(ctx, role)
		if x.denied != nil {
			if n > 1 && o.without("second try", x.denied) {
				return nil
			}
			return x.denied
		}
		x.close()
		renewed := c.renews(ctx, &x.attempt)
		c.add(o, x.attempt, ConnectionFresh)
		role = RoleAgain
		switch {
		case x.unended != nil:
			return x.unended
		case renewed:
			continue
		}
		if c.once || n >= c.spec.Retry.Attempts || !triesAgain(x.attempt) {
			return nil
		}
		if !wait(ctx, max(c.spec.Retry.Backoff, x.attempt.RetryAfter)) {
			return context.Cause(ctx)
		}
	}
}

// triesAgain reports whether a second try on a fresh connection makes sense
// (judging.md: the rows with an "again ok" cell).
func triesAgain(a Attempt) bool {
	if a.RetryAfter > longestRetryAfter || a.ProxyFinal {
		return false
	}
	switch a.Reason {
	case ReasonDNS, ReasonRefused, ReasonConnectTimeout, ReasonConnectFailed, ReasonProxy, ReasonTLS,
		ReasonEOF, ReasonCrossedClose, ReasonReset, ReasonBlackhole, ReasonNoResponse,
		ReasonPartialHead, ReasonPartialBody, ReasonBadResponse,
		ReasonGoawayProcessed, ReasonGoawayUnprocessed, ReasonRefusedStream, ReasonStreamReset,
		ReasonUnavailable, ReasonProxyUpstreamReset, ReasonRateLimited:
		return true
	default:
		return false
	}
}

func begin(s *Spec) Observation {
	return Observation{Target: s.Target, Probe: s.Probe, Kind: s.Kind, Started: time.Now(), Path: pathOf(s.Via, "", "", nil)}
}

// add numbers an attempt and tells at once what there is to learn: a
// Retry-After counts for what follows in this very step.
func (c *call) add(o *Observation, a Attempt, on Connection) {
	a.Number, a.Connection = len(o.Attempts)+1, on
	o.Attempts = append(o.Attempts, a)
	if c.env.Learn != nil {
		c.env.Learn(a)
	}
}

// without notes on the last attempt that the budget refused what would have
// followed it, and reports whether it was the budget: what was seen stands.
func (o *Observation) without(what string, err error) bool {
	var d *Denied
	if !errors.As(err, &d) || len(o.Attempts) == 0 {
		return false
	}
	last := &o.Attempts[len(o.Attempts)-1]
	if last.Detail != "" {
		last.Detail += "; "
	}
	last.Detail += "no " + what + ": " + d.Why
	return true
}

func cutShort(o Observation, why Cut, detail string) Observation {
	o.Cut, o.CutDetail = why, detail
	if why == CutInternal || why == CutConfig {
		o.Problem = detail
	}
	return o
}

// unprepared is a step that could not even begin: by the config's fault where it is
// known to be that, else by perch's own.
func unprepared(o Observation, err error) Observation {
	var m *misfit
	if errors.As(err, &m) {
		return cutShort(o, CutConfig, err.Error())
	}
	return cutShort(o, CutInternal, err.Error())
}

// denied turns a refusal of the budget into a skipped step, a config that does not
// fit the target into a problem, the end of the context into a canceled step.
func denied(ctx context.Context, o Observation, err error) Observation {
	var d *Denied
	if errors.As(err, &d) {
		return cutShort(o, CutSkipped, d.Why)
	}
	var m *misfit
	if errors.As(err, &m) {
		return cutShort(o, CutConfig, m.Error())
	}
	why := "the run was cut short"
	if cause := context.Cause(ctx); cause != nil {
		why = cause.Error()
	}
	return cutShort(o, CutCanceled, why)
}

// wait waits for d or the end of the context, whichever is first.
func wait(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

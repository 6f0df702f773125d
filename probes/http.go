package probes

import (
	"context"
	"errors"
	"time"
)

// RunHTTP makes one exchange on a fresh connection, and perch's own second try
// where the spec wants one and the reason allows it.
func RunHTTP(ctx context.Context, s *Spec, env Env) (o Observation) {
	o = begin(s, env)
	defer func() { o.Ended = time.Now() }()
	c, err := newCall(s, env)
	if err != nil {
		return cutShort(o, CutInternal, err.Error())
	}
	tries := max(1, s.Retry.Attempts)
	role := RoleWarm
	for n := 1; n <= tries; n++ {
		x := c.fresh(ctx, role)
		if x.denied != nil {
			return denied(ctx, o, x.denied)
		}
		x.close()
		o.add(x.attempt, ConnectionFresh)
		if !triesAgain(x.attempt.Reason) || n == tries {
			break
		}
		if !wait(ctx, max(s.Retry.Backoff, x.attempt.RetryAfter)) {
			break
		}
		role = RoleAgain
	}
	env.tell(s, Event{What: EventDone, Reason: o.Attempts[0].Reason})
	return o
}

// triesAgain reports whether a second try on a fresh connection makes sense
// (judging.md: the rows with an "again ok" cell).
func triesAgain(r Reason) bool {
	switch r {
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

func begin(s *Spec, env Env) Observation {
	env.tell(s, Event{What: EventStarted})
	o := Observation{Target: s.Target, Probe: s.Probe, Kind: s.Kind, Started: time.Now(), Path: Path{TCPEnds: TCPEndsUnknown}}
	switch s.Via {
	case ViaMesh:
		o.Path = Path{TCPEnds: TCPEndsBeforePeer, Via: []string{"mesh sidecar"}}
	case ViaProxy:
		o.Path = Path{TCPEnds: TCPEndsBeforePeer, Via: []string{"proxy"}}
	case ViaNone:
	}
	return o
}

// add numbers an attempt and notes the proxies that its answer gave away.
func (o *Observation) add(a Attempt, c Connection) {
	a.Number, a.Connection = len(o.Attempts)+1, c
	o.Attempts = append(o.Attempts, a)
	for _, v := range a.Via {
		if !contains(o.Path.Via, v) {
			o.Path.Via = append(o.Path.Via, v)
		}
	}
}

func contains(list []string, v string) bool {
	for _, x := range list {
		if x == v {
			return true
		}
	}
	return false
}

func cutShort(o Observation, why Cut, detail string) Observation {
	o.Cut, o.CutDetail = why, detail
	if why == CutInternal {
		o.Problem = detail
	}
	return o
}

// denied turns a refusal of the budget into a skipped step, the end of the
// context into a canceled one. A step whose first request was made keeps it.
func denied(ctx context.Context, o Observation, err error) Observation {
	var d *Denied
	if errors.As(err, &d) {
		if len(o.Attempts) > 0 {
			return o // the second try had no room: what was seen stands
		}
		return cutShort(o, CutSkipped, d.Why)
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

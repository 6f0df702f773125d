package probes

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// The rows of judging.md with an "again ok" cell, spelled out.
func againReasons() []Reason {
	return []Reason{
		ReasonDNS, ReasonRefused, ReasonConnectTimeout, ReasonConnectFailed, ReasonProxy, ReasonTLS,
		ReasonEOF, ReasonCrossedClose, ReasonReset, ReasonBlackhole, ReasonNoResponse,
		ReasonPartialHead, ReasonPartialBody, ReasonBadResponse,
		ReasonGoawayProcessed, ReasonGoawayUnprocessed, ReasonRefusedStream, ReasonStreamReset,
		ReasonUnavailable, ReasonProxyUpstreamReset, ReasonRateLimited,
	}
}

func TestTriesAgainWhereJudgingHasACell(t *testing.T) {
	for _, r := range append(Reasons(), "", "nonsense") {
		if got, want := triesAgain(Attempt{Reason: r}), slices.Contains(againReasons(), r); got != want {
			t.Errorf("%s: tries again %v, want %v", r, got, want)
		}
	}
}

func TestSecondTry(t *testing.T) {
	const backoff = 200 * time.Millisecond
	for _, c := range []struct {
		name    string
		tries   int
		answers []string
		want    []Reason
		took    time.Duration
	}{
		{"not configured", 0, []string{answer(503)}, []Reason{ReasonUnavailable}, 0},
		{"one try", 1, []string{answer(503)}, []Reason{ReasonUnavailable}, 0},
		{"not needed", 2, []string{answer(200)}, []Reason{ReasonOK}, 0},
		{"recovered", 2, []string{answer(503), answer(200)}, []Reason{ReasonUnavailable, ReasonOK}, backoff},
		{"failed again", 2, []string{answer(503), "", answer(200)}, []Reason{ReasonUnavailable, ReasonEOF}, backoff},
		{"three", 3, []string{"", answer(503), answer(200)}, []Reason{ReasonEOF, ReasonUnavailable, ReasonOK}, 2 * backoff},
		{"the second has no cell", 3, []string{answer(503), answer(404), answer(200)}, []Reason{ReasonUnavailable, ReasonStatus}, backoff},
		{"no cell", 2, []string{answer(404), answer(200)}, []Reason{ReasonStatus}, 0},
		{"unauthorized", 2, []string{answer(401), answer(200)}, []Reason{ReasonUnauthorized}, 0},
		{"asked to wait", 2, []string{answer(503, "Retry-After: 3"), answer(200)}, []Reason{ReasonUnavailable, ReasonOK}, 3 * time.Second},
		{"asked to wait less", 2, []string{answer(429, "Retry-After: 0.1"), answer(200)}, []Reason{ReasonRateLimited, ReasonOK}, backoff},
		{"asked to wait as long as perch does", 2, []string{answer(429, "Retry-After: 30"), answer(200)}, []Reason{ReasonRateLimited, ReasonOK}, 30 * time.Second},
		{"asked to wait too long", 2, []string{answer(429, "Retry-After: 31"), answer(200)}, []Reason{ReasonRateLimited}, 0},
		{"Retry-After of another status", 2, []string{answer(502, "Retry-After: 9"), answer(200)}, []Reason{ReasonUnavailable, ReasonOK}, backoff},
	} {
		synctest.Test(t, func(t *testing.T) {
			p, d, w := newPeer(t, c.answers...), &desk{t: t}, &watcher{}
			s := newSpec(t, KindHTTP, api)
			s.Retry = Retry{Attempts: c.tries, Backoff: backoff}
			env := newEnv(p, d)
			env.Watch = w.watch
			var learned []Reason
			env.Learn = func(a Attempt) { learned = append(learned, a.Reason) }
			o := RunHTTP(t.Context(), s, env)
			if !slices.Equal(reasons(o), c.want) || !slices.Equal(learned, c.want) || o.Cut != "" {
				t.Errorf("%s: %v, learned %v, cut %q, want %v", c.name, reasons(o), learned, o.Cut, c.want)
			}
			if took := o.Ended.Sub(o.Started); took != c.took {
				t.Errorf("%s: took %s, want %s", c.name, took, c.took)
			}
			for i, a := range o.Attempts {
				if a.Number != i+1 || a.Connection != ConnectionFresh || a.Served != 0 || a.IdleTime != 0 {
					t.Errorf("%s: attempt %d is %+v", c.name, i, a)
				}
			}
			if p.conns != len(c.want) || d.peak != 1 {
				t.Errorf("%s: %d connections, %d at once", c.name, p.conns, d.peak)
			}
			dials := slices.DeleteFunc(d.asked(), func(call string) bool { return !strings.HasPrefix(call, "dial") })
			if want := append([]string{"dial warm"}, slices.Repeat([]string{"dial again"}, len(c.want)-1)...); !slices.Equal(dials, want) {
				t.Errorf("%s: %q, want %q", c.name, dials, want)
			}
			if got := fmt.Sprint(w.kinds()); got != "[started done]" || w.events[1].Reason != c.want[len(c.want)-1] {
				t.Errorf("%s: the watcher was told %s, %s", c.name, got, w.events[1].Reason)
			}
			d.settled(t)
		})
	}
}

// Nobody answers the first dial: the second try is a new dial.
func TestSecondTryAfterRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, d := newPeer(t, answer(200)), &desk{t: t}
		env := newEnv(p, d)
		dials := 0
		env.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
			if dials++; dials == 1 {
				return nil, &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}
			}
			return p.network.Dial(ctx, network, address)
		}
		s := newSpec(t, KindHTTP, api)
		s.Retry.Attempts = 2
		o := RunHTTP(t.Context(), s, env)
		if got := fmt.Sprint(reasons(o)); got != "[refused ok]" || o.Attempts[0].Status != 0 || o.Attempts[0].Method != "GET" {
			t.Errorf("%+v", o.Attempts)
		}
		if o.Attempts[0].TraceID != o.Attempts[1].TraceID || o.Attempts[0].TraceID == "" || o.Attempts[0].SpanID != "" {
			t.Errorf("what was never sent has span %q", o.Attempts[0].SpanID)
		}
		d.settled(t)
	})
}

// When the budget has no room for the second try, what was seen stands, and
// says so; when the run ends meanwhile, nothing can be said.
func TestSecondTryDenied(t *testing.T) {
	for _, c := range []struct {
		stage  string
		cancel bool
		cut    Cut
		detail string
	}{
		{"dial again", false, "", "status 503; no second try: full"},
		{"send again", false, "", "status 503; no second try: full"},
		{"dial again", true, CutCanceled, "status 503"},
		{"send again", true, CutCanceled, "status 503"},
		{"backoff", true, CutCanceled, "status 503"},
	} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			p, d := newPeer(t, answer(503)), &desk{t: t}
			d.at = func(stage string) error {
				switch {
				case stage != c.stage:
					return nil
				case !c.cancel:
					return &Denied{Why: "full"}
				}
				cancel(errors.New("the deadline"))
				return context.Cause(ctx)
			}
			s := newSpec(t, KindHTTP, api)
			s.Retry = Retry{Attempts: 2, Backoff: time.Minute}
			if c.stage == "backoff" {
				time.AfterFunc(time.Second, func() { cancel(errors.New("the deadline")) })
			}
			o := RunHTTP(ctx, s, newEnv(p, d))
			if o.Cut != c.cut || !slices.Equal(reasons(o), []Reason{ReasonUnavailable}) || o.Attempts[0].Detail != c.detail || len(p.requests()) != 1 {
				t.Errorf("%s: %+v after %d requests", c.stage, o, len(p.requests()))
			}
			if c.cut != "" && o.CutDetail != "the deadline" {
				t.Errorf("%s: cut because of %q", c.stage, o.CutDetail)
			}
			if c.stage == "backoff" && o.Ended.Sub(o.Started) != time.Second {
				t.Errorf("ended after %s", o.Ended.Sub(o.Started))
			}
			d.settled(t)
		})
	}
}

// The first request that may not leave makes the step skipped, or canceled.
func TestFirstTryDenied(t *testing.T) {
	for _, stage := range []string{"dial warm", "send warm"} {
		synctest.Test(t, func(t *testing.T) {
			p, d, w := newPeer(t, answer(200)), &desk{t: t}, &watcher{}
			d.at = func(at string) error {
				if at == stage {
					return fmt.Errorf("asking the budget: %w", &Denied{Why: "full"})
				}
				return nil
			}
			env := newEnv(p, d)
			env.Watch = w.watch
			o := RunHTTP(t.Context(), newSpec(t, KindHTTP, api), env)
			if o.Cut != CutSkipped || o.CutDetail != "full" || o.Problem != "" || len(o.Attempts) != 0 || len(p.requests()) != 0 {
				t.Errorf("%s: %+v", stage, o)
			}
			if got := fmt.Sprint(w.kinds()); got != "[started done]" || w.events[1].Reason != ReasonSkipped {
				t.Errorf("%s: the watcher was told %s", stage, got)
			}
			d.settled(t)
		})
	}
}

// A run that has ended opens nothing, and cuts what is under way at once.
func TestCanceledExchange(t *testing.T) {
	for _, after := range []time.Duration{0, time.Second} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			time.AfterFunc(after, func() { cancel(errors.New("interrupt")) })
			p, d := newPeer(t, answer(200)), &desk{t: t}
			p.wait = time.Minute
			s := newSpec(t, KindHTTP, api)
			s.Timeouts.Response = time.Hour
			o := RunHTTP(ctx, s, newEnv(p, d))
			if o.Cut != CutCanceled || o.CutDetail != "interrupt" || len(o.Attempts) != 0 || o.Ended.Sub(o.Started) != after {
				t.Errorf("after %s: %+v", after, o)
			}
			d.settled(t)
		})
	}
}

// A bug anywhere under RunHTTP leaves no connection behind.
func TestPanickingExchange(t *testing.T) {
	for _, stage := range []string{"secret", "dial warm", "network", "send warm", "send redirect", "dial redirect", "learn"} {
		synctest.Test(t, func(t *testing.T) {
			p, d := newPeer(t, moved("/b", "Connection: close"), answer(200)), &desk{t: t}
			if stage == "send redirect" {
				p.answers[0] = moved("/b")
			}
			blow := func(at string) error {
				if at == stage {
					panic("a bug at " + at)
				}
				return nil
			}
			d.at = blow
			env := newEnv(p, d)
			env.Secrets = func(Source) (Secret, error) { return NewSecret("x"), blow("secret") }
			env.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
				_ = blow("network")
				return p.network.Dial(ctx, network, address)
			}
			env.Learn = func(Attempt) { _ = blow("learn") }
			s := newSpec(t, KindHTTP, api)
			s.Redirects = 2
			s.Headers = []Field{{Name: "Authorization", From: Source{Env: "T"}}}
			func() {
				defer func() {
					if got := recover(); got != "a bug at "+stage {
						t.Errorf("%s: recovered %v", stage, got)
					}
				}()
				RunHTTP(t.Context(), s, env)
			}()
			synctest.Wait()
			d.settled(t)
		})
	}
}

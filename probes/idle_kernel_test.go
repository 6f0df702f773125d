package probes

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"perch.example/lab"
)

// A lab ends what idles for idleFor, and perch holds for heldFor. Where the machine stands
// still for half a second, perch still reads an answer before its connection is ended,
// and the lab still ends one before it is used again.
const idleFor, heldFor = 700 * time.Millisecond, 1500 * time.Millisecond

// realSpec is a probe against the real clock: no timeout of its is what a test is about.
func realSpec(t *testing.T, kind Kind, address string) *Spec {
	t.Helper()
	s := newSpec(t, kind, address)
	const patience = 20 * time.Second
	s.Timeouts = Timeouts{DNS: patience, Connect: patience, TLS: patience, Response: patience}
	return s
}

// labEnv is a scenario on loopback, for what only a kernel shows.
func labEnv(t *testing.T, scenario string, timeout time.Duration, d *desk) (string, Env) {
	t.Helper()
	server, err := lab.Start(t.Context(), scenario, lab.Options{IdleTimeout: timeout})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Close() })
	env := newEnv(nil, d)
	env.ReadFile = func(string) ([]byte, error) { return server.CA(), nil }
	return server.URL(), env
}

// playReal plays one rung against the real clock.
func playReal(ctx context.Context, s *Spec, hold time.Duration, env Env) Observation {
	done := make(chan Observation, 1)
	StartIdle(ctx, s, hold, env, func(o Observation) { done <- o })
	return <-done
}

// TestHeldUntilClosed holds connections that their server ends while idle, which is counted
// from when perch read the answer, Delay after it came:
// a rung holds on and reuses at its time, a search stops holding and reuses
// beside its control.
func TestHeldUntilClosed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		scenario string
		search   bool
		reason   Reason
		how      HowClosed
	}{
		{"idle_fin", false, ReasonIdleFIN, HowFIN},
		{"idle_fin", true, ReasonIdleFIN, HowFIN},
		{"idle_rst", false, ReasonIdleRST, HowRST},
		{"idle_rst", true, ReasonIdleRST, HowRST},
		{"idle_bytes", false, ReasonIdleBytes, HowBytes},
		{"idle_close_notify", false, ReasonIdleCloseNotify, HowCloseNotify},
		{"idle_close_notify", true, ReasonIdleCloseNotify, HowCloseNotify},
		{"idle_close_notify_only", false, ReasonIdleCloseNotify, HowCloseNotify},
	} {
		t.Run(fmt.Sprintf("%s search %v", c.scenario, c.search), func(t *testing.T) {
			t.Parallel()
			d, w := &desk{t: t}, &watcher{}
			address, env := labEnv(t, c.scenario, idleFor, d)
			env.Watch = w.watch
			s := realSpec(t, KindIdle, address)
			s.Search, s.TLS.CAFile = c.search, "ca.pem"
			o := playReal(t.Context(), s, heldFor, env)
			if want := []Reason{ReasonOK, c.reason, ReasonOK}; !slices.Equal(reasons(o), want) || o.Search != c.search || o.Cut != "" {
				t.Fatalf("%v, want %v: %+v", reasons(o), want, o)
			}
			if o.Close == nil || o.Close.How != c.how || o.Close.Age < idleFor-o.Attempts[0].Delay-10*time.Millisecond || o.Close.Age > heldFor || o.Close.AfterReply != o.Close.Age {
				t.Errorf("the close is %+v, want %s", o.Close, c.how)
			}
			reuse := o.Attempts[1]
			if c.search == (reuse.IdleTime >= heldFor) || !reuse.Queued {
				t.Errorf("reused after %s, queued %v", reuse.IdleTime, reuse.Queued)
			}
			calls := "dial warm, send warm, hold, send reuse, release, dial control, send control, release"
			if c.search {
				calls = strings.Replace(calls, "hold,", "hold, together,", 1)
			}
			if got := strings.Join(d.asked(), ", "); got != calls || d.peak != 1 {
				t.Errorf("the budget was asked %s, want %s", got, calls)
			}
			if got := fmt.Sprint(w.kinds()); got != "[started holding closed done]" {
				t.Errorf("the watcher was told %s", got)
			}
			d.settled(t)
		})
	}
}

// A search whose server never closes reuses at its longest hold, as booked.
func TestSearchWithoutAClose(t *testing.T) {
	d := &desk{t: t}
	address, env := labEnv(t, "healthy", time.Minute, d)
	s := realSpec(t, KindIdle, address)
	s.Search = true
	o := playReal(t.Context(), s, 100*time.Millisecond, env)
	if got := fmt.Sprint(reasons(o)); got != "[ok ok]" || o.Close != nil || slices.Contains(d.asked(), "together") {
		t.Errorf("%s, %+v, the budget was asked %q", got, o.Close, d.asked())
	}
}

// What keeps a search's reuse from leaving beside its control ends the rung,
// with the close that was seen.
func TestTogetherFails(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		what   trouble
		cut    Cut
		detail string
	}{
		{refuse, CutSkipped, "full"}, {end, CutCanceled, "the deadline"}, {blow, CutInternal, "a bug at together"},
	} {
		t.Run(string(c.what), func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			d := &desk{t: t}
			d.at = func(at string) error {
				switch {
				case at != "together":
					return nil
				case c.what == refuse:
					return &Denied{Why: "full"}
				case c.what == blow:
					panic("a bug at together")
				}
				cancel(errors.New("the deadline"))
				return context.Cause(ctx)
			}
			address, env := labEnv(t, "idle_fin", idleFor, d)
			s := realSpec(t, KindIdle, address)
			s.Search = true
			o := playReal(ctx, s, time.Minute, env)
			if o.Cut != c.cut || !strings.Contains(o.CutDetail, c.detail) || o.Close == nil || len(o.Attempts) != 1 {
				t.Errorf("%+v", o)
			}
			d.settled(t)
		})
	}
}

// A watcher that panics at the close is a bug like any other.
func TestWatcherPanicsAtClose(t *testing.T) {
	t.Parallel()
	d := &desk{t: t}
	address, env := labEnv(t, "idle_fin", idleFor, d)
	env.Watch = func(e Event) {
		if e.What == EventClosed {
			panic("a bug in the view")
		}
	}
	o := playReal(t.Context(), realSpec(t, KindIdle, address), heldFor, env)
	if o.Cut != CutInternal || !strings.Contains(o.Problem, "a bug in the view") || len(o.Attempts) != 1 {
		t.Errorf("%+v", o)
	}
	d.settled(t)
}

// The watcher is told of a close as it is seen, once, and not when the hold ends.
func TestCloseIsToldAtOnce(t *testing.T) {
	t.Parallel()
	d := &desk{t: t}
	address, env := labEnv(t, "idle_fin", idleFor, d)
	var until time.Time
	var closed []Event
	env.Watch = func(e Event) {
		switch e.What {
		case EventHolding:
			until = e.Until
		case EventClosed:
			closed = append(closed, e)
		case EventStarted, EventDone:
		}
	}
	o := playReal(t.Context(), realSpec(t, KindIdle, address), heldFor, env)
	if len(closed) != 1 || !closed[0].At.Before(until) || closed[0].Close.How != HowFIN {
		t.Errorf("told %+v, want one FIN before the hold's end at %s: %+v", closed, until, o)
	}
	d.settled(t)
}

// A server that says nothing of it and closes after its redirect is no idle
// close: nothing was held.
func TestRedirectThenFIN(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = ln.Close() }()
	go func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			if _, err := http.ReadRequest(bufio.NewReader(c)); err == nil {
				_, _ = io.WriteString(c, moved("/b"))
			}
			_ = c.Close()
		}
	}()
	d := &desk{t: t}
	d.at = func(stage string) error {
		if stage == "send redirect" {
			awaitFIN(t, ln.Addr()) // a wait in the budget
		}
		return nil
	}
	s := realSpec(t, KindHTTP, "http://"+ln.Addr().String())
	s.Redirects = 1
	o := RunHTTP(t.Context(), s, newEnv(nil, d))
	if a := o.Attempts[0]; a.Reason != ReasonCrossedClose || a.Connection != ConnectionFresh || a.IdleTime != 0 || !triesAgain(a) {
		t.Errorf("%+v", a)
	}
	d.settled(t)
}

package probes

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// Each call leaves at its planned instant, whatever the one before it waits for; one
// that finds every connection in use waits, as an application's does.
func TestBurstLeavesAtItsInstants(t *testing.T) {
	for _, c := range []struct {
		wait        time.Duration // for each answer
		connections int
		want        string // seconds since the first call
		conns       int
	}{
		{0, 3, "[0 1 2 3 4 5 16 17 18 19 20 21]", 3},
		{2500 * time.Millisecond, 3, "[0 1 2 3 4 5 16 17 18 19 20 21]", 3},
		{3500 * time.Millisecond, 3, "[0 1 2 3.5 4.4 5.4 16 17 18 19.5 20.5 21.5]", 3},
		{1500 * time.Millisecond, 1, "[0 1.5 3 4.5 6 7.5 16 17.5 19 20.5 22 23.5]", 1},
	} {
		synctest.Test(t, func(t *testing.T) {
			p, d := newPeer(t, answer(200)), &desk{t: t}
			p.wait = c.wait
			s := bursting(t, PoolFIFO)
			s.Burst.Connections = c.connections
			o := RunBurst(t.Context(), s, newEnv(p, d))
			var at []float64
			for _, a := range p.requests() {
				at = append(at, a.at.Sub(o.Started).Seconds())
			}
			// The second and the third connection are opened a moment before their calls,
			// whose desk lets them leave at once.
			for i := range at {
				if i > 0 && i < c.connections {
					at[i] += firstLead.Seconds()
				}
			}
			if got := fmt.Sprint(at); got != c.want || p.conns != c.conns || o.Cut != "" {
				t.Errorf("answers after %s: calls at %s, want %s, on %d connections", c.wait, got, c.want, p.conns)
			}
			d.settled(t)
		})
	}
}

// What cannot be kept alive is no pool: each call opens its connection.
func TestBurstWithoutKeepAlive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, d := newPeer(t, answer(200, "Connection: close")), &desk{t: t}
		o := RunBurst(t.Context(), bursting(t, PoolLIFO), newEnv(p, d))
		if p.conns != 12 || o.Attempt(ConnectionReused) != nil || len(o.Burst.Calls) != 12 || d.peak != 1 {
			t.Errorf("%d connections, %d at once, %d calls: %v", p.conns, d.peak, len(o.Burst.Calls), reasons(o))
		}
		d.settled(t)
	})
}

// An answer that is not as expected leaves its connection as good as any: the first such
// of each burst is followed by a control, which takes that one's place only where the pool
// is full.
func TestBurstControlsAFailedAnswer(t *testing.T) {
	for _, c := range []struct {
		answers     []string
		connections int
		first, last string
		conns       int
		controls    string // what they came to
	}{
		{[]string{answer(200), answer(200), answer(200), answer(500)}, 3, "1+:ok 2+:ok 3+:ok 3:status 2:status 2:status", "2:status 2:status 2:status 2:status 2:status 2:status", 5, "[status status]"},
		{[]string{answer(200), answer(200), answer(200), answer(503), answer(200)}, 3, "1+:ok 2+:ok 3+:ok 3:unavailable 2:ok 2:ok", "2:ok 2:ok 2:ok 2:ok 2:ok 2:ok", 4, "[ok]"},
		{[]string{answer(200), answer(404), answer(200)}, 1, "1+:ok 1:status 2+:ok 2:ok 2:ok 2:ok", "2:ok 2:ok 2:ok 2:ok 2:ok 2:ok", 3, "[ok]"},
		{[]string{answer(200), answer(429), answer(200)}, 1, "1+:ok 1:rate_limited 1:ok 1:ok 1:ok 1:ok", "1:ok 1:ok 1:ok 1:ok 1:ok 1:ok", 1, "[]"},
	} {
		synctest.Test(t, func(t *testing.T) {
			p, d := newPeer(t, c.answers...), &desk{t: t}
			s := bursting(t, PoolLIFO)
			s.Burst.Connections = c.connections
			o := RunBurst(t.Context(), s, newEnv(p, d))
			var controls []Reason
			for _, a := range o.Attempts {
				if a.Connection == ConnectionControl {
					controls = append(controls, a.Reason)
				}
			}
			if got := drawn(o, 1); got != c.first || p.conns != c.conns {
				t.Errorf("%s on %d connections, want %s on %d", got, p.conns, c.first, c.conns)
			}
			if got := drawn(o, 2); got != c.last || fmt.Sprint(controls) != c.controls {
				t.Errorf("%s, controls %s; want %s and %s", got, controls, c.last, c.controls)
			}
			if d.peak > c.connections {
				t.Errorf("%d connections were open at once", d.peak)
			}
			d.settled(t)
		})
	}
}

// A target that is down is left alone after three new connections.
func TestBurstLeavesADownTargetAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, d := newPeer(t), &desk{t: t}
		_ = p.network.Close()
		o := RunBurst(t.Context(), bursting(t, PoolLIFO), newEnv(p, d))
		last := o.Attempts[len(o.Attempts)-1]
		if len(o.Attempts) != 3 || o.Cut != "" || len(o.Burst.Calls) != 3 || !strings.Contains(last.Detail, "no call #4 of burst 1: 3 new connections in a row failed") ||
			o.Burst.Ended != "3 new connections in a row failed" || o.Burst.NotMade() != 9 || o.Burst.Refused != 0 {
			t.Errorf("%d attempts, cut %q: %s", len(o.Attempts), o.Cut, last.Detail)
		}
		d.settled(t)
	})
}

// Whatever keeps a call from leaving ends the step, what was seen stays, and no
// connection is left open.
func TestBurstThatIsCutShort(t *testing.T) {
	for _, c := range []struct {
		name, stage string
		nth         int // time that the stage is reached
		what        trouble
		cut         Cut
		detail      string
		calls       int
	}{
		{"the first is refused", "send warm", 1, refuse, CutSkipped, "full", 0},
		{"the pool's filling is refused", "dial next", 2, refuse, CutSkipped, "full", 2},
		{"a call is refused", "send next", 6, refuse, CutSkipped, "full", 6},
		{"the run ends", "send next", 8, end, CutCanceled, "the deadline", 8},
		{"a bug", "send next", 4, blow, CutInternal, "a bug at send next", 4},
		{"a bug in the first call", "send warm", 1, blow, CutInternal, "a bug at send warm", 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			p, d := newPeer(t, answer(200)), &desk{t: t}
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			reached := 0
			d.at = func(stage string) error {
				if stage != c.stage {
					return nil
				}
				if reached++; reached != c.nth {
					return nil
				}
				switch c.what {
				case refuse:
					return &Denied{Why: "full"}
				case blow:
					panic("a bug at " + stage)
				default:
					cancel(errors.New("the deadline"))
					return context.Cause(ctx)
				}
			}
			o := RunBurst(ctx, bursting(t, PoolLIFO), newEnv(p, d))
			if o.Cut != c.cut || !strings.Contains(o.CutDetail, c.detail) || o.Burst == nil || len(o.Burst.Calls) != c.calls || len(o.Attempts) != c.calls {
				t.Errorf("%s: cut %q (%s), %d attempts", c.name, o.Cut, o.CutDetail, len(o.Attempts))
			}
			if (o.Problem != "") != (c.cut == CutInternal) {
				t.Errorf("%s: problem %q", c.name, o.Problem)
			}
			d.settled(t)
		})
	}
}

// A step that ends in the gap ends at once.
func TestBurstEndsInItsGap(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, d := newPeer(t, answer(200)), &desk{t: t}
		ctx, cancel := context.WithTimeout(t.Context(), 9*time.Second)
		defer cancel()
		began := time.Now()
		o := RunBurst(ctx, bursting(t, PoolLIFO), newEnv(p, d))
		if o.Cut != CutCanceled || len(o.Burst.Calls) != 6 || time.Since(began) != 9*time.Second {
			t.Errorf("cut %q after %s, %d calls", o.Cut, time.Since(began), len(o.Burst.Calls))
		}
		d.settled(t)
	})
}

// A control that the budget has no room for is noted on its call, and the burst goes on.
func TestBurstWithoutItsControl(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, d := newPeer(t, answer(200)), &desk{t: t}
		p.idle = 8 * time.Second
		d.at = func(stage string) error {
			if stage == "dial control" {
				return &Denied{Why: "full"}
			}
			return nil
		}
		o := RunBurst(t.Context(), bursting(t, PoolFIFO), newEnv(p, d))
		if got := drawn(o, 2); got != "1:eof 2:eof 3:eof 4+:ok 4:ok 4:ok" || o.Cut != "" {
			t.Errorf("%s, cut %q", got, o.Cut)
		}
		if detail := o.Attempts[o.Burst.Calls[6].Attempt].Detail; !strings.Contains(detail, "no control: full") {
			t.Errorf("%q", detail)
		}
	})
}

// Who watches sees the pool held in the gap, and as many connections as it has.
func TestBurstTellsOfItsGap(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, d, w := newPeer(t, answer(200)), &desk{t: t}, &watcher{}
		env := newEnv(p, d)
		env.Watch = w.watch
		o := RunBurst(t.Context(), bursting(t, PoolLIFO), env)
		if got := fmt.Sprint(w.kinds()); got != "[started holding started done]" {
			t.Fatalf("told %s", got)
		}
		held := w.events[1]
		if held.Connections != 3 || held.Hold != 10*time.Second || !held.Until.Equal(o.Started.Add(16*time.Second)) {
			t.Errorf("%+v", held)
		}
		for _, e := range w.events {
			if e.Hold != held.Hold {
				t.Errorf("%s is told of another hold: %+v", e.What, e)
			}
		}
	})
}

// A pool may not keep connections for longer than the policy lets perch hold one, and
// nothing is dialled to find that out.
func TestBurstObeysThePolicy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, d := newPeer(t, answer(200)), &desk{t: t}
		env := newEnv(p, d)
		env.Policy = &Policy{MaxHold: 20 * time.Second}
		o := RunBurst(t.Context(), bursting(t, PoolLIFO), env)
		if o.Cut != CutSkipped || !strings.Contains(o.CutDetail, "a hold of 21s, 20s at most") || len(d.asked()) > 0 {
			t.Errorf("cut %q (%s), the budget was asked %q", o.Cut, o.CutDetail, d.asked())
		}
	})
}

// Calls stand in the order in which they were to leave, attempts in that in which they
// left, and each call finds its own.
func TestBurstAttemptsAreInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, d := newPeer(t, answer(200)), &desk{t: t}
		p.wait, p.idle = 2500*time.Millisecond, 8*time.Second
		o := RunBurst(t.Context(), bursting(t, PoolFIFO), newEnv(p, d))
		if !slices.IsSortedFunc(o.Attempts, func(x, y Attempt) int { return x.Started.Compare(y.Started) }) {
			t.Error("attempts are not in the order of their leaving")
		}
		used := map[int]bool{}
		for i, c := range o.Burst.Calls {
			if c.Burst != i/6+1 || c.Number != i%6+1 || used[c.Attempt] || o.Attempts[c.Attempt].Number != c.Attempt+1 {
				t.Errorf("call %d: %+v", i+1, c)
			}
			used[c.Attempt] = true
		}
	})
}

// Every call carries a token, reused connections' too, and one that is refused at first
// is asked for again.
func TestBurstWithTokens(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, d := newPeer(t, answer(401), answer(200)), &desk{t: t}
		s := bursting(t, PoolFIFO)
		s.OAuth = &OAuth{}
		env := newEnv(p, d)
		env.Token = func(_ context.Context, _ *Spec, w TokenWish) (Secret, error) {
			if w.Refused != (Secret{}) {
				return NewSecret("second"), nil
			}
			return NewSecret("first"), nil
		}
		o := RunBurst(t.Context(), s, env)
		if o.Cut != "" || len(o.Burst.Calls) != 12 || len(o.Attempts) != 13 || !o.Attempts[0].Renewed {
			t.Fatalf("cut %q, %d calls: %v", o.Cut, len(o.Burst.Calls), reasons(o))
		}
		for i, r := range p.requests() {
			if got := r.Header.Get("Authorization"); !strings.HasPrefix(got, "Bearer ") {
				t.Errorf("request %d carries %q", i+1, got)
			}
		}
		if got := drawn(o, 1); got != "1+:ok 2+:ok 3+:ok 1:ok 2:ok 3:ok" {
			t.Error(got)
		}
	})
}

// A target that goes down in the gap costs what was idle, a control, and two more
// connections.
func TestBurstWhoseTargetGoesDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, d := newPeer(t, answer(200)), &desk{t: t}
		p.idle = 8 * time.Second
		time.AfterFunc(14*time.Second, func() { _ = p.network.Close() })
		o := RunBurst(t.Context(), bursting(t, PoolFIFO), newEnv(p, d))
		last := o.Attempts[len(o.Attempts)-1]
		if got := drawn(o, 2); got != "1:eof 2:eof 3:eof 0+:connect_failed 0+:connect_failed" || o.Cut != "" ||
			!strings.Contains(last.Detail, "no call #6 of burst 2: 3 new connections in a row failed") {
			t.Errorf("%s, cut %q: %s", got, o.Cut, last.Detail)
		}
		d.settled(t)
	})
}

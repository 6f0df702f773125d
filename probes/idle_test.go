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

	"perch.example/probes/wire"
)

// TestRungInOrder plays rungs against peers that do as they should and do not:
// what the budget is asked and in which order, and what is seen.
func TestRungInOrder(t *testing.T) {
	const whole = "dial warm, send warm, hold, send reuse, release"
	const failed = whole + ", dial control, send control, release"
	for _, c := range []struct {
		name    string
		answers []string
		want    []Reason
		calls   string
		events  string
	}{
		{"works", []string{answer(200)}, []Reason{ReasonOK, ReasonOK}, whole, "[started holding done]"},
		{"reuse without an answer", []string{answer(200), "", answer(200)}, []Reason{ReasonOK, ReasonEOF, ReasonOK}, failed, "[started holding done]"},
		{"reuse and control without an answer", []string{answer(200), "", ""}, []Reason{ReasonOK, ReasonEOF, ReasonEOF}, failed, "[started holding done]"},
		{"reuse gives another answer", []string{answer(200), answer(503), answer(200)}, []Reason{ReasonOK, ReasonUnavailable, ReasonOK}, failed, "[started holding done]"},
		{"reuse gives 408", []string{answer(200), answer(408), answer(200)}, []Reason{ReasonOK, ReasonStatus, ReasonOK}, failed, "[started holding done]"},
		{"reuse is rate limited", []string{answer(200), answer(429)}, []Reason{ReasonOK, ReasonRateLimited}, whole, "[started holding done]"},
		{"reuse is unauthorized", []string{answer(200), answer(401)}, []Reason{ReasonOK, ReasonUnauthorized}, whole, "[started holding done]"},
		{"the reuse's answer ends its connection", []string{answer(200), answer(200, "Connection: close")}, []Reason{ReasonOK, ReasonOK}, whole, "[started holding done]"},
		{"no keep-alive", []string{answer(200, "Connection: close")}, []Reason{ReasonNoKeepAlive}, "dial warm, send warm, release", "[started done]"},
		{"HTTP/1.0", []string{strings.Replace(answer(200), "1.1", "1.0", 1)}, []Reason{ReasonNoKeepAlive}, "dial warm, send warm, release", "[started done]"},
		{"HTTP/1.0 with keep-alive", []string{strings.Replace(answer(200, "Connection: keep-alive"), "1.1", "1.0", 1)}, []Reason{ReasonOK, ReasonOK}, whole, "[started holding done]"},
		{"a failed warm-up that closes", []string{answer(503, "Connection: close")}, []Reason{ReasonUnavailable}, "dial warm, send warm, release", "[started done]"},
		{"no answer to the warm-up", []string{""}, []Reason{ReasonEOF}, "dial warm, send warm, release", "[started done]"},
	} {
		synctest.Test(t, func(t *testing.T) {
			p, d, w := newPeer(t, c.answers...), &desk{t: t}, &watcher{}
			p.wait = 30 * time.Millisecond
			env := newEnv(p, d)
			env.Watch, env.Step = w.watch, 4
			var learned []Reason
			env.Learn = func(a Attempt) { learned = append(learned, a.Reason) }
			s := newSpec(t, KindIdle, api)
			s.Retry.Attempts = 3 // not for rungs
			o := playIdle(t, t.Context(), s, time.Minute, env)
			if !slices.Equal(reasons(o), c.want) || !slices.Equal(learned, c.want) || o.Cut != "" || o.Hold != time.Minute || o.Search {
				t.Errorf("%s: %v, learned %v, want %v: %+v", c.name, reasons(o), learned, c.want, o)
			}
			if got := strings.Join(d.asked(), ", "); got != c.calls || d.peak != 1 {
				t.Errorf("%s: the budget was asked %s, want %s; %d open at once", c.name, got, c.calls, d.peak)
			}
			if got := fmt.Sprint(w.kinds()); got != c.events || w.events[len(w.events)-1].Reason != c.want[min(len(c.want), 2)-1] {
				t.Errorf("%s: the watcher was told %s, %s", c.name, got, w.events[len(w.events)-1].Reason)
			}
			for _, e := range w.events {
				if e.Step != 4 || e.Target != "api" || e.Probe != "p" || e.Hold != time.Minute || e.At.IsZero() {
					t.Errorf("%s: event %+v", c.name, e)
				}
			}
			d.settled(t)
			checkRung(t, c.name, o, p.requests())
		})
	}
}

// checkRung looks at the connections and times of a rung of a minute.
func checkRung(t *testing.T, name string, o Observation, seen []asked) {
	t.Helper()
	kinds := []Connection{ConnectionFresh, ConnectionReused, ConnectionControl}
	for i, a := range o.Attempts {
		if a.Number != i+1 || a.Connection != kinds[i] {
			t.Errorf("%s: attempt %d is number %d, %s", name, i, a.Number, a.Connection)
		}
		if want := []int{1, 1, 2}[i]; seen[i].conn != want {
			t.Errorf("%s: attempt %d arrived on connection %d", name, i, seen[i].conn)
		}
		if want := []int{0, 1, 0}[i]; a.Served != want {
			t.Errorf("%s: attempt %d says that %d were served before", name, i, a.Served)
		}
		if want := []time.Duration{0, time.Minute, 0}[i]; a.IdleTime != want {
			t.Errorf("%s: attempt %d was idle for %s", name, i, a.IdleTime)
		}
		if !seen[i].at.Equal(a.Started) {
			t.Errorf("%s: attempt %d arrived at %s, started at %s", name, i, seen[i].at, a.Started)
		}
	}
	if len(o.Attempts) > 1 {
		if idle := seen[1].at.Sub(seen[0].at.Add(o.Attempts[0].Elapsed)); idle != time.Minute {
			t.Errorf("%s: reused after %s", name, idle)
		}
	}
	if len(o.Attempts) > 2 { // at once
		if gap := seen[2].at.Sub(seen[1].at.Add(o.Attempts[1].Elapsed)); gap != 0 {
			t.Errorf("%s: the control came %s later", name, gap)
		}
	}
}

func TestWantsControl(t *testing.T) {
	needless := []Reason{
		ReasonCanceled, ReasonSkipped, ReasonInternal, ReasonTooLarge, ReasonRateLimited, ReasonUnauthorized,
		ReasonRedirected, ReasonSlow, ReasonNoKeepAlive, ReasonOK,
	}
	for _, r := range Reasons() {
		if got, want := wantsControl(r), !slices.Contains(needless, r); got != want {
			t.Errorf("%s: wants a control %v, want %v", r, got, want)
		}
	}
}

// The budget hears of the reuse's instant as soon as the warm-up has ended.
func TestHoldUntil(t *testing.T) {
	for _, room := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			p, d := newPeer(t, answer(200)), &desk{t: t}
			p.wait = 300 * time.Millisecond
			var until, asked time.Time
			d.room = func(reuse time.Time) bool {
				until, asked = reuse, time.Now()
				return room
			}
			began := time.Now()
			o := playIdle(t, t.Context(), newSpec(t, KindIdle, api), time.Hour, newEnv(p, d))
			if until.Sub(began) != time.Hour+p.wait || asked.Sub(began) != p.wait {
				t.Errorf("asked after %s for an instant %s ahead", asked.Sub(began), until.Sub(began))
			}
			if room {
				if o.Cut != "" || len(o.Attempts) != 2 {
					t.Errorf("%+v", o)
				}
			} else if o.Cut != CutSkipped || len(o.Attempts) != 1 || !strings.Contains(o.CutDetail, "no room") || o.Ended.Sub(began) != p.wait {
				t.Errorf("%+v", o)
			}
			d.settled(t)
		})
	}
}

// A hold is cut short at once, wherever the end of the run finds it.
func TestCanceledHold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(10*time.Minute, func() { cancel(errors.New("deadline")) })
		p, d := newPeer(t, answer(200)), &desk{t: t}
		o := playIdle(t, ctx, newSpec(t, KindIdle, api), time.Hour, newEnv(p, d))
		if o.Cut != CutCanceled || o.CutDetail != "deadline" || o.Ended.Sub(o.Started) != 10*time.Minute || len(p.requests()) != 1 {
			t.Errorf("%+v", o)
		}
		d.settled(t)
	})
}

// StartIdle returns at once, even where a secret takes its time.
func TestStartIdleReturnsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, d := newPeer(t, answer(200)), &desk{t: t}
		env := newEnv(p, d)
		env.Secrets = func(Source) (Secret, error) {
			time.Sleep(time.Hour)
			return NewSecret("x"), nil
		}
		s := newSpec(t, KindIdle, api)
		s.Headers = []Field{{Name: "Authorization", From: Source{Env: "T"}}}
		began, done := time.Now(), make(chan Observation)
		StartIdle(t.Context(), s, time.Second, env, func(o Observation) { done <- o })
		if took := time.Since(began); took != 0 {
			t.Errorf("returned after %s", took)
		}
		if o := <-done; len(o.Attempts) != 2 {
			t.Errorf("%+v", o)
		}
	})
}

func TestCloseIsSharpened(t *testing.T) {
	at := time.Unix(2000, 0)
	held := &Close{Age: 2 * time.Second, At: at, How: HowBytes}
	seen := func(state string) *wire.Close {
		return &wire.Close{Age: time.Second, At: at, State: state, Resolution: 4 * time.Millisecond}
	}
	for _, c := range []struct {
		name   string
		reason Reason
		idle   *wire.Close
		held   *Close
		want   *Close
	}{
		{"the reuse worked", ReasonOK, nil, held, nil},
		{"the reuse worked, whatever was seen", ReasonOK, seen("fin"), held, nil},
		{"nothing was seen", ReasonEOF, nil, nil, nil},
		{"seen while held only", ReasonEOF, nil, held, &Close{Age: 2 * time.Second, At: at, How: HowBytes}},
		{"bytes that were an alert", ReasonIdleCloseNotify, nil, held, &Close{Age: 2 * time.Second, At: at, How: HowCloseNotify}},
		{"bytes that were bytes", ReasonIdleBytes, nil, held, held},
		{"bytes before a FIN", ReasonIdleFIN, nil, held, &Close{Age: 2 * time.Second, At: at, How: HowFIN}},
		{"bytes before a RST", ReasonIdleRST, nil, held, &Close{Age: 2 * time.Second, At: at, How: HowRST}},
		{"the reuse dates it", ReasonIdleFIN, seen("fin"), held, &Close{Age: time.Second, AfterReply: time.Second, At: at, How: HowFIN, Resolution: 4 * time.Millisecond}},
		{"an alert", ReasonIdleCloseNotify, seen("close_notify"), nil, &Close{Age: time.Second, AfterReply: time.Second, At: at, How: HowCloseNotify, Resolution: 4 * time.Millisecond}},
		{"TCP keep-alive gave up", ReasonBlackhole, seen("silent"), nil, &Close{Age: time.Second, AfterReply: time.Second, At: at, How: HowSilent, Resolution: 4 * time.Millisecond}},
	} {
		before := *held
		got := closeSeen(Attempt{Reason: c.reason}, wire.Evidence{IdleClose: c.idle}, c.held)
		if (got == nil) != (c.want == nil) || got != nil && *got != *c.want {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
		if *held != before {
			t.Fatalf("%s changed what was seen while held", c.name)
		}
	}
}

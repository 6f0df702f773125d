package probes

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// limited is a probe of n requests, one a second.
func limited(t *testing.T, n int) *Spec {
	s := newSpec(t, KindHTTP, api)
	s.Requests, s.Gap = n, time.Second
	return s
}

func TestRunLimit(t *testing.T) {
	good, closing := answer(200), answer(200, "Connection: close")
	for _, c := range []struct {
		name    string
		answers []string
		idle    time.Duration // after which the server closes
		want    string        // reasons and the limit
		words   string
	}{
		{"it says so on the third", []string{good, good, closing}, 0, "[ok ok] 3 true true Connection: close", "the server ends a connection after 3 requests (2s old) and says so (Connection: close on #3)"},
		{"on the first", []string{closing}, 0, "[ok] 1 true true Connection: close", "after 1 request (0s old)"},
		{"never", []string{good}, 0, "[ok ok] 5 false false ", "carried 5 requests in 4s, and the server did not end it"},
		{"it ends it while idle", []string{good}, 300 * time.Millisecond, "[ok eof ok] 1 true false ", "the server ended the connection after 1 request"},
		{"it does not say so", []string{good, good, "", good}, 0, "[ok eof ok] 2 true false ", "after 2 requests (2s old) without saying so"},
		{"it answers another status", []string{good, good, answer(503), good}, 0, "[ok unavailable ok] none", ""},
		{"the first fails", []string{answer(500)}, 0, "[status] none", ""},
	} {
		synctest.Test(t, func(t *testing.T) {
			p, d := newPeer(t, c.answers...), &desk{t: t}
			p.idle = c.idle
			o := RunLimit(t.Context(), limited(t, 5), newEnv(p, d))
			got, words := fmt.Sprint(reasons(o)), ""
			if l := o.Limit; l != nil {
				got += fmt.Sprintf(" %d %v %v %s", l.Requests, l.Ended, l.Told, l.By)
				words = l.Words()
			} else {
				got += " none"
			}
			if got != c.want || !strings.Contains(words, c.words) || o.Cut != "" {
				t.Errorf("%s: %s, want %s; %q; %+v", c.name, got, c.want, words, o)
			}
			d.settled(t)
		})
	}
}

// Each request asks the budget, one after the other on one connection, and none leaves
// before its time.
func TestRunLimitAsksTheBudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, d := newPeer(t, answer(200)), &desk{t: t}
		o := RunLimit(t.Context(), limited(t, 4), newEnv(p, d))
		if asked := fmt.Sprint(d.asked()); asked != "[dial warm send warm send next send next send next release]" {
			t.Errorf("asked for %s", asked)
		}
		seen := p.requests()
		if len(seen) != 4 || p.conns != 1 {
			t.Fatalf("%d requests on %d connections", len(seen), p.conns)
		}
		for i := 1; i < len(seen); i++ {
			if gap := seen[i].at.Sub(seen[i-1].at); gap != time.Second {
				t.Errorf("request %d came after %s", i+1, gap)
			}
		}
		if o.Limit.Age != 3*time.Second || o.Attempts[1].Served != 3 || o.Attempts[1].Connection != ConnectionReused {
			t.Errorf("%+v of %+v", o.Limit, o.Attempts)
		}
		d.settled(t)
	})
}

// What was seen before the budget ended stands.
func TestRunLimitDenied(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, d := newPeer(t, answer(200)), &desk{t: t}
		sent := 0
		d.at = func(stage string) error {
			if stage == "send next" {
				if sent++; sent == 3 {
					return &Denied{Why: "used up"}
				}
			}
			return nil
		}
		o := RunLimit(t.Context(), limited(t, 9), newEnv(p, d))
		if o.Cut != "" || o.Limit == nil || o.Limit.Requests != 3 || o.Limit.Ended || !strings.Contains(o.Attempts[1].Detail, "no request #4: used up") {
			t.Errorf("%+v %+v", o.Limit, o)
		}
		d.settled(t)
	})
}

// The second answer on a held connection may say what the first did not.
func TestReuseThatTellsALimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, d := newPeer(t, answer(200), answer(200, "Connection: close")), &desk{t: t}
		done := make(chan Observation)
		StartIdle(t.Context(), newSpec(t, KindIdle, api), time.Second, newEnv(p, d), func(o Observation) { done <- o })
		o := <-done
		if l := o.Limit; l == nil || l.Requests != 2 || !l.Told || l.Age != time.Second {
			t.Errorf("%+v of %+v", l, o)
		}
	})
}

package probes

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// mint gives one token after the other, as a test wants them.
type mint struct {
	mu     sync.Mutex
	wishes []TokenWish
	give   func(n int, w TokenWish) (Secret, error)
}

func (m *mint) token(_ context.Context, _ *Spec, w TokenWish) (Secret, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.wishes = append(m.wishes, w)
	return m.give(len(m.wishes), w)
}

// numbered gives zqtoken-1, and the next one when that was refused.
func numbered(_ int, w TokenWish) (Secret, error) {
	if w.Refused == (Secret{}) {
		return NewSecret("zqtoken-1"), nil
	}
	var n int
	_, _ = fmt.Sscanf(w.Refused.Reveal(), "zqtoken-%d", &n)
	return NewSecret(fmt.Sprintf("zqtoken-%d", n+1)), nil
}

func bearers(seen []asked) []string {
	var all []string
	for _, r := range seen {
		all = append(all, strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer zqtoken-"))
	}
	return all
}

func TestTokenOfAnExchange(t *testing.T) {
	for name, c := range map[string]struct {
		answers []string
		change  func(*Spec)
		give    func(int, TokenWish) (Secret, error)
		bearers []string
		reasons []Reason
		detail  string // of the last attempt
		cut     Cut
	}{
		"good":          {[]string{answer(200)}, nil, numbered, []string{"1"}, []Reason{ReasonOK}, "", ""},
		"refused once":  {[]string{answer(401), answer(200)}, nil, numbered, []string{"1", "2"}, []Reason{ReasonUnauthorized, ReasonOK}, "", ""},
		"refused twice": {[]string{answer(401)}, nil, numbered, []string{"1", "2"}, []Reason{ReasonUnauthorized, ReasonUnauthorized}, "status 401", ""},
		"403":           {[]string{answer(403)}, nil, numbered, []string{"1"}, []Reason{ReasonUnauthorized}, "status 403", ""},
		"a POST": {[]string{answer(401), answer(200)}, func(s *Spec) { s.Method, s.ReadOnly = http.MethodPost, "a search" }, numbered,
			[]string{"1"}, []Reason{ReasonUnauthorized}, "status 401; there is another token, and a POST is not sent again", ""},
		"no other": {[]string{answer(401)}, nil, func(n int, _ TokenWish) (Secret, error) {
			if n == 1 {
				return NewSecret("zqtoken-1"), nil
			}
			return Secret{}, &Denied{Why: "it is too soon"}
		}, []string{"1"}, []Reason{ReasonUnauthorized}, "status 401; no other token: it is too soon", ""},
		"none": {[]string{answer(200)}, nil, func(int, TokenWish) (Secret, error) { return Secret{}, &TokenError{Why: "it answered 401"} },
			nil, []Reason{ReasonUnauthorized}, "no token: it answered 401", ""},
		"its budget is used up": {[]string{answer(200)}, nil, func(int, TokenWish) (Secret, error) { return Secret{}, &Denied{Why: "used up"} }, nil, nil, "", CutSkipped},
		"no secret":             {[]string{answer(200)}, nil, func(int, TokenWish) (Secret, error) { return Secret{}, misfits("no secret") }, nil, nil, "", CutConfig},
		"401 is expected":       {[]string{answer(401)}, func(s *Spec) { s.Expect = newSpec(t, KindHTTP, api, "status == 401").Expect }, numbered, []string{"1"}, []Reason{ReasonOK}, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p, d, m := newPeer(t, c.answers...), &desk{t: t}, &mint{give: c.give}
				s := withToken(t, KindHTTP)
				if c.change != nil {
					c.change(s)
				}
				env := newEnv(p, d)
				env.Token = m.token
				o := RunHTTP(t.Context(), s, env)
				if got := bearers(p.requests()); !slices.Equal(got, c.bearers) || !slices.Equal(reasons(o), c.reasons) || o.Cut != c.cut {
					t.Errorf("tokens %q, reasons %q, cut %q (%s)", got, reasons(o), o.Cut, o.CutDetail)
				}
				if n := len(o.Attempts); n > 0 && o.Attempts[n-1].Detail != c.detail {
					t.Errorf("detail %q, want %q", o.Attempts[n-1].Detail, c.detail)
				}
				if renewed := len(o.Attempts) == 2; len(o.Attempts) > 0 && o.Attempts[0].Renewed != renewed {
					t.Errorf("%+v", o.Attempts[0])
				}
				if text, _ := json.Marshal(o); strings.Contains(string(text)+fmt.Sprintf("%+v", o), "zqtoken") {
					t.Errorf("a token is shown: %s", text)
				}
				d.settled(t)
			})
		})
	}
}

// TestTokenOfARedirect: it stays behind.
func TestTokenOfARedirect(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, m := newPeer(t, moved("/b"), answer(200)), &mint{give: numbered}
		s := withToken(t, KindHTTP)
		s.Redirects = 1
		env := newEnv(p, &desk{t: t})
		env.Token = m.token
		RunHTTP(t.Context(), s, env)
		if got := bearers(p.requests()); !slices.Equal(got, []string{"1", ""}) {
			t.Errorf("%q", got)
		}
	})
}

// TestTokenEndsDuringAHold: the reuse carries a new one, at its very instant,
// though getting it takes seconds; the held connection sees nothing before.
func TestTokenEndsDuringAHold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, d := newPeer(t, answer(200)), &desk{t: t}
		env := newEnv(p, d)
		start := time.Now()
		var mu sync.Mutex
		var fetched time.Time
		current := NewSecret("zqtoken-1")
		env.Token = func(_ context.Context, _ *Spec, w TokenWish) (Secret, error) {
			ahead := !w.AtOnce && w.At.After(start.Add(50*time.Minute))
			if ahead {
				time.Sleep(4 * time.Second)
			}
			mu.Lock()
			defer mu.Unlock()
			if ahead {
				fetched, current = time.Now(), NewSecret("zqtoken-2")
			}
			return current, nil
		}
		done := make(chan Observation)
		StartIdle(t.Context(), withToken(t, KindIdle), time.Hour, env, func(o Observation) { done <- o })
		o := <-done
		seen := p.requests()
		if got := bearers(seen); !slices.Equal(got, []string{"1", "2"}) || seen[0].conn != seen[1].conn {
			t.Fatalf("%q, %+v", got, o)
		}
		if at := seen[1].at.Sub(start); at != time.Hour {
			t.Errorf("reused after %s", at)
		}
		if early := start.Add(time.Hour).Sub(fetched); early < time.Second || early > time.Minute {
			t.Errorf("fetched %s before the reuse", early)
		}
		d.settled(t)
	})
}

// TestTokenIsNotThereForAReuse: it waits for none.
func TestTokenIsNotThereForAReuse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPeer(t, answer(200), answer(401))
		env := newEnv(p, &desk{t: t})
		start := time.Now()
		env.Token = func(ctx context.Context, _ *Spec, w TokenWish) (Secret, error) {
			switch {
			case w.AtOnce:
				return Secret{}, &Denied{Why: "there is no token"}
			case w.At.After(start):
				<-ctx.Done()
				return Secret{}, context.Cause(ctx)
			}
			return NewSecret("zqtoken-1"), nil
		}
		done := make(chan Observation)
		StartIdle(t.Context(), withToken(t, KindIdle), time.Minute, env, func(o Observation) { done <- o })
		o := <-done
		seen := p.requests()
		if got := bearers(seen); !slices.Equal(got, []string{"1", "1"}) || seen[1].at.Sub(start) != time.Minute || o.Attempt(ConnectionReused).Reason != ReasonUnauthorized {
			t.Errorf("%q after %s, %+v", got, seen[1].at.Sub(start), o)
		}
	})
}

// TestWarmUpWithARefusedToken is made again, and the rung goes on.
func TestWarmUpWithARefusedToken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, d, m := newPeer(t, answer(401), answer(200)), &desk{t: t}, &mint{}
		m.give = func(n int, w TokenWish) (Secret, error) {
			if n == 1 {
				return NewSecret("zqtoken-1"), nil
			}
			return NewSecret("zqtoken-2"), nil
		}
		env := newEnv(p, d)
		env.Token = m.token
		done := make(chan Observation)
		StartIdle(t.Context(), withToken(t, KindIdle), time.Minute, env, func(o Observation) { done <- o })
		o := <-done
		if got := bearers(p.requests()); !slices.Equal(got, []string{"1", "2", "2"}) || !slices.Equal(reasons(o), []Reason{ReasonUnauthorized, ReasonOK, ReasonOK}) {
			t.Errorf("%q, %+v", got, o)
		}
		if !o.Attempts[0].Renewed || !slices.Contains(d.asked(), "send again") {
			t.Errorf("%+v, %q", o.Attempts[0], d.asked())
		}
		d.settled(t)
	})
}

// TestTokenOfManyRequests: each carries the newest one, on one connection.
func TestTokenOfManyRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPeer(t, answer(200))
		env := newEnv(p, &desk{t: t})
		start := time.Now()
		env.Token = func(context.Context, *Spec, TokenWish) (Secret, error) {
			return NewSecret(fmt.Sprintf("zqtoken-%d", 1+time.Since(start)/time.Minute)), nil
		}
		s := withToken(t, KindHTTP)
		s.Requests, s.Gap = 3, time.Minute
		o := RunLimit(t.Context(), s, env)
		if got := bearers(p.requests()); !slices.Equal(got, []string{"1", "2", "3"}) || p.conns != 1 {
			t.Errorf("%q, %+v", got, o)
		}
	})
}

// TestTokenOfAnUnusedConnection: its first request has one, and without one no
// connection is opened.
func TestTokenOfAnUnusedConnection(t *testing.T) {
	for _, there := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			p := newPeer(t, answer(200))
			env := newEnv(p, &desk{t: t})
			env.Token = func(context.Context, *Spec, TokenWish) (Secret, error) {
				if !there {
					return Secret{}, &TokenError{Why: "it answered 503"}
				}
				return NewSecret("zqtoken-1"), nil
			}
			done := make(chan Observation)
			StartUnused(t.Context(), withToken(t, KindIdle), time.Minute, env, func(o Observation) { done <- o })
			o := <-done
			if got := bearers(p.requests()); there && !slices.Equal(got, []string{"1"}) || !there && (len(got) > 0 || o.Attempts[0].Reason != ReasonUnauthorized) {
				t.Errorf("%q, %+v", got, o)
			}
		})
	}
}

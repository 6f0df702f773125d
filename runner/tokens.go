package runner

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"perch.example/plan"
	"perch.example/probes"
)

// How often a token endpoint is asked: a new token can be no use within tokenPace
// of the last one, and an endpoint that fails, or whose tokens are refused, is
// asked ever less.
const (
	tokenPace         = 10 * time.Second
	longestTokenPause = 10 * time.Minute
)

// tokens are the bearer tokens of a process: one for all probes that would get the
// same, asked for within a budget of its own. They are in memory only.
type tokens struct {
	sent func(host string) int // by earlier runs today; nil: nothing

	mu      sync.Mutex
	sources map[string]*tokenSource
	days    map[string]*tokenDay // by the token endpoint's host
}

// tokenDay is how many requests went to a token endpoint on a UTC day.
type tokenDay struct {
	day     string
	used    int
	untaken int // of these, what no wave has told of
}

func newTokens(sent func(host string) int) *tokens {
	return &tokens{sent: sent, sources: map[string]*tokenSource{}, days: map[string]*tokenDay{}}
}

// tokenSource is what has one key. Its fields are guarded by tokens.mu, but asking.
type tokenSource struct {
	asking chan struct{} // holds one while a request is under way

	token    probes.Token
	asked    time.Time          // when the last request left
	failed   *probes.TokenError // what it came to; nil: a token
	failures int                // in a row
	refused  int                // tokens in a row that were asked for since one was refused
}

func (t *tokens) source(o *probes.OAuth) *tokenSource {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := t.sources[o.Key()]
	if s == nil {
		s = &tokenSource{asking: make(chan struct{}, 1)}
		t.sources[o.Key()] = s
	}
	return s
}

// get is probes.Env.Token: a token that is there, or else a request for one. Only
// one is under way for all that wait for it.
func (t *tokens) get(ctx context.Context, s *probes.Spec, env probes.Env, w probes.TokenWish) (probes.Secret, error) {
	src := t.source(s.OAuth)
	if got, done := t.known(src, w); done {
		return got, nil
	}
	if w.AtOnce {
		return probes.Secret{}, &probes.Denied{Why: "there is no token"}
	}
	select {
	case src.asking <- struct{}{}:
		defer func() { <-src.asking }()
	case <-ctx.Done():
		return probes.Secret{}, context.Cause(ctx)
	}
	if got, done := t.known(src, w); done { // somebody else's request brought it
		return got, nil
	}
	if env.Fence != nil { // what it bars takes nothing of the day
		if err := env.Fence(); err != nil {
			return probes.Secret{}, err
		}
	}
	if err := t.book(src, s.OAuth, w); err != nil {
		return t.still(src, w, err)
	}
	got, err := probes.FetchToken(ctx, s, env)
	return t.learn(src, s.OAuth, w, answer{got, err})
}

// known is the token that is there, where it is good enough.
func (t *tokens) known(src *tokenSource, w probes.TokenWish) (probes.Secret, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	there := src.token.Secret != probes.Secret{}
	good := there && (w.AtOnce || src.token.GoodAt(w.At)) && !src.is(w.Refused)
	return src.token.Secret, good
}

// is reports whether a token is the source's.
func (s *tokenSource) is(token probes.Secret) bool {
	return token != probes.Secret{} && token.Reveal() == s.token.Secret.Reveal()
}

// still is the token that is due to be replaced and has not ended, where no other
// can be had now.
func (t *tokens) still(src *tokenSource, w probes.TokenWish, err error) (probes.Secret, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !src.is(w.Refused) && src.token.Secret != (probes.Secret{}) && w.At.Before(src.token.Expires) {
		return src.token.Secret, nil
	}
	return probes.Secret{}, err
}

// book takes a request out of the tokens' own budget, or says why there is none.
func (t *tokens) book(src *tokenSource, o *probes.OAuth, w probes.TokenWish) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := time.Now()
	if ago := now.Sub(src.asked); !src.asked.IsZero() && ago < src.pause(w) {
		switch {
		case src.failed != nil && ago < time.Second: // as if this one had asked
			return src.failed
		case src.failed != nil:
			return &probes.TokenError{Why: fmt.Sprintf("%s (%s ago; it is asked again in %s)",
				src.failed.Why, probes.Spoken(ago.Round(time.Second)), probes.Spoken((src.pause(w) - ago).Round(time.Second)))}
		}
		return &probes.Denied{Why: fmt.Sprintf("a token was asked for %s ago, and the next one may be in %s",
			probes.Spoken(ago.Round(time.Second)), probes.Spoken((src.pause(w) - ago).Round(time.Second)))}
	}
	d := t.today(o.Host(), now)
	if d.used >= o.DailyLimit {
		return &probes.Denied{Why: fmt.Sprintf("the daily_limit of %d token requests to %s is used up", o.DailyLimit, o.Host())}
	}
	d.used++
	d.untaken++
	src.asked = now
	if src.is(w.Refused) {
		src.refused++
	}
	return nil
}

// pause is how long after the last request the next one may follow.
func (s *tokenSource) pause(w probes.TokenWish) time.Duration {
	doubled := max(s.failures-1, 0)
	if s.is(w.Refused) {
		doubled = max(doubled, s.refused)
	}
	return min(tokenPace<<min(doubled, 10), longestTokenPause)
}

// today is an endpoint's count, which begins anew with a UTC day. The lock is held.
func (t *tokens) today(host string, now time.Time) *tokenDay {
	d := t.days[host]
	if d == nil {
		d = &tokenDay{day: dayOf(now)}
		if t.sent != nil {
			d.used = t.sent(host)
		}
		t.days[host] = d
	}
	if day := dayOf(now); day > d.day {
		d.day, d.used = day, 0
	}
	return d
}

// answer is what a token request came to.
type answer struct {
	token probes.Token
	err   error
}

func (t *tokens) learn(src *tokenSource, o *probes.OAuth, w probes.TokenWish, a answer) (probes.Secret, error) {
	t.mu.Lock()
	var none *probes.TokenError
	var denied *probes.Denied
	switch {
	case a.err == nil:
		if !src.is(w.Refused) {
			src.refused = 0
		}
		src.token, src.failed, src.failures = a.token, nil, 0
	case errors.As(a.err, &none):
		src.failed, src.failures = none, src.failures+1
	case errors.As(a.err, &denied): // nothing left
		d := t.days[o.Host()]
		d.used--
		d.untaken--
		src.asked = time.Time{}
	}
	t.mu.Unlock()
	if a.err != nil {
		return t.still(src, w, a.err)
	}
	return a.token.Secret, nil
}

// taken returns how many requests left to each endpoint since it was last asked.
func (t *tokens) taken() map[string]int {
	t.mu.Lock()
	defer t.mu.Unlock()
	var all map[string]int
	for host, d := range t.days {
		if d.untaken == 0 {
			continue
		}
		if all == nil {
			all = map[string]int{}
		}
		all[host], d.untaken = d.untaken, 0
	}
	return all
}

// fetchFirst gets the tokens that a plan's steps begin with before its clock
// starts: a request that waited for one would miss its instant. What fails here
// the steps tell.
func (t *tokens) fetchFirst(ctx context.Context, p *plan.Plan, env probes.Env) {
	if !slices.ContainsFunc(p.Steps, func(s plan.Step) bool { return s.Spec.OAuth != nil }) {
		return
	}
	var all sync.WaitGroup
	seen := map[string]bool{}
	for _, s := range p.Steps {
		if s.Spec.OAuth == nil || s.NoRoom != "" || seen[s.Spec.OAuth.Key()] {
			continue
		}
		seen[s.Spec.OAuth.Key()] = true
		all.Go(func() { _, _ = t.get(ctx, s.Spec, env, probes.TokenWish{At: time.Now()}) })
	}
	all.Wait()
}

package runner

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"perch.example/internal/memnet"
	"perch.example/probes"
)

// issuer is a token endpoint that numbers its tokens.
type issuer struct {
	mu     sync.Mutex
	asked  []time.Duration // since the test's start
	began  time.Time
	life   time.Duration // of its tokens; 0: it does not say
	status int           // 0: 200
	takes  time.Duration
}

func (i *issuer) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	time.Sleep(i.takes)
	i.mu.Lock()
	defer i.mu.Unlock()
	i.asked = append(i.asked, time.Since(i.began)-i.takes)
	w.Header().Set("Content-Type", "application/json")
	if i.status != 0 {
		w.WriteHeader(i.status)
		return
	}
	_, _ = fmt.Fprintf(w, `{"access_token":"zqtoken-%d","token_type":"Bearer","expires_in":%d}`, len(i.asked), int(i.life.Seconds()))
}

func (i *issuer) times() int {
	i.mu.Lock()
	defer i.mu.Unlock()
	return len(i.asked)
}

// tokenWorld is a token endpoint, and what asks it.
type tokenWorld struct {
	*issuer
	tokens *tokens
	env    probes.Env
	spec   *probes.Spec
}

func newTokenWorld(t *testing.T, i *issuer) *tokenWorld {
	t.Helper()
	i.began = time.Now()
	n := memnet.New()
	s := &http.Server{Handler: i}
	go func() { _ = s.Serve(n) }()
	t.Cleanup(func() { _ = s.Close(); _ = n.Close() })
	return &tokenWorld{
		issuer: i, tokens: newTokens(nil),
		env: probes.Env{
			Dial: n.Dial, IDs: probes.NewIDs(1),
			Secrets: func(probes.Source) (probes.Secret, error) { return probes.NewSecret("zqsecret"), nil },
		},
		spec: &probes.Spec{
			URL: &url.URL{Scheme: "http", Host: "192.0.2.1"},
			OAuth: &probes.OAuth{
				TokenURL: &url.URL{Scheme: "http", Host: "127.0.0.7", Path: "/token"}, ClientID: "id", Secret: probes.Source{Env: "S"}, DailyLimit: 200,
			},
		},
	}
}

// get returns a token's number, or the error.
func (w *tokenWorld) get(t *testing.T, wish probes.TokenWish) (string, error) {
	t.Helper()
	if wish.At.IsZero() {
		wish.At = time.Now()
	}
	got, err := w.tokens.get(t.Context(), w.spec, w.env, wish)
	if err != nil && strings.Contains(err.Error(), "zq") {
		t.Errorf("a secret is shown: %v", err)
	}
	return strings.TrimPrefix(got.Reveal(), "zqtoken-"), err
}

func (w *tokenWorld) want(t *testing.T, number string, wish probes.TokenWish) {
	t.Helper()
	if got, err := w.get(t, wish); got != number || err != nil {
		t.Errorf("after %s: token %q, %v; want %s", time.Since(w.began), got, err, number)
	}
}

func (w *tokenWorld) wantError(t *testing.T, says string, wish probes.TokenWish) {
	t.Helper()
	if got, err := w.get(t, wish); err == nil || !strings.Contains(err.Error(), says) {
		t.Errorf("after %s: token %q, %v; want %q", time.Since(w.began), got, err, says)
	}
}

func refusedToken(number string) probes.TokenWish {
	return probes.TokenWish{Refused: probes.NewSecret("zqtoken-" + number)}
}

// TestTokenIsShared by all that would get the same, and asked for once however
// many want it at once.
func TestTokenIsShared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newTokenWorld(t, &issuer{life: time.Hour, takes: time.Second})
		var all sync.WaitGroup
		for range 50 {
			all.Go(func() { w.want(t, "1", probes.TokenWish{}) })
		}
		all.Wait()
		other := *w.spec
		oauth := *other.OAuth
		oauth.Audience = "other"
		other.OAuth, w.spec = &oauth, &other
		w.want(t, "2", probes.TokenWish{})
		if n := w.times(); n != 2 {
			t.Errorf("asked %d times", n)
		}
		if got := fmt.Sprint(w.tokens.taken(), w.tokens.taken()); got != "map[127.0.0.7:2] map[]" {
			t.Errorf("told of %s", got)
		}
	})
}

// TestTokenIsRenewedEarly: a minute before its end, for the instant of its use.
func TestTokenIsRenewedEarly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newTokenWorld(t, &issuer{life: time.Hour})
		w.want(t, "1", probes.TokenWish{})
		time.Sleep(58 * time.Minute)
		w.want(t, "1", probes.TokenWish{})
		w.want(t, "2", probes.TokenWish{At: time.Now().Add(90 * time.Second)})
		w.want(t, "2", probes.TokenWish{})
		time.Sleep(59 * time.Minute)
		w.status = http.StatusServiceUnavailable
		w.want(t, "2", probes.TokenWish{}) // it has a minute to live yet
		w.want(t, "2", probes.TokenWish{AtOnce: true})
		time.Sleep(time.Minute)
		w.wantError(t, "it answered 503", probes.TokenWish{})
	})
}

// TestTokenAtOnce waits for nothing, and asks nobody.
func TestTokenAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newTokenWorld(t, &issuer{life: time.Minute, takes: 3 * time.Second})
		w.wantError(t, "there is no token", probes.TokenWish{AtOnce: true})
		w.want(t, "1", probes.TokenWish{})
		time.Sleep(time.Hour)
		go func() { _, _ = w.get(t, probes.TokenWish{}) }()
		synctest.Wait()
		before := time.Now()
		w.want(t, "1", probes.TokenWish{AtOnce: true}) // it has ended: the answer will say so
		if waited := time.Since(before); waited != 0 {
			t.Errorf("waited %s", waited)
		}
		time.Sleep(time.Minute)
		w.want(t, "2", probes.TokenWish{AtOnce: true})
	})
}

// TestRefusedTokens are asked for anew once, at most every 10 s, and ever less
// when the new one is refused, too.
func TestRefusedTokens(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newTokenWorld(t, &issuer{life: 24 * time.Hour})
		w.want(t, "1", probes.TokenWish{})
		w.wantError(t, "a token was asked for 0s ago, and the next one may be in 10s", refusedToken("1"))
		time.Sleep(10 * time.Second)
		w.want(t, "2", refusedToken("1"))
		w.want(t, "2", refusedToken("1")) // another probe had it refused: there is a newer one
		for range 300 {
			time.Sleep(time.Second)
			_, _ = w.get(t, refusedToken(fmt.Sprint(w.times())))
		}
		var at []string
		for _, a := range w.asked {
			at = append(at, fmt.Sprint(a.Seconds()))
		}
		if got := strings.Join(at, " "); got != "0 10 30 70 150 310" {
			t.Errorf("asked at %s", got)
		}
	})
}

// TestFailingEndpoint is asked ever less, and meanwhile its last answer stands.
func TestFailingEndpoint(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newTokenWorld(t, &issuer{status: http.StatusUnauthorized})
		w.wantError(t, "the token endpoint at 127.0.0.7: it answered 401", probes.TokenWish{})
		time.Sleep(4 * time.Second)
		w.wantError(t, "it answered 401 (4s ago; it is asked again in 6s)", probes.TokenWish{})
		var none *probes.TokenError
		if _, err := w.get(t, probes.TokenWish{}); !errors.As(err, &none) {
			t.Errorf("%T", err)
		}
		for range 3600 - 4 {
			time.Sleep(time.Second)
			_, _ = w.get(t, probes.TokenWish{})
		}
		var at []string
		for _, a := range w.asked {
			at = append(at, fmt.Sprint(a.Seconds()))
		}
		if got := strings.Join(at, " "); got != "0 10 30 70 150 310 630 1230 1830 2430 3030" {
			t.Errorf("asked at %s", got)
		}
		w.status = 0
		time.Sleep(10 * time.Minute)
		w.want(t, "12", probes.TokenWish{})
	})
}

// TestDailyLimitOfTokens counts earlier runs of the day, and begins anew at
// midnight, UTC.
func TestDailyLimitOfTokens(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newTokenWorld(t, &issuer{life: time.Minute})
		w.tokens = newTokens(func(host string) int { return map[string]int{"127.0.0.7": 198}[host] })
		for n := range 2 {
			w.want(t, fmt.Sprint(n+1), probes.TokenWish{})
			time.Sleep(time.Hour)
		}
		w.wantError(t, "the daily_limit of 200 token requests to 127.0.0.7 is used up", probes.TokenWish{})
		time.Sleep(22 * time.Hour) // the bubble's clock begins at midnight
		w.want(t, "3", probes.TokenWish{})
		if got := w.tokens.taken()["127.0.0.7"]; got != 3 {
			t.Errorf("told of %d", got)
		}
	})
}

// TestDeniedTokenRequest costs nothing: nothing left.
func TestDeniedTokenRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newTokenWorld(t, &issuer{})
		w.env.Policy = &probes.Policy{File: "policy.yaml", Hosts: []string{"192.0.2.1"}}
		for range 2 {
			w.wantError(t, `the host "127.0.0.7"`, probes.TokenWish{})
		}
		if len(w.tokens.taken()) != 0 || w.times() != 0 {
			t.Error("counted")
		}
	})
}

func TestTokenWaitIsCut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newTokenWorld(t, &issuer{takes: time.Minute})
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, errors.New("enough"))
		defer cancel()
		for range 2 {
			go func() { _, _ = w.tokens.get(ctx, w.spec, w.env, probes.TokenWish{At: time.Now()}) }()
		}
		synctest.Wait()
		if _, err := w.tokens.get(ctx, w.spec, w.env, probes.TokenWish{At: time.Now()}); err == nil || err.Error() != "enough" {
			t.Errorf("%v", err)
		}
		time.Sleep(time.Hour)
	})
}

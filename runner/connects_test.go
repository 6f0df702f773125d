package runner_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"perch.example/plan"
	"perch.example/probes"
	"perch.example/runner"
)

// behindProxy makes a target one over TLS behind a proxy with a login.
func behindProxy(target probes.Target, tries int) probes.Target {
	u := *target.URL
	u.Scheme = "https"
	target.URL = &u
	for i := range target.Probes {
		p := &target.Probes[i]
		p.URL = &u
		p.Way.Proxy = probes.Proxy{URL: &url.URL{Scheme: "http", Host: "192.0.2.99:3128"}, Credentials: probes.Source{Env: "PROXY_LOGIN"}}
		p.Retry = probes.Retry{Attempts: tries, Backoff: 10 * time.Millisecond}
	}
	return target
}

// TestProxyAnswersCount: a proxy that answers is no network that is coming up. What
// would be answered the same is not asked again, wrong credentials not even by
// another probe, and each CONNECT counts as a request.
func TestProxyAnswersCount(t *testing.T) {
	for _, c := range []struct {
		status, tries, probes int
		connects              int
		reason                probes.Reason // of the last probe; empty: it was skipped
	}{
		{407, 1, 2, 1, ""},
		{407, 2, 2, 1, ""},
		{403, 2, 2, 2, probes.ReasonProxy},
		{401, 2, 1, 1, probes.ReasonProxy},
		{502, 1, 2, 2, probes.ReasonProxy},
		{502, 2, 1, 2, probes.ReasonProxy},
		{503, 2, 8, 3, probes.ReasonProxy}, // the breaker: no second try, and five are skipped
	} {
		t.Run(fmt.Sprintf("%d, %d tries, %d probes", c.status, c.tries, c.probes), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newSite(t, status(c.status))
				target := behindProxy(newTarget("api", 1, 1, exchanges(c.probes)...), c.tries)
				out := play(t, t.Context(), s, func(o *runner.Options) {
					o.Settle = settle
					o.Secrets = func(probes.Source) (probes.Secret, error) { return probes.NewSecret("me:hunter2"), nil }
				}, target)
				hits := s.seen()
				if len(hits) != c.connects || len(out.result.Settled) > 0 {
					t.Errorf("%d CONNECTs, want %d; settled %+v, %v at %v", len(hits), c.connects, out.result.Settled, told(out.all), times(hits))
				}
				last := out.all[len(out.all)-1]
				if got := lastReason(last); got != c.reason || (got == "") != (last.Cut == probes.CutSkipped) {
					t.Errorf("the last probe is %q, want %q: %+v", got, c.reason, last)
				}
				use := out.use(t, "api")
				if use.Requests != len(hits) {
					t.Errorf("%d CONNECTs, and %d requests are told", len(hits), use.Requests)
				}
				if cal := plan.NewCalendar(use.LimitPerSecond); busiest(times(hits), cal.Window()) > cal.Allowed() {
					t.Errorf("more than %d CONNECTs in %s: %v", cal.Allowed(), cal.Window(), times(hits))
				}
				for _, o := range out.all {
					if strings.Contains(fmt.Sprintf("%+v", o), "hunter2") {
						t.Errorf("the password is shown: %+v", o)
					}
				}
			})
		})
	}
}

// A handshake alone asks the budget before it dials: its CONNECT counts once.
func TestProxyAnswersAHandshake(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, status(http.StatusBadGateway))
		out := play(t, t.Context(), s, func(o *runner.Options) {
			o.Secrets = func(probes.Source) (probes.Secret, error) { return probes.NewSecret("me:hunter2"), nil }
		}, behindProxy(newTarget("api", 1, 1, newProbe(probes.KindTLS)), 2))
		if n := len(s.seen()); n != 2 || out.use(t, "api").Requests != 2 {
			t.Errorf("%d CONNECTs, told %+v", n, out.use(t, "api"))
		}
	})
}

// A CONNECT that a proxy answers with Retry-After leaves the target alone that long.
func TestProxyAsksForRest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, status(http.StatusServiceUnavailable, "Retry-After", "600"))
		out := play(t, t.Context(), s, func(o *runner.Options) {
			o.Secrets = func(probes.Source) (probes.Secret, error) { return probes.NewSecret("me:hunter2"), nil }
		}, behindProxy(newTarget("api", 1, 1, exchanges(3)...), 2))
		if n := len(s.seen()); n > 2 { // two leave together
			t.Errorf("%d CONNECTs although the proxy asked for rest: %v", n, told(out.all))
		}
		if until := out.use(t, "api").LeaveAlone; time.Until(until) < 9*time.Minute {
			t.Errorf("left alone until %s", until)
		}
	})
}

// A proxy that cannot be reached settles as an API would, and counts nothing.
func TestProxyThatIsNotThereSettles(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, status(http.StatusBadGateway))
		o := newOutage(s, refusedFor(3*time.Second))
		out := play(t, t.Context(), s, func(r *runner.Options) {
			o.during(r)
			r.Secrets = func(probes.Source) (probes.Secret, error) { return probes.NewSecret("me:hunter2"), nil }
		}, behindProxy(newTarget("api", 1, 1, exchanges(1)...), 1))
		if n := len(out.result.Settled); n != 1 || out.result.Settled[0].Times != 3 || out.use(t, "api").Requests != 1 || len(s.seen()) != 1 {
			t.Errorf("settled %+v, %+v, %d CONNECTs", out.result.Settled, out.use(t, "api"), len(s.seen()))
		}
	})
}

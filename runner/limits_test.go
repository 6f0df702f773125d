package runner_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"perch.example/config"
	"perch.example/plan"
	"perch.example/probes"
	"perch.example/runner"
)

func left(n int) func(*runner.Options) {
	return func(o *runner.Options) { o.Daily = func(string) int { return n } }
}

// The day's last requests are given to whole steps.
func TestDailyLimitSkipsWholeSteps(t *testing.T) {
	for _, c := range []struct {
		left, arrived, skipped int
	}{{-5, 0, 5}, {0, 0, 5}, {1, 1, 4}, {4, 4, 1}, {5, 5, 0}, {6, 5, 0}} {
		synctest.Test(t, func(t *testing.T) {
			s := newSite(t, nil)
			out := play(t, t.Context(), s, left(c.left), newTarget("api", 1, 50, exchanges(5)...))
			if n := told(out.all)["skipped: the daily limit is used up"]; n != c.skipped || len(s.hits) != c.arrived {
				t.Errorf("%d left: %d arrived, %v", c.left, len(s.hits), told(out.all))
			}
			if use := out.use(t, "api"); use.Requests != c.arrived || use.Denied != 0 {
				t.Errorf("%d left: %+v", c.left, use)
			}
		})
	}
}

// What a rung did not need of its promise goes to those that come later.
func TestUnusedPromisesAreGivenBack(t *testing.T) {
	rungs := newProbe(probes.KindIdle, 4*time.Second, 3*time.Second, 2*time.Second)
	rungs.KeepAlive = 50 * time.Second // 5 s apart: each ends before the next begins
	// Each is promised three requests and needs two.
	for requests, arrived := range map[int]int{2: 0, 3: 2, 4: 2, 5: 4, 6: 4, 7: 6} {
		synctest.Test(t, func(t *testing.T) {
			s := newSite(t, nil)
			out := play(t, t.Context(), s, left(requests), newTarget("api", 1, 50, rungs))
			if len(s.hits) != arrived || told(out.all)["skipped: the daily limit is used up"] != 3-arrived/2 {
				t.Errorf("%d left: %d arrived, %v", requests, len(s.hits), told(out.all))
			}
		})
	}
}

// TestDailyLimitHoldsForAnyLoad: never more leave than are left, and no rung
// ends half-way for it.
func TestDailyLimitHoldsForAnyLoad(t *testing.T) {
	cut := 0
	for seed := range uint64(60) {
		synctest.Test(t, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 3))
			s := newSite(t, func(n int, h hit, w http.ResponseWriter) {
				if n%3 != 0 {
					w.WriteHeader(http.StatusNotFound) // a control each time, and no breaker
				}
			})
			var all []probes.Spec
			for range 3 + rng.IntN(5) {
				p := newProbe(probes.KindHTTP)
				p.Retry, p.Redirects = probes.Retry{Attempts: 3, Backoff: time.Second}, 2
				if rng.IntN(2) == 0 {
					p = newProbe(probes.KindIdle, time.Duration(1+rng.IntN(9))*time.Second)
				}
				all = append(all, p)
			}
			limit := rng.IntN(3 * len(all))
			if seed%2 == 0 { // second tries and redirects compete for the last ones
				s.answer = func(n int, h hit, w http.ResponseWriter) {
					if n%2 == 0 {
						w.Header().Set("Location", "/again")
						w.WriteHeader(http.StatusFound)
						return
					}
					w.WriteHeader(http.StatusServiceUnavailable)
				}
			}
			out := play(t, t.Context(), s, left(limit), newTarget("api", 1, 5+rng.Float64()*20, all...))
			if len(s.hits) > limit || out.use(t, "api").Requests != len(s.hits) {
				t.Errorf("seed %d: %d arrived, %d were left, %+v", seed, len(s.hits), limit, out.use(t, "api"))
			}
			for _, o := range out.all {
				if o.Kind == probes.KindIdle && strings.Contains(o.CutDetail, "daily") {
					cut++
					if len(o.Attempts) > 0 {
						t.Errorf("seed %d: a rung ended half-way: %+v", seed, o)
					}
				}
			}
		})
	}
	if cut < 20 {
		t.Errorf("only %d rungs met the limit", cut)
	}
}

// TestConnectionsAreBounded: with a server that takes longer than planned, no
// more connections are open at once than may be.
func TestConnectionsAreBounded(t *testing.T) {
	tight := 0
	for seed := range uint64(40) {
		synctest.Test(t, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 4))
			s := newSite(t, func(n int, _ hit, w http.ResponseWriter) {
				time.Sleep(time.Duration(n%7) * 600 * time.Millisecond)
				w.WriteHeader([]int{200, 404, 503}[n%3])
			})
			target := randomTarget(rng)
			target.URL.Host = "192.0.2.1"
			target.MaxConnections = 2 + rng.IntN(3)
			p, err := plan.New(config.Config{Name: "test", Targets: []probes.Target{target}}, plan.Options{Seed: seed})
			if err != nil {
				return // refused: nothing would be sent
			}
			runner.Run(t.Context(), p, runner.Options{Targets: []probes.Target{target}, Dial: s.dial}, func(probes.Observation) {})
			if s.peak > target.MaxConnections || s.open != 0 {
				t.Errorf("seed %d: %d open at once, want at most %d; %d stayed open", seed, s.peak, target.MaxConnections, s.open)
			}
			if s.peak == target.MaxConnections {
				tight++
			}
		})
	}
	if tight < 10 {
		t.Errorf("only %d loads used all connections", tight)
	}
}

// perch's own second try leaves in a gap of the plan; where there is none soon
// enough, the first attempt stands.
func TestSecondTryUsesGaps(t *testing.T) {
	const none = "; no second try: the budget has no gap within 30s"
	for _, c := range []struct {
		name  string
		steps int // at 0.5/s: two leave together, each 4.2 s
		tries int // of the first step
	}{{"room at once", 1, 2}, {"a gap after the plan's", 4, 2}, {"no gap soon", 40, 1}} {
		synctest.Test(t, func(t *testing.T) {
			s := newSite(t, func(_ int, h hit, w http.ResponseWriter) {
				if h.path == "/first" {
					w.WriteHeader(http.StatusServiceUnavailable)
				}
			})
			target := newTarget("api", 1, 0.5, exchanges(c.steps)...)
			u := *target.URL
			u.Path = "/first"
			target.Probes[0].URL = &u
			target.Probes[0].Retry = probes.Retry{Attempts: 2, Backoff: 100 * time.Millisecond}
			out := play(t, t.Context(), s, nil, target)
			var tries []time.Time
			for _, h := range s.seen() {
				if h.path == "/first" {
					tries = append(tries, h.at)
				}
			}
			detail := ""
			for _, o := range out.all {
				if o.Probe == "p0" {
					detail = o.Attempts[0].Detail
				} else if o.Cut != "" || len(o.Attempts) != 1 {
					t.Errorf("%s: another step suffered: %+v", c.name, o)
				}
			}
			gaveUp := strings.HasSuffix(detail, none)
			if len(tries) != c.tries || gaveUp != (c.tries == 1) || out.use(t, "api").Denied != 2-c.tries {
				t.Errorf("%s: %d tries, %q", c.name, len(tries), detail)
			}
			if n := busiest(times(s.seen()), 4*time.Second); n > 2 {
				t.Errorf("%s: %d arrived within 4 s", c.name, n)
			}
			if use := out.use(t, "api"); use.Waited != 0 {
				t.Errorf("%s: waited %s at the last gate", c.name, use.Waited)
			}
		})
	}
}

func times(hits []hit) []time.Time {
	var all []time.Time
	for _, h := range hits {
		all = append(all, h.at)
	}
	return all
}

// What is said of the budget's use is what arrived.
func TestBudgetUse(t *testing.T) {
	for seed := range uint64(20) {
		synctest.Test(t, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 5))
			s := newSite(t, func(n int, _ hit, w http.ResponseWriter) { w.WriteHeader([]int{200, 404}[n%2]) })
			var targets []probes.Target
			for i := range 2 {
				target := newTarget(fmt.Sprintf("t%d", i), i+1, 3+rng.Float64()*10, append(exchanges(1+rng.IntN(6)),
					newProbe(probes.KindIdle, time.Duration(2+rng.IntN(8))*time.Second))...)
				target.Share = 0.5 + rng.Float64()/2
				targets = append(targets, target)
			}
			out := play(t, t.Context(), s, nil, targets...)
			if len(out.result.Budget) != 2 {
				t.Fatalf("%+v", out.result.Budget)
			}
			for i, target := range targets {
				hits := s.to(target.URL.Host)
				use := out.result.Budget[i]
				if use.Target != target.Name || use.Requests != len(hits) || use.LimitPerSecond != target.Budget() || use.Denied != 0 || use.Waited != 0 {
					t.Errorf("seed %d: %+v, %d arrived", seed, use, len(hits))
				}
				most := plan.NewCalendar(target.Budget()).Allowed()
				last := times(hits)
				last = last[max(0, len(last)-most):]
				if !slices.EqualFunc(use.Last, last, time.Time.Equal) || use.Allowed != most {
					t.Errorf("seed %d: the last left at %v, %d a window, want %v and %d", seed, use.Last, use.Allowed, last, most)
				}
				if peak := busiest(times(hits), time.Second); use.PeakPerSecond != float64(peak) {
					t.Errorf("seed %d: %g in a second, %d arrived in one", seed, use.PeakPerSecond, peak)
				}
			}
		})
	}
}

// A redirect without room leaves the answered request told, and counts once as not
// sent; one that waits for a gap with a connection of its own was not refused.
func TestRedirectsAndTheBudget(t *testing.T) {
	for _, c := range []struct {
		rate             float64
		requests, denied int
		reason           probes.Reason
		detail           string
	}{
		{0.02, 2, 2, probes.ReasonRedirected, "status 307, a redirect that was not followed: the budget has no gap within 1s"},
		{1, 4, 0, probes.ReasonOK, ""},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := newSite(t, func(_ int, h hit, w http.ResponseWriter) {
				if h.path == "/" {
					status(http.StatusTemporaryRedirect, "Location", "/there")(0, h, w)
				}
			})
			target := newTarget("api", 1, c.rate, exchanges(2)...)
			for i := range target.Probes {
				target.Probes[i].Redirects = 2
			}
			out := play(t, t.Context(), s, nil, target)
			for _, o := range out.all {
				if (o.Cut == "") != (c.reason == probes.ReasonOK) || len(o.Attempts) != 1 || o.Attempts[0].Reason != c.reason || o.Attempts[0].Detail != c.detail {
					t.Errorf("%g/s: %+v", c.rate, o)
				}
			}
			if use := out.use(t, "api"); use.Denied != c.denied || use.Requests != c.requests || len(s.seen()) != c.requests {
				t.Errorf("%g/s: %+v, %d arrived", c.rate, use, len(s.seen()))
			}
		})
	}
}

package runner_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"perch.example/probes"
	"perch.example/runner"
)

// TestRunEndsWithItsContext: nothing starts afterwards, what is held or under
// way ends at once as canceled, what is whole stays, and every step is told.
func TestRunEndsWithItsContext(t *testing.T) {
	for _, after := range []time.Duration{0, 100 * time.Millisecond, time.Second, 5 * time.Second, 45 * time.Second, 2 * time.Minute} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			cause := errors.New("interrupt")
			if after == 0 {
				cancel(cause)
			}
			time.AfterFunc(after, func() { cancel(cause) })
			s := newSite(t, func(_ int, h hit, _ http.ResponseWriter) {
				if h.host == "192.0.2.2" {
					time.Sleep(4 * time.Second) // under way when the end comes
				}
			})
			began := time.Now()
			ladder := newProbe(probes.KindIdle, time.Hour, 30*time.Second, 10*time.Second)
			out := play(t, ctx, s, nil,
				newTarget("held", 1, 2, append(exchanges(30), ladder)...), newTarget("slow", 2, 2, exchanges(30)...))
			if out.took != after || out.result.CutShort != "interrupt" {
				t.Errorf("after %s: returned after %s, cut short by %q", after, out.took, out.result.CutShort)
			}
			for _, h := range append(times(s.seen()), s.opens...) {
				if h.Sub(began) > after {
					t.Errorf("after %s: something started at %s", after, h.Sub(began))
				}
			}
			if after == 0 && len(s.opens)+len(s.hits) > 0 {
				t.Errorf("%d connections and %d requests of a run that had ended", len(s.opens), len(s.hits))
			}
			checkCut(t, after, out, began)
			synctest.Wait()
		})
	}
}

// checkCut: an observation is whole, or canceled with the reason.
func checkCut(t *testing.T, after time.Duration, out played, began time.Time) {
	t.Helper()
	whole := 0
	for _, o := range out.all {
		switch {
		case o.Cut == "":
			whole++
			if o.Kind == probes.KindIdle && o.Attempt(probes.ConnectionReused) == nil {
				t.Errorf("after %s: %+v is not whole", after, o)
			}
		case o.Cut != probes.CutCanceled || !strings.HasSuffix(o.CutDetail, "interrupt"):
			t.Errorf("after %s: cut %q, %q", after, o.Cut, o.CutDetail)
		}
		if o.Ended.Sub(began) > after {
			t.Errorf("after %s: ended at %s", after, o.Ended.Sub(began))
		}
	}
	if after > time.Minute && whole < 40 || after < time.Second && whole > 4 {
		t.Errorf("after %s: %d are whole", after, whole)
	}
}

// TestRunEndsWhenever plays random loads and ends them at random instants.
func TestRunEndsWhenever(t *testing.T) {
	for seed := range uint64(60) {
		synctest.Test(t, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 6))
			after := time.Duration(rng.IntN(20_000)) * time.Millisecond
			ctx, cancel := context.WithTimeout(t.Context(), after)
			defer cancel()
			s := newSite(t, func(n int, _ hit, w http.ResponseWriter) {
				time.Sleep(time.Duration(n%5) * 300 * time.Millisecond)
				w.WriteHeader([]int{200, 404, 503}[n%3])
			})
			p := newProbe(probes.KindHTTP)
			p.Retry, p.Redirects = probes.Retry{Attempts: 2, Backoff: time.Second}, 1
			target := newTarget("api", 1, 5+rng.Float64()*10, p, p, p,
				newProbe(probes.KindIdle, 2*time.Second, 5*time.Second), newProbe(probes.KindIdle, time.Minute))
			target.MaxConnections = 3
			began := time.Now()
			out := play(t, ctx, s, nil, target)
			if out.took > after || out.result.CutShort == "" {
				t.Errorf("seed %d: returned after %s, want %s at most, %q", seed, out.took, after, out.result.CutShort)
			}
			for _, at := range append(times(s.seen()), s.opens...) {
				if at.Sub(began) > after {
					t.Errorf("seed %d: something started at %s, the end was at %s", seed, at.Sub(began), after)
				}
			}
		})
	}
}

// A run that is whole is not cut short, and its sampler has seen it.
func TestWholeRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, nil)
		var events []probes.Event
		var mu sync.Mutex
		out := play(t, t.Context(), s, func(o *runner.Options) {
			o.Watch = func(e probes.Event) {
				mu.Lock()
				defer mu.Unlock()
				events = append(events, e)
			}
		}, newTarget("api", 1, 20, append(exchanges(3), newProbe(probes.KindIdle, 30*time.Second, 10*time.Second))...))
		if out.result.CutShort != "" || told(out.all)[""] != 5 {
			t.Errorf("cut short by %q, %v", out.result.CutShort, told(out.all))
		}
		if n := len(out.result.Delays); n < 290 || n > 330 {
			t.Errorf("%d samples of perch's own delay in %s", n, out.took)
		}
		steps := make([]int, 5)
		for _, e := range events {
			steps[e.Step]++
		}
		if slices.Sort(steps); !slices.Equal(steps, []int{2, 2, 2, 3, 3}) { // two rungs are held
			t.Errorf("the steps had %v events", steps)
		}
	})
}

// A bug in one step is that step's alone.
func TestPanicsStayAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, nil)
		var logged bytes.Buffer
		blow := func(o *runner.Options) {
			o.Log = slog.New(slog.NewTextHandler(&logged, &slog.HandlerOptions{Level: slog.LevelDebug}))
			o.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
				if strings.HasPrefix(address, "192.0.2.1:") {
					panic("a bug in the network")
				}
				return s.dial(ctx, network, address)
			}
			o.Secrets = func(probes.Source) (probes.Secret, error) { panic("a bug in reading secrets") }
		}
		bad := newTarget("bad", 1, 20, append(exchanges(9), newProbe(probes.KindIdle, 9*time.Second, 8*time.Second))...)
		bad.MaxConnections = 2 // a token that is lost would keep the others waiting for ever
		secret := newTarget("secret", 2, 20, append(exchanges(2), newProbe(probes.KindIdle, 9*time.Second))...)
		for i := range secret.Probes {
			secret.Probes[i].Headers = []probes.Field{{Name: "Authorization", From: probes.Source{Env: "T"}}}
		}
		good := newTarget("good", 3, 20, append(exchanges(3), newProbe(probes.KindIdle, 9*time.Second))...)
		unknown := newTarget("unknown", 4, 20, newProbe("psychic"))
		out := play(t, t.Context(), s, blow, bad, secret, good, unknown)
		for target, want := range map[string]string{
			"bad": "a bug in perch: a bug in the network\n", "secret": "a bug in perch: a bug in reading secrets\n",
			"unknown": "a bug in perch: no probe of kind psychic",
		} {
			for _, o := range out.of(target) {
				if o.Cut != probes.CutInternal || !strings.HasPrefix(o.Problem, want) || o.Problem != o.CutDetail {
					t.Errorf("%s: %+v", target, o)
				}
			}
		}
		if got := told(out.of("good")); got[""] != 4 || len(s.hits) != 5 {
			t.Errorf("the good target: %v, %d arrived", got, len(s.hits))
		}
		if n := strings.Count(logged.String(), `problem="a bug in perch: `); n != 11+3+1 {
			t.Errorf("%d were logged: %s", n, logged.String())
		}
	})
}

// A watcher's bug is its step's too, and ends neither the run nor the process.
func TestPanickingWatcher(t *testing.T) {
	for _, what := range []probes.EventKind{probes.EventStarted, probes.EventHolding, probes.EventDone} {
		synctest.Test(t, func(t *testing.T) {
			s := newSite(t, nil)
			out := play(t, t.Context(), s, func(o *runner.Options) {
				o.Watch = func(e probes.Event) {
					if e.What == what && e.Step == 1 {
						panic("a bug in the view")
					}
				}
			}, newTarget("api", 1, 20, newProbe(probes.KindIdle, 9*time.Second, 8*time.Second, 7*time.Second)))
			internal := 0
			for _, o := range out.all {
				if o.Cut == probes.CutInternal && strings.Contains(o.Problem, "a bug in the view") {
					internal++
				}
			}
			if internal != 1 || told(out.all)[""] != 2 {
				t.Errorf("%s: %v", what, told(out.all))
			}
		})
	}
}

// Secrets are read once a run, and anew after a 401.
func TestSecretsOfARun(t *testing.T) {
	for _, rotated := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			s := newSite(t, func(n int, h hit, w http.ResponseWriter) {
				if rotated && n >= 4 && h.secret == "Bearer version 1" {
					w.WriteHeader(http.StatusUnauthorized)
				}
			})
			// At 1/s, so that two are under way at most: three 401 in a row would
			// open the breaker.
			target := newTarget("api", 1, 1, exchanges(12)...)
			for i := range target.Probes {
				target.Probes[i].Headers = []probes.Field{{Name: "Authorization", Prefix: "Bearer ", From: probes.Source{File: "/token"}}}
			}
			var mu sync.Mutex
			reads := 0
			out := play(t, t.Context(), s, func(o *runner.Options) {
				o.Secrets = func(from probes.Source) (probes.Secret, error) {
					mu.Lock()
					defer mu.Unlock()
					if reads++; from.File != "/token" {
						return probes.Secret{}, fmt.Errorf("no such source: %s", from)
					}
					return probes.NewSecret(fmt.Sprintf("version %d", reads)), nil
				}
			}, target)
			failed := 0
			for _, o := range out.all {
				if lastReason(o) == probes.ReasonUnauthorized {
					failed++
				}
			}
			last := s.seen()[len(s.hits)-1].secret
			if !rotated && (reads != 1 || failed != 0 || last != "Bearer version 1") {
				t.Errorf("read %d times, %d failed, the last sent %s", reads, failed, last)
			}
			// Those whose secret had been read when the 401 came still fail.
			if rotated && (reads < 2 || reads > 1+failed || failed == 0 || failed > 2 || last == "Bearer version 1") {
				t.Errorf("rotated: read %d times, %d failed, the last sent %s", reads, failed, last)
			}
		})
	}
}

// A plan can be played again: the run changes nothing in it, not even where
// its second tries found gaps.
func TestPlanIsPlayedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, func(_ int, h hit, w http.ResponseWriter) {
			w.WriteHeader([]int{503, 404}[min(h.served, 1)])
		})
		again := newProbe(probes.KindHTTP)
		again.Retry.Attempts = 2
		target := newTarget("api", 1, 2, again, newProbe(probes.KindHTTP))
		p := newPlan(t, 1, target)
		steps := slices.Clone(p.Steps)
		var runs [2]string
		for i := range runs {
			began, n := time.Now(), len(s.hits)
			runner.Run(t.Context(), p, runner.Options{Targets: []probes.Target{target}, Dial: s.dial}, func(probes.Observation) {})
			for _, h := range s.seen()[n:] {
				runs[i] += fmt.Sprint(h.at.Sub(began), " ")
			}
		}
		if runs[0] != runs[1] || strings.Count(runs[0], " ") != 3 || !reflect.DeepEqual(steps, p.Steps) {
			t.Errorf("played twice:\n%s\n%s", runs[0], runs[1])
		}
	})
}

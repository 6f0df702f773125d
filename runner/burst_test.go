package runner_test

import (
	"context"
	"errors"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"perch.example/probes"
	"perch.example/runner"
)

// newBurst is two bursts of twenty calls, two a second, through a pool of five, with
// half a minute between.
func newBurst() probes.Spec {
	s := newProbe(probes.KindBurst)
	s.Burst = &probes.Shape{Requests: 20, Over: 10 * time.Second, Connections: 5, Bursts: 2, Gap: 30 * time.Second}
	s.PoolOrder = probes.PoolLIFO
	return s
}

func answersAfter(took time.Duration) func(int, hit, http.ResponseWriter) {
	return func(_ int, _ hit, w http.ResponseWriter) {
		time.Sleep(took)
		w.WriteHeader(http.StatusOK)
	}
}

// Calls of a burst leave at the instants that were planned, beside a ladder and other
// probes, and none of them waits at the last gate, however long answers take.
func TestBurstLeavesAsPlanned(t *testing.T) {
	for _, took := range []time.Duration{20 * time.Millisecond, 1800 * time.Millisecond} {
		synctest.Test(t, func(t *testing.T) {
			s := newSite(t, answersAfter(took))
			target := newTarget("api", 1, 6, append(exchanges(3), newBurst(), newProbe(probes.KindIdle, 20*time.Second, 5*time.Second))...)
			out := play(t, t.Context(), s, nil, target)
			var seen *probes.Observation
			for i, o := range out.all {
				if o.Kind == probes.KindBurst {
					seen = &out.all[i]
				}
			}
			if seen == nil || seen.Cut != "" || len(seen.Burst.Calls) != 40 {
				t.Fatalf("%+v", seen)
			}
			first := seen.Attempts[0].Started
			for i, c := range seen.Burst.Calls {
				at := seen.Attempts[c.Attempt].Started.Sub(first)
				if off := at - seen.Burst.Shape.Offset(i); off.Abs() > 10*time.Millisecond {
					t.Errorf("answers after %s: call %d left at %s, %s from its instant", took, i+1, at, off)
				}
			}
			use := out.use(t, "api")
			if use.Waited > 0 || use.Denied > 0 || use.PeakPerSecond > 6 || use.Requests != 40+3+4 {
				t.Errorf("%+v", use)
			}
		})
	}
}

// The peak stays within the budget where every connection dies in the gap and controls
// leave beside the calls.
func TestBurstKeepsTheBudgetWithItsControls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newClosingSite(t, 20*time.Second, answersAfter(time.Millisecond))
		out := play(t, t.Context(), s, nil, newTarget("api", 1, 4, newBurst()))
		o := out.all[0]
		dead, controls := 0, 0
		for _, a := range o.Attempts {
			switch {
			case a.Connection == probes.ConnectionControl && a.OK():
				controls++
			case a.Connection == probes.ConnectionReused && !a.OK():
				dead++
			}
		}
		if dead != 5 || controls != 1 || o.Cut != "" {
			t.Errorf("%d dead, %d controls, cut %q", dead, controls, o.Cut)
		}
		if use := out.use(t, "api"); use.PeakPerSecond > 4 || use.Waited > 0 || use.Denied > 0 || use.Requests != 41 {
			t.Errorf("%+v", use)
		}
		if s.peak > 5 {
			t.Errorf("%d connections at once", s.peak)
		}
	})
}

// What a day does not give is not begun; what is begun has all its requests.
func TestBurstIsPromisedItsRequests(t *testing.T) {
	for _, c := range []struct {
		left  int
		calls int
	}{{42, 40}, {41, 0}} {
		synctest.Test(t, func(t *testing.T) {
			s := newSite(t, answersAfter(time.Millisecond))
			out := play(t, t.Context(), s, func(o *runner.Options) {
				o.Daily = func(string) int { return c.left }
			}, newTarget("api", 1, 4, newBurst()))
			if o := out.all[0]; len(s.seen()) != c.calls || (o.Cut == probes.CutSkipped) != (c.calls == 0) {
				t.Errorf("of %d that are left, %d were sent, cut %q (%s)", c.left, len(s.seen()), o.Cut, o.CutDetail)
			}
		})
	}
}

// A target that asks to be left alone in the middle of a burst is: what was seen stays.
func TestBurstLeavesATargetAloneThatAsksForIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, func(n int, _ hit, w http.ResponseWriter) {
			if n == 9 {
				w.Header().Set("Retry-After", "3600")
				w.WriteHeader(http.StatusTooManyRequests)
			}
		})
		out := play(t, t.Context(), s, nil, newTarget("api", 1, 4, newBurst()))
		o := out.all[0]
		if len(s.seen()) != 10 || o.Cut != probes.CutSkipped || !strings.Contains(o.CutDetail, "Retry-After") || len(o.Burst.Calls) != 10 {
			t.Errorf("%d calls came; cut %q (%s)", len(s.seen()), o.Cut, o.CutDetail)
		}
		if o.Burst.Ended != o.CutDetail || o.Burst.NotMade() != 30 || out.use(t, "api").Denied != 30 {
			t.Errorf("ended: %q; %d calls were not made, %d not sent", o.Burst.Ended, o.Burst.NotMade(), out.use(t, "api").Denied)
		}
	})
}

// A target that is down costs three dials, and no more.
func TestBurstOnADownTarget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, nil)
		_ = s.network.Close()
		out := play(t, t.Context(), s, nil, newTarget("api", 1, 4, newBurst()))
		if o := out.all[0]; len(s.opens) != 3 || o.Cut != "" || len(o.Attempts) != 3 {
			t.Errorf("%d dials, %d attempts, cut %q (%s)", len(s.opens), len(o.Attempts), o.Cut, o.CutDetail)
		}
	})
}

// A signal in the gap ends the step at once, with what was seen, and closes the pool.
func TestBurstThatIsStopped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, answersAfter(time.Millisecond))
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(25*time.Second, func() { cancel(errors.New("SIGTERM")) })
		out := play(t, ctx, s, nil, newTarget("api", 1, 4, newBurst()))
		if o := out.all[0]; o.Cut != probes.CutCanceled || !strings.Contains(o.CutDetail, "SIGTERM") || len(o.Burst.Calls) != 20 || out.took > 26*time.Second {
			t.Errorf("cut %q (%s), %d calls, after %s", o.Cut, o.CutDetail, len(o.Burst.Calls), out.took)
		}
	})
}

// A pool whose opening is slow leaves later as a whole, and keeps the budget.
func TestBurstWithASlowFirstConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, answersAfter(time.Millisecond))
		s.slow = 800 * time.Millisecond // the first dial
		out := play(t, t.Context(), s, nil, newTarget("api", 1, 4, newBurst()))
		o := out.all[0]
		if o.Cut != "" || len(o.Burst.Calls) != 40 {
			t.Fatalf("cut %q (%s), %d calls", o.Cut, o.CutDetail, len(o.Burst.Calls))
		}
		first := o.Attempts[0].Started
		for i, c := range o.Burst.Calls {
			if off := o.Attempts[c.Attempt].Started.Sub(first) - o.Burst.Shape.Offset(i); off.Abs() > 300*time.Millisecond {
				t.Errorf("call %d is %s from its instant", i+1, off)
			}
		}
		if use := out.use(t, "api"); use.PeakPerSecond > 4 || use.Denied > 0 {
			t.Errorf("%+v", use)
		}
	})
}

// An address that the policy denies is not dialled for the pool, nor for a control.
func TestBurstObeysThePolicyOfAddresses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, answersAfter(time.Millisecond))
		policy := &probes.Policy{DeniedNetworks: []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")}}
		out := play(t, t.Context(), s, func(o *runner.Options) { o.Policy = policy }, newTarget("api", 1, 4, newBurst()))
		if o := out.all[0]; len(s.opens) > 0 || o.Cut != probes.CutSkipped || !strings.Contains(o.CutDetail, "policy") {
			t.Errorf("%d dials, cut %q (%s)", len(s.opens), o.Cut, o.CutDetail)
		}
	})
}

// While a pod's network comes up, a burst's first connection is tried again, and then
// all of its calls leave as planned.
func TestBurstSettles(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, answersAfter(time.Millisecond))
		down := newOutage(s, refusedFor(3*time.Second))
		out := play(t, t.Context(), s, down.during, newTarget("api", 1, 4, newBurst()))
		o := out.all[0]
		if len(out.result.Settled) != 1 || o.Cut != "" || len(o.Burst.Calls) != 40 || o.Attempt(probes.ConnectionReused) == nil {
			t.Fatalf("settled %+v; cut %q (%s), %d calls", out.result.Settled, o.Cut, o.CutDetail, len(o.Burst.Calls))
		}
		for i, c := range o.Burst.Calls {
			if off := o.Attempts[c.Attempt].Started.Sub(o.Attempts[0].Started) - o.Burst.Shape.Offset(i); off.Abs() > 10*time.Millisecond {
				t.Errorf("call %d is %s from its instant", i+1, off)
			}
		}
		if use := out.use(t, "api"); use.Requests != 40 || use.Denied > 0 || use.PeakPerSecond > 4 {
			t.Errorf("%+v", use)
		}
	})
}

// A proxy that opens no connection has seen a request for each that it was asked for:
// three, and then the burst ends.
func TestBurstCountsWhatAProxyRefuses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, status(http.StatusBadGateway))
		out := play(t, t.Context(), s, func(o *runner.Options) {
			o.Secrets = func(probes.Source) (probes.Secret, error) { return probes.NewSecret("me:hunter2"), nil }
		}, behindProxy(newTarget("api", 1, 4, newBurst()), 1))
		if o := out.all[0]; len(s.seen()) != 3 || out.use(t, "api").Requests != 3 || len(o.Attempts) != 3 || o.Cut != "" {
			t.Errorf("%d CONNECTs, %+v; cut %q (%s): %v", len(s.seen()), out.use(t, "api"), o.Cut, o.CutDetail, o.Attempts)
		}
	})
}

// Bursts of several targets, and waves that follow each other, keep each budget.
func TestBurstsOfWavesShareTheBudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, answersAfter(30*time.Millisecond))
		target := newTarget("api", 1, 4, newBurst())
		r := runner.New(runner.Options{Targets: []probes.Target{target}, UserAgent: "perch/test", Dial: s.dial})
		p := newPlan(t, 1, target)
		var playing sync.WaitGroup
		for i := range 3 {
			time.Sleep(time.Duration(i) * 7 * time.Second)
			playing.Go(func() {
				r.Play(t.Context(), p, func(o probes.Observation) {
					if o.Cut != "" || len(o.Burst.Calls) != 40 {
						t.Errorf("wave %d: cut %q (%s)", i+1, o.Cut, o.CutDetail)
					}
				})
			})
		}
		playing.Wait()
		if hits := s.seen(); len(hits) != 120 || busiest(times(hits), time.Second) > 4 {
			t.Errorf("%d calls, %d in a second", len(hits), busiest(times(hits), time.Second))
		}
	})
}

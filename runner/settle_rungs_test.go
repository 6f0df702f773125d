package runner_test

import (
	"math/rand/v2"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"perch.example/plan"
	"perch.example/probes"
)

// TestLadderSettles: a ladder whose network comes up late is the same ladder,
// later: its holds, and what is between its rungs, stay.
func TestLadderSettles(t *testing.T) {
	ladder := func(t *testing.T, down time.Duration) (out played, left []time.Duration, o *outage) {
		o = newOutage(newSite(t, nil), refusedFor(down))
		p := newProbe(probes.KindIdle, 2*time.Minute, 61*time.Second, 59*time.Second, 30*time.Second)
		p.KeepAlive = time.Minute
		out = play(t, t.Context(), o.site, o.during, newTarget("api", 1, 1, p))
		for _, h := range o.site.seen() {
			left = append(left, h.at.Sub(o.began))
		}
		return out, left, o
	}
	synctest.Test(t, func(t *testing.T) {
		_, want, _ := ladder(t, 0)
		for _, down := range []time.Duration{time.Millisecond, 2500 * time.Millisecond, 7 * time.Second, settle} {
			out, left, o := ladder(t, down)
			moved := left[0] - want[0]
			if moved < down || moved >= down+settlePace || moved > settle {
				t.Errorf("down for %s: the first left %s later", down, moved)
			}
			for i := range want {
				if left[i]-want[i] != moved {
					t.Errorf("down for %s: request %d left %s later, the first %s", down, i, left[i]-want[i], moved)
				}
			}
			for _, seen := range out.all {
				if reuse := seen.Attempt(probes.ConnectionReused); seen.Cut != "" || reuse == nil || reuse.IdleTime != seen.Hold {
					t.Errorf("down for %s: %+v", down, seen)
				}
			}
			if most := int(down/settlePace) + 1; len(o.failed) > most {
				t.Errorf("down for %s: %d dials failed, want %d at most", down, len(o.failed), most)
			}
			if use := out.use(t, "api"); use.Waited != 0 || use.Denied != 0 {
				t.Errorf("down for %s: %+v", down, use)
			}
		}
	})
}

// TestManyRungsSettle: 48 rungs at 5/s, all of whose connections fail at first:
// the budget holds, nobody waits at the last gate, the target is dialled once a
// second meanwhile, and the breaker counts nothing.
func TestManyRungsSettle(t *testing.T) {
	for _, down := range []time.Duration{100 * time.Millisecond, 4200 * time.Millisecond, 9900 * time.Millisecond} {
		synctest.Test(t, func(t *testing.T) {
			o := newOutage(newSite(t, nil), refusedFor(down))
			var holds []time.Duration
			for i := range 48 {
				holds = append(holds, time.Duration(30+i)*time.Second)
			}
			p := newProbe(probes.KindIdle, holds...)
			p.KeepAlive = 100 * time.Millisecond // rungs need not be apart
			out := play(t, t.Context(), o.site, o.during, newTarget("api", 1, 5, p))
			for _, seen := range out.all {
				if reuse := seen.Attempt(probes.ConnectionReused); seen.Cut != "" || reuse == nil || !reuse.OK() || reuse.IdleTime != seen.Hold {
					t.Errorf("down for %s: %+v", down, seen)
				}
			}
			if n := busiest(times(o.site.seen()), time.Second); n > 5 {
				t.Errorf("down for %s: %d arrived within a second", down, n)
			}
			if n := busiest(o.failed, settlePace); n > 2 { // those that had begun before the first failed
				t.Errorf("down for %s: %d dials within a second", down, n)
			}
			if use := out.use(t, "api"); use.Waited != 0 || use.Denied != 0 || use.Requests != 96 {
				t.Errorf("down for %s: %+v", down, use)
			}
		})
	}
}

// TestFlappingSettles: dials that fail by chance in the first seconds, while
// others work: the budget holds, nobody waits at the last gate, and each hold is
// as long as it was to be.
func TestFlappingSettles(t *testing.T) {
	tried := 0
	for seed := range uint64(60) {
		synctest.Test(t, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 7))
			var mu sync.Mutex
			o := newOutage(newSite(t, nil), func(since time.Duration, _ string) error {
				mu.Lock()
				fails, after := rng.IntN(3) > 0, time.Duration(rng.IntN(400))*time.Millisecond
				mu.Unlock()
				if since >= 8*time.Second || !fails {
					return nil
				}
				time.Sleep(after)
				return syscall.ECONNREFUSED
			})
			rate := 2 + float64(rng.IntN(10))
			target := newTarget("api", 1, rate, append(exchanges(rng.IntN(10)),
				newProbe(probes.KindIdle, 20*time.Second, 15*time.Second, 12*time.Second), newProbe(probes.KindIdle, 11*time.Second))...)
			target.MaxConnections = 6
			out := play(t, t.Context(), o.site, o.during, target)
			cal := plan.NewCalendar(rate)
			if n := busiest(times(o.site.seen()), cal.Window()); n > cal.Allowed() {
				t.Errorf("seed %d: %d arrived within %s, %d may", seed, n, cal.Window(), cal.Allowed())
			}
			if use := out.use(t, "api"); use.Waited != 0 || use.Denied != 0 {
				t.Errorf("seed %d: %+v", seed, use)
			}
			for _, seen := range out.all {
				reuse := seen.Attempt(probes.ConnectionReused)
				if seen.Cut != "" || !seen.Attempts[0].OK() || seen.Kind == probes.KindIdle && (reuse == nil || reuse.IdleTime != seen.Hold) {
					t.Errorf("seed %d: %+v", seed, seen)
				}
			}
			if len(out.result.Settled) > 0 {
				tried += out.result.Settled[0].Times
				if out.result.Settled[0].Times != len(o.failed) {
					t.Errorf("seed %d: %d failed, %+v", seed, len(o.failed), out.result.Settled)
				}
			}
			if o.site.peak > target.MaxConnections {
				t.Errorf("seed %d: %d were open at once", seed, o.site.peak)
			}
		})
	}
	if tried < 200 {
		t.Errorf("only %d tries in all", tried)
	}
}

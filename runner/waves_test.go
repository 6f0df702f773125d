package runner_test

import (
	"bytes"
	"context"
	"math/rand/v2"
	"net"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"perch.example/config"
	"perch.example/internal/memnet"
	"perch.example/plan"
	"perch.example/probes"
	"perch.example/probes/wire"
	"perch.example/runner"
)

// writes records when each request was handed to the network: the last point.
type writes struct {
	dial wire.DialFunc
	mu   sync.Mutex
	at   []time.Time
}

func (w *writes) Dial(ctx context.Context, network, address string) (net.Conn, error) {
	c, err := w.dial(ctx, network, address)
	if err != nil {
		return nil, err
	}
	return &written{c, w}, nil
}

type written struct {
	net.Conn
	all *writes
}

func (w *written) Write(p []byte) (int, error) {
	for _, method := range []string{"GET ", "HEAD ", "OPTIONS "} {
		if bytes.HasPrefix(p, []byte(method)) {
			w.all.mu.Lock()
			w.all.at = append(w.all.at, time.Now())
			w.all.mu.Unlock()
		}
	}
	return w.Conn.Write(p)
}

// TestBudgetHoldsAcrossWaves plays random loads, several at once and again and
// again, against one target: no window sees more than the budget allows where
// the requests leave, no more connections are open than may be, and the holds
// are as exact as those of one wave.
func TestBudgetHoldsAcrossWaves(t *testing.T) {
	var all tallied
	for seed := range uint64(10) {
		synctest.Test(t, func(t *testing.T) { all.add(playWaves(t, seed)) })
	}
	t.Logf("%+v", all)
	if all.holds < 300 || all.off*100 > all.holds {
		t.Errorf("%d of %d holds were off by more than 10 ms, want at most 1%% of many", all.off, all.holds)
	}
	if all.cut*50 > all.steps {
		t.Errorf("%d of %d steps were cut: waves take each other's budget", all.cut, all.steps)
	}
	if all.together < 40 {
		t.Errorf("only %d waves began beside another one", all.together)
	}
}

// tallied is what came of many waves.
type tallied struct{ steps, cut, holds, off, together int }

func (a *tallied) add(b tallied) {
	a.steps, a.cut, a.holds, a.off, a.together = a.steps+b.steps, a.cut+b.cut, a.holds+b.holds, a.off+b.off, a.together+b.together
}

func (a *tallied) observe(o probes.Observation) {
	a.steps++
	if o.Cut != "" {
		a.cut++
	}
	for _, attempt := range o.Attempts {
		if attempt.Connection == probes.ConnectionReused {
			a.holds++
			if d := attempt.IdleTime - o.Hold; d < -10*time.Millisecond || d > 10*time.Millisecond {
				a.off++
			}
		}
	}
}

func playWaves(t *testing.T, seed uint64) tallied {
	rng := rand.New(rand.NewPCG(seed, 7))
	target := randomTarget(rng)
	target.MaxConnections = 4 + rng.IntN(6)
	if _, err := plan.New(config.Config{Name: "test", Targets: []probes.Target{target}}, plan.Options{Seed: seed}); err != nil {
		return tallied{} // refused: nothing would be sent
	}
	lat := rand.New(rand.NewPCG(seed, 8))
	s := newSite(t, func(n int, _ hit, w http.ResponseWriter) {
		time.Sleep(time.Duration(n*7%200) * time.Millisecond)
		w.WriteHeader([]int{200, 200, 200, 200, 404}[n%5])
	})
	var dialling sync.Mutex
	out := &writes{dial: func(ctx context.Context, network, address string) (net.Conn, error) {
		dialling.Lock()
		d := time.Duration(lat.IntN(150)) * time.Millisecond
		dialling.Unlock()
		time.Sleep(d)
		return s.dial(ctx, network, address)
	}}
	r := runner.New(runner.Options{Targets: []probes.Target{target}, Dial: out.Dial})
	var mu sync.Mutex
	var all tallied
	playing, sent := 0, 0
	var loops sync.WaitGroup
	for n := range 3 {
		dice := rand.New(rand.NewPCG(seed, uint64(100+n)))
		loops.Go(func() {
			for range 5 {
				time.Sleep(time.Duration(dice.IntN(20_000)) * time.Millisecond)
				mu.Lock()
				if playing > 0 {
					all.together++
				}
				playing++
				p, err := plan.New(config.Config{Name: "test", Targets: []probes.Target{target}}, plan.Options{Seed: dice.Uint64()})
				mu.Unlock()
				if err != nil {
					t.Error(err)
					return
				}
				var mine tallied
				res := r.Play(t.Context(), p, mine.observe)
				if mine.steps != len(p.Steps) {
					t.Errorf("seed %d: %d observations of %d steps", seed, mine.steps, len(p.Steps))
				}
				mu.Lock()
				all.add(mine)
				playing--
				sent += res.Budget[0].Requests
				mu.Unlock()
			}
		})
	}
	loops.Wait()
	cal := plan.NewCalendar(target.Budget())
	if n := busiest(out.at, cal.Window()); n > cal.Allowed() {
		t.Errorf("seed %d: %d requests left within %s, want at most %d", seed, n, cal.Window(), cal.Allowed())
	}
	if s.peak > target.MaxConnections || s.open != 0 {
		t.Errorf("seed %d: %d open at once, want at most %d; %d stayed open", seed, s.peak, target.MaxConnections, s.open)
	}
	if sent != len(out.at) {
		t.Errorf("seed %d: the waves say that they sent %d, %d left", seed, sent, len(out.at))
	}
	return all
}

// wave plays the target's probes once more.
func wave(t *testing.T, r *runner.Runner, target probes.Target) (res runner.Result, all []probes.Observation) {
	t.Helper()
	res = r.Play(t.Context(), newPlan(t, 1, target), func(o probes.Observation) { all = append(all, o) })
	return res, all
}

// A target that was down is left alone for the rest of a wave, and tried again
// in the next one.
func TestWavesTryAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		up := false
		s := newSite(t, nil)
		target := newTarget("api", 1, 5, exchanges(6)...)
		r := runner.New(runner.Options{Targets: []probes.Target{target}, Dial: func(ctx context.Context, network, address string) (net.Conn, error) {
			if !up {
				return nil, memnet.ErrRefused
			}
			return s.dial(ctx, network, address)
		}})
		for n := range 3 {
			_, all := wave(t, r, target)
			tried := 0
			for _, o := range all {
				if len(o.Attempts) > 0 {
					tried++
				} else if !strings.Contains(o.CutDetail, "for the rest of this run") {
					t.Errorf("wave %d: %+v", n, o)
				}
			}
			if tried == 0 || tried > 4 {
				t.Errorf("wave %d of a target that is down tried %d times", n, tried)
			}
		}
		up = true
		if _, all := wave(t, r, target); told(all)[""] != 6 {
			t.Errorf("once it is up: %v", told(all))
		}
	})
}

// The daily limit is one for all waves of a UTC day, and begins anew at midnight.
func TestDailyLimitAcrossMidnight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // the bubble begins at midnight
		s := newSite(t, nil)
		target := newTarget("api", 1, 5, exchanges(2)...)
		limited := target // the plan knows nothing of it: what is sent is bounded
		limited.DailyLimit = 5
		r := runner.New(runner.Options{Targets: []probes.Target{limited}, Dial: s.dial, Daily: func(string) int { return 3 }})
		for day, want := range [][]int{{2, 1, 0}, {2, 2, 1, 0}, {2, 2, 1}} {
			for n, whole := range want {
				res, all := wave(t, r, target)
				if got := told(all)[""]; got != whole || res.Budget[0].Requests != whole {
					t.Errorf("day %d, wave %d: %d were whole, want %d; %+v, %v", day, n, got, whole, res.Budget[0], told(all))
				}
				time.Sleep(time.Hour)
			}
			time.Sleep(time.Until(time.Now().Truncate(24 * time.Hour).Add(24 * time.Hour)))
		}
	})
}

// A target that had no wave on the first day has all of the second day's limit.
func TestDailyLimitOfALaterDay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, nil)
		target := newTarget("api", 1, 5, exchanges(2)...)
		r := runner.New(runner.Options{Targets: []probes.Target{target}, Dial: s.dial, Daily: func(string) int { return 0 }})
		time.Sleep(25 * time.Hour)
		if _, all := wave(t, r, target); told(all)[""] != 2 {
			t.Errorf("%v", told(all))
		}
	})
}

// What a target asks of one wave holds for those beside it and after it.
func TestRetryAfterHoldsForAllWaves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, status(http.StatusServiceUnavailable, "Retry-After", "600"))
		target := newTarget("api", 1, 5, newProbe(probes.KindHTTP))
		r := runner.New(runner.Options{Targets: []probes.Target{target}, Dial: s.dial})
		began := time.Now()
		for range 12 {
			wave(t, r, target)
			time.Sleep(time.Until(time.Now().Truncate(time.Minute).Add(time.Minute)))
		}
		if hits := s.seen(); len(hits) != 2 || hits[1].at.Sub(began) < 10*time.Minute {
			t.Errorf("%d requests in 13 minutes: %+v", len(hits), hits)
		}
	})
}

// Holds of two waves share the connections: the second waits for its turn, and
// nothing of it is cut.
func TestWavesShareConnections(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, nil)
		target := newTarget("api", 1, 20, newProbe(probes.KindIdle, time.Minute, 50*time.Second))
		target.MaxConnections = 3
		r := runner.New(runner.Options{Targets: []probes.Target{target}, Dial: s.dial})
		began := time.Now()
		var waves sync.WaitGroup
		for range 2 {
			waves.Go(func() {
				if _, all := wave(t, r, target); told(all)[""] != 2 {
					t.Errorf("%v", told(all))
				}
			})
			time.Sleep(time.Second)
		}
		waves.Wait()
		if took := time.Since(began); s.peak > 3 || took < 100*time.Second || took > 3*time.Minute {
			t.Errorf("%d connections were open at once, and both waves took %s", s.peak, took)
		}
	})
}

// The secrets of each wave are read anew.
func TestWavesReadSecretsAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, nil)
		p := newProbe(probes.KindHTTP)
		p.Headers = []probes.Field{{Name: "Authorization", From: probes.Source{Env: "TOKEN"}}}
		target := newTarget("api", 1, 5, p)
		token := "one"
		r := runner.New(runner.Options{Targets: []probes.Target{target}, Dial: s.dial, Secrets: func(probes.Source) (probes.Secret, error) {
			return probes.NewSecret(token), nil
		}})
		wave(t, r, target)
		token = "two"
		wave(t, r, target)
		if hits := s.seen(); len(hits) != 2 || hits[0].secret != "one" || hits[1].secret != "two" {
			t.Errorf("%+v", hits)
		}
	})
}

// Three weeks of waves leave neither memory nor goroutines behind.
func TestWeeksOfWavesLeaveNothing(t *testing.T) {
	var heap [4]uint64
	goroutines := 0
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, nil)
		target := newTarget("api", 1, 5, newProbe(probes.KindHTTP), newProbe(probes.KindIdle, 3*time.Second, 2*time.Second))
		r := runner.New(runner.Options{Targets: []probes.Target{target}, Dial: s.dial})
		const each = 7 * 24 // an hour apart
		for n := range 3*each + 1 {
			if n%each == 0 {
				s.mu.Lock()
				s.hits, s.opens = nil, nil // the test's own
				s.mu.Unlock()
				left := goroutinesLeft()
				var m runtime.MemStats
				runtime.ReadMemStats(&m)
				heap[n/each] = m.HeapAlloc
				if n == each {
					goroutines = left
				}
			}
			if res, all := wave(t, r, target); told(all)[""] != 3 || res.Budget[0].Waited != 0 || res.Budget[0].PeakPerSecond > 5 {
				t.Fatalf("wave %d: %v, %+v", n, told(all), res.Budget)
			}
			time.Sleep(time.Hour)
		}
		if now := goroutinesLeft(); now > goroutines {
			t.Errorf("%d goroutines after a week, %d after three", goroutines, now)
		}
	})
	if heap[3] > heap[1]+256<<10 {
		t.Errorf("the heap grew: %v", heap)
	}
	t.Logf("heap at the weeks' ends: %v", heap)
}

// goroutinesLeft counts the goroutines once those of the bubble are at rest. One that
// synctest takes as gone counts until its thread has put it away: a collection stops
// the world, which waits for that thread.
func goroutinesLeft() int {
	synctest.Wait()
	runtime.GC()
	return runtime.NumGoroutine()
}

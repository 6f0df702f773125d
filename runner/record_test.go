package runner_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"perch.example/config"
	"perch.example/internal/memnet"
	"perch.example/plan"
	"perch.example/probes"
	"perch.example/probes/expect"
	"perch.example/probes/wire"
	"perch.example/runner"
)

// recorder is a server that writes down what it received and when.
type recorder struct {
	mu      sync.Mutex
	methods []string
	at      []time.Time
	latency func() time.Duration
	fail    func() int // status
}

func (r *recorder) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	r.mu.Lock()
	r.methods = append(r.methods, req.Method)
	r.at = append(r.at, time.Now())
	wait, status := r.latency(), r.fail()
	r.mu.Unlock()
	time.Sleep(wait)
	w.WriteHeader(status)
}

// busiest returns the largest number of requests in any window of w.
func busiest(at []time.Time, w time.Duration) int {
	most, first := 0, 0
	slices.SortFunc(at, time.Time.Compare)
	for i := range at {
		for at[i].Sub(at[first]) >= w {
			first++
		}
		most = max(most, i-first+1)
	}
	return most
}

// randomTarget is any load that a config could ask for.
func randomTarget(rng *rand.Rand) probes.Target {
	u, _ := url.Parse("http://127.0.0.1/v1")
	all, _ := expect.Compile(nil)
	t := probes.Target{
		Name: "api", URL: u, RateLimit: probes.Rate(1 + rng.Float64()*30), Share: 0.05 + rng.Float64()*0.95,
		DailyLimit: 1 << 20, MaxConnections: 4 + rng.IntN(30),
	}
	for i := range 1 + rng.IntN(4) {
		s := probes.Spec{
			Target: t.Name, Probe: fmt.Sprintf("p%d", i), Kind: probes.KindHTTP, Every: time.Hour,
			Method: []string{"GET", "HEAD", "OPTIONS"}[rng.IntN(3)], URL: u, MaxBody: 1 << 20, Expect: all,
			Timeouts: probes.Timeouts{DNS: time.Second, Connect: time.Second, TLS: time.Second, Response: 5 * time.Second},
			Retry:    probes.Retry{Attempts: 1 + rng.IntN(3), Backoff: time.Duration(rng.IntN(400)) * time.Millisecond},
		}
		if rng.IntN(2) == 0 {
			s.Kind, s.Retry = probes.KindIdle, probes.Retry{}
			for range 1 + rng.IntN(8) {
				s.Holds = append(s.Holds, time.Duration(100+rng.IntN(30_000))*time.Millisecond)
			}
		}
		t.Probes = append(t.Probes, s)
	}
	return t
}

// TestBudgetHoldsForAnyLoad plays random loads in simulated time against a
// recording server: no window sees more than the budget allows, no method that
// was not allowed arrives, and no hold is off.
func TestBudgetHoldsForAnyLoad(t *testing.T) {
	holds, off := 0, 0
	for seed := range uint64(150) {
		synctest.Test(t, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 1))
			h, o := playRecorded(t, seed, randomTarget(rng), rng)
			holds, off = holds+h, off+o
		})
	}
	t.Logf("%d holds reused, %d off by more than 10 ms", holds, off)
	if holds < 200 {
		t.Errorf("only %d holds were reused: the loads do not test the holds", holds)
	}
	if off*100 > holds {
		t.Errorf("%d of %d holds were off by more than 10 ms, want at most 1%%", off, holds)
	}
}

// slowly dials as far networks do: up to 400 ms.
func slowly(n *memnet.Network, rng *rand.Rand) wire.DialFunc {
	var mu sync.Mutex
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		mu.Lock()
		d := time.Duration(rng.IntN(400)) * time.Millisecond
		mu.Unlock()
		time.Sleep(d)
		return n.Dial(ctx, network, address)
	}
}

func playRecorded(t *testing.T, seed uint64, target probes.Target, rng *rand.Rand) (holds, off int) {
	t.Helper()
	p, err := plan.New(config.Config{Name: "test", Targets: []probes.Target{target}}, plan.Options{Seed: seed})
	if err != nil {
		return 0, 0 // refused: nothing would be sent
	}
	network := memnet.New()
	lat := rand.New(rand.NewPCG(seed, 2)) // the server's own, under its own lock
	rec := &recorder{
		latency: func() time.Duration { return time.Duration(lat.IntN(300)) * time.Millisecond },
		fail:    func() int { return []int{200, 200, 200, 200, 503}[lat.IntN(5)] },
	}
	server := &http.Server{Handler: rec}
	go func() { _ = server.Serve(network) }() // returns when the server is closed
	runner.Run(context.Background(), p, runner.Options{
		Targets: []probes.Target{target}, UserAgent: "perch/test", Dial: slowly(network, rng),
	}, func(o probes.Observation) {
		for _, a := range o.Attempts {
			if a.Connection != probes.ConnectionReused {
				continue
			}
			holds++
			if d := a.IdleTime - o.Hold; d < -10*time.Millisecond || d > 10*time.Millisecond {
				off++
			}
		}
	})
	_ = server.Close()
	_ = network.Close()
	synctest.Wait()

	cal := plan.NewCalendar(target.Budget())
	if n := busiest(rec.at, cal.Window()); n > cal.Allowed() {
		t.Errorf("seed %d: %d requests arrived within %s, want at most %d", seed, n, cal.Window(), cal.Allowed())
	}
	for _, m := range rec.methods {
		if m != http.MethodGet && m != http.MethodHead && m != http.MethodOptions {
			t.Errorf("seed %d: method %s arrived", seed, m)
		}
	}
	return holds, off
}

package diagnose

import (
	"math/rand/v2"
	"testing"
	"time"

	"perch.example/diagnose/clients"
	"perch.example/probes"
)

// played is how many calls of a run draw a dead connection as perch plays its shape: blind,
// one after the other, through a new pool that the first calls fill.
func played(s probes.Shape, order probes.PoolOrder, timeout time.Duration) int {
	type connection struct {
		opened int
		used   time.Duration
	}
	var idle []connection // in the order of their use
	opened, dead := 0, 0
	for i := range s.Calls() {
		now := s.Offset(i)
		if opened < s.Connections || len(idle) == 0 {
			opened++
			idle = append(idle, connection{opened, now})
			continue
		}
		at := len(idle) - 1
		for k, c := range idle {
			if order == probes.PoolFIFO && k == 0 || order == probes.PoolOldest && c.opened < idle[at].opened {
				at = k
			}
			if order == probes.PoolFIFO {
				break
			}
		}
		c := idle[at]
		idle = append(idle[:at:at], idle[at+1:]...)
		if now-c.used >= timeout {
			dead++
			continue
		}
		c.used = now
		idle = append(idle, c)
	}
	return dead
}

// predictedShape is what the calls of the declared shape would meet, of a client that never looks.
func predictedShape(t *testing.T, spec probes.Spec, order probes.PoolOrder, timeout time.Duration) probes.Prediction {
	t.Helper()
	times, ok := DeclaredTimes(spec)
	if !ok {
		t.Fatal("no shape")
	}
	calls := times.Calls
	for i := range calls {
		calls[i].Took = time.Millisecond
	}
	never := probes.Client{Kind: "apache-httpclient-4.5", AutomaticRetries: probes.SwitchNone, ValidateAfter: probes.Limit{Mode: probes.LimitNone}}
	p, ok := clients.Predict(calls, clients.Pool{Client: never, Connections: spec.Burst.Connections, Order: order, Filled: times.Shape},
		clients.Path{Timeout: timeout, End: probes.ReasonIdleFIN})
	if !ok {
		t.Fatal("nothing is predicted")
	}
	return p
}

// TestPredictedAsPlayed: where the pool dies in the gap, as many of each repetition's calls are
// said to meet a dead connection as perch's own do, whatever a repetition leaves to the next.
func TestPredictedAsPlayed(t *testing.T) {
	rng := rand.New(rand.NewPCG(20, 8))
	for range 400 {
		timeout := time.Duration(2+rng.IntN(60)) * time.Second
		s := probes.Shape{Requests: 3 + rng.IntN(40), Bursts: 2 + rng.IntN(3), Over: time.Second, Gap: timeout + time.Duration(rng.IntN(100))*time.Second}
		s.Connections = 2 + rng.IntN(s.Requests-1) // of a pool of one that repetitions leave dead, each draws that one besides
		if s.Bursts > 2 && s.Connections == s.Requests {
			s.Connections-- // else no call of the second burst opens one for the third where all are new, but one does where one is left
		}
		order := probes.PoolOrders()[rng.IntN(3)]
		want := played(s, order, timeout)
		for _, rest := range []time.Duration{10 * time.Millisecond, timeout / 2, timeout - time.Second, timeout + time.Second, time.Hour} {
			spec := probes.Spec{Burst: &s, Every: s.Lasts() + rest}
			if p := predictedShape(t, spec, order, timeout); p.Dead != mostRepeats*want || p.Calls != mostRepeats*s.Calls() {
				t.Fatalf("%+v (%s), closed after %s, %s between two repetitions: %d of %d calls are predicted, played %d of %d each", s, order, timeout, rest, p.Dead, p.Calls, want, s.Calls())
			}
		}
	}
}

// TestPredictedAsMeasured: the numbers of one burst that was measured, 8 of 40.
func TestPredictedAsMeasured(t *testing.T) {
	spec := probes.Spec{Every: 10 * time.Minute, Burst: &probes.Shape{Requests: 20, Over: 2 * time.Second, Connections: 8, Bursts: 2, Gap: 4 * time.Second}}
	p := predictedShape(t, spec, probes.PoolLIFO, 2*time.Second)
	if p.Calls != 400 || p.Dead != 80 || p.DeadShare() != 0.2 || played(*spec.Burst, probes.PoolLIFO, 2*time.Second) != 8 {
		t.Errorf("%+v", p)
	}
	spec.Burst.Gap = time.Second // what idles from one repetition to the next dies all the same, and perch's own run does not see it
	if p := predictedShape(t, spec, probes.PoolLIFO, 2*time.Second); p.Dead == 0 || played(*spec.Burst, probes.PoolLIFO, 2*time.Second) != 0 {
		t.Errorf("%+v", p)
	}
	spec.Every = spec.Burst.Lasts() + time.Second // nothing idles for long: each repetition finds the pool full
	if p := predictedShape(t, spec, probes.PoolLIFO, 20*time.Second); p.Dead != 0 || p.Fresh != 8 {
		t.Errorf("%+v", p)
	}
}

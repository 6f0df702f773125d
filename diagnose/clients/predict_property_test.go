package clients

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"perch.example/probes"
)

// drawnCalls are calls of which every two bytes are one: how long after the last, how long it takes.
func drawnCalls(raw []byte) []Call {
	var calls []Call
	at := time.Duration(0)
	for len(raw) >= 2 {
		at += time.Duration(raw[0]) * 20 * ms
		calls = append(calls, Call{At: at, Took: time.Duration(raw[1]) * 5 * ms})
		raw = raw[2:]
	}
	return calls
}

// drawnPool is a pool of a common client's, and drawnPath what ends its connections.
func drawnPool(n uint16) Pool {
	orders := append(probes.PoolOrders(), "")
	decl := Common()[int(n)%len(Common())]
	if n&1 > 0 {
		decl.AutomaticRetries = probes.SwitchNone
	}
	if n&2 > 0 {
		decl.ValidateAfter = none()
	}
	if n&4 > 0 {
		decl.Retry = &probes.RetryPolicy{Attempts: 2 + int(n>>3&3), Errors: []string{"java.io.IOException", "OSError", "ECONNRESET"}}
	}
	return Pool{Client: decl, Connections: int(n >> 8 % 25), Order: orders[int(n>>5)%len(orders)], Filled: int(n >> 6 % 12)}
}

func drawnPath(n uint16) Path {
	ends := []probes.Reason{probes.ReasonIdleFIN, probes.ReasonIdleRST, probes.ReasonEOF, probes.ReasonBlackhole}
	end := ends[int(n)%len(ends)]
	return Path{Timeout: time.Duration(1+n>>3) * 10 * ms, End: end, Silent: end == probes.ReasonBlackhole}
}

// whole reports what cannot be true of any prediction.
func whole(t *testing.T, calls []Call, pool Pool, path Path) {
	t.Helper()
	got, ok := Predict(calls, pool, path)
	if len(calls) == 0 {
		if ok {
			t.Fatalf("no calls: %+v", got)
		}
		return
	}
	if !ok {
		t.Fatalf("nothing is predicted for %+v on %+v", pool, path)
	}
	switch {
	case got.Calls != len(calls), got.Failed > got.Dead, got.Dead > got.Calls, got.Fresh > got.Calls, got.InBand > got.Gaps, got.Gaps > got.Calls:
		t.Fatalf("%+v", got)
	case got.Fresh+got.Gaps < got.Calls: // each either finds an idle connection or opens one
		t.Fatalf("%d calls, but %d fresh and %d found idle", got.Calls, got.Fresh, got.Gaps)
	case got.Failed > 0 && got.Fresh == 0:
		t.Fatalf("failed without a connection: %+v", got)
	}
	backwards := slices.Clone(calls) // of calls at one moment the order is theirs
	slices.Reverse(backwards)
	if again, _ := Predict(backwards, pool, path); distinct(calls) && again != got {
		t.Fatalf("backwards: %+v, not %+v", again, got)
	}
}

// distinct reports whether no two calls are made at one moment.
func distinct(calls []Call) bool {
	for i := range calls[1:] {
		if calls[i].At == calls[i+1].At {
			return false
		}
	}
	return true
}

// TestPredictionsHold: what must be true of any calls through any pool.
func TestPredictionsHold(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 3))
	for range 3000 {
		raw := make([]byte, rng.IntN(120))
		for i := range raw {
			raw[i] = byte(rng.IntN(256))
		}
		whole(t, drawnCalls(raw), drawnPool(uint16(rng.Uint32())), drawnPath(uint16(rng.Uint32())))
	}
}

// TestNothingDiesInTime: calls that leave no gap as long as the timeout meet nothing dead, and
// one connection is enough for calls one after the other.
func TestNothingDiesInTime(t *testing.T) {
	for _, kind := range Kinds() {
		for _, order := range probes.PoolOrders() {
			got, ok := Predict(paced(200, 500*ms), Pool{Client: probes.Client{Kind: kind}, Order: order}, closesAfter(time.Second))
			if !ok || got.Dead != 0 || got.Fresh != 1 || got.Gaps != 199 {
				t.Errorf("%s, %s: %+v", kind, order, got)
			}
		}
	}
}

// FuzzPredict: no calls, pool or path make it say what cannot be.
func FuzzPredict(f *testing.F) {
	f.Add([]byte{0, 2, 75, 2, 75, 2}, uint16(0x1400), uint16(800))
	f.Add([]byte{255, 255, 0, 0}, uint16(7), uint16(3))
	f.Fuzz(func(t *testing.T, raw []byte, pool, path uint16) {
		if len(raw) > 4096 {
			raw = raw[:4096]
		}
		whole(t, drawnCalls(raw), drawnPool(pool), drawnPath(path))
	})
}

// TestSwingsOfTheQueue: a queue gives back what was put into it, in order, however they alternate.
func TestSwingsOfTheQueue(t *testing.T) {
	var q idleQueue
	put, took := 0, 0
	rng := rand.New(rand.NewPCG(1, 2))
	for range 10_000 {
		if rng.IntN(2) == 0 {
			put++
			q.put(pooled{number: put})
			continue
		}
		c, ok := q.take()
		if ok != (took < put) || ok && c.number != took+1 {
			t.Fatalf("took %d after %d of %d", c.number, took, put)
		}
		if ok {
			took++
		}
	}
	if len(q.all) > 2*(put-took)+2 {
		t.Errorf("%d places for %d connections", len(q.all), put-took)
	}
}

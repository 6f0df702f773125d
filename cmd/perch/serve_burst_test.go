package main

import (
	"testing"
	"time"

	"perch.example/config"
	"perch.example/probes"
)

// A burst's pool is on the board in its gap, and no longer.
func TestBoardHoldsAPoolInItsGap(t *testing.T) {
	b := newBoard(config.Config{Targets: []probes.Target{{Name: "api", Probes: []probes.Spec{{Target: "api", Probe: "burst"}}}}})
	for i, c := range []struct {
		what probes.EventKind
		want int
	}{{probes.EventStarted, 0}, {probes.EventHolding, 1}, {probes.EventStarted, 0}, {probes.EventHolding, 1}, {probes.EventDone, 0}} {
		b.watch(probes.Event{Target: "api", Probe: "burst", What: c.what, Hold: time.Minute, Connections: 20})
		if _, held := b.now(); len(held) != c.want || c.want == 1 && held[0].Connections != 20 {
			t.Errorf("event %d: %+v is held, want %d", i+1, held, c.want)
		}
	}
}

package diagnose

import (
	"math/rand/v2"
	"testing"
	"time"

	"perch.example/probes"
)

// moved lives through runs, and returns in which of them (from 0) a bound was
// said to have moved. From the run change on the server's timeout is another.
func (p *life) moved(runs, change int, timeout time.Duration) (told []int, said string) {
	var bound Bound
	for n := range runs {
		if n == change {
			p.server.timeout = timeout
		}
		in := Input{Spec: probes.Spec{Target: "t", Probe: "p", Kind: probes.KindIdle, KeepAlive: p.keepAlive}, Last: Last{Seen: n > 0, Bound: bound}}
		for _, r := range p.hold(n) {
			in.Observations = append(in.Observations, r.observed())
		}
		l := newLadder(in)
		if l.change != nil {
			told = append(told, n)
			said = l.change.words()
		}
		bound = l.bound
	}
	return told, said
}

// TestHealthyServersMoveNoBound: a server that looks at ticks of up to 10 s,
// reloads twice an hour and closes a connection of 400 early has one bound. Where
// ticks and reloads wander against the runs, two reloads in a row may hit one
// rung at one age: nothing can tell that from a bound, and less than one run of
// 10,000 does.
func TestHealthyServersMoveNoBound(t *testing.T) {
	runs, wandering := 0, 0
	for i, keepAlive := range []time.Duration{5 * time.Second, 20 * time.Second, time.Minute, 5 * time.Minute} {
		for name, holds := range lifeLadders(keepAlive) {
			for k, reloads := range []string{"at any time", "with every sixth run", "between runs"} {
				for _, wander := range []time.Duration{0, 333 * time.Millisecond, 7 * time.Second} {
					seed := uint64(10*i + k)
					server := healthyServer(seed, keepAlive, reloads)
					if wander > 0 && server.tick > keepAlive/2 {
						continue // no two of its closes tell the same
					}
					p := life{keepAlive: keepAlive, every: 15*time.Minute + wander, holds: holds, server: server}
					p.late = time.Duration(seed%2) * 2 * time.Second
					told, said := p.moved(300, -1, 0)
					if runs += 300; wander > 0 {
						wandering += len(told)
					} else if len(told) > 0 {
						t.Errorf("keep_alive %s, %s, tick %s, reloads %s: said in runs %v of 300: %s", keepAlive, name, server.tick, reloads, told, said)
					}
				}
			}
		}
	}
	t.Logf("%d runs, said in %d", runs, wandering)
	if wandering*10000 > runs {
		t.Errorf("said in %d of %d runs", wandering, runs)
	}
}

// TestARealChangeOnTickingServers: a timeout that moves by more than ticks explain
// is told once, and soon, in either direction: two runs in a row have to see it
// at about the same age. The ticks are no longer than rungs are
// warmed apart: what one look ends together may be a reload.
func TestARealChangeOnTickingServers(t *testing.T) {
	const s, change, runs = time.Second, 40, 80
	for _, tick := range []time.Duration{0, s, 2 * s, 5 * s} {
		for _, move := range []struct{ from, to time.Duration }{{20 * s, 8 * s}, {20 * s, 38 * s}, {60 * s, 30 * s}, {60 * s, 110 * s}} {
			if tick > move.from/10 {
				continue
			}
			for seed := range uint64(20) {
				server := &lifeServer{dice: rand.New(rand.NewPCG(seed, 6)), timeout: move.from, tick: tick}
				server.phase = server.upTo(tick + 1)
				p := life{keepAlive: move.from, every: 15*time.Minute + 333*time.Millisecond, holds: lifeLadders(move.from)["the plan's four"], server: server, late: 2 * s}
				told, said := p.moved(runs, change, move.to)
				if len(told) != 1 || told[0] <= change || told[0] > change+5 {
					t.Errorf("tick %s, seed %d, from %s to %s in run %d: told in runs %v: %s", tick, seed, move.from, move.to, change, told, said)
				}
			}
		}
	}
}

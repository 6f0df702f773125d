package diagnose

import (
	"testing"
	"time"

	"perch.example/probes"
)

// moved lives through runs, and returns in how many a bound was said to have
// moved.
func (p *life) moved(runs int) (told int, said string) {
	var bound Bound
	for n := range runs {
		in := Input{Spec: probes.Spec{Target: "t", Probe: "p", Kind: probes.KindIdle, KeepAlive: p.keepAlive}, Last: Last{Seen: n > 0, Bound: bound}}
		for _, r := range p.hold(n) {
			in.Observations = append(in.Observations, r.observed())
		}
		l := newLadder(in)
		if l.change != nil {
			told++
			said = l.change.words()
		}
		bound = l.bound
	}
	return told, said
}

// TestHealthyServersMoveNoBound: a server that looks at ticks of up to 10 s,
// reloads twice an hour and closes a connection of 400 early has one bound.
func TestHealthyServersMoveNoBound(t *testing.T) {
	for i, keepAlive := range []time.Duration{5 * time.Second, 20 * time.Second, time.Minute, 5 * time.Minute} {
		for name, holds := range lifeLadders(keepAlive) {
			for k, reloads := range []string{"at any time", "with every sixth run", "between runs"} {
				seed := uint64(10*i + k)
				p := life{keepAlive: keepAlive, every: 15 * time.Minute, holds: holds, server: healthyServer(seed, keepAlive, reloads)}
				p.late = time.Duration(seed%2) * 2 * time.Second
				told, said := p.moved(300)
				if told > 0 {
					t.Errorf("keep_alive %s, %s, tick %s, reloads %s: said %d times in 300 runs: %s", keepAlive, name, p.server.tick, reloads, told, said)
				}
			}
		}
	}
}

package diagnose

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// lifeLadders are ladders of one rung to four, as the plan makes them and as
// people write them.
func lifeLadders(keepAlive time.Duration) map[string][]time.Duration {
	near := tolerance(keepAlive)
	return map[string][]time.Duration{
		"one rung, below": {keepAlive * 3 / 4},
		"one rung, twice": {2 * keepAlive},
		"two rungs":       {keepAlive * 3 / 2, keepAlive * 3 / 4},
		"the plan's two":  {keepAlive + near, keepAlive - near},
		"three rungs":     {keepAlive * 9 / 10, keepAlive / 2, keepAlive / 4},
		"the plan's four": {2 * keepAlive, keepAlive + near, keepAlive - near, keepAlive / 2},
	}
}

// TestHealthyServersFireNothing: a server that ticks, reloads twice an hour (at
// any time, or at fixed minutes as the runs are), is deployed once a day and
// closes a connection of 400 early, is no incident in a week.
func TestHealthyServersFireNothing(t *testing.T) {
	judged := 0
	for i, keepAlive := range []time.Duration{5 * time.Second, 20 * time.Second, time.Minute, 5 * time.Minute} {
		for name, holds := range lifeLadders(keepAlive) {
			for k, reloads := range []string{"at any time", "with every sixth run", "between runs"} {
				seed := uint64(10*i + k)
				p := life{keepAlive: keepAlive, every: 5 * time.Minute, holds: holds, server: healthyServer(seed, keepAlive, reloads)}
				if keepAlive < 20*time.Second && k == 0 {
					p.every = time.Minute
				}
				if holds[0] > p.every {
					p.every = 15 * time.Minute
				}
				p.late = time.Duration(seed%2) * 2 * time.Second
				if runs := p.firesAfter(int(week / p.every)); runs > 0 {
					t.Errorf("keep_alive %s, %s, each %s, reloads %s: fires after %d runs", keepAlive, name, p.every, reloads, runs)
				}
				judged += p.judged
			}
		}
	}
	if judged < 5000 {
		t.Errorf("only %d runs saw an early close: too few to prove anything", judged)
	}
}

const week = 7 * 24 * time.Hour

func healthyServer(seed uint64, timeout time.Duration, reloads string) *lifeServer {
	s := &lifeServer{dice: rand.New(rand.NewPCG(seed, 1)), timeout: timeout, lone: 400}
	s.tick = []time.Duration{time.Second, 5 * time.Second, 10 * time.Second}[seed%3]
	s.phase = s.upTo(s.tick)
	fixed := map[string]time.Duration{"with every sixth run": s.upTo(3 * time.Second), "between runs": s.upTo(5 * time.Minute)}
	for at := time.Duration(0); at < week; at += 30 * time.Minute {
		minute, ok := fixed[reloads]
		if !ok {
			minute = s.upTo(30 * time.Minute)
		}
		s.mass = append(s.mass, at+minute+s.upTo(200*time.Millisecond))
	}
	for day := time.Duration(0); day < week; day += 24 * time.Hour {
		s.mass = append(s.mass, day+s.upTo(24*time.Hour))
	}
	slices.Sort(s.mass)
	return s
}

// TestEarlyClosersFire: a server whose idle timeout is early by more than its
// tick is told within five runs, wherever its ticks fall.
func TestEarlyClosersFire(t *testing.T) {
	asked := 0
	for _, keepAlive := range []time.Duration{5 * time.Second, 20 * time.Second, time.Minute} {
		for _, part := range []float64{0.25, 0.5, 0.8} {
			for _, tick := range []time.Duration{0, time.Second, 5 * time.Second, 10 * time.Second} {
				end := time.Duration(part * float64(keepAlive))
				if end+tick > keepAlive-tolerance(keepAlive) {
					continue
				}
				for name, holds := range lifeLadders(keepAlive) {
					if !slices.ContainsFunc(holds, func(h time.Duration) bool { return h > end+tick }) {
						continue // it has no rung that is sure to see the end
					}
					for phase := range 4 {
						asked++
						server := &lifeServer{dice: rand.New(rand.NewPCG(uint64(phase), 2)), timeout: end, tick: tick, phase: tick * time.Duration(phase) / 4}
						p := life{keepAlive: keepAlive, every: 5 * time.Minute, holds: holds, server: server, late: time.Duration(phase%2) * 2 * time.Second}
						if runs := p.firesAfter(10); runs == 0 || runs > 5 {
							t.Errorf("keep_alive %s, %s, closed after %s, tick %s (phase %s): fires after %d runs", keepAlive, name, end, tick, server.phase, runs)
						}
					}
				}
			}
		}
	}
	if asked < 400 {
		t.Errorf("asked of %d servers only", asked)
	}
}

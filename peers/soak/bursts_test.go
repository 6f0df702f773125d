//go:build soak

package soak

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"perch.example/lab"
	"perch.example/probes"
)

// burstBudget is what the config allows each target of a burst in a second: eight
// calls, those that open the pool again, and a control.
const burstBudget = 20

// bursts are two targets that are called in bursts: of one the pool lives through the
// gap, and of the other it does not. Its timeout is as far from the half second that a
// connection rests within a burst as from the gap.
type bursts struct{ well, ends *lab.Server }

func startBursts(t *testing.T) bursts {
	t.Helper()
	start := func(scenario string) *lab.Server {
		server, err := lab.Start(t.Context(), scenario, lab.Options{IdleTimeout: 1750 * time.Millisecond})
		if err != nil {
			t.Fatalf("%s: %v", scenario, err)
		}
		t.Cleanup(func() { _ = server.Close() })
		return server
	}
	return bursts{well: start("healthy"), ends: start("idle_fin")}
}

func (b bursts) config() string {
	text := ""
	for name, server := range map[string]*lab.Server{"burst-well": b.well, "burst-ends": b.ends} {
		text += fmt.Sprintf("  - {name: %s, url: %q, rate_limit: %d/s, share: 50%%, every: 10s,\n     probes: [{name: pool, kind: burst, path: /calendar, requests: 8, over: 1s, connections: 4, bursts: 2, gap: 3s}]}\n",
			name, server.URL(), 2*burstBudget)
	}
	return text
}

// checkReasons holds how the bursts' attempts ended against their servers, and takes
// the two out of got.
func (b bursts) checkReasons(t *testing.T, got map[string]map[string]float64) {
	t.Helper()
	for name, want := range map[string][]probes.Reason{
		"burst-well": {probes.ReasonOK},
		"burst-ends": {probes.ReasonOK, probes.ReasonIdleFIN},
	} {
		for _, reason := range want {
			if got[name][string(reason)] == 0 {
				t.Errorf("%s: not once %s: %v", name, reason, got[name])
			}
		}
		for reason, n := range got[name] {
			if !slices.Contains(append(want, probes.ReasonCanceled), probes.Reason(reason)) {
				t.Errorf("%s: %v attempts ended as %s, want %q", name, n, reason, want)
			}
		}
		t.Logf("%s: %v", name, got[name])
		delete(got, name)
	}
}

func (b bursts) checkBudgets(t *testing.T, machine *stalls) {
	t.Helper()
	for _, server := range []*lab.Server{b.well, b.ends} {
		if most := busiest(arrivedAt(server), time.Second, machine); most > burstBudget {
			t.Errorf("the burst on %s got %d requests within a second, want %d at most", server.Scenario().Name, most, burstBudget)
		}
	}
}

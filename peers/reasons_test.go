//go:build peers

package peers

import (
	"log/slog"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"perch.example/lab"
	"perch.example/probes"
)

func discard() *slog.Logger { return slog.New(slog.DiscardHandler) }

const (
	times  = 200 // how often each scenario must give its reason
	atOnce = 100
	// labIdle is long enough for a connection to be opened and used before the
	// lab ends it as idle, and late is how much longer than needed a hold lasts:
	// on loaded cores, under the race detector, everybody is late.
	labIdle = 1500 * time.Millisecond
	late    = 1500 * time.Millisecond
)

// ends reports whether the scenario shows itself by a timeout. Then timeouts
// are short and all are played at once; else they are patient.
func endsByTimeout(s lab.Scenario) bool {
	for _, part := range []string{"stall", "drip", "no_response", "blackhole", "timeout", "silent"} {
		if strings.Contains(s.Name, part) {
			return true
		}
	}
	return false
}

// keepBusy loads both cores from outside of this process for the length of the
// test: what a neighbour does to a Pod. It gives way to other neighbours, which
// load them as well: CI has some beside.
func keepBusy(t *testing.T) {
	t.Helper()
	for range 2 {
		cmd := exec.Command("nice", "-n", "10", "sh", "-c", "while :; do :; done")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			_ = cmd.Process.Kill()
			_ = cmd.Wait() // killed
		})
	}
}

// TestEveryReasonIsRightEveryTime: each lab scenario gives its reason 200 times
// of 200, with both cores loaded. CI runs it under the race detector. Those that
// rest are played as many at a time as there are processors, the others one by
// one.
func TestEveryReasonIsRightEveryTime(t *testing.T) {
	keepBusy(t)
	reached := map[probes.Reason]bool{}
	for _, s := range lab.Scenarios() {
		reached[probes.Reason(s.Reason)] = true
	}
	t.Run("scenarios", func(t *testing.T) {
		for _, p := range plays() {
			if !p.rests() {
				t.Run(p.String(), func(t *testing.T) { p.play(t) })
			}
		}
	})
	t.Run("resting", func(t *testing.T) {
		for _, p := range plays() {
			if p.rests() {
				t.Run(p.String(), func(t *testing.T) {
					t.Parallel()
					p.play(t)
				})
			}
		}
	})
	for _, r := range probes.Reasons() {
		if !reached[r] && !slices.Contains(elsewhere(), r) {
			t.Errorf("no scenario produces %s", r)
		}
	}
}

// elsewhere are the reasons that no server can produce: perch's own.
func elsewhere() []probes.Reason {
	return []probes.Reason{probes.ReasonCanceled, probes.ReasonSkipped, probes.ReasonInternal}
}

//go:build peers

package peers

import (
	"fmt"
	"testing"
	"time"
)

// perchIdleBehindANAT: without a config, the bound of a router that forgets is
// bracketed to 100 ms in one command, however far above it --max is, and the way
// it ends is told.
func perchIdleBehindANAT(forgotten, reason, how string) func(*testing.T) []string {
	return func(t *testing.T) (wrong []string) {
		n := startNAT(t, forgotten)
		began := time.Now()
		r := n.perch(t, "idle", n.url, "--max", "5m", "--connections", "8", "--rate", "50/s")
		got, took := r.Idle[0], time.Since(began).Round(time.Second)
		t.Logf("%d holds in %s: %+v", len(r.Outcomes), took, got)
		if got.Survived >= 3.02 || got.Died < 2.98 || got.Died-got.Survived > 0.1 || got.Measured > 0 || got.How != how {
			wrong = append(wrong, fmt.Sprintf("%+v, want a bracket of 0.1 s around 3 s, %s", got, how))
		}
		if took > 2*time.Minute {
			wrong = append(wrong, fmt.Sprintf("it took %s: holds that could tell nothing more were waited for", took))
		}
		if len(r.Outcomes) > 20 {
			wrong = append(wrong, fmt.Sprintf("%d holds, want at most 20", len(r.Outcomes)))
		}
		return append(wrong, n.rungsWrong(r, reason)...)
	}
}

// perchIdleWithPackets: with TCP keep-alive there is no bound.
func perchIdleWithPackets(t *testing.T) []string {
	n := startNAT(t, forgotDrop)
	r := n.perch(t, "idle", n.url, "--max", "5s", "--connections", "2", "--rate", "50/s", "--tcp-keep-alive", "1s")
	if got := r.Idle[0]; got.Died > 0 || got.Survived < 5 || got.How != "" {
		return []string{fmt.Sprintf("with a packet a second: %+v, want 5 s survived", got)}
	}
	return nil
}

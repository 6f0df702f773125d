//go:build peers

package peers

import (
	"testing"
	"time"
)

// TestPerchIdleBehindANAT: without a config, the bound of a router that forgets
// is bracketed to 100 ms in one command, however far above it --max is, and the
// way it ends is told; with TCP keep-alive there is none.
func TestPerchIdleBehindANAT(t *testing.T) {
	for forgotten, want := range map[string]struct{ reason, how string }{forgotDrop: {"blackhole", "silent"}, forgotReject: {"reset", "rst"}} {
		t.Run(want.reason, func(t *testing.T) {
			t.Parallel()
			n := startNAT(t, forgotten)
			began := time.Now()
			r := n.perch(t, "idle", n.url, "--max", "5m", "--connections", "4", "--rate", "50/s")
			got := r.Idle[0]
			t.Logf("%d holds in %s: %+v", len(r.Outcomes), time.Since(began).Round(time.Second), got)
			if got.Survived >= 3.02 || got.Died < 2.98 || got.Died-got.Survived > 0.1 || got.Measured > 0 || got.How != want.how {
				t.Errorf("%+v, want a bracket of 0.1 s around 3 s, %s", got, want.how)
			}
			if took := time.Since(began); took > 3*time.Minute {
				t.Errorf("it took %s: holds that could tell nothing more were waited for", took)
			}
			if len(r.Outcomes) > 20 {
				t.Errorf("%d holds, want at most 20", len(r.Outcomes))
			}
			n.checkRungs(t, r, want.reason)

			r = n.perch(t, "idle", n.url, "--max", "5s", "--connections", "2", "--rate", "50/s", "--tcp-keep-alive", "1s")
			if got := r.Idle[0]; got.Died > 0 || got.Survived < 5 || got.How != "" {
				t.Errorf("with a packet a second: %+v, want 5 s survived", got)
			}
		})
	}
}

//go:build peers

package peers

import (
	"testing"
	"time"

	"perch.example/probes"
)

// TestRacingReuses reuses connections at the very instant at which the server
// closes them: whatever wins, only these reasons are true.
func TestRacingReuses(t *testing.T) {
	allowed := map[probes.Reason]bool{
		probes.ReasonOK: true, probes.ReasonIdleFIN: true, probes.ReasonCrossedClose: true,
		probes.ReasonEOF: true, probes.ReasonReset: true,
	}
	for _, name := range []string{"nginx", "haproxy", "go"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			peer := Start(t, name, idleTimeout, false)
			spec := newSpec(t, probes.KindIdle, peer.URL)
			got := map[probes.Reason]int{}
			const rounds, each = 10, 200
			for range rounds {
				holds := make([]time.Duration, each)
				for i := range holds { // from -5 ms to +5 ms
					holds[i] = idleTimeout - 5*time.Millisecond + time.Duration(i)*10*time.Millisecond/(each-1)
				}
				for _, o := range holdMany(t.Context(), spec, newEnv(), holds) {
					a := decided(o)
					got[a.Reason]++
					if !allowed[a.Reason] {
						t.Errorf("held %s: %s: %s", o.Hold, a.Reason, a.Detail)
					}
				}
			}
			t.Logf("%d racing reuses: %v", rounds*each, got)
			if got[probes.ReasonOK] == rounds*each || got[probes.ReasonOK] == 0 {
				t.Errorf("%v: nothing raced", got)
			}
		})
	}
}

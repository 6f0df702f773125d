package metrics

import (
	"net/url"
	"slices"
	"testing"

	"perch.example/probes"
)

// TestPossibleOfGRPC: its connections are HTTP/2's, and its POST, which is
// declared read-only, is never unsafe to send again.
func TestPossibleOfGRPC(t *testing.T) {
	for _, kind := range []probes.Kind{probes.KindGRPC, probes.KindIdle} {
		s := probes.Spec{
			Kind: kind, Method: "POST", ReadOnly: "it lists", GRPC: &probes.GRPC{Method: "shop.Stock/List"},
			URL: &url.URL{Scheme: "http", Host: "api.example"}, Retry: probes.Retry{Attempts: 2},
		}
		p := possibleFor(s)
		if !slices.Equal(p.retries, []probes.RetryResult{probes.RetryRecovered, probes.RetryFailed}) {
			t.Errorf("%s: retries %v", kind, p.retries)
		}
		for _, c := range p.connections {
			reused := c.on == probes.ConnectionReused
			for r, want := range map[probes.Reason]bool{
				probes.ReasonIdleGoaway: reused, probes.ReasonIdleBytes: false, probes.ReasonIdleCloseNotify: false,
				probes.ReasonRefusedStream: true, probes.ReasonUnavailable: true, probes.ReasonRateLimited: true, probes.ReasonStatus: true,
			} {
				if slices.Contains(c.reasons, r) != want {
					t.Errorf("%s, %s: %s is not %v", kind, c.on, r, want)
				}
			}
		}
	}
}

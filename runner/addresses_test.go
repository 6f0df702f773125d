package runner_test

import (
	"context"
	"net"
	"net/http"
	"net/netip"
	"testing"
	"testing/synctest"

	"perch.example/probes"
	"perch.example/runner"
)

// TestBadAddressesLeaveTheTargetBe: some bad addresses of many are no target that is
// down, and where all fail a step is one failure.
func TestBadAddressesLeaveTheTargetBe(t *testing.T) {
	for name, c := range map[string]struct{ good, skipped int }{"two are good": {2, 0}, "none is": {0, 1}, "all are": {8, 0}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newSite(t, func(_ int, _ hit, w http.ResponseWriter) { w.WriteHeader(http.StatusServiceUnavailable) })
				good := newSite(t, nil)
				every := exchanges(4)
				for i := range every {
					every[i].Way.Addresses = probes.AddressesAll
					every[i].Retry = probes.Retry{Attempts: 2}
				}
				target := newTarget("api", 1, 4, every...)
				for i := range target.Probes {
					target.Probes[i].URL.Host = "api.example"
				}
				target.MaxConnections = 1
				out := play(t, t.Context(), s, func(o *runner.Options) {
					o.Resolve = func(context.Context, string) ([]netip.Addr, error) {
						var all []netip.Addr
						for n := range byte(8) {
							all = append(all, netip.AddrFrom4([4]byte{192, 0, 2, n + 1}))
						}
						return all, nil
					}
					o.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
						host, _, _ := net.SplitHostPort(address)
						if int(netip.MustParseAddr(host).As4()[3]) <= c.good {
							return good.dial(ctx, network, address)
						}
						return s.dial(ctx, network, address)
					}
				}, target)
				skipped := 0
				for _, o := range out.all {
					if o.Cut == probes.CutSkipped {
						skipped++
					}
				}
				if skipped != c.skipped {
					t.Errorf("%d skipped, want %d: %v", skipped, c.skipped, told(out.all))
				}
				if n := len(s.seen()); c.good == 0 && n != 3*4 {
					t.Errorf("%d failing requests, want 4 of each of 3 steps", n)
				}
			})
		})
	}
}

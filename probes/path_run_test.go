package probes

import (
	"net/netip"
	"testing"
	"time"
)

// TestSettlePaths: one quick exchange in a run clears an address, and only that
// one, of a proxy that was seen by time alone.
func TestSettlePaths(t *testing.T) {
	const ms = time.Millisecond
	here, there := netip.MustParseAddrPort("192.0.2.1:443"), netip.MustParseAddrPort("192.0.2.2:443")
	seen := func(to netip.AddrPort, hello time.Duration, headers ...string) Observation {
		a := over(100*time.Microsecond, hello)
		a.Remote, a.Via = to, headers
		return Observation{Attempts: []Attempt{a}, Path: pathOf(ViaNone, "", "", []Attempt{a})}
	}
	alert := seen(here, ms)
	alert.Attempts[0].Reason = ReasonTLS
	declared := seen(here, 8*ms)
	declared.Path = pathOf(ViaProxy, "", "", declared.Attempts)
	for _, tt := range []struct {
		name  string
		run   []Observation
		ends  TCPEnds // of the first
		words string
	}{
		{"alone", []Observation{seen(here, 8*ms)}, TCPEndsBeforePeer, "proxy (by its round trip: TCP 0.1 ms, TLS hello 8.0 ms)"},
		{"slow every time", []Observation{seen(here, 8*ms), seen(here, 9*ms)}, TCPEndsBeforePeer, "proxy (by its round trip: TCP 0.1 ms, TLS hello 8.0 ms)"},
		{"quick once", []Observation{seen(here, 8*ms), seen(here, 9*ms), seen(here, ms)}, TCPEndsPeer, ""},
		{"quick to refuse TLS", []Observation{seen(here, 8*ms), alert}, TCPEndsBeforePeer, "proxy (by its round trip: TCP 0.1 ms, TLS hello 8.0 ms)"},
		{"quick elsewhere", []Observation{seen(here, 8*ms), seen(there, ms)}, TCPEndsBeforePeer, "proxy (by its round trip: TCP 0.1 ms, TLS hello 8.0 ms)"},
		{"quick once, and a name in the headers", []Observation{seen(here, 8*ms, "envoy"), seen(here, ms)}, TCPEndsBeforePeer, "envoy (by the answer's headers)"},
		{"declared", []Observation{declared, seen(here, ms)}, TCPEndsBeforePeer, "proxy (declared)"},
		{"nothing measured", []Observation{{Path: pathOf(ViaNone, "", "", nil)}, seen(here, ms)}, TCPEndsUnknown, ""},
	} {
		SettlePaths(tt.run)
		if got := tt.run[0].Path; got.TCPEnds != tt.ends || got.Words() != tt.words {
			t.Errorf("%s: TCP ends %s, %q; want %s, %q", tt.name, got.TCPEnds, got.Words(), tt.ends, tt.words)
		}
	}
}

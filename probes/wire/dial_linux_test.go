package wire_test

import (
	"net/netip"
	"strings"
	"testing"

	"perch.example/probes"
	"perch.example/probes/wire"
)

// A connection comes from its source address; one that is not this machine's is
// told as that, and not as a lack of ports.
func TestSourceAddress(t *testing.T) {
	s := serve(t, nil, func(p *peer) { p.warm(); p.linger() })
	o := s.options(nil)
	o.Source = netip.MustParseAddr("127.0.0.9")
	c, e := wire.Open(t.Context(), o)
	if c == nil {
		t.Fatalf("opening: %s (%s)", e.Failure, e.Error)
	}
	t.Cleanup(func() { _ = c.Close() })
	if e.Local.Addr() != o.Source {
		t.Errorf("it comes from %s, want %s", e.Local, o.Source)
	}
	warmed(t, c)
	o.Source = netip.MustParseAddr("192.0.2.99")
	_, e = wire.Open(t.Context(), o)
	mustBe(t, e, probes.ReasonConnectFailed)
	if !strings.Contains(e.Error, "source_address 192.0.2.99 is no address of this machine") || e.DialErr != "" {
		t.Errorf("%q, the system's error %q", e.Error, e.DialErr)
	}
}

package wire

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"slices"
	"strings"
	"testing"
)

// TestAllowIsAskedBeforeEachDial: what is refused is not dialled, whether it came
// from a resolver or stands for itself, and what comes after it still is.
func TestAllowIsAskedBeforeEachDial(t *testing.T) {
	a, b := netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("2001:db8::2")
	no, down := errors.New("not that one"), errors.New("down")
	for name, c := range map[string]struct {
		host    string
		refused []netip.Addr
		dialled []string
		err     error
	}{
		"all":          {"api.example", nil, []string{"192.0.2.1:80", "[2001:db8::2]:80"}, down},
		"the first":    {"api.example", []netip.Addr{a}, []string{"[2001:db8::2]:80"}, down},
		"both":         {"api.example", []netip.Addr{a, b}, nil, no},
		"an address":   {"192.0.2.1", []netip.Addr{a}, nil, no},
		"another one":  {"192.0.2.1", []netip.Addr{b}, []string{"192.0.2.1:80"}, down},
		"IPv6, itself": {"2001:db8::2", []netip.Addr{b}, nil, no},
	} {
		var dialled []string
		var asked []netip.Addr
		conn, e := Open(t.Context(), Options{
			Host: c.host, Port: "80",
			Resolve: func(context.Context, string) ([]netip.Addr, error) { return []netip.Addr{a, b}, nil },
			Allow: func(a netip.Addr) error {
				asked = append(asked, a)
				if slices.Contains(c.refused, a) {
					return no
				}
				return nil
			},
			Dial: func(_ context.Context, _, address string) (net.Conn, error) {
				dialled = append(dialled, address)
				return nil, down
			},
		})
		if !strings.HasSuffix(e.Error, c.err.Error()) {
			t.Errorf("%s: %s, want %v", name, e.Error, c.err)
		}
		if conn != nil || e.Failure != FailureConnect || !slices.Equal(dialled, c.dialled) || len(e.Tried) != len(c.dialled) {
			t.Errorf("%s: dialled %q after %v, tried %v, %s; want %q", name, dialled, asked, e.Tried, e.Failure, c.dialled)
		}
	}
}

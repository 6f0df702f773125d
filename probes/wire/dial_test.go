package wire_test

import (
	"context"
	"net"
	"net/netip"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"perch.example/probes"
	"perch.example/probes/wire"
)

func addresses(all ...string) []netip.Addr {
	var out []netip.Addr
	for _, a := range all {
		out = append(out, netip.MustParseAddr(a))
	}
	return out
}

// Beside a dial function of one's own the system's resolver is never asked: what
// it says is about another network, and in a synctest bubble it ends the process.
func TestNoResolverBesideDial(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := wire.Options{Host: "perch.example", Port: "80", Dial: func(context.Context, string, string) (net.Conn, error) {
			t.Error("dialled")
			return nil, net.ErrClosed
		}}
		c, e := wire.Open(t.Context(), o)
		if c != nil || e.Failure != wire.FailureDNS || e.Error != `resolving "perch.example": there is no resolver beside the dial function` {
			t.Errorf("%s: %s", e.Failure, e.Error)
		}
		if all, err := wire.Lookup(t.Context(), o); err == nil {
			t.Errorf("found %v", all)
		}
	})
}

// Which addresses are dialled, and in which order, is what the family and the
// source address say; nothing is dialled of another family.
func TestFamilies(t *testing.T) {
	mixed := addresses("2001:db8::1", "192.0.2.1", "2001:db8::2", "::ffff:192.0.2.2")
	tests := []struct {
		family wire.Family
		source string
		want   string // empty: none is left
	}{
		{wire.FamilyAny, "", "2001:db8::1 192.0.2.1 2001:db8::2 ::ffff:192.0.2.2"},
		{wire.FamilyV4, "", "192.0.2.1 ::ffff:192.0.2.2"},
		{wire.FamilyV6, "", "2001:db8::1 2001:db8::2"},
		{wire.FamilyV4First, "", "192.0.2.1 ::ffff:192.0.2.2 2001:db8::1 2001:db8::2"},
		{wire.FamilyV6First, "", "2001:db8::1 2001:db8::2 192.0.2.1 ::ffff:192.0.2.2"},
		{wire.FamilyAny, "10.0.0.7", "192.0.2.1 ::ffff:192.0.2.2"},
		{wire.FamilyV4First, "2001:db8::7", "2001:db8::1 2001:db8::2"},
		{wire.FamilyV6, "10.0.0.7", ""},
	}
	for _, tt := range tests {
		var dialled []string
		o := wire.Options{Host: "api.test", Port: "80", Family: tt.family,
			Resolve: func(context.Context, string) ([]netip.Addr, error) { return slices.Clone(mixed), nil },
			Dial: func(_ context.Context, _, address string) (net.Conn, error) {
				host, _, _ := net.SplitHostPort(address)
				dialled = append(dialled, host)
				return nil, &net.OpError{Op: "dial", Err: context.DeadlineExceeded}
			},
		}
		if tt.source != "" {
			o.Source = netip.MustParseAddr(tt.source)
		}
		_, e := wire.Open(t.Context(), o)
		if got := strings.Join(dialled, " "); got != tt.want {
			t.Errorf("%s from %q: dialled %s, want %s", tt.family, tt.source, got, tt.want)
		}
		if tt.want == "" && (e.Failure != wire.FailureDNS || !strings.Contains(e.Error, `"api.test": none of its 4 addresses is of the family that is asked for`)) {
			t.Errorf("%s from %q: %s (%s)", tt.family, tt.source, e.Failure, e.Error)
		}
	}
}

// A unix socket is dialled in place of the host, of which no resolver is asked; its
// exchanges, holds and ends are told as far as reading can.
func TestSocket(t *testing.T) {
	path := filepath.Join(t.TempDir(), "api.sock")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			raw, err := l.Accept()
			if err != nil {
				return
			}
			buffer := make([]byte, 4096)
			for range 2 {
				if _, err := raw.Read(buffer); err != nil {
					break
				}
				_, _ = raw.Write([]byte(whole))
			}
			_ = raw.Close()
		}
	}()
	o := wire.Options{Host: "api.test", Port: "80", Socket: path, Connect: 5 * time.Second, Family: wire.FamilyAny,
		Resolve: func(context.Context, string) ([]netip.Addr, error) { t.Error("resolved"); return nil, nil }}
	c, e := wire.Open(t.Context(), o)
	if c == nil {
		t.Fatalf("opening: %s (%s)", e.Failure, e.Error)
	}
	t.Cleanup(func() { _ = c.Close() })
	if e.Kernel || e.Remote.IsValid() {
		t.Errorf("a socket shows the kernel's evidence: %v, %s", e.Kernel, e.Remote)
	}
	warmed(t, c)
	c.Hold(t.Context(), time.Now().Add(20*time.Millisecond), false)
	warmed(t, c)
	_, e = c.Exchange(t.Context(), ask(t, 5*time.Second))
	if r := probes.Classify(e); r == probes.ReasonOK || r == probes.ReasonInternal {
		t.Errorf("a closed socket: %s (%s)", r, probes.Explain(e))
	}
	o.Socket = path + ".gone"
	_, e = wire.Open(t.Context(), o)
	mustBe(t, e, probes.ReasonConnectFailed)
	if !strings.Contains(e.Error, "connecting to the socket") {
		t.Error(e.Error)
	}
}

// Lookup gives what Open would dial.
func TestLookup(t *testing.T) {
	o := wire.Options{Host: "api.test", Family: wire.FamilyV6First, Resolve: func(context.Context, string) ([]netip.Addr, error) {
		return addresses("192.0.2.1", "2001:db8::1"), nil
	}}
	got, err := wire.Lookup(t.Context(), o)
	if err != nil || !slices.Equal(got, addresses("2001:db8::1", "192.0.2.1")) {
		t.Errorf("%v, %v", got, err)
	}
	o.Host = "192.0.2.7"
	if got, err = wire.Lookup(t.Context(), o); err != nil || !slices.Equal(got, addresses("192.0.2.7")) {
		t.Errorf("%v, %v", got, err)
	}
}

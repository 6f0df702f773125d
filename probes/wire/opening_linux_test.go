package wire_test

import (
	"encoding/binary"
	"fmt"
	"net/netip"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"perch.example/probes/wire"
)

func TestTCPKeepAlive(t *testing.T) {
	for _, every := range []time.Duration{0, 7 * time.Second} {
		s := serve(t, nil, (*peer).linger)
		o := s.options(nil)
		o.TCPKeepAlive = every
		began := time.Now()
		c, e := wire.Open(t.Context(), o)
		if c == nil {
			t.Fatal(e.Error)
		}
		got := keepAliveOf(t, e)
		if gone := time.Since(began); got > every || got < every-gone-50*time.Millisecond {
			t.Errorf("TCP keep-alive in %v, %v after opening, want %v", got, gone, every)
		}
		_ = c.Close()
	}
}

// keepAliveOf returns how long until the kernel sends a TCP keep-alive on a
// connection; 0: it has no timer.
func keepAliveOf(t *testing.T, e wire.Evidence) time.Duration {
	t.Helper()
	const (
		keepAlive = "02" // the timer's number in /proc/net/tcp
		tick      = 10 * time.Millisecond
	)
	table, err := os.ReadFile("/proc/net/tcp")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(table)) {
		f := strings.Fields(line)
		if len(f) < 6 || f[1] != entry(e.Local) || f[2] != entry(e.Remote) {
			continue
		}
		timer, when, _ := strings.Cut(f[5], ":")
		if timer != keepAlive {
			return 0
		}
		n, err := strconv.ParseInt(when, 16, 64)
		if err != nil {
			t.Fatal(err)
		}
		return time.Duration(n) * tick
	}
	t.Fatalf("%s is not in the kernel's table", e.Local)
	return 0
}

// entry is how /proc/net/tcp writes an address: in the machine's byte order.
func entry(a netip.AddrPort) string {
	ip := a.Addr().As4()
	return fmt.Sprintf("%08X:%04X", binary.NativeEndian.Uint32(ip[:]), a.Port())
}

//go:build peers

package peers

import (
	"errors"
	"fmt"
	"io"
	"net"
	"testing"
	"time"

	"perch.example/internal/stood"
)

// idleTimeout is what the servers are told.
const idleTimeout = 2 * time.Second

// expected are the idle ages at which the servers close, as they were measured
// many times: some tick, and Node adds a second.
func expected(name string) (from, to time.Duration) {
	switch name {
	case "tomcat10", "gunicorn": // once a second
		return idleTimeout, idleTimeout + 1200*time.Millisecond
	case "node":
		return idleTimeout + time.Second, idleTimeout + time.Second
	}
	return idleTimeout, idleTimeout
}

// TestServersCloseWithFIN holds the harness itself: a plain client and the
// capture see each server's own timeout, and agree on it.
func TestServersCloseWithFIN(t *testing.T) {
	for _, secure := range []bool{false, true} {
		for _, name := range Servers(secure) {
			t.Run(name+map[bool]string{false: "/plain", true: "/tls"}[secure], func(t *testing.T) {
				t.Parallel()
				peer := Start(t, name, idleTimeout, secure)
				capture := StartCapture(t, peer.Port)
				stood.Again(t, stood.Moment, func() []string { return measureFIN(t, peer, capture) })
			})
		}
	}
}

func measureFIN(t *testing.T, peer Peer, capture *Capture) (wrong []string) {
	t.Helper()
	say := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	conn, err := open(nil, peer)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	if err := exchange(conn, peer); err != nil {
		t.Fatal(err)
	}
	answered := time.Now()
	if err := conn.SetReadDeadline(answered.Add(10 * time.Second)); err != nil {
		t.Fatal(err)
	}
	if n, err := conn.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
		t.Fatalf("read %d bytes, %v, want the end", n, err)
	}
	seen := time.Since(answered)
	ending := capture.Ending(t, conn.LocalAddr().(*net.TCPAddr).AddrPort().Port())
	from, to := expected(peer.Name)
	t.Logf("%s closed after %v (pushed %d bytes), the client saw it after %v", peer.Name, ending.Idle, ending.Pushed, seen)
	const tolerance = 100 * time.Millisecond // the server's own lateness on a busy machine
	if ending.Idle < from-20*time.Millisecond || ending.Idle > to+tolerance {
		say("the capture shows the end after %v, want between %v and %v", ending.Idle, from, to)
	}
	if ending.FIN.IsZero() {
		say("the connection ended by RST, want FIN")
	}
	if d := seen - ending.Idle; d < -tolerance || d > tolerance {
		say("the client saw the end after %v, the capture after %v", seen, ending.Idle)
	}
	if pushed := peer.CAFile != "" && peer.Name != "node"; pushed != (ending.Pushed > 0) {
		say("%d bytes before the FIN, want close_notify %t", ending.Pushed, pushed)
	}
	return wrong
}

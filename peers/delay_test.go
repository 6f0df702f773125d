//go:build peers

package peers

import (
	"errors"
	"io"
	"net"
	"testing"
	"time"
)

// rtt is a call to the next continent's edge: long enough that a FIN and a
// request meet on the way.
const rtt = 50 * time.Millisecond

// TestDelayIsTheRoundTrip holds the link itself: opening takes one round trip,
// an exchange another. Never less; and a busy machine is in time once in ten.
func TestDelayIsTheRoundTrip(t *testing.T) {
	t.Parallel()
	link := Delay(t, rtt)
	peer := StartOn(t, link, "go", idleTimeout, false)
	opening, exchanging := time.Hour, time.Hour
	for range 10 {
		began := time.Now()
		conn, err := open(link, peer)
		if err != nil {
			t.Fatal(err)
		}
		opened := time.Now()
		if err := errors.Join(exchange(conn, peer), conn.Close()); err != nil {
			t.Fatal(err)
		}
		opening, exchanging = min(opening, opened.Sub(began)), min(exchanging, time.Since(opened))
	}
	for what, took := range map[string]time.Duration{"opening": opening, "an exchange": exchanging} {
		if took < rtt || took > rtt+20*time.Millisecond {
			t.Errorf("%s took at least %v over a round trip of %v", what, took, rtt)
		}
	}
}

// TestCloseCrossesTheRequest: a request written while the server's FIN is on
// its way meets a FIN that does not acknowledge it. Real servers, one round
// trip away.
func TestCloseCrossesTheRequest(t *testing.T) {
	t.Parallel()
	link := Delay(t, rtt)
	for _, name := range []string{"go", "nginx", "haproxy"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			peer := StartOn(t, link, name, idleTimeout, false)
			capture := link.Capture(peer.Port)
			const least, most = 3, 10 // a busy machine misses the moment now and then
			crossed, tries := 0, 0
			for ; tries < least || crossed == 0 && tries < most; tries++ {
				if crossOnce(t, link, peer, capture) {
					crossed++
				}
			}
			t.Logf("%d of %d crossed", crossed, tries)
			if crossed == 0 {
				t.Errorf("no close crossed a request in %d tries", tries)
			}
		})
	}
}

// crossOnce writes when the FIN leaves the other end, and reports whether the capture saw the two cross; then the client must have seen
// an end without an answer.
func crossOnce(t *testing.T, link *Link, peer Peer, capture *Capture) bool {
	t.Helper()
	conn, err := open(link, peer)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	if err := exchange(conn, peer); err != nil {
		t.Fatal(err)
	}
	// The answer left half a round trip before it was read, and so does the
	// FIN: it leaves now and arrives half a round trip later.
	time.Sleep(idleTimeout - rtt/2)
	if err := conn.SetDeadline(time.Now().Add(5 * time.Second)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(conn, "GET /calendar HTTP/1.1\r\nHost: peer\r\n\r\n"); err != nil {
		return false // the FIN, and even an RST, were there already
	}
	_, err = conn.Read(make([]byte, 1))
	ending := capture.Ending(t, conn.LocalAddr().(*net.TCPAddr).AddrPort().Port())
	if ending.Crossed && !errors.Is(err, io.EOF) {
		t.Errorf("the capture shows a FIN that crossed the request, the client got %v", err)
	}
	return ending.Crossed
}

package wire_test

import (
	"context"
	"net"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"perch.example/probes"
	"perch.example/probes/wire"
)

// narrow is a listener whose connections have room for little that is not read.
func narrow(t *testing.T) net.Listener {
	t.Helper()
	config := net.ListenConfig{Control: func(_, _ string, raw syscall.RawConn) (err error) {
		no := raw.Control(func(fd uintptr) { err = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_RCVBUF, 4096) })
		if err == nil {
			err = no
		}
		return err
	}}
	l, err := config.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// little makes our own side of the connection keep little that the peer has no
// room for.
func little(o *wire.Options) {
	o.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
		c, err := (&net.Dialer{}).DialContext(ctx, network, address)
		if err == nil {
			err = c.(*net.TCPConn).SetWriteBuffer(4096)
		}
		return c, err
	}
}

// A peer that pings and reads nothing does not hold up the hold, and what it has
// no room for is not lost: the request comes behind it, and no record is cut.
func TestH2PeerReadsNothing(t *testing.T) {
	t.Parallel()
	const pings = 900 // their answers are more than both ends have room for, and no flood yet
	for _, f := range h2flavors(t) {
		for name, reads := range map[string]bool{"until it is asked": true, "ever": false} {
			t.Run(f.name+"/"+name, func(t *testing.T) {
				t.Parallel()
				sent, again := make(chan struct{}), make(chan struct{})
				s := serveH2From(t, narrow(t), f.server, func(h *h2peer) {
					h.warm()
					for i := range pings {
						_ = h.WritePing(false, [8]byte{byte(i)})
					}
					h.flush()
					close(sent)
					<-again
					h.request()
					h.whole()
					h.did()
					if reads && h.acks != pings {
						t.Errorf("%d PINGs were answered, want %d", h.acks, pings)
					}
					h.read()
				})
				c, p := s.openH2(f.client, little)
				warmed(t, c)
				h := heldUntil(t, c, sent)
				if h.Close != nil || !h.LateKnown {
					t.Errorf("held: %+v", h)
				}
				if !reads {
					defer close(again)
					_, e := c.Exchange(t.Context(), ask(t, patience()))
					mustBe(t, e, probes.ReasonNoResponse)
					if e.RequestBytes != 0 || e.RequestSize == 0 || e.RequestBytesAcked == nil || *e.RequestBytesAcked != 0 {
						t.Errorf("claims to have sent: %s", dump(e))
					}
					_ = c.Close()
					return
				}
				close(again)
				_, e := c.Exchange(t.Context(), ask(t, 10*time.Second))
				mustBe(t, e, probes.ReasonOK)
				if e.RequestBytes != e.RequestSize || *e.RequestBytesAcked != e.RequestSize {
					t.Errorf("evidence: %s", dump(e))
				}
				<-p.acted
			})
		}
	}
}

// However short the timeout, and however late this machine comes to the write, the
// request leaves: its time begins there.
func TestTimeoutBeginsWithTheWrite(t *testing.T) {
	for _, f := range flavors(t) {
		s := serve(t, f.server, (*peer).linger)
		c, _ := s.open(f.client)
		_, e := c.Exchange(t.Context(), ask(t, time.Nanosecond))
		mustBe(t, e, probes.ReasonNoResponse)
		if e.Started.IsZero() || e.RequestBytes != e.RequestSize || e.RequestBytesAcked == nil || *e.RequestBytesAcked != e.RequestSize || !e.WaitKnown {
			t.Errorf("%s: %s", f.name, dump(e))
		}
	}
}

// A hold whose end has passed when the frames are seen still answers them.
func TestH2RepliesBehindTheDeadline(t *testing.T) {
	for _, f := range h2flavors(t) {
		t.Run(f.name, func(t *testing.T) {
			sent, answered := make(chan struct{}), make(chan struct{})
			s := serveH2(t, f.server, func(h *h2peer) {
				h.warm()
				_ = h.WritePing(false, [8]byte{1})
				h.flush()
				close(sent)
				for h.acks == 0 {
					if h.frame() == nil {
						t.Error("no answer to a PING")
						break
					}
				}
				close(answered)
				h.request()
				h.whole()
				h.read()
			})
			c, _ := s.openH2(f.client)
			warmed(t, c)
			<-sent
			for end := time.Now().Add(10 * time.Second); time.Now().Before(end); { // a busy machine hands the PING on late
				c.Hold(t.Context(), time.Now().Add(-time.Second), true)
				select {
				case <-answered:
					warmed(t, c)
					return
				case <-time.After(time.Millisecond):
				}
			}
			t.Error("the PING was never answered")
		})
	}
}

package wire_test

import (
	"bufio"
	"context"
	"io"
	"net"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"perch.example/probes"
	"perch.example/probes/wire"
)

// queued writes in a goroutine of its own: a pipe has no room, and both sides
// may want to write at once.
type queued struct {
	net.Conn
	out chan []byte
}

func (q queued) Write(p []byte) (int, error) {
	q.out <- append([]byte(nil), p...)
	return len(p), nil
}

func (q queued) drain() {
	for b := range q.out {
		if len(b) == 0 {
			_ = q.Close()
		} else if _, err := q.Conn.Write(b); err != nil {
			_, _ = io.Copy(io.Discard, q.Conn)
		}
	}
}

// pipeH2 opens a connection without a kernel under it; script is its peer.
func pipeH2(t *testing.T, script func(*h2peer)) *wire.Conn {
	t.Helper()
	var running sync.WaitGroup
	c, e := wire.Open(t.Context(), wire.Options{
		Host: "192.0.2.1", Port: "80", Connect: time.Second, Protocol: wire.SpeakH2, Ping: 25 * time.Minute,
		Dial: func(context.Context, string, string) (net.Conn, error) {
			here, there := net.Pipe()
			q := queued{there, make(chan []byte, 64)}
			h := &h2peer{peer: &peer{Conn: q, br: bufio.NewReader(q)}}
			h.Framer = http2.NewFramer(&h.out, h.br)
			h.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
			running.Go(q.drain)
			running.Go(func() {
				defer close(q.out)
				_, _ = h.br.Discard(len(http2.ClientPreface))
				script(h)
			})
			return here, nil
		},
	})
	if c == nil {
		t.Fatal(e.Error)
	}
	t.Cleanup(func() { _ = c.Close(); running.Wait() })
	return c
}

// hangUp ends the connection once all was sent.
func (h *h2peer) hangUp() { h.Conn.(queued).out <- nil }

// Without a kernel it works by the clock and by what frames say; a close is what
// the reuse finds.
func TestH2Portable(t *testing.T) {
	for _, tt := range []struct {
		name string
		want probes.Reason
		then func(*h2peer)
		away time.Duration
	}{
		{"survives", probes.ReasonOK, func(h *h2peer) { h.request(); h.whole() }, 0},
		{"goaway and end", probes.ReasonIdleGoaway, func(h *h2peer) {
			time.AfterFunc(time.Minute, func() { h.away(1, 0, ""); h.flush(); h.hangUp() })
		}, time.Minute},
		{"end", probes.ReasonEOF, (*h2peer).hangUp, 0},
		{"silence", probes.ReasonNoResponse, (*h2peer).read, 0},
		{"garbage", probes.ReasonBadResponse, func(h *h2peer) { h.say("220 hello\r\n") }, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := pipeH2(t, func(h *h2peer) { h.warm(); tt.then(h); h.read() })
				warmed(t, c)
				began := time.Now()
				h := c.Hold(t.Context(), began.Add(time.Hour), false)
				if !h.LateKnown || h.Late != 0 || time.Since(began) != time.Hour {
					t.Errorf("held: %+v for %v, want an hour to the instant", h, time.Since(began))
				}
				if (h.Close != nil) != (tt.away > 0) || h.Close != nil && (h.Close.State != "goaway" || h.Close.Age != tt.away) {
					t.Errorf("close %+v", h.Close)
				}
				_, e := c.Exchange(t.Context(), ask(t, 5*time.Second))
				mustBe(t, e, tt.want)
				if e.Kernel || e.Before != nil || e.RequestBytesAcked != nil || e.Idle != time.Hour {
					t.Errorf("claims to know: %s", dump(e))
				}
				if tt.want == probes.ReasonOK && (e.H2.PingsSent != 2 || e.H2.PingsUnanswered != 2) {
					t.Errorf("pings %+v, want 2 that nobody answered", *e.H2)
				}
			})
		})
	}
}

func TestH2PortableSearch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := pipeH2(t, func(h *h2peer) {
			h.warm()
			time.AfterFunc(time.Minute, func() { h.away(1, 0, ""); h.flush() })
			h.read()
		})
		warmed(t, c)
		began := time.Now()
		h := c.Hold(t.Context(), began.Add(time.Hour), true)
		if h.Close == nil || h.Close.State != "goaway" || time.Since(began) != time.Minute {
			t.Errorf("held: %+v for %v, want the GOAWAY's minute", h, time.Since(began))
		}
	})
}

func TestH2PortableCancel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := pipeH2(t, func(h *h2peer) { h.settle(); h.read() })
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if h := c.Hold(ctx, time.Now().Add(time.Hour), true); !h.Canceled {
			t.Errorf("held: %+v, want canceled", h)
		}
		_, e := c.Exchange(ctx, ask(t, time.Hour))
		mustBe(t, e, probes.ReasonCanceled)
	})
}

package wire_test

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"perch.example/probes"
	"perch.example/probes/wire"
)

// inMemory opens a connection without a kernel under it; script is its peer.
func inMemory(t *testing.T, script func(net.Conn)) *wire.Conn {
	t.Helper()
	var running sync.WaitGroup
	c, e := wire.Open(t.Context(), wire.Options{
		Host: "192.0.2.1", Port: "80", Connect: time.Second,
		Dial: func(context.Context, string, string) (net.Conn, error) {
			here, there := net.Pipe()
			running.Go(func() { script(there) })
			return here, nil
		},
	})
	if c == nil {
		t.Fatal(e.Error)
	}
	t.Cleanup(func() { _ = c.Close(); running.Wait() })
	return c
}

func answerOnce(c net.Conn, br *bufio.Reader, answer string) bool {
	if _, err := http.ReadRequest(br); err != nil {
		return false
	}
	_, err := io.WriteString(c, answer)
	return err == nil
}

// Without a kernel the engine works by the clock alone, and says what it does
// not know.
func TestPortable(t *testing.T) {
	tests := []struct {
		name string
		want probes.Reason
		then func(net.Conn, *bufio.Reader)
	}{
		{"ok", probes.ReasonOK, func(c net.Conn, br *bufio.Reader) { answerOnce(c, br, whole) }},
		{"closed while idle", probes.ReasonEOF, func(c net.Conn, _ *bufio.Reader) { _ = c.Close() }},
		{"closed after the request", probes.ReasonEOF, func(c net.Conn, br *bufio.Reader) { answerOnce(c, br, ""); _ = c.Close() }},
		{"silent", probes.ReasonNoResponse, func(c net.Conn, br *bufio.Reader) { answerOnce(c, br, ""); _, _ = io.Copy(io.Discard, c) }},
		{"cut body", probes.ReasonPartialBody, func(c net.Conn, br *bufio.Reader) { answerOnce(c, br, whole[:len(whole)-1]); _ = c.Close() }},
		{"slow drip", probes.ReasonPartialHead, func(c net.Conn, br *bufio.Reader) {
			answerOnce(c, br, "")
			for i := 0; ; i++ {
				if _, err := c.Write([]byte{whole[i%20]}); err != nil {
					return
				}
				time.Sleep(time.Second)
			}
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := inMemory(t, func(p net.Conn) {
					br := bufio.NewReader(p)
					answerOnce(p, br, whole)
					tt.then(p, br)
				})
				warmed(t, c)
				h := c.Hold(t.Context(), time.Now().Add(time.Hour), true)
				if !h.LateKnown || h.Late != 0 || h.Close != nil {
					t.Errorf("held: %+v, want an hour to the instant", h)
				}
				_, e := c.Exchange(t.Context(), ask(t, 5*time.Second))
				mustBe(t, e, tt.want)
				if e.Kernel || e.Before != nil || e.RequestBytesAcked != nil || e.RTT != 0 || e.WaitKnown != (e.Ending == wire.EndTimeout) {
					t.Errorf("claims to know: %s", dump(e))
				}
				if e.Idle != time.Hour || e.Elapsed > 5*time.Second || e.Ending == wire.EndTimeout && e.Elapsed != 5*time.Second {
					t.Errorf("idle %v, elapsed %v", e.Idle, e.Elapsed)
				}
			})
		})
	}
}

// Each phase is measured to the instant, and what the gate takes is in none of them.
func TestPhases(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := inMemory(t, func(p net.Conn) {
			if _, err := http.ReadRequest(bufio.NewReader(p)); err != nil {
				t.Error(err)
			}
			time.Sleep(30 * time.Millisecond)
			_, _ = io.WriteString(p, whole[:20])
			time.Sleep(50 * time.Millisecond)
			_, _ = io.WriteString(p, whole[20:])
		})
		r := ask(t, 5*time.Second)
		r.Gate = func(context.Context) error { time.Sleep(time.Second); return nil }
		_, e := c.Exchange(t.Context(), r)
		mustBe(t, e, probes.ReasonOK)
		if e.Phases != (wire.Phases{Wait: 30 * time.Millisecond, Transfer: 50 * time.Millisecond}) || e.Elapsed != 80*time.Millisecond || e.Age != time.Second {
			t.Errorf("%+v of %v, %v after opening", e.Phases, e.Elapsed, e.Age)
		}
	})
}

func TestPortableCancel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := inMemory(t, func(p net.Conn) { _, _ = io.Copy(io.Discard, p) })
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, e := c.Exchange(ctx, ask(t, time.Hour))
		mustBe(t, e, probes.ReasonCanceled)
		if h := c.Hold(ctx, time.Now().Add(time.Hour), false); !h.Canceled {
			t.Errorf("held: %+v, want canceled", h)
		}
	})
}

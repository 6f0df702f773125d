package wire_test

import (
	"context"
	"crypto/tls"
	"io"
	"net"
	"sync"
	"testing"
	"time"

	"perch.example/probes/wire"
)

// passOn carries bytes after a while, in order: the way to a far side.
func passOn(to io.Writer, from io.Reader, delay time.Duration, running *sync.WaitGroup) {
	type part struct {
		at   time.Time
		text []byte
	}
	parts := make(chan part, 1024)
	running.Go(func() {
		defer close(parts)
		for {
			text := make([]byte, 4096)
			n, err := from.Read(text)
			if err != nil {
				return
			}
			parts <- part{time.Now().Add(delay), text[:n]}
		}
	})
	running.Go(func() {
		for p := range parts {
			time.Sleep(time.Until(p.at))
			_, _ = to.Write(p.text) // the other end may be gone: the test sees that
		}
	})
}

// relayTo ends TCP near by and passes everything on to a server that is far.
func relayTo(t *testing.T, to string, delay time.Duration) net.Addr {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var running sync.WaitGroup
	var mu sync.Mutex
	open := []io.Closer{l}
	running.Go(func() {
		for {
			near, err := l.Accept()
			if err != nil {
				return
			}
			far, err := net.Dial("tcp", to)
			if err != nil {
				_ = near.Close()
				continue
			}
			mu.Lock()
			open = append(open, near, far)
			mu.Unlock()
			passOn(far, near, delay, &running)
			passOn(near, far, delay, &running)
		}
	})
	t.Cleanup(func() {
		mu.Lock()
		for _, c := range open {
			_ = c.Close()
		}
		mu.Unlock()
		running.Wait()
	})
	return l.Addr()
}

// Behind a relay TCP ends near by, and only TLS tells how far the peer is.
func TestTheHelloTellsHowFarThePeerIs(t *testing.T) {
	const delay = 40 * time.Millisecond
	a := authority(t)
	client := &tls.Config{RootCAs: a.pool}
	s := serve(t, a.leaf(t, nil), (*peer).warm)
	for _, far := range []bool{false, true} {
		o := s.options(client)
		if far {
			_, o.Port, _ = net.SplitHostPort(relayTo(t, s.addr.String(), delay).String())
		}
		hello := time.Hour
		for range 10 { // a busy machine is slow at some of them, as an API may be
			c, e := wire.Open(t.Context(), o)
			if c == nil {
				t.Fatal(e.Error)
			}
			_, x := c.Exchange(t.Context(), ask(t, 5*time.Second))
			_ = c.Close()
			if x.MinRTT <= 0 || x.MinRTT > delay/2 || x.MinRTT > e.MinRTT || x.MinRTT > x.RTT || x.Hello != e.Hello {
				t.Errorf("far %v: smallest round trip %v after %v, smoothed %v, hello %v", far, x.MinRTT, e.MinRTT, x.RTT, x.Hello)
			}
			hello = min(hello, x.Hello)
			if hello < 2*delay {
				break
			}
		}
		if far != (hello >= 2*delay) {
			t.Errorf("far %v: hello %v, with 2 x %v on the way", far, hello, delay)
		}
	}
}

// late reads its first bytes long after they came.
type late struct {
	*net.TCPConn
	by time.Duration
}

func (l *late) Read(p []byte) (int, error) {
	time.Sleep(l.by)
	l.by = 0
	return l.TCPConn.Read(p)
}

// A perch that looks late does not put the peer further away: the kernel's
// clock dates the hello, in coarse steps that may leave nothing of a short one.
func TestTheHelloIsDatedWhenItCame(t *testing.T) {
	const by = 400 * time.Millisecond
	a := authority(t)
	client := &tls.Config{RootCAs: a.pool}
	s := serve(t, a.leaf(t, nil), (*peer).warm)
	o := s.options(client)
	o.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
		c, err := (&net.Dialer{}).DialContext(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return &late{c.(*net.TCPConn), by}, nil
	}
	c, e := wire.Open(t.Context(), o)
	if c == nil {
		t.Fatal(e.Error)
	}
	_ = c.Close()
	if e.Phases.TLS < by || e.Hello > by/2 {
		t.Errorf("hello %v of a handshake of %v, in which perch looked %v late", e.Hello, e.Phases.TLS, by)
	}
}

// What the kernel dates by jiffies never makes a hello of no time, which would
// mean that it is not known.
func TestTheHelloIsKnownHoweverNearThePeer(t *testing.T) {
	a := authority(t)
	s := serve(t, a.leaf(t, nil), (*peer).warm)
	o := s.options(&tls.Config{RootCAs: a.pool})
	o.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
		c, err := (&net.Dialer{}).DialContext(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return &late{c.(*net.TCPConn), 6 * time.Millisecond}, nil
	}
	for n := range 100 {
		c, e := wire.Open(t.Context(), o)
		if c == nil {
			t.Fatal(e.Error)
		}
		_ = c.Close()
		if e.Hello <= 0 {
			t.Fatalf("try %d: hello %v of a handshake of %v", n+1, e.Hello, e.Phases.TLS)
		}
	}
}

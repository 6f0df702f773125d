package wire_test

import (
	"context"
	"crypto/tls"
	"io"
	"net"
	"slices"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

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
		var hellos []time.Duration
		for range 5 { // a busy machine is slow at some of them, as an API may be, or its kernel's clock jumps
			c, e := wire.Open(t.Context(), o)
			if c == nil {
				t.Fatal(e.Error)
			}
			_, x := c.Exchange(t.Context(), ask(t, 5*time.Second))
			_ = c.Close()
			if x.MinRTT <= 0 || x.MinRTT > delay/2 || x.MinRTT > e.MinRTT || x.MinRTT > x.RTT || x.Hello != e.Hello {
				t.Errorf("far %v: smallest round trip %v after %v, smoothed %v, hello %v", far, x.MinRTT, e.MinRTT, x.RTT, x.Hello)
			}
			hellos = append(hellos, x.Hello)
		}
		slices.Sort(hellos)
		hello := hellos[len(hellos)/2]
		if far != (hello >= 2*delay) {
			t.Errorf("far %v: hellos %v, with 2 x %v on the way", far, hellos, delay)
		}
	}
}

// late has something to wait for before it reads for the first time.
type late struct {
	*net.TCPConn
	first func(*net.TCPConn)
}

func (l *late) Read(p []byte) (int, error) {
	if l.first != nil {
		l.first(l.TCPConn)
		l.first = nil
	}
	return l.TCPConn.Read(p)
}

// lateOver dials connections that wait so.
func lateOver(first func(*net.TCPConn)) wire.DialFunc {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		c, err := (&net.Dialer{}).DialContext(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return &late{c.(*net.TCPConn), first}, nil
	}
}

// arrival waits until something has come that can be read.
func arrival(t *testing.T, c *net.TCPConn) {
	raw, err := c.SyscallConn()
	if err == nil {
		err = raw.Read(func(fd uintptr) bool {
			n, err := unix.IoctlGetInt(int(fd), unix.TIOCINQ)
			return err != nil || n > 0
		})
	}
	if err != nil {
		t.Error(err)
	}
}

// A perch that looks late does not put the peer further away: the kernel's
// clock dates the hello, in coarse steps that may leave nothing of a short one.
func TestTheHelloIsDatedWhenItCame(t *testing.T) {
	const by = 400 * time.Millisecond
	a := authority(t)
	client := &tls.Config{RootCAs: a.pool}
	s := serve(t, a.leaf(t, nil), (*peer).warm)
	o := s.options(client)
	var came time.Time
	o.Dial = lateOver(func(c *net.TCPConn) {
		arrival(t, c)
		came = time.Now()
		time.Sleep(by)
	})
	began := time.Now()
	c, e := wire.Open(t.Context(), o)
	if c == nil {
		t.Fatal(e.Error)
	}
	_ = c.Close()
	if most := came.Sub(began); e.Phases.TLS < by || e.Hello > most+by/2 {
		t.Errorf("hello %v of a handshake of %v, in which perch looked %v late at what came in %v", e.Hello, e.Phases.TLS, by, most)
	}
}

// What the kernel dates by jiffies never makes a hello of no time, which would
// mean that it is not known.
func TestTheHelloIsKnownHoweverNearThePeer(t *testing.T) {
	a := authority(t)
	s := serve(t, a.leaf(t, nil), (*peer).warm)
	o := s.options(&tls.Config{RootCAs: a.pool})
	o.Dial = lateOver(func(*net.TCPConn) { time.Sleep(6 * time.Millisecond) })
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

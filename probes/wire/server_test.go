package wire_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"perch.example/probes/wire"
)

// peer is the server's end of one connection, driven by a script.
type peer struct {
	net.Conn // TLS over raw, or raw
	raw      *net.TCPConn
	br       *bufio.Reader
	acted    chan struct{} // closed by did: what the test waits for has been done
	once     sync.Once
	spoke    atomic.Pointer[time.Time] // when the last word was said; nil: none was
}

const whole = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"

// request reads one request to its end.
func (p *peer) request() bool {
	r, err := http.ReadRequest(p.br)
	if err != nil {
		return false
	}
	_, err = io.Copy(io.Discard, r.Body)
	return err == nil
}

// say writes; an error means that the client is gone, which the test sees.
func (p *peer) say(s string) { _, _ = io.WriteString(p.Conn, s); p.said() }

func (p *peer) said() { now := time.Now(); p.spoke.Store(&now) }

// warm serves one exchange.
func (p *peer) warm() {
	p.request()
	p.say(whole)
}

func (p *peer) did() { p.once.Do(func() { close(p.acted) }) }

// fin closes without a word of TLS; rst resets; bye closes as TLS wants it.
func (p *peer) fin() { _ = p.raw.Close() }
func (p *peer) rst() { _ = p.raw.SetLinger(0); _ = p.raw.Close() }
func (p *peer) bye() { _ = p.Close() }

// linger keeps the connection until the client has closed it.
func (p *peer) linger() { _, _ = io.Copy(io.Discard, p.raw) }

// server runs a script on each accepted connection, and closes what the
// script leaves open.
type server struct {
	t      testing.TB
	addr   netip.AddrPort
	tls    *tls.Config
	script func(*peer)
	peers  chan *peer
	mu     sync.Mutex
	raws   []net.Conn
}

func serve(t testing.TB, config *tls.Config, script func(*peer)) *server {
	t.Helper()
	return serveOn(t, "127.0.0.1:0", config, script)
}

func serveOn(t testing.TB, addr string, config *tls.Config, script func(*peer)) *server {
	t.Helper()
	l, err := net.Listen("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	return serveFrom(t, l, config, script)
}

func serveFrom(t testing.TB, l net.Listener, config *tls.Config, script func(*peer)) *server {
	t.Helper()
	s := &server{t: t, addr: netip.MustParseAddrPort(l.Addr().String()), tls: config, script: script, peers: make(chan *peer, 64)}
	var running sync.WaitGroup
	running.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			s.mu.Lock()
			s.raws = append(s.raws, c)
			s.mu.Unlock()
			running.Go(func() { s.one(c.(*net.TCPConn)) })
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		s.mu.Lock()
		for _, c := range s.raws { // a script may wait for a client that it cannot hear
			_ = c.Close()
		}
		s.mu.Unlock()
		running.Wait()
	})
	return s
}

func (s *server) one(raw *net.TCPConn) {
	defer func() { _ = raw.Close() }()
	p := &peer{Conn: raw, raw: raw, acted: make(chan struct{})}
	defer p.did()
	select {
	case s.peers <- p:
	default: // nobody asks for them
	}
	if s.tls != nil {
		c := tls.Server(raw, s.tls)
		if err := c.Handshake(); err != nil {
			return
		}
		p.Conn = c
	}
	p.br = bufio.NewReader(p.Conn)
	s.script(p)
}

// options returns how to open a connection to the server.
func (s *server) options(client *tls.Config) wire.Options {
	return wire.Options{
		Host: s.addr.Addr().String(), Port: port(s.addr), TLS: client,
		DNS: 5 * time.Second, Connect: 5 * time.Second, Handshake: 10 * time.Second,
	}
}

func port(a netip.AddrPort) string {
	_, p, _ := net.SplitHostPort(a.String())
	return p
}

// open opens a connection to the server, or fails the test.
func (s *server) open(client *tls.Config) (*wire.Conn, *peer) {
	s.t.Helper()
	c, e := wire.Open(s.t.Context(), s.options(client))
	if c == nil {
		s.t.Fatalf("opening: %s (%s)", e.Failure, e.Error)
	}
	s.t.Cleanup(func() { _ = c.Close() })
	return c, <-s.peers
}

func get(t testing.TB, fields ...string) *http.Request {
	t.Helper()
	r, err := http.NewRequestWithContext(context.Background(), http.MethodGet, "http://wire.test/things", nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i+1 < len(fields); i += 2 {
		r.Header.Set(fields[i], fields[i+1])
	}
	return r
}

// patience is how long an answer that never comes is waited for.
func patience() time.Duration {
	if stress {
		return time.Second
	}
	return 300 * time.Millisecond
}

func ask(t testing.TB, timeout time.Duration) wire.Request {
	return wire.Request{HTTP: get(t), Timeout: timeout}
}

// unlessLate repeats what is over once a timeout has passed, as long as this machine
// kept the peer from its part in it until then: once says so, by the peer's clock.
func unlessLate(t testing.TB, once func() (late bool)) {
	t.Helper()
	for range 20 {
		if !once() {
			return
		}
	}
	t.Error("20 times the peer came too late: this machine is too slow")
}

// late reports whether the peer's last word did not come within limit of the request.
func (p *peer) late(e wire.Evidence, limit time.Duration) bool {
	at := p.spoke.Load()
	return at == nil || !at.After(e.Started) || at.After(e.Started.Add(limit))
}

// standstill is longer than the machines of these tests stand still.
const standstill = 800 * time.Millisecond

// heldUntil holds the connection, for a short while at a time, until the peer has done
// its part, and then once more: what the peer did is there by then.
func heldUntil(t testing.TB, c *wire.Conn, done <-chan struct{}) wire.Held {
	t.Helper()
	last := false
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); {
		select {
		case <-done:
			last = true
		default:
		}
		h := c.Hold(t.Context(), time.Now().Add(30*time.Millisecond), true)
		if last || h.Close != nil || !h.LateKnown {
			return h
		}
	}
	t.Fatal("the peer never came to do its part")
	return wire.Held{}
}

// deed is when a peer acted, by its own clock.
type deed struct{ before, after time.Time }

func (d *deed) of(act func()) { d.before = time.Now(); act(); d.after = time.Now() }

// idled makes the first exchange, and returns the instants between which idling began.
func idled(t testing.TB, c *wire.Conn) (span [2]time.Time) {
	t.Helper()
	span[0] = time.Now()
	warmed(t, c)
	span[1] = time.Now()
	return span
}

// mustDate fails where a close is not dated by when the peer made it: no earlier, but for
// what it says of itself, and no later than it was seen here.
func mustDate(t testing.TB, c *wire.Close, d deed, idle [2]time.Time, seen time.Time) {
	t.Helper()
	if c.At.Add(c.Resolution).Before(d.before) || c.At.After(seen) {
		t.Errorf("closed between %v and %v, and seen at %v: %+v", d.before, d.after, seen, c)
	}
	if c.Age < c.At.Sub(idle[1]) || c.Age > c.At.Sub(idle[0]) {
		t.Errorf("idle since %v to %v: %+v", idle[0], idle[1], c)
	}
}

// refusedAddr is an address on which nobody listens, and for the test's time nobody
// else will: a connection has its port.
func refusedAddr(t testing.TB) netip.AddrPort {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return netip.MustParseAddrPort(c.LocalAddr().String())
}

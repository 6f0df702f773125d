package lab

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"runtime"
	"strconv"
	"sync"
	"time"

	"golang.org/x/net/http2"
)

// DefaultIdleTimeout is how long an idle connection lives unless [Options] says
// otherwise.
const DefaultIdleTimeout = time.Second

// DefaultDelay is how late a slow answer is unless [Options] says otherwise.
const DefaultDelay = 400 * time.Millisecond

// Options change a scenario. The zero value is useful.
type Options struct {
	Addr        string        // where to listen; default 127.0.0.1:0
	TLS         bool          // serve the scenario over TLS; SOCKS5 has none
	IdleTimeout time.Duration // how long an idle connection lives, for scenarios that close one; default 1 s
	Delay       time.Duration // how late a slow answer is; default 400 ms
	Healthy     int           // how many requests of each connection are answered well first; held scenarios answer at least one
	OnRequest   func(Request) // called with each request received, from many goroutines; may be nil
}

func (o Options) withDefaults(s Scenario) Options {
	if o.Addr == "" {
		o.Addr = "127.0.0.1:0"
	}
	if o.IdleTimeout == 0 {
		o.IdleTimeout = DefaultIdleTimeout
	}
	if o.Delay == 0 {
		o.Delay = DefaultDelay
	}
	if s.Held {
		o.Healthy = max(o.Healthy, 1)
	}
	return o
}

// Server is a running scenario.
type Server struct {
	scenario Scenario
	options  Options
	ca       *authority  // nil: plain
	tls      *tls.Config // nil: plain
	listener *net.TCPListener
	host     string      // of the URL: an address with a port, or a name with one
	resolver string      // the scenario's name server; empty: none
	closers  []io.Closer // what an opening scenario holds
	done     chan struct{}
	stop     func() bool // forgets the context
	running  sync.WaitGroup
	record   record

	mu     sync.Mutex
	conns  map[*conn]struct{}
	opened int
	peak   int
	closed bool
}

// Start serves the named scenario until Close is called or ctx ends. It fails
// when there is no such scenario, when the address cannot be listened on, and
// when the scenario needs a system or rights that are not there.
func Start(ctx context.Context, name string, o Options) (*Server, error) {
	scenario, err := Find(name)
	if err != nil {
		return nil, fmt.Errorf("starting the lab: %w", err)
	}
	o = o.withDefaults(scenario)
	s := &Server{
		scenario: scenario.after(o.IdleTimeout),
		options:  o,
		done:     make(chan struct{}),
		conns:    map[*conn]struct{}{},
	}
	if err := s.begin(); err != nil {
		return nil, errors.Join(fmt.Errorf("starting scenario %s: %w", name, err), s.Close())
	}
	s.stop = context.AfterFunc(ctx, func() { _ = s.Close() })
	return s, nil
}

// begin makes the certificates, opens the listener and starts accepting.
func (s *Server) begin() error {
	if s.scenario.Linux && runtime.GOOS != "linux" {
		return errNeedsLinux
	}
	if s.scenario.Root {
		if err := mayFilter(); err != nil {
			return err
		}
	}
	if s.scenario.TLS || s.options.TLS && s.scenario.Proxy != proxySOCKS {
		if err := s.prepareTLS(); err != nil {
			return err
		}
	}
	if s.scenario.open != nil {
		return s.scenario.open(s)
	}
	ln, err := net.Listen("tcp", s.options.Addr)
	if err != nil {
		return fmt.Errorf("listening: %w", err)
	}
	s.listener = ln.(*net.TCPListener)
	s.host = reachable(s.listener.Addr().(*net.TCPAddr))
	s.running.Go(s.accept)
	return nil
}

// reachable is the address with which a client on this machine gets there.
func reachable(addr *net.TCPAddr) string {
	if addr.IP.IsUnspecified() {
		return net.JoinHostPort("localhost", strconv.Itoa(addr.Port))
	}
	return addr.String()
}

func (s *Server) prepareTLS() error {
	ca, err := newAuthority(s.options.Addr)
	if err != nil {
		return err
	}
	s.ca = ca
	s.tls, err = ca.serverConfig()
	if err != nil {
		return err
	}
	if s.scenario.H2 {
		s.tls.NextProtos = []string{http2.NextProtoTLS}
	}
	if s.scenario.identity == nil {
		return nil
	}
	return s.scenario.identity(ca, s.tls)
}

// accept starts a goroutine for each connection, until the listener is closed.
func (s *Server) accept() {
	for {
		tcp, err := s.listener.AcceptTCP()
		if err != nil {
			return
		}
		c := newConn(s, tcp)
		if !s.add(c) {
			_ = tcp.Close()
			return
		}
		s.running.Go(func() {
			defer s.remove(c)
			if s.scenario.raw || c.handshake() == nil {
				s.scenario.play(c)
			}
			c.end()
		})
	}
}

// add counts a connection; false when the server is closing.
func (s *Server) add(c *conn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	s.opened++
	c.number = s.opened
	s.conns[c] = struct{}{}
	s.peak = max(s.peak, len(s.conns))
	return true
}

func (s *Server) remove(c *conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.conns, c)
}

// Close stops accepting, ends every connection and waits for all that the
// server started. Calling it again does nothing.
func (s *Server) Close() error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		s.running.Wait()
		return nil
	}
	s.closed = true
	close(s.done)
	for c := range s.conns {
		_ = c.tcp.Close()
	}
	s.mu.Unlock()
	if s.stop != nil {
		s.stop()
	}
	var errs []error
	if s.listener != nil {
		errs = append(errs, s.listener.Close())
	}
	for _, c := range s.closers {
		errs = append(errs, c.Close())
	}
	s.running.Wait()
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("closing the lab: %w", err)
	}
	return nil
}

// URL is the scheme and host to send requests to, without a path: any path
// will do. Of a forward proxy it is what a client is told as its proxy.
func (s *Server) URL() string {
	if s.scenario.Proxy == proxySOCKS {
		return proxySOCKS + "://" + s.host
	}
	if s.tls != nil {
		return "https://" + s.host
	}
	return "http://" + s.host
}

// Host is the URL's host and port.
func (s *Server) Host() string { return s.host }

// Scenario is what is being served.
func (s *Server) Scenario() Scenario { return s.scenario }

// Connections returns how many connections were accepted so far, and how many
// at most were open at once.
func (s *Server) Connections() (opened, peak int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.opened, s.peak
}

// errNeedsLinux says that a scenario cannot be played on this system.
var errNeedsLinux = errors.New("it needs Linux")

package lab

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"time"
)

const (
	maxRequest = 64 << 10        // bytes of one request that are read
	lingerFor  = 5 * time.Second // how long a half-closed connection is read on
)

// errIdle says that no request came within the time.
var errIdle = errors.New("no request came")

// conn is one accepted connection.
type conn struct {
	server *Server
	tcp    *net.TCPConn
	stream net.Conn // tcp, or TLS over it
	in     *bufio.Reader
	limit  *io.LimitedReader // under in: bounds what one request may send
	number int
	served int       // requests read
	quiet  time.Time // since when nothing was written
	left   bool      // leaving was called
}

func newConn(s *Server, tcp *net.TCPConn) *conn {
	c := &conn{server: s, tcp: tcp, quiet: time.Now()}
	c.carry(tcp)
	return c
}

// carry makes stream what requests are read from and answers written to.
func (c *conn) carry(stream net.Conn) {
	c.stream = stream
	c.limit = &io.LimitedReader{R: stream}
	c.in = bufio.NewReader(c.limit)
}

// handshake does the server's part of TLS, when the server speaks it.
func (c *conn) handshake() error {
	if c.server.tls == nil {
		return nil
	}
	secure := tls.Server(c.tcp, c.server.tls)
	ctx, cancel := context.WithTimeout(context.Background(), lingerFor)
	defer cancel()
	if err := secure.HandshakeContext(ctx); err != nil {
		// The client may still be writing: closing over that would send an
		// RST, which can overtake the alert.
		_ = c.tcp.CloseWrite()
		c.swallow(time.Second)
		return fmt.Errorf("shaking hands: %w", err)
	}
	c.carry(secure)
	c.quiet = time.Now()
	return nil
}

// next waits for the next request and reads all of it. With wait > 0 it gives
// up with errIdle when the connection has been idle for that long. Any other
// error means that the client is gone, or did not speak HTTP.
func (c *conn) next(wait time.Duration) (*http.Request, error) {
	if err := c.await(deadline(c.quiet, wait)); err != nil {
		return nil, err
	}
	at := time.Now()
	q, err := http.ReadRequest(c.in)
	if err != nil {
		return nil, err
	}
	if _, err := io.Copy(io.Discard, q.Body); err != nil {
		return nil, err
	}
	c.served++
	c.note(q, at)
	return q, nil
}

// await waits until there is something to read, and allows as much as one
// request may send. When until, unless zero, passes first, it says errIdle.
func (c *conn) await(until time.Time) error {
	c.limit.N = maxRequest
	for c.in.Buffered() == 0 {
		if err := c.tcp.SetReadDeadline(until); err != nil {
			return err
		}
		_, err := c.in.Peek(1)
		if err == nil {
			break
		}
		if !errors.Is(err, os.ErrDeadlineExceeded) {
			return err
		}
		// A request that is already in our kernel would turn the FIN into
		// an RST: it came in time.
		if c.pending() == 0 {
			return errIdle
		}
		until = until.Add(10 * time.Millisecond)
	}
	return c.tcp.SetReadDeadline(time.Time{})
}

// deadline is the end of a wait that began at start; none for 0.
func deadline(start time.Time, wait time.Duration) time.Time {
	if wait == 0 {
		return time.Time{}
	}
	return start.Add(wait)
}

func (c *conn) note(q *http.Request, at time.Time) {
	r := Request{
		At: at, Method: q.Method, URI: q.RequestURI, Header: q.Header,
		Connection: c.number, Number: c.served, Remote: c.remote(),
	}
	c.server.record.request(r)
	if c.server.options.OnRequest != nil {
		c.server.options.OnRequest(r)
	}
}

func (c *conn) remote() netip.AddrPort {
	return c.tcp.RemoteAddr().(*net.TCPAddr).AddrPort()
}

// send writes text as it is; false when the client is gone.
func (c *conn) send(text string) bool {
	_, err := io.WriteString(c.stream, text)
	c.quiet = time.Now()
	return err == nil
}

// sleep waits; false when the server was closed meanwhile.
func (c *conn) sleep(d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-c.server.done:
		return false
	}
}

// leaving records that the server is about to end the connection, once.
func (c *conn) leaving() {
	if c.left {
		return
	}
	c.left = true
	now := time.Now()
	c.server.record.close(Close{At: now, Connection: c.number, Remote: c.remote(), Idle: now.Sub(c.quiet)})
}

// fin closes the connection so that a FIN leaves: what came is read first. TLS
// says nothing.
func (c *conn) fin() {
	c.leaving()
	c.drain()
	_ = c.tcp.Close()
}

// rst closes the connection so that an RST leaves.
func (c *conn) rst() {
	c.leaving()
	_ = c.tcp.SetLinger(0)
	_ = c.tcp.Close()
}

// half ends the server's direction with a FIN, and goes on reading what the
// client sends without answering, until the client ends its own or time is up.
func (c *conn) half() {
	c.leaving()
	_ = c.tcp.CloseWrite()
	c.swallow(lingerFor)
	_ = c.tcp.Close()
}

// notify sends TLS's close_notify. Plain connections have none.
func (c *conn) notify() {
	if secure, ok := c.stream.(*tls.Conn); ok {
		c.leaving()
		_ = secure.CloseWrite()
	}
}

// swallow reads and forgets what the client sends, until it ends or for d
// (0: no limit).
func (c *conn) swallow(d time.Duration) {
	if err := c.tcp.SetReadDeadline(deadline(time.Now(), d)); err != nil {
		return
	}
	_, _ = io.Copy(io.Discard, c.tcp)
}

// drain reads what lies in our kernel: closing over it would send an RST.
func (c *conn) drain() {
	var buffer [4096]byte
	for c.pending() > 0 {
		_ = c.tcp.SetReadDeadline(time.Now().Add(time.Second))
		if _, err := c.tcp.Read(buffer[:]); err != nil {
			return
		}
	}
}

// end closes what a scenario left open.
func (c *conn) end() {
	c.drain()
	_ = c.tcp.Close()
}

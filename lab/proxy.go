package lab

import (
	"io"
	"math"
	"net"
	"net/http"
	"net/netip"
	"time"
)

// The forward proxies of [Scenario.Proxy].
const (
	proxyHTTP  = "http"
	proxySOCKS = "socks5"
)

func proxyScenarios() []Scenario {
	failing := func(name string, play func(*conn), about string) Scenario {
		return Scenario{Name: name, Reason: "proxy", play: play, Proxy: proxyHTTP, About: about}
	}
	return []Scenario{
		{Name: "proxy_healthy", Reason: "ok", play: connects(0), Proxy: proxyHTTP,
			About: "A forward proxy that opens tunnels by CONNECT, and forwards plain requests, to loopback and nowhere else."},
		{Name: "proxy_idle_fin", Reason: "idle_fin", play: idleTunnel, Proxy: proxyHTTP, Held: true, timed: true,
			About: "A forward proxy that ends an idle tunnel with FIN, while the server behind it would have kept it."},
		{Name: "proxy_refused", Reason: "proxy", open: refused, Proxy: proxyHTTP, Linux: true,
			About: "A forward proxy's port on which nobody listens."},
		failing("proxy_forbidden", answering(http.StatusForbidden), "A forward proxy that refuses every tunnel with 403."),
		failing("proxy_unauthorized", answering(http.StatusProxyAuthRequired, `Proxy-Authenticate: Basic realm="lab"`),
			"A forward proxy that wants credentials: 407."),
		failing("proxy_bad_gateway", answering(http.StatusBadGateway), "A forward proxy that cannot reach the server: 502."),
		failing("proxy_eof", onRequest(eof), "A forward proxy that reads CONNECT and closes with FIN."),
		failing("proxy_reset", onRequest(reset), "A forward proxy that reads CONNECT and resets the connection."),
		failing("proxy_garbage", onRequest(badResponse), "A forward proxy that answers CONNECT with lines that are not HTTP."),
		failing("proxy_stall", onRequest(noResponse), "A forward proxy that never answers CONNECT."),
	}
}

// idleTunnel is a healthy proxy with an idle timeout.
func idleTunnel(c *conn) { connects(c.server.options.IdleTimeout)(c) }

// connects serves one CONNECT, or one plain request without a body and what
// follows it on the connection. With idle > 0 the tunnel ends when nothing passed
// for that long.
func connects(idle time.Duration) func(*conn) {
	return func(c *conn) {
		q, err := c.next(0)
		if err != nil {
			return
		}
		up, status := reach(wants(q))
		if up == nil {
			c.answer(q, status, "")
			return
		}
		if c.passOn(q, up) != nil {
			_ = up.Close()
			return
		}
		c.tunnel(up, idle)
	}
}

// wants is the host and port that a client asks its proxy for; empty when it
// asks for what no lab proxy does.
func wants(q *http.Request) string {
	switch {
	case q.Method == http.MethodConnect || q.URL.Port() != "" && q.ContentLength == 0:
		return q.Host
	case q.ContentLength == 0:
		return net.JoinHostPort(q.URL.Hostname(), "80")
	default:
		return ""
	}
}

// passOn says that the tunnel is open, or hands the plain request on.
func (c *conn) passOn(q *http.Request, up io.Writer) error {
	if q.Method == http.MethodConnect {
		_, err := io.WriteString(c.stream, "HTTP/1.1 200 Connection established\r\n\r\n")
		return err
	}
	q.Header.Del("Proxy-Connection")
	q.Header.Del("Proxy-Authorization")
	return q.Write(up)
}

// reach dials a server for a client. A lab is no way out of the machine: only
// loopback can be reached. When up is nil, status says why.
func reach(target string) (up *net.TCPConn, status int) {
	host, port, err := net.SplitHostPort(target)
	if err != nil {
		return nil, http.StatusBadRequest
	}
	if host == "localhost" {
		host = "127.0.0.1"
	}
	addr, err := netip.ParseAddr(host)
	if err != nil || !addr.Unmap().IsLoopback() {
		return nil, http.StatusForbidden
	}
	conn, err := net.DialTimeout("tcp", net.JoinHostPort(addr.String(), port), lingerFor)
	if err != nil {
		return nil, http.StatusBadGateway
	}
	return conn.(*net.TCPConn), http.StatusOK
}

// tunnel copies both ways until either side has ended. An end of the server's
// is passed on as it came, FIN for FIN; the client's ends both.
func (c *conn) tunnel(up *net.TCPConn, idle time.Duration) {
	c.limit.N = math.MaxInt64
	var late *time.Timer // ends both sides; nil: nothing does
	if idle > 0 {
		late = time.AfterFunc(idle, func() {
			c.leaving()
			_ = c.tcp.CloseWrite()
			_ = up.Close()
		})
		defer late.Stop()
	}
	c.server.running.Go(func() {
		_, _ = io.Copy(busy{c.stream, late, idle}, up)
		_ = c.tcp.CloseWrite()
	})
	_, _ = io.Copy(busy{up, late, idle}, c.in)
	_ = up.Close()
}

// busy puts off the end of an idle tunnel with each piece that passes.
type busy struct {
	io.Writer
	late *time.Timer
	idle time.Duration
}

func (b busy) Write(p []byte) (int, error) {
	if b.late != nil {
		b.late.Reset(b.idle)
	}
	return b.Writer.Write(p)
}

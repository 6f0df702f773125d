package lab

import (
	"encoding/binary"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"time"
)

func socksScenarios() []Scenario {
	socks := func(name, reason string, play func(*conn), about string) Scenario {
		return Scenario{Name: "socks5_" + name, Reason: reason, play: play, Proxy: proxySOCKS, About: about}
	}
	return []Scenario{
		socks("healthy", "ok", socksHealthy, "A SOCKS5 proxy that connects to loopback and nowhere else."),
		socks("forbidden", "proxy", socksAnswering(socksForbidden), "A SOCKS5 proxy whose rules allow no connection (reply 2)."),
		socks("unreachable", "proxy", socksAnswering(socksRefused), "A SOCKS5 proxy that the server refuses (reply 5)."),
		socks("no_method", "proxy", socksNoMethod, "A SOCKS5 proxy that accepts no way of authentication that it was offered."),
		socks("eof", "proxy", socksEOF, "A SOCKS5 proxy that reads the greeting and closes with FIN."),
		socks("garbage", "proxy", socksGarbage, "A SOCKS5 proxy that answers the greeting in HTTP."),
		socks("stall", "proxy", socksStall, "A SOCKS5 proxy that never answers the greeting."),
	}
}

// What SOCKS5 says (RFC 1928).
const (
	socksVersion   = 5
	socksNoAuth    = 0
	socksNone      = 0xff // no acceptable method
	socksGranted   = 0
	socksForbidden = 2
	socksRefused   = 5
	socksIPv4      = 1
	socksName      = 3
	socksIPv6      = 4
)

// greeted reads the client's greeting; false when it does not speak SOCKS5.
func (c *conn) greeted() bool {
	begin, ok := c.take(2)
	if !ok || begin[0] != socksVersion {
		return false
	}
	_, ok = c.take(int(begin[1]))
	return ok
}

// asked reads the client's request and returns what it wants to reach.
func (c *conn) asked() (target string, ok bool) {
	begin, ok := c.take(4)
	if !ok {
		return "", false
	}
	length := 0
	switch begin[3] {
	case socksIPv4:
		length = 4
	case socksIPv6:
		length = 16
	case socksName:
		size, ok := c.take(1)
		if !ok {
			return "", false
		}
		length = int(size[0])
	}
	host, ok := c.take(length)
	if !ok {
		return "", false
	}
	port, ok := c.take(2)
	if !ok {
		return "", false
	}
	name := string(host)
	if addr, isAddr := netip.AddrFromSlice(host); isAddr && begin[3] != socksName {
		name = addr.String()
	}
	target = net.JoinHostPort(name, strconv.Itoa(int(binary.BigEndian.Uint16(port))))
	c.served++
	c.note(&http.Request{Method: http.MethodConnect, RequestURI: target}, time.Now())
	return target, true
}

// take reads n bytes.
func (c *conn) take(n int) ([]byte, bool) {
	if c.await(time.Time{}) != nil {
		return nil, false
	}
	b := make([]byte, n)
	_, err := io.ReadFull(c.in, b)
	return b, err == nil
}

// reply ends the opening: the address is that of nobody, which clients ignore.
func (c *conn) reply(code byte) bool {
	return c.send(string([]byte{socksVersion, code, 0, socksIPv4, 0, 0, 0, 0, 0, 0}))
}

func (c *conn) method(m byte) bool { return c.send(string([]byte{socksVersion, m})) }

func socksHealthy(c *conn) {
	if !c.greeted() || !c.method(socksNoAuth) {
		return
	}
	target, ok := c.asked()
	if !ok {
		return
	}
	up, status := reach(target)
	switch {
	case status == http.StatusOK && c.reply(socksGranted):
		c.tunnel(up, 0)
	case status == http.StatusOK:
		_ = up.Close()
	case status == http.StatusBadGateway:
		c.reply(socksRefused)
	default:
		c.reply(socksForbidden)
	}
}

// socksAnswering opens nothing and says why.
func socksAnswering(code byte) func(*conn) {
	return func(c *conn) {
		if !c.greeted() || !c.method(socksNoAuth) {
			return
		}
		if _, ok := c.asked(); ok {
			c.reply(code)
		}
	}
}

func socksNoMethod(c *conn) {
	if c.greeted() {
		c.method(socksNone)
	}
}

func socksEOF(c *conn) {
	if c.greeted() {
		c.fin()
	}
}

func socksGarbage(c *conn) {
	if c.greeted() && c.send(head(http.StatusBadRequest, "Connection: close", "Content-Length: 0")) {
		c.half()
	}
}

func socksStall(c *conn) {
	if c.greeted() {
		c.swallow(0)
	}
}

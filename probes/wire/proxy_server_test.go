package wire_test

import (
	"encoding/binary"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"testing"

	"perch.example/probes/wire"
)

// front is a proxy that works, and what is remembered of it.
type front struct {
	scheme string
	server *server
	asked  chan asked
}

// asked is what a proxy was asked for, and with which credentials.
type asked struct{ target, credentials, agent string }

// fronts are proxies of each kind; those over TLS have a certificate of a's.
func fronts(t testing.TB, a certificates) []*front {
	t.Helper()
	var all []*front
	for _, scheme := range []string{"http", "https", "socks5", "socks5h"} {
		f := &front{scheme: scheme, asked: make(chan asked, 16)}
		script := f.connect
		if scheme == "socks5" || scheme == "socks5h" {
			script = f.socks
		}
		if scheme == "https" {
			f.server = serve(t, a.leaf(t, nil), script)
		} else {
			f.server = serve(t, nil, script)
		}
		all = append(all, f)
	}
	return all
}

// connect serves one CONNECT.
func (f *front) connect(p *peer) {
	r, err := http.ReadRequest(p.br)
	if err != nil || r.Method != http.MethodConnect {
		p.say("HTTP/1.1 405 Method Not Allowed\r\n\r\n")
		return
	}
	f.asked <- asked{r.Host, r.Header.Get("Proxy-Authorization"), r.UserAgent()}
	up, err := net.Dial("tcp", atHome(r.Host))
	if err != nil {
		p.say("HTTP/1.1 502 Bad Gateway\r\n\r\n")
		return
	}
	p.say("HTTP/1.1 200 Connection established\r\nContent-Length: 0\r\n\r\n")
	p.join(up)
}

// socks serves one SOCKS5 client, with credentials if that offers them.
func (f *front) socks(p *peer) {
	hello := p.take(2)
	methods := p.take(int(hello[1]))
	a := asked{}
	if len(methods) > 1 {
		p.say("\x05\x02")
		a.credentials = string(p.take(int(p.take(2)[1])))
		a.credentials += ":" + string(p.take(int(p.take(1)[0])))
		p.say("\x01\x00")
	} else {
		p.say("\x05\x00")
	}
	host := ""
	switch kind := p.take(4)[3]; kind {
	case 1, 4:
		ip, _ := netip.AddrFromSlice(p.take(map[byte]int{1: 4, 4: 16}[kind]))
		host = ip.String()
	default:
		host = string(p.take(int(p.take(1)[0])))
	}
	a.target = net.JoinHostPort(host, strconv.Itoa(int(binary.BigEndian.Uint16(p.take(2)))))
	f.asked <- a
	up, err := net.Dial("tcp", atHome(a.target))
	if err != nil {
		p.say("\x05\x05\x00\x01\x00\x00\x00\x00\x00\x00")
		return
	}
	p.say("\x05\x00\x00\x01\x00\x00\x00\x00\x00\x00")
	p.join(up)
}

// take reads n bytes; a client that is gone gives zeros.
func (p *peer) take(n int) []byte {
	b := make([]byte, n)
	_, _ = io.ReadFull(p.br, b)
	return b
}

// join copies both ways until either side has ended, and then ends both.
func (p *peer) join(up net.Conn) {
	defer func() { _ = up.Close() }()
	go func() {
		_, _ = io.Copy(p.Conn, up)
		p.bye()
	}()
	_, _ = io.Copy(up, p.br)
}

// atHome resolves the one name of these tests.
func atHome(target string) string {
	host, port, _ := net.SplitHostPort(target)
	if host == "api.test" {
		host = "127.0.0.1"
	}
	return net.JoinHostPort(host, port)
}

// proxy is how a connection goes through f.
func (f *front) proxy(a certificates) *wire.Proxy {
	p := &wire.Proxy{Scheme: f.scheme, Host: "127.0.0.1", Port: port(f.server.addr), UserAgent: "perch/test"}
	if f.scheme == "https" {
		p.TLS = a.client()
	}
	return p
}

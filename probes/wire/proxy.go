package wire

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"time"
)

// Proxy is a forward proxy that a connection goes through. Its TCP connection is
// the one that is held, and that the kernel's evidence is about.
type Proxy struct {
	Scheme     string // http and https: CONNECT; socks5: it is given the host's address; socks5h: its name
	Host, Port string
	User       string // empty: it is told no credentials
	Password   string
	LoginBy    string      // who gives these, for messages: a variable's name; empty: proxy_credentials
	UserAgent  string      // of CONNECT
	TLS        *tls.Config // of the connection to an https proxy; nil: the system's roots
	// Whole sends each request to an http or https proxy in absolute form, as
	// clients do for http URLs: nothing is opened behind it, and the answer is its.
	Whole bool
}

// String is the proxy's host and port, without credentials.
func (p *Proxy) String() string { return net.JoinHostPort(p.Host, p.Port) }

// failed puts the proxy's name in front of what went wrong there.
func (p *Proxy) failed(err error) error { return fmt.Errorf("the proxy %s: %w", p, err) }

// socks reports whether the proxy speaks SOCKS.
func (p *Proxy) socks() bool { return p.Scheme == "socks5" || p.Scheme == "socks5h" }

// aim settles what the proxy will be asked for: the host's name, or for socks5
// its first address that may be dialled; nothing without a proxy. What is an
// address is asked about here, for it is not dialled from here.
func aim(ctx context.Context, o Options, e *Evidence) (string, Failure, error) {
	if o.Proxy == nil {
		return "", "", nil
	}
	literal, err := netip.ParseAddr(o.Host)
	if o.Proxy.Scheme != "socks5" && err != nil {
		return net.JoinHostPort(o.Host, o.Port), "", nil
	}
	addrs := []netip.Addr{literal}
	if err != nil {
		behind := o
		behind.Source = netip.Addr{} // the proxy's own is used
		if addrs, err = resolve(ctx, behind, e); err != nil {
			return "", FailureDNS, err
		}
	}
	for _, a := range addrs {
		if err = allowed(o, a); err == nil {
			return net.JoinHostPort(a.String(), o.Port), "", nil
		}
	}
	return "", FailureConnect, err
}

// through has the proxy open the connection to the host. What it says goes over
// the tap, so that the kernel's counters stay those of one stream.
func (c *Conn) through(ctx context.Context, o Options, target string, e *Evidence) error {
	began := time.Now()
	defer func() { e.Phases.Connect += time.Since(began) }()
	p := o.Proxy
	cut := cutOn(ctx, c.raw)
	defer cut.stop()
	lower, err := c.toProxy(ctx, o)
	if err != nil {
		return err
	}
	if p.Whole {
		c.whole = p
		return nil
	}
	if o.Connect > 0 {
		deadline(ctx, c.raw, time.Now().Add(o.Connect))
	}
	if p.socks() {
		err = p.askSOCKS(lower, target)
	} else {
		err = p.askCONNECT(lower, target)
	}
	if err != nil {
		e.ProxyAnswer = proxyAnswer(err)
		return fmt.Errorf("asking it for %s: %w", target, spoken(err, o.Connect))
	}
	deadline(ctx, c.raw, time.Time{})
	c.tap.firstWrite, c.tap.firstRead = time.Time{}, time.Time{} // the hello to come is the host's
	return nil
}

// toProxy shakes hands with an https proxy. Without TLS of the host's own, this
// is the TLS of the connection; else the host's runs inside it.
func (c *Conn) toProxy(ctx context.Context, o Options) (net.Conn, error) {
	if o.Proxy.Scheme != "https" {
		return &c.tap, nil
	}
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if o.Proxy.TLS != nil {
		config = o.Proxy.TLS.Clone()
	}
	if config.ServerName == "" {
		config.ServerName = o.Proxy.Host
	}
	if o.Handshake > 0 {
		deadline(ctx, c.raw, time.Now().Add(o.Handshake))
	}
	c.tap.records = true
	outer := tls.Client(&c.tap, config)
	if err := outer.HandshakeContext(context.Background()); err != nil {
		return nil, fmt.Errorf("TLS handshake with it: %w", spoken(err, o.Handshake))
	}
	deadline(ctx, c.raw, time.Time{})
	if o.TLS == nil {
		c.tls = outer
	} else {
		c.outer = outer
	}
	return outer, nil
}

// spoken words how a talk ended that the proxy did not end by a word.
func spoken(err error, limit time.Duration) error {
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return fmt.Errorf("no answer in %s", limit)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return errors.New("it closed the connection")
	case errnoOf(err) == ErrnoReset, errnoOf(err) == ErrnoPipe:
		return errors.New("it reset the connection")
	default:
		return err
	}
}

// maxProxyHead bounds the head of a proxy's answer.
const maxProxyHead = 16 << 10

// askCONNECT asks for a tunnel and reads no byte beyond the answer's head: what
// follows is the host's.
func (p *Proxy) askCONNECT(proxy io.ReadWriter, target string) error {
	req := &http.Request{Method: http.MethodConnect, URL: &url.URL{Opaque: target}, Host: target, Header: http.Header{}}
	req.Header.Set("User-Agent", p.UserAgent)
	p.authorize(req.Header)
	var out bytes.Buffer
	if err := req.Write(&out); err != nil {
		return fmt.Errorf("encoding CONNECT: %w", err)
	}
	if _, err := proxy.Write(out.Bytes()); err != nil {
		return err
	}
	head, err := readHead(proxy)
	if err != nil {
		return err
	}
	status, header, err := connectStatus(head)
	if err != nil || status/100 == 2 {
		return err
	}
	why := fmt.Sprintf("it refused with %d %s", status, http.StatusText(status))
	if status == http.StatusProxyAuthRequired {
		why = p.Unauthorized()
	}
	return &refusal{ProxyAnswer{status, header, finalStatus(status)}, why}
}

// Unauthorized words a 407.
func (p *Proxy) Unauthorized() string {
	if p.User == "" {
		return "it refused with 407: it wants credentials, and proxy_credentials gives none"
	}
	return "it refused with 407: " + p.notAccepted()
}

// notAccepted says whose credentials are wrong.
func (p *Proxy) notAccepted() string {
	return "it does not accept the credentials of " + cmp.Or(p.LoginBy, "proxy_credentials")
}

// authorize adds the credentials to a request that the proxy itself reads.
func (p *Proxy) authorize(h http.Header) {
	if p.User != "" {
		h.Set("Proxy-Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(p.User+":"+p.Password)))
	}
}

// readHead reads up to the empty line, a byte at a time.
func readHead(r io.Reader) ([]byte, error) {
	var head []byte
	var one [1]byte
	for len(head) < maxProxyHead {
		if _, err := io.ReadFull(r, one[:]); err != nil {
			return nil, err
		}
		head = append(head, one[0])
		if bytes.HasSuffix(head, []byte("\n\r\n")) || bytes.HasSuffix(head, []byte("\n\n")) {
			return head, nil
		}
	}
	return nil, fmt.Errorf("the head of its answer is longer than %d bytes", maxProxyHead)
}

// connectStatus is the status of the answer to CONNECT, and its header.
func connectStatus(head []byte) (int, http.Header, error) {
	resp, err := http.ReadResponse(bufio.NewReader(bytes.NewReader(head)), &http.Request{Method: http.MethodConnect})
	if err != nil {
		return 0, nil, errors.New("what it answered is no HTTP") // the parser's error quotes what came
	}
	_ = resp.Body.Close() // none was read: what follows the head is the host's
	return resp.StatusCode, resp.Header, nil
}

// whole makes of a request to the host one that the proxy reads: its URL whole,
// the credentials with it. The URL says who is meant: a proxy takes the host from
// there, whatever the Host field says.
func (p *Proxy) whole(r *http.Request) *http.Request {
	out := *r
	out.Host = r.URL.Host
	out.Header = r.Header.Clone()
	p.authorize(out.Header)
	return &out
}

// write encodes a request as whoever is at the connection's other end reads it.
func (c *Conn) write(r *http.Request, to io.Writer) error {
	if c.whole == nil {
		return r.Write(to)
	}
	return c.whole.whole(r).WriteProxy(to)
}

// below is what the host's TLS runs over.
func (c *Conn) below() net.Conn {
	if c.outer != nil {
		return c.outer
	}
	return &c.tap
}

package probes

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"perch.example/probes/wire"
)

// maxHead bounds an answer's head. The common clients allow 8 KiB to 1 MiB.
const maxHead = 64 << 10

// call is one step's spec and surroundings, which prepare makes ready for the
// wire: secrets read, certificates loaded. It lives for one step, so that
// secrets are as old as the run at most.
type call struct {
	spec   *Spec
	env    Env
	url    url.URL
	header http.Header
	public http.Header // what a redirect may carry: no secret, no cookie
	tls    *tls.Config
	body   []byte    // of each request; nil: none
	grpc   *grpcCall // nil: plain HTTP
	sent   bool      // a request left
	left   func()    // told as one does; nil: nobody is
	unused bool      // the first connection is held before it carries anything

	asked, given bool // by the last handshake: a client certificate, and whether there was one that suits

	token, refused Secret // the bearer token of the requests, and one that was answered with a 401; zero: none
	renewed        bool   // another one was asked for

	trace string

	forward *Forward    // the proxy on the way; nil: none
	proxy   *wire.Proxy // the same, with its credentials
	pinned  netip.Addr  // the one address of the host that is dialled; zero: as the resolver says
	once    bool        // no second try: the address before this one failed, too
}

func (c *call) prepare() error {
	c.url, c.header, c.public, c.trace = *c.spec.URL, http.Header{}, http.Header{}, c.env.IDs.Trace()
	c.set("User-Agent", c.env.UserAgent, true)
	// Some servers (Apache, Tomcat) say how long they keep a connection only if asked.
	c.set("Connection", "keep-alive", true)
	c.set("Accept-Encoding", "gzip", true)
	for _, f := range c.spec.Headers {
		v, err := c.value(f)
		if err != nil {
			return fmt.Errorf("reading the value of header %q: %w", f.Name, err)
		}
		c.set(f.Name, v, f.From.Zero() && !sensitive(f.Name))
	}
	if err := c.addQuery(); err != nil {
		return err
	}
	c.addBody()
	if err := c.prepareGRPC(); err != nil {
		return err
	}
	if err := c.prepareWay(); err != nil || c.url.Scheme != "https" {
		return err
	}
	var err error
	if c.tls, err = tlsConfig(c.spec, c.env); err != nil {
		return err
	}
	c.noteAsked()
	return nil
}

// copy is for a request beside others of the same step.
func (c *call) copy() *call {
	one := *c
	one.header, one.public = c.header.Clone(), c.public.Clone()
	return &one
}

func (c *call) set(name, value string, public bool) {
	c.header.Set(name, value)
	if public {
		c.public.Set(name, value)
	} else {
		c.public.Del(name)
	}
}

func (c *call) addQuery() error {
	if len(c.spec.Query) == 0 {
		return nil
	}
	q := c.url.RawQuery
	for _, f := range c.spec.Query {
		v, err := c.value(f)
		if err != nil {
			return fmt.Errorf("reading the value of query parameter %q: %w", f.Name, err)
		}
		if q != "" {
			q += "&"
		}
		q += url.QueryEscape(f.Name) + "=" + url.QueryEscape(v)
	}
	c.url.RawQuery = q
	return nil
}

func (c *call) value(f Field) (string, error) {
	if f.From.Zero() {
		return f.Prefix + f.Value, nil
	}
	s, err := c.env.Secrets(f.From)
	if err != nil {
		return "", err
	}
	return f.Prefix + s.Reveal(), nil
}

// target returns where a redirect leads, nil if perch does not go there: to
// another origin, or with credentials. A server that repeats our query in its
// Location must not make us carry a secret on.
func (c *call) target(from *url.URL, location string) *url.URL {
	to, err := from.Parse(location)
	if err != nil || !sameOrigin(from, to) || to.User != nil {
		return nil
	}
	var kept []string
	for _, pair := range strings.Split(to.RawQuery, "&") {
		if !c.secretParameter(pair) {
			kept = append(kept, pair)
		}
	}
	to.RawQuery = strings.Join(kept, "&")
	return to
}

func (c *call) secretParameter(pair string) bool {
	name, _, _ := strings.Cut(pair, "=")
	if plain, err := url.QueryUnescape(name); err == nil {
		name = plain
	}
	return slices.ContainsFunc(c.spec.Query, func(f Field) bool { return !f.From.Zero() && f.Name == name })
}

// sensitive names headers that never follow a redirect, wherever their value
// came from.
func sensitive(name string) bool {
	switch http.CanonicalHeaderKey(name) {
	case "Authorization", "Cookie", "Proxy-Authorization", "X-Api-Key":
		return true
	}
	return false
}

// request makes one request with a span of its own, and returns the span's id.
func (c *call) request(u *url.URL, header http.Header) (*http.Request, string) {
	span := c.env.IDs.Span()
	h := header.Clone()
	h.Set("Traceparent", "00-"+c.trace+"-"+span+"-01")
	r := &http.Request{Method: c.spec.Method, URL: u, Host: u.Host, Header: h, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1}
	if host := h.Get("Host"); host != "" {
		r.Host = host
	}
	if c.body != nil {
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(c.body)), int64(len(c.body))
	}
	return r, span
}

func (c *call) options() wire.Options {
	t := c.spec.Timeouts
	o := wire.Options{
		Host: c.url.Hostname(), Port: c.url.Port(), Protocol: c.speaks(), Dial: c.env.Dial, Resolve: c.env.Resolve, TLS: c.tls, Chains: c.env.Chains,
		DNS: t.DNS, Connect: t.Connect, Handshake: t.TLS,
	}
	if o.Port == "" {
		o.Port = "80"
		if c.tls != nil {
			o.Port = "443"
		}
	}
	if c.spec.Client != nil {
		o.TCPKeepAlive, o.Ping = c.spec.Client.TCPKeepAlive, c.spec.Client.HTTP2Ping
	}
	c.addWay(&o)
	return o
}

// tlsConfig reads the files anew, so that a rotated certificate counts from
// the next step on.
func tlsConfig(s *Spec, env Env) (*tls.Config, error) {
	cfg := &tls.Config{
		ServerName: s.TLS.ServerName, MinVersion: MinTLS, MaxVersion: MaxTLS, NextProtos: alpn(s.Speaks()),
	}
	if cfg.ServerName == "" {
		cfg.ServerName = s.URL.Hostname()
	}
	if s.TLS.MinVersion != 0 {
		cfg.MinVersion = s.TLS.MinVersion
	}
	var err error
	if cfg.RootCAs, err = roots(s, env); err != nil {
		return nil, err
	}
	if s.TLS.CertFile == "" {
		return cfg, nil
	}
	cert, err := env.ReadFile(s.TLS.CertFile)
	if err != nil {
		return nil, fmt.Errorf("reading tls.cert_file: %w", err)
	}
	key, err := env.ReadFile(s.TLS.KeyFile)
	if err != nil {
		return nil, fmt.Errorf("reading tls.key_file: %w", err)
	}
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		return nil, fmt.Errorf("loading the client certificate %q: %w", s.TLS.CertFile, err)
	}
	cfg.Certificates = []tls.Certificate{pair}
	return cfg, nil
}

// roots are the authorities of tls.ca_file; nil: the system's.
func roots(s *Spec, env Env) (*x509.CertPool, error) {
	if s.TLS.CAFile == "" {
		return nil, nil
	}
	pem, err := env.ReadFile(s.TLS.CAFile)
	if err != nil {
		return nil, fmt.Errorf("reading tls.ca_file: %w", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("reading tls.ca_file %q: no PEM certificate inside", s.TLS.CAFile)
	}
	return pool, nil
}

// sameOrigin reports whether two URLs have the same scheme, host and port.
func sameOrigin(a, b *url.URL) bool {
	return a.Scheme == b.Scheme && strings.EqualFold(hostPort(a), hostPort(b))
}

func hostPort(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	return net.JoinHostPort(u.Hostname(), port)
}

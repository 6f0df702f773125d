package wire_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"os"
	"strings"
	"testing"
	"time"

	"perch.example/probes"
	"perch.example/probes/wire"
)

func (a certificates) client() *tls.Config {
	return &tls.Config{RootCAs: a.pool, ServerName: "127.0.0.1", MinVersion: tls.VersionTLS12}
}

// byName makes the host a name, which only who resolves it knows.
func byName(o wire.Options) wire.Options {
	o.Host = "api.test"
	o.Resolve = func(context.Context, string) ([]netip.Addr, error) {
		return []netip.Addr{netip.MustParseAddr("127.0.0.1")}, nil
	}
	return o
}

// Through every kind of proxy, to a plain host and to one over TLS: exchanges
// work, the connection is held and used again, and the kernel's evidence is of
// the connection to the proxy, which acknowledges every byte.
func TestThroughProxy(t *testing.T) {
	t.Parallel()
	a := authority(t)
	for _, f := range fronts(t, a) {
		for _, host := range flavors(t) {
			t.Run(f.scheme+"/"+host.name, func(t *testing.T) {
				s := serve(t, host.server, func(p *peer) { p.warm(); p.warm(); p.linger() })
				o := byName(s.options(host.client))
				o.Proxy = f.proxy(a)
				c, e := wire.Open(t.Context(), o)
				if c == nil {
					t.Fatalf("opening: %s (%s)", e.Failure, e.Error)
				}
				t.Cleanup(func() { _ = c.Close() })
				if e.Remote != f.server.addr {
					t.Errorf("the connection's other end is %s, want the proxy's %s", e.Remote, f.server.addr)
				}
				want := "api.test:" + port(s.addr)
				if f.scheme == "socks5" {
					want = s.addr.String()
				}
				if got := <-f.asked; got.target != want {
					t.Errorf("asked for %q, want %q", got.target, want)
				}
				warmed(t, c)
				c.Hold(t.Context(), time.Now().Add(30*time.Millisecond), false)
				_, e = c.Exchange(t.Context(), ask(t, 5*time.Second))
				mustBe(t, e, probes.ReasonOK)
				if e.Kernel && (e.RequestBytesAcked == nil || *e.RequestBytesAcked != e.RequestSize) {
					t.Errorf("acknowledged %v of %d bytes\n%s", e.RequestBytesAcked, e.RequestSize, dump(e))
				}
				if host.client != nil && e.Hello <= 0 {
					t.Error("the host's hello was not timed")
				}
			})
		}
	}
}

// What ends the host's connection while it is held is found at the reuse, as the
// proxy passes it on.
func TestProxyPassesTheEndOn(t *testing.T) {
	a := authority(t)
	for _, f := range fronts(t, a) {
		for _, host := range flavors(t) {
			t.Run(f.scheme+"/"+host.name, func(t *testing.T) {
				s := serve(t, host.server, func(p *peer) { p.warm(); p.bye() })
				o := byName(s.options(host.client))
				o.Proxy = f.proxy(a)
				c, e := wire.Open(t.Context(), o)
				if c == nil {
					t.Fatalf("opening: %s (%s)", e.Failure, e.Error)
				}
				t.Cleanup(func() { _ = c.Close() })
				warmed(t, c)
				if h := c.Hold(t.Context(), time.Now().Add(5*time.Second), true); h.Close == nil {
					t.Fatalf("held: %+v, want a close", h)
				}
				want := probes.ReasonIdleFIN
				if host.client != nil || f.scheme == "https" {
					want = probes.ReasonIdleCloseNotify
				}
				_, e = c.Exchange(t.Context(), ask(t, 5*time.Second))
				mustBe(t, e, want)
			})
		}
	}
}

const password = "hunter2-is-secret"

// unhurried dials without a limit: only the talk with who was reached has one.
func unhurried(_ context.Context, network, address string) (net.Conn, error) {
	return net.Dial(network, address)
}

// Each way in which a proxy does not do its part is the reason proxy, says which
// proxy and what it did, and never the credentials.
func TestProxyFails(t *testing.T) {
	t.Parallel()
	a := authority(t)
	said := func(answer string) func(*peer) {
		return func(p *peer) { p.request(); p.say(answer); p.linger() }
	}
	tests := []struct {
		name, scheme, says string
		user               string
		script             func(*peer)
	}{
		{"no credentials", "http", "407: it wants credentials", "", said("HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic\r\n\r\n")},
		{"wrong credentials", "http", "407: it does not accept", "me", said("HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 5\r\n\r\n" + password[:5])},
		{"forbidden", "http", "refused with 403 Forbidden", "", said("HTTP/1.1 403 No " + password + "\r\n\r\n")},
		{"host down", "http", "refused with 502 Bad Gateway", "", said("HTTP/1.0 502 Bad Gateway\r\n\r\nsorry")},
		{"garbage", "http", "no HTTP", "", said("SSH-2.0-OpenSSH_9.2 " + password + "\r\n\r\n")},
		{"endless head", "http", "longer than", "", said("HTTP/1.1 200 OK\r\nX: " + strings.Repeat("x", 20<<10))},
		{"closed", "http", "it closed the connection", "", func(p *peer) { p.request(); p.fin() }},
		{"half a head", "http", "it closed the connection", "", func(p *peer) { p.request(); p.say("HTTP/1.1 200"); p.fin() }},
		{"reset", "http", "it reset the connection", "", func(p *peer) { p.request(); p.rst() }},
		{"silent", "http", "no answer in 200ms", "me", func(p *peer) { p.request(); p.linger() }},
		{"no TLS", "https", "TLS handshake with it", "me", said("HTTP/1.1 400 Bad Request\r\n\r\n")},
		{"socks wants credentials", "socks5h", "wants credentials", "", func(p *peer) { p.take(3); p.say("\x05\xff"); p.linger() }},
		{"socks refuses credentials", "socks5h", "does not accept the credentials", "me", func(p *peer) {
			p.take(4)
			p.say("\x05\x02")
			p.take(3 + len("me") + len(password))
			p.say("\x01\x01")
			p.linger()
		}},
		{"socks ruleset", "socks5h", "connection not allowed by ruleset", "", func(p *peer) {
			p.take(3)
			p.say("\x05\x00")
			p.take(15)
			p.say("\x05\x02\x00\x01\x00\x00\x00\x00\x00\x00")
			p.linger()
		}},
		{"no socks", "socks5", "no SOCKS", "", func(p *peer) { p.take(3); p.say("HTTP/1.1 400 Bad Request\r\n\r\n"); p.linger() }},
		{"socks silent", "socks5h", "no answer in 200ms", "", func(p *peer) { p.take(3); p.linger() }},
		{"socks closed", "socks5h", "it closed the connection", "", func(p *peer) { p.take(3); p.fin() }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := serve(t, nil, tt.script)
			o := byName(s.options(nil))
			o.Proxy = &wire.Proxy{Scheme: tt.scheme, Host: "127.0.0.1", Port: port(s.addr), TLS: a.client()}
			if tt.user != "" {
				o.Proxy.User, o.Proxy.Password = tt.user, password
			}
			o.Port, o.Connect = "80", 5*time.Second
			if strings.Contains(tt.says, "200ms") {
				o.Connect, o.Dial = 200*time.Millisecond, unhurried
			}
			_, e := wire.Open(t.Context(), o)
			mustBe(t, e, probes.ReasonProxy)
			if !strings.Contains(e.Error, tt.says) || !strings.Contains(e.Error, "the proxy "+s.addr.String()) {
				t.Errorf("error %q, want the proxy's address and %q", e.Error, tt.says)
			}
			if strings.Contains(e.Error, password) || strings.Contains(probes.Explain(e), password) {
				t.Errorf("it tells the password, or what was received: %q", e.Error)
			}
		})
	}
}

// A proxy that is not there is the proxy's failure, never the host's, and the
// host's own name that socks5 needs is the host's.
func TestProxyIsNotThere(t *testing.T) {
	missing := func(names ...string) wire.ResolveFunc {
		return func(_ context.Context, host string) ([]netip.Addr, error) {
			for _, name := range names {
				if host == name {
					return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
				}
			}
			return []netip.Addr{netip.MustParseAddr("127.0.0.1")}, nil
		}
	}
	hidden := func(ctx context.Context, _, _ string) (net.Conn, error) { <-ctx.Done(); return nil, ctx.Err() }
	gone := port(refusedAddr(t))
	tests := []struct {
		name, scheme, says string
		want               probes.Reason
		change             func(*wire.Options)
	}{
		{"no such proxy", "http", `the proxy proxy.test:` + gone + `: resolving "proxy.test"`, probes.ReasonProxy, func(o *wire.Options) { o.Resolve = missing("proxy.test") }},
		{"nobody listens", "https", "the proxy proxy.test:" + gone + ": connecting to 127.0.0.1:" + gone, probes.ReasonProxy, func(*wire.Options) {}},
		{"filtered", "socks5h", "the proxy proxy.test", probes.ReasonProxy, func(o *wire.Options) { o.Dial, o.Connect = hidden, 20*time.Millisecond }},
		{"no such host", "socks5", `resolving "api.test"`, probes.ReasonDNS, func(o *wire.Options) { o.Resolve = missing("api.test") }},
		{"the proxy knows the host", "socks5h", "the proxy proxy.test", probes.ReasonProxy, func(o *wire.Options) { o.Resolve = missing("api.test") }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			o := wire.Options{Host: "api.test", Port: "443", Connect: 5 * time.Second, Resolve: missing()}
			o.Proxy = &wire.Proxy{Scheme: tt.scheme, Host: "proxy.test", Port: gone}
			tt.change(&o)
			_, e := wire.Open(t.Context(), o)
			mustBe(t, e, tt.want)
			if !strings.Contains(e.Error, tt.says) {
				t.Errorf("error %q, want %q", e.Error, tt.says)
			}
		})
	}
}

// Credentials and the agent's name reach the proxy and nobody else.
func TestProxyIsTold(t *testing.T) {
	a := authority(t)
	for _, f := range fronts(t, a) {
		t.Run(f.scheme, func(t *testing.T) {
			seen := make(chan http.Header, 1)
			s := serve(t, nil, func(p *peer) {
				r, err := http.ReadRequest(p.br)
				if err == nil {
					seen <- r.Header
				}
				p.say(whole)
				p.linger()
			})
			o := s.options(nil)
			o.Proxy = f.proxy(a)
			o.Proxy.User, o.Proxy.Password = "me", password
			c, e := wire.Open(t.Context(), o)
			if c == nil {
				t.Fatalf("opening: %s (%s)", e.Failure, e.Error)
			}
			t.Cleanup(func() { _ = c.Close() })
			warmed(t, c)
			got, want := <-f.asked, "me:"+password
			if strings.HasPrefix(f.scheme, "http") {
				want = "Basic bWU6aHVudGVyMi1pcy1zZWNyZXQ="
				if got.agent != "perch/test" {
					t.Errorf("agent %q", got.agent)
				}
			}
			if got.credentials != want {
				t.Errorf("credentials %q, want %q", got.credentials, want)
			}
			if h := <-seen; h.Get("Proxy-Authorization") != "" {
				t.Error("the host saw the proxy's credentials")
			}
		})
	}
}

// An http URL's requests go to the proxy whole, and say in their URL, whatever
// their Host field is, who is meant.
func TestProxyReadsRequests(t *testing.T) {
	a := authority(t)
	for _, scheme := range []string{"http", "https"} {
		t.Run(scheme, func(t *testing.T) {
			lines := make(chan *http.Request, 1)
			config := map[string]*tls.Config{"https": a.leaf(t, nil)}[scheme]
			s := serve(t, config, func(p *peer) {
				r, err := http.ReadRequest(p.br)
				if err == nil {
					lines <- r
				}
				p.say(whole)
				p.linger()
			})
			o := wire.Options{Host: "api.test", Port: "80", Connect: 5 * time.Second}
			o.Proxy = &wire.Proxy{Scheme: scheme, Host: "127.0.0.1", Port: port(s.addr), User: "me", Password: password, TLS: a.client(), Whole: true}
			c, e := wire.Open(t.Context(), o)
			if c == nil {
				t.Fatalf("opening: %s (%s)", e.Failure, e.Error)
			}
			t.Cleanup(func() { _ = c.Close() })
			req := ask(t, 5*time.Second)
			req.HTTP.Host = "elsewhere.test"
			if _, e = c.Exchange(t.Context(), req); probes.Classify(e) != probes.ReasonOK {
				t.Fatal(probes.Explain(e))
			}
			got := <-lines
			if got.RequestURI != "http://wire.test/things" || got.Host != "wire.test" {
				t.Errorf("asked for %q at %q", got.RequestURI, got.Host)
			}
			if got.Header.Get("Proxy-Authorization") == "" || req.HTTP.Header.Get("Proxy-Authorization") != "" {
				t.Error("the credentials are not where the proxy alone sees them")
			}
		})
	}
}

// The gate is asked for the proxy's address, and for the host's where it is known
// here: nothing is dialled for one that it refuses.
func TestProxyIsAskedAbout(t *testing.T) {
	refuse := func(bad string) func(netip.Addr) error {
		return func(a netip.Addr) error {
			if a.String() == bad {
				return errors.New("not " + bad)
			}
			return nil
		}
	}
	tests := []struct{ scheme, host, bad string }{
		{"http", "api.test", "127.0.0.1"}, {"socks5h", "api.test", "127.0.0.1"},
		{"http", "192.0.2.1", "192.0.2.1"}, {"socks5h", "192.0.2.1", "192.0.2.1"}, {"socks5", "api.test", "192.0.2.9"},
	}
	for _, tt := range tests {
		t.Run(tt.scheme+" "+tt.host, func(t *testing.T) {
			o := wire.Options{Host: tt.host, Port: "443", Allow: refuse(tt.bad),
				Dial: func(context.Context, string, string) (net.Conn, error) {
					t.Error("dialled")
					return nil, os.ErrInvalid
				},
				Resolve: func(context.Context, string) ([]netip.Addr, error) {
					return []netip.Addr{netip.MustParseAddr("192.0.2.9")}, nil
				},
			}
			o.Proxy = &wire.Proxy{Scheme: tt.scheme, Host: "127.0.0.1", Port: "3128"}
			_, e := wire.Open(t.Context(), o)
			if len(e.Tried) > 0 || !strings.Contains(e.Error, "not "+tt.bad) {
				t.Errorf("tried %v: %q", e.Tried, e.Error)
			}
		})
	}
}

// The end of the context ends the talk with a proxy at once.
func TestProxyCanceled(t *testing.T) {
	for _, scheme := range []string{"http", "https", "socks5h"} {
		t.Run(scheme, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			s := serve(t, nil, func(p *peer) { p.take(1); cancel(); p.linger() })
			o := byName(s.options(nil))
			o.Connect, o.Handshake = time.Minute, time.Minute
			o.Proxy = &wire.Proxy{Scheme: scheme, Host: "127.0.0.1", Port: port(s.addr)}
			_, e := wire.Open(ctx, o)
			mustBe(t, e, probes.ReasonCanceled)
		})
	}
}

// An https proxy's certificate is verified, and a bad one is the proxy's failure.
func TestProxyCertificate(t *testing.T) {
	a := authority(t)
	s := serve(t, a.leaf(t, nil), func(p *peer) { p.linger() })
	o := byName(s.options(nil))
	o.Proxy = &wire.Proxy{Scheme: "https", Host: "127.0.0.1", Port: port(s.addr), TLS: &tls.Config{RootCAs: x509.NewCertPool(), MinVersion: tls.VersionTLS12}}
	_, e := wire.Open(t.Context(), o)
	mustBe(t, e, probes.ReasonProxy)
	if !strings.Contains(e.Error, "unknown authority") || e.Chain != nil {
		t.Errorf("%q, and the chain of %v", e.Error, e.Chain)
	}
}

// Whatever a proxy answers, opening ends, and fails as the proxy or stands.
func FuzzProxyAnswer(f *testing.F) {
	for _, s := range []string{"HTTP/1.1 200 OK\r\n\r\n", "HTTP/1.1 407 No\n\n", "\x05\x00\x05\x00\x00\x01\x00\x00\x00\x00\x00\x00", "\x05\x02\x01\x00\x05\x00\x00\x03\xff", "", "\r\n\r\n"} {
		f.Add([]byte(s), false, 1)
		f.Add([]byte(s), true, 4096)
	}
	f.Fuzz(func(t *testing.T, answer []byte, socks bool, step int) {
		scheme := map[bool]string{false: "http", true: "socks5h"}[socks]
		c, e := wire.Open(t.Context(), wire.Options{Host: "api.test", Port: "80",
			Proxy: &wire.Proxy{Scheme: scheme, Host: "192.0.2.1", Port: "3128", User: "me", Password: password},
			Dial: func(context.Context, string, string) (net.Conn, error) {
				return canned{answer: strings.NewReader(string(answer)), step: max(step, 1)}, nil
			}})
		if c == nil && (e.Failure != wire.FailureProxy || e.Error == "" || strings.Contains(e.Error, password) && !strings.Contains(string(answer), password)) {
			t.Error(fmt.Sprint(e.Failure, e.Error))
		}
	})
}

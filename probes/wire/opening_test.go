package wire_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/netip"
	"testing"
	"time"

	"perch.example/probes"
	"perch.example/probes/wire"
)

func TestOpeningFails(t *testing.T) {
	a := authority(t)
	client := &tls.Config{RootCAs: a.pool, MinVersion: tls.VersionTLS12}
	tests := []struct {
		name   string
		want   probes.Reason
		change func(*wire.Options)
	}{
		{"name without address", probes.ReasonDNS, func(o *wire.Options) {
			o.Host = "api.test"
			o.Resolve = func(context.Context, string) ([]netip.Addr, error) { return nil, &net.DNSError{IsNotFound: true} }
		}},
		{"empty answer", probes.ReasonDNS, func(o *wire.Options) {
			o.Host = "api.test"
			o.Resolve = func(context.Context, string) ([]netip.Addr, error) { return nil, nil }
		}},
		{"resolver silent", probes.ReasonDNS, func(o *wire.Options) {
			o.Host, o.DNS = "api.test", 20*time.Millisecond
			o.Resolve = func(ctx context.Context, _ string) ([]netip.Addr, error) { <-ctx.Done(); return nil, ctx.Err() }
		}},
		{"nobody listens", probes.ReasonRefused, func(o *wire.Options) { o.Port = port(refusedAddr(t)) }},
		{"no answer", probes.ReasonConnectTimeout, func(o *wire.Options) {
			o.Connect = 20 * time.Millisecond
			o.Dial = func(ctx context.Context, _, _ string) (net.Conn, error) { <-ctx.Done(); return nil, ctx.Err() }
		}},
		{"no way", probes.ReasonConnectFailed, func(o *wire.Options) {
			o.Dial = func(context.Context, string, string) (net.Conn, error) { return nil, errors.New("no way") }
		}},
		{"unknown authority", probes.ReasonCertificate, func(o *wire.Options) {
			*o = handshaking(t, a.leaf(t, nil), &tls.Config{RootCAs: x509.NewCertPool(), MinVersion: tls.VersionTLS12})
		}},
		{"expired", probes.ReasonCertificate, func(o *wire.Options) {
			*o = handshaking(t, a.leaf(t, func(c *x509.Certificate) { c.NotAfter = time.Now().Add(-time.Minute) }), client)
		}},
		{"another host's", probes.ReasonCertificate, func(o *wire.Options) {
			*o = handshaking(t, a.leaf(t, func(c *x509.Certificate) { c.IPAddresses, c.DNSNames = nil, []string{"other.test"} }), client)
		}},
		{"no common version", probes.ReasonTLS, func(o *wire.Options) {
			*o = handshaking(t, a.leaf(t, nil), &tls.Config{RootCAs: a.pool, MinVersion: tls.VersionTLS13})
		}},
		{"not TLS", probes.ReasonTLS, func(o *wire.Options) {
			s := serve(t, nil, func(p *peer) { p.say("SSH-2.0-OpenSSH_9.2\r\n"); p.linger() })
			*o = s.options(client)
		}},
		{"closed in the handshake", probes.ReasonTLS, func(o *wire.Options) {
			s := serve(t, nil, func(p *peer) { _, _ = p.br.ReadByte(); p.fin() })
			*o = s.options(client)
		}},
		{"silent in the handshake", probes.ReasonTLS, func(o *wire.Options) {
			s := serve(t, nil, (*peer).linger)
			*o = s.options(client)
			o.Handshake = 30 * time.Millisecond
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			o := wire.Options{Host: "127.0.0.1", Port: "1", DNS: 5 * time.Second, Connect: 5 * time.Second, Handshake: 5 * time.Second}
			tt.change(&o)
			c, e := wire.Open(t.Context(), o)
			if c != nil {
				_ = c.Close()
				t.Fatal("opened")
			}
			mustBe(t, e, tt.want)
			if e.Error == "" || e.Elapsed <= 0 {
				t.Errorf("error %q after %v, want both", e.Error, e.Elapsed)
			}
			if tt.want == probes.ReasonCertificate && (e.Chain == nil || e.Chain.Leaf.NotAfter.IsZero()) {
				t.Error("no date of expiry")
			}
		})
	}
}

// handshaking returns options for a server that would serve, were the
// handshake to work. A client that wants TLS 1.3 meets one that has 1.2.
func handshaking(t *testing.T, server, client *tls.Config) wire.Options {
	if client.MinVersion == tls.VersionTLS13 {
		server.MaxVersion = tls.VersionTLS12
	}
	return serve(t, server, (*peer).linger).options(client)
}

// A TLS 1.3 server refuses the client's certificate after the client's side of
// the handshake is done.
func TestClientCertificateRefused(t *testing.T) {
	a := authority(t)
	server := a.leaf(t, nil)
	server.ClientAuth, server.ClientCAs, server.MinVersion = tls.RequireAndVerifyClientCert, a.pool, tls.VersionTLS13
	s := serve(t, server, (*peer).linger)
	c, _ := s.open(&tls.Config{RootCAs: a.pool, MinVersion: tls.VersionTLS12})
	_, e := c.Exchange(t.Context(), ask(t, 5*time.Second))
	mustBe(t, e, probes.ReasonTLS)
}

func TestEachAddressIsTried(t *testing.T) {
	s := serve(t, nil, func(p *peer) { p.warm(); p.linger() })
	o := s.options(nil)
	bad := netip.MustParseAddr("127.0.0.77") // nobody listens there
	o.Host = "api.test"
	o.Resolve = func(context.Context, string) ([]netip.Addr, error) { return []netip.Addr{bad, s.addr.Addr()}, nil }
	c, e := wire.Open(t.Context(), o)
	if c == nil {
		t.Fatal(e.Error)
	}
	defer func() { _ = c.Close() }()
	if len(e.Tried) != 2 || e.Tried[0] != bad || e.Remote != s.addr {
		t.Errorf("tried %v, reached %v; want %v first, then %v", e.Tried, e.Remote, bad, s.addr)
	}
	if e.Phases.DNS <= 0 || e.Phases.Connect <= 0 || c.Opening().Remote != e.Remote {
		t.Errorf("opening: %+v", e)
	}
	warmed(t, c)
}

// What says most of the peer is reported, not an address family that this
// machine lacks.
func TestFailureOfSeveralAddresses(t *testing.T) {
	answers := map[string]error{"[2001:db8::1]:80": errors.New("network is unreachable"), "192.0.2.1:80": context.DeadlineExceeded}
	_, e := wire.Open(t.Context(), wire.Options{
		Host: "api.test", Port: "80",
		Resolve: func(context.Context, string) ([]netip.Addr, error) {
			return []netip.Addr{netip.MustParseAddr("2001:db8::1"), netip.MustParseAddr("192.0.2.1")}, nil
		},
		Dial: func(_ context.Context, _, addr string) (net.Conn, error) { return nil, answers[addr] },
	})
	mustBe(t, e, probes.ReasonConnectTimeout)
}

// TLS without a word in time, and a peer that is gone: Close does not wait.
func TestCloseDoesNotWait(t *testing.T) {
	for _, f := range flavors(t) {
		s := serve(t, f.server, func(p *peer) { p.linger(); _, _ = io.Copy(io.Discard, p.raw) })
		c, _ := s.open(f.client)
		done := make(chan struct{})
		go func() {
			defer close(done)
			_, e := c.Exchange(context.Background(), ask(t, 30*time.Second))
			mustBe(t, e, probes.ReasonCanceled)
		}()
		time.Sleep(20 * time.Millisecond) // any moment will do: the exchange never ends by itself
		_ = c.Close()
		_ = c.Close()
		<-done
	}
}

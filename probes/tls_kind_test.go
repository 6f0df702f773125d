package probes

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// handshaking is a peer that speaks TLS as config says, and an env that reaches it.
func handshaking(t *testing.T, config *tls.Config, files map[string][]byte) (*peer, *desk, Env) {
	t.Helper()
	p, d := newPeer(t, answer(200)), &desk{t: t}
	config.SessionTicketsDisabled = true // an in-memory pipe has no room for what nobody reads yet
	p.wrap = func(raw net.Conn) net.Conn { return tls.Server(raw, config) }
	env := newEnv(p, d)
	env.Resolve = anywhere
	env.ReadFile = func(name string) ([]byte, error) {
		if content, ok := files[name]; ok {
			return content, nil
		}
		return nil, fmt.Errorf("open %s: no such file", name)
	}
	return p, d, env
}

func TestRunTLS(t *testing.T) {
	api, other := newIdentity(t, "api.example"), newIdentity(t, "other.example")
	files := map[string][]byte{"api.pem": api.cert}
	for _, c := range []struct {
		name         string
		server       identity
		newest       uint16
		alpn         []string
		protocol     Protocol
		expectations []string
		want         Reason
		says         string
	}{
		{"it stands", api, 0, nil, "", nil, ReasonOK, ""},
		{"with what is expected", api, 0, nil, "", []string{
			`tls == "1.3"`, `certificate.days_left > 30`, `certificate.subject == "api.example"`, `"api.example" in certificate.names`,
			`certificate.not_after > timestamp("2090-01-01T00:00:00Z")`, `certificate.staple == ""`, `latency < duration("1s")`,
		}, ReasonOK, ""},
		{"an older version", api, tls.VersionTLS12, nil, "", []string{`tls == "1.3"`}, ReasonExpectation, `tls "1.2", want tls == "1.3"`},
		{"another issuer", api, 0, nil, "", []string{`certificate.issuer == "Good CA"`}, ReasonExpectation, `certificate of "api.example" by "api.example"`},
		{"too slow", api, 0, nil, "", []string{`latency < duration("-1s")`}, ReasonSlow, "latency "},
		{"another's certificate", other, 0, nil, "", nil, ReasonCertificate, "x509: "},
		{"a version that nobody wants", api, tls.VersionTLS11, nil, "", nil, ReasonTLS, ""},
		{"h2 is agreed", api, 0, []string{"h2", "http/1.1"}, ProtocolH2, nil, ReasonOK, ""},
		{"auto", api, 0, []string{"h2", "http/1.1"}, ProtocolAuto, nil, ReasonOK, ""},
		{"h2 is refused", api, 0, []string{"http/1.1"}, ProtocolH2, nil, ReasonTLS, "no application protocol"},
		{"h2 is ignored", api, 0, nil, ProtocolH2, nil, ReasonTLS, "did not agree on h2"},
	} {
		synctest.Test(t, func(t *testing.T) {
			p, d, env := handshaking(t, &tls.Config{
				Certificates: []tls.Certificate{c.server.pair(t)}, MinVersion: tls.VersionTLS10, MaxVersion: c.newest, NextProtos: c.alpn,
			}, files)
			s := newSpec(t, KindTLS, "https://api.example/v1", c.expectations...)
			s.Method, s.TLS.CAFile, s.Protocol = "", "api.pem", c.protocol
			s.Headers = []Field{{Name: "Authorization", From: Source{Env: "TOKEN"}}} // is not read: nothing would carry it
			o := RunTLS(t.Context(), s, env)
			if len(o.Attempts) != 1 || o.Attempts[0].Reason != c.want || !strings.Contains(o.Attempts[0].Detail, c.says) {
				t.Fatalf("%s: %+v", c.name, o)
			}
			a := o.Attempts[0]
			if a.RequestBytes != 0 || len(p.requests()) != 0 {
				t.Errorf("%s: a request left", c.name)
			}
			if disagreed := c.name == "h2 is refused" || c.name == "h2 is ignored"; a.NoALPN != disagreed {
				t.Errorf("%s: no ALPN %v", c.name, a.NoALPN)
			}
			if c.want == ReasonOK && (a.TLS == nil || a.TLS.Version == "" || a.Started.IsZero() || a.Connection != ConnectionFresh || a.Detail != "") {
				t.Errorf("%s: %+v", c.name, a)
			}
			if asked := fmt.Sprint(d.asked()); asked != "[dial warm send warm release]" {
				t.Errorf("%s: asked the budget for %s", c.name, asked)
			}
			d.settled(t)
		})
	}
}

// A second try is another handshake, and is asked for.
func TestRunTLSTriesAgain(t *testing.T) {
	api := newIdentity(t, "api.example")
	synctest.Test(t, func(t *testing.T) {
		_, d, env := handshaking(t, &tls.Config{Certificates: []tls.Certificate{api.pair(t)}}, map[string][]byte{"api.pem": api.cert})
		good, first := env.Dial, true
		env.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
			if first {
				first = false
				return nil, errors.New("not yet")
			}
			return good(ctx, network, address)
		}
		s := newSpec(t, KindTLS, "https://api.example/v1")
		s.TLS.CAFile, s.Retry = "api.pem", Retry{Attempts: 2, Backoff: time.Second}
		o := RunTLS(t.Context(), s, env)
		if got := fmt.Sprint(reasons(o)); got != "[connect_failed ok]" {
			t.Fatalf("%s: %+v", got, o)
		}
		if asked := fmt.Sprint(d.asked()); asked != "[dial warm send warm release dial again send again release]" {
			t.Errorf("asked the budget for %s", asked)
		}
		d.settled(t)
	})
}

// What the budget does not let out is not made.
func TestRunTLSDenied(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, d, env := handshaking(t, &tls.Config{}, nil)
		d.at = func(stage string) error {
			if stage == "send warm" {
				return &Denied{Why: "used up"}
			}
			return nil
		}
		o := RunTLS(t.Context(), newSpec(t, KindTLS, "https://api.example/v1"), env)
		if o.Cut != CutSkipped || o.CutDetail != "used up" || len(o.Attempts) != 0 || p.conns != 0 {
			t.Errorf("%d connections: %+v", p.conns, o)
		}
		d.settled(t)
	})
}

// Under TLS 1.3 a client's certificate is judged a round trip after the handshake is
// done for the client.
func TestRunTLSTakenBack(t *testing.T) {
	api, client := newIdentity(t, "api.example"), newIdentity(t, "perch")
	files := map[string][]byte{"api.pem": api.cert, "client.pem": client.cert, "client.key": client.key}
	trusted := x509.NewCertPool()
	trusted.AppendCertsFromPEM(client.cert)
	for _, c := range []struct {
		name     string
		newest   uint16
		protocol Protocol
		asks     tls.ClientAuthType
		knows    *x509.CertPool // whose certificates the server takes
		given    bool
		closes   bool
		want     Reason
		says     []string
	}{
		{"one is wanted", 0, "", tls.RequireAndVerifyClientCert, trusted, false, false, ReasonTLS, []string{"certificate required", "wants a client certificate, and none is configured"}},
		{"one is wanted, h2", 0, ProtocolH2, tls.RequireAndVerifyClientCert, trusted, false, false, ReasonTLS, []string{"certificate required", "none is configured"}},
		{"one is wanted, before 1.3", tls.VersionTLS12, "", tls.RequireAndVerifyClientCert, trusted, false, false, ReasonTLS, []string{"wants a client certificate, and none is configured"}},
		{"it is given", 0, "", tls.RequireAndVerifyClientCert, trusted, true, false, ReasonOK, nil},
		{"it is given, before 1.3", tls.VersionTLS12, "", tls.RequireAndVerifyClientCert, trusted, true, false, ReasonOK, nil},
		{"it is not taken", 0, "", tls.RequireAnyClientCert, nil, true, true, ReasonTLS, []string{"ended the connection right after the handshake", "was given that of tls.cert_file"}},
		{"it suits none", 0, "", tls.RequireAndVerifyClientCert, x509.NewCertPool(), true, false, ReasonTLS, []string{"unknown certificate authority"}},
		{"none is needed", 0, "", tls.RequestClientCert, nil, false, false, ReasonOK, nil},
		{"it is closed", 0, "", tls.NoClientCert, nil, false, true, ReasonTLS, []string{"ended the connection right after the handshake"}},
	} {
		synctest.Test(t, func(t *testing.T) {
			p, d, env := handshaking(t, &tls.Config{
				Certificates: []tls.Certificate{api.pair(t)}, MaxVersion: c.newest, NextProtos: []string{"h2", "http/1.1"}, ClientAuth: c.asks, ClientCAs: c.knows,
			}, files)
			if c.closes {
				accepts := p.wrap
				p.wrap = func(raw net.Conn) net.Conn {
					conn := accepts(raw)
					_ = conn.(*tls.Conn).HandshakeContext(t.Context())
					_ = raw.Close()
					return conn
				}
			}
			s := newSpec(t, KindTLS, "https://api.example/v1")
			s.TLS.CAFile, s.Protocol = "api.pem", c.protocol
			if c.given {
				s.TLS.CertFile, s.TLS.KeyFile = "client.pem", "client.key"
			}
			began := time.Now()
			o := RunTLS(t.Context(), s, env)
			if len(o.Attempts) != 1 || o.Attempts[0].Reason != c.want {
				t.Fatalf("%s: %+v", c.name, o)
			}
			for _, words := range c.says {
				if !strings.Contains(o.Attempts[0].Detail, words) {
					t.Errorf("%s: %q does not say %q", c.name, o.Attempts[0].Detail, words)
				}
			}
			if took := time.Since(began); took > 50*time.Millisecond {
				t.Errorf("%s: took %s", c.name, took)
			}
			d.settled(t)
		})
	}
}

func TestRefusalWait(t *testing.T) {
	for _, c := range []struct{ handshake, timeout, want time.Duration }{
		{0, 0, 50 * time.Millisecond}, {100 * time.Millisecond, 5 * time.Second, 250 * time.Millisecond}, {4 * time.Second, 5 * time.Second, 5 * time.Second},
	} {
		if got := refusalWait(c.handshake, c.timeout); got != c.want {
			t.Errorf("after %s, at most %s: %s, want %s", c.handshake, c.timeout, got, c.want)
		}
	}
}

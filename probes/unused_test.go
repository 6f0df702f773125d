package probes

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// playUnused plays one rung whose connection carries nothing before it is held.
func playUnused(t *testing.T, p *peer, d *desk, hold time.Duration) Observation {
	t.Helper()
	done := make(chan Observation)
	StartUnused(t.Context(), newSpec(t, KindIdle, api), hold, newEnv(p, d), func(o Observation) { done <- o })
	return <-done
}

func TestUnusedConnections(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, d := newPeer(t, answer(200)), &desk{t: t}
		o := playUnused(t, p, d, 3*time.Second)
		if !o.Unused || o.Hold != 3*time.Second || fmt.Sprint(reasons(o)) != "[ok]" {
			t.Fatalf("%+v", o)
		}
		a := o.Attempts[0]
		if a.Connection != ConnectionReused || a.Served != 0 || a.IdleTime != 3*time.Second || a.ConnectionAge != 3*time.Second {
			t.Errorf("%+v", a)
		}
		if seen := p.requests(); len(seen) != 1 || p.conns != 1 {
			t.Errorf("%d requests on %d connections", len(seen), p.conns)
		}
		if asked := fmt.Sprint(d.asked()); asked != "[dial warm send warm hold send reuse release]" {
			t.Errorf("asked for %s", asked)
		}
		d.settled(t)
	})
}

func TestUnusedConnectionThatEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, d := newPeer(t, answer(200)), &desk{t: t}
		p.idle = time.Second
		o := playUnused(t, p, d, 3*time.Second)
		if got := fmt.Sprint(reasons(o)); got != "[eof ok]" || o.Attempts[1].Connection != ConnectionControl || o.Attempts[1].IdleTime != 0 {
			t.Errorf("%s: %+v", got, o)
		}
		if asked := fmt.Sprint(d.asked()); asked != "[dial warm send warm hold send reuse release dial control send control release]" {
			t.Errorf("asked for %s", asked)
		}
		d.settled(t)
	})
}

func TestUnusedConnectionThatIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, d := newPeer(t, answer(200)), &desk{t: t}
		_ = p.network.Close()
		o := playUnused(t, p, d, time.Second)
		if len(o.Attempts) != 1 || !o.Attempts[0].Reason.Unopened() || o.Attempts[0].Connection != ConnectionFresh || o.Cut != "" {
			t.Errorf("%+v", o)
		}
		d.settled(t)
	})
}

// A handshake that the server takes back is no idle timeout. It needs a socket: an
// in-memory pipe has no room for an alert that nobody reads yet.
func TestUnusedConnectionWhoseHandshakeIsTakenBack(t *testing.T) {
	server, d := newIdentity(t, "api.example"), &desk{t: t}
	l, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{
		Certificates: []tls.Certificate{server.pair(t)}, ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: x509.NewCertPool(),
	})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			_ = c.(*tls.Conn).HandshakeContext(t.Context())
			_ = c.Close()
		}
	}()
	env := newEnv(newPeer(t, answer(200)), d)
	env.Resolve = anywhere
	env.Dial = func(ctx context.Context, network, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, l.Addr().String())
	}
	env.ReadFile = func(string) ([]byte, error) { return server.cert, nil }
	s := newSpec(t, KindIdle, "https://api.example/v1")
	s.TLS.CAFile = "api.pem"
	done := make(chan Observation)
	StartUnused(t.Context(), s, 100*time.Millisecond, env, func(o Observation) { done <- o })
	o := <-done
	if got := fmt.Sprint(reasons(o)); got != "[tls tls]" || o.Close != nil || !strings.Contains(o.Attempts[0].Detail, "wants a client certificate") {
		t.Errorf("%s: %+v", got, o)
	}
	d.settled(t)
}

package wire_test

import (
	"context"
	"crypto/tls"
	"strings"
	"testing"
	"time"

	"perch.example/probes"
	"perch.example/probes/wire"
)

// demanding is a server that wants a client certificate, and a client that has none.
func demanding(t *testing.T, alpn string) (server, client *tls.Config) {
	t.Helper()
	a := authority(t)
	server = a.leaf(t, nil)
	server.ClientAuth, server.ClientCAs, server.NextProtos = tls.RequireAndVerifyClientCert, a.pool, []string{alpn}
	return server, &tls.Config{RootCAs: a.pool, MinVersion: tls.VersionTLS13, NextProtos: []string{alpn}}
}

func TestRefusal(t *testing.T) {
	for _, c := range []struct {
		name, alpn string
		script     func(*peer)
		asks       bool
		want       wire.Ending
	}{
		{"a certificate is wanted", "http/1.1", (*peer).linger, true, wire.EndAlert},
		{"over HTTP/2", "h2", (*peer).linger, true, wire.EndAlert},
		{"none is", "http/1.1", (*peer).linger, false, ""},
		{"bytes that nobody asked for", "http/1.1", func(p *peer) { _, _ = p.Write([]byte("HTTP/1.1 408 Request Timeout\r\n\r\n")); p.linger() }, false, ""},
		{"a close_notify", "http/1.1", func(p *peer) { _ = p.Conn.(*tls.Conn).CloseWrite() }, false, wire.EndCloseNotify},
		{"a FIN", "http/1.1", func(p *peer) { _ = p.raw.CloseWrite(); p.linger() }, false, wire.EndEOF},
		{"a RST", "http/1.1", func(p *peer) { _ = p.raw.SetLinger(0) }, false, wire.EndReset},
		{"no TLS", "http/1.1", func(p *peer) { _, _ = p.raw.Write([]byte("HTTP/1.1 400 Bad Request\r\n\r\n")); p.linger() }, false, wire.EndGarbage},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			server, client := demanding(t, c.alpn)
			if !c.asks {
				server.ClientAuth = tls.NoClientCert
			}
			o := serve(t, server, c.script).options(client)
			if c.alpn == "h2" {
				o.Protocol = wire.SpeakALPN
			}
			conn, e := wire.Open(t.Context(), o)
			if conn == nil {
				t.Fatal(e.Error)
			}
			defer func() { _ = conn.Close() }()
			within := 10 * time.Second // what ends does so at once
			if c.want == "" {
				within = 50 * time.Millisecond
			}
			how, err := conn.Refusal(t.Context(), within)
			if how != c.want || (how != "") != (err != nil) {
				t.Errorf("%q: %v, want %q", how, err, c.want)
			}
			if c.asks && !strings.Contains(err.Error(), "certificate required") {
				t.Error(err)
			}
		})
	}
}

// Before TLS 1.3 a server had judged the client's certificate when the handshake was
// done, and a plain connection has none.
func TestRefusalNotWaitedFor(t *testing.T) {
	for _, f := range flavors(t) {
		if f.name == "tls13" {
			continue
		}
		conn, _ := serve(t, f.server, (*peer).linger).open(f.client)
		began := time.Now()
		if how, err := conn.Refusal(t.Context(), time.Hour); how != "" || err != nil || time.Since(began) > time.Minute {
			t.Errorf("%s: %q %v", f.name, how, err)
		}
	}
}

func TestRefusalCut(t *testing.T) {
	server, client := demanding(t, "http/1.1")
	server.ClientAuth = tls.NoClientCert
	conn, _ := serve(t, server, (*peer).linger).open(client)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if how, err := conn.Refusal(ctx, time.Hour); how != "" || err != nil {
		t.Errorf("%q %v", how, err)
	}
}

// A handshake that is taken back while a connection is held that never carried a
// request is no idle timeout.
func TestUnusedAndRefused(t *testing.T) {
	t.Parallel()
	for _, alpn := range []string{"http/1.1", "h2"} {
		for _, search := range []bool{false, true} {
			t.Run(alpn, func(t *testing.T) {
				t.Parallel()
				server, client := demanding(t, alpn)
				o := serve(t, server, (*peer).linger).options(client)
				if alpn == "h2" {
					o.Protocol = wire.SpeakALPN
				}
				conn, e := wire.Open(t.Context(), o)
				if conn == nil {
					t.Fatal(e.Error)
				}
				defer func() { _ = conn.Close() }()
				conn.Hold(t.Context(), time.Now().Add(patience()), search)
				_, e = conn.Exchange(t.Context(), ask(t, 5*time.Second))
				mustBe(t, e, probes.ReasonTLS)
			})
		}
	}
}

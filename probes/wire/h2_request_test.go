package wire_test

import (
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"perch.example/probes"
	"perch.example/probes/wire"
)

// serverOf is Go's own server, on loopback.
func serverOf(t *testing.T, h http.HandlerFunc) wire.Options {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: h, Protocols: &http.Protocols{}, ReadHeaderTimeout: time.Minute}
	server.Protocols.SetUnencryptedHTTP2(true)
	var running sync.WaitGroup
	running.Go(func() { _ = server.Serve(l) })
	t.Cleanup(func() { _ = server.Close(); running.Wait() })
	host, port, _ := net.SplitHostPort(l.Addr().String())
	return wire.Options{Host: host, Port: port, Connect: 5 * time.Second, Protocol: wire.SpeakH2}
}

// A body that is larger than the windows is sent as they open, and a large
// answer gives its room back.
func TestH2Windows(t *testing.T) {
	const size = 300_000
	o := serverOf(t, func(w http.ResponseWriter, r *http.Request) {
		n, _ := io.Copy(io.Discard, r.Body)
		w.Header().Set("Got", r.Header.Get("Te")+r.Header.Get("Connection")+r.Host)
		_, _ = io.WriteString(w, strings.Repeat("x", int(n)*10))
	})
	c, e := wire.Open(t.Context(), o)
	if c == nil {
		t.Fatal(e.Error)
	}
	defer func() { _ = c.Close() }()
	for range 2 {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://wire.test/things", strings.NewReader(strings.Repeat("y", size)))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Te", "trailers")
		r.Header.Set("Connection", "keep-alive")
		got, e := c.Exchange(t.Context(), wire.Request{HTTP: r, MaxBody: size * 10, Timeout: time.Minute})
		mustBe(t, e, probes.ReasonOK)
		if len(got.Body) != size*10 || got.Header.Get("Got") != "trailerswire.test" || e.RequestSize < size || e.RequestBytes != e.RequestSize {
			t.Errorf("%d bytes, %q, sent %d of %d", len(got.Body), got.Header.Get("Got"), e.RequestBytes, e.RequestSize)
		}
	}
}

// What a server of another library's sees of a request, and what it says.
func TestH2Request(t *testing.T) {
	seen := make(chan *http.Request, 1)
	o := serverOf(t, func(w http.ResponseWriter, r *http.Request) {
		seen <- r
		w.Header().Set("Content-Encoding", "gzip")
		_, _ = io.WriteString(w, zipped("hi"))
	})
	c, e := wire.Open(t.Context(), o)
	if c == nil {
		t.Fatal(e.Error)
	}
	defer func() { _ = c.Close() }()
	r := ask(t, 5*time.Second)
	long := strings.Repeat("z", 40_000) // more than a frame
	for name, value := range map[string]string{
		"Accept-Encoding": "gzip", "X-Long": long, "Keep-Alive": "3", "Upgrade": "h2c", "Proxy-Connection": "x", "Transfer-Encoding": "chunked", "Te": "gzip",
	} {
		r.HTTP.Header.Set(name, value)
	}
	got, e := c.Exchange(t.Context(), r)
	mustBe(t, e, probes.ReasonOK)
	if string(got.Body) != "hi" {
		t.Errorf("body %q", got.Body)
	}
	s := <-seen
	if s.Host != "wire.test" || s.URL.Path != "/things" || s.Header.Get("X-Long") != long || len(s.Header) != 2 || s.ProtoMajor != 2 {
		t.Errorf("%s %s %s with %d headers", s.Proto, s.Host, s.URL, len(s.Header))
	}
	for name, value := range map[string]string{"X-Bad": "a\nb", "X Bad": "a"} {
		r := ask(t, time.Second)
		r.HTTP.Header[name] = []string{value}
		if _, e := c.Exchange(t.Context(), r); e.Error == "" || strings.Contains(e.Error, "a\nb") || !e.Started.IsZero() {
			t.Errorf("%q: %+v", name, e.Error)
		}
	}
}

// Over TLS the peer has to agree.
func TestH2Agreement(t *testing.T) {
	a := authority(t)
	for _, tt := range []struct {
		name          string
		offer, accept []string
		protocol      wire.Protocol
		proto, fails  string
	}{
		{"both", []string{"h2", "http/1.1"}, []string{"h2", "http/1.1"}, wire.SpeakALPN, "HTTP/2.0", ""},
		{"the peer has none", []string{"h2", "http/1.1"}, []string{"http/1.1"}, wire.SpeakALPN, "HTTP/1.1", ""},
		{"the peer knows no ALPN", []string{"h2", "http/1.1"}, nil, wire.SpeakALPN, "HTTP/1.1", ""},
		{"HTTP/1.1 is what we want", []string{"http/1.1"}, []string{"h2", "http/1.1"}, wire.SpeakHTTP1, "HTTP/1.1", ""},
		{"HTTP/2 only", []string{"h2"}, []string{"h2", "http/1.1"}, wire.SpeakH2, "HTTP/2.0", ""},
		{"HTTP/2 only, and no ALPN", []string{"h2"}, nil, wire.SpeakH2, "", `ALPN agreed on no protocol, want "h2"`},
		{"HTTP/2 only, and another", []string{"h2", "http/1.1"}, []string{"http/1.1"}, wire.SpeakH2, "", `ALPN agreed on "http/1.1", want "h2"`},
		{"HTTP/2 only, and an alert", []string{"h2"}, []string{"http/1.1"}, wire.SpeakH2, "", "no application protocol: it takes none of what ALPN offered (h2)"},
		{"HTTP/1.1 is what we want, and an alert", []string{"http/1.1"}, []string{"another"}, wire.SpeakHTTP1, "", "it takes none of what ALPN offered (http/1.1)"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			server := a.leaf(t, nil)
			server.NextProtos = tt.accept
			s := serve(t, server, (*peer).linger)
			f := flavors(t)[1]
			client := f.client.Clone()
			client.RootCAs, client.NextProtos = a.pool, tt.offer
			o := s.options(client)
			o.Protocol = tt.protocol
			c, e := wire.Open(t.Context(), o)
			if c != nil {
				defer func() { _ = c.Close() }()
			}
			if e.Proto != tt.proto || (c == nil) != (tt.fails != "") || !strings.Contains(e.Error, tt.fails) {
				t.Errorf("proto %q, error %q", e.Proto, e.Error)
			}
			if c == nil {
				mustBe(t, e, probes.ReasonTLS)
				if !e.Unagreed {
					t.Errorf("%s: it agreed to nothing", e.Error)
				}
			}
		})
	}
}

package probes

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func parseTraceparent(t *testing.T, h http.Header) (trace, span string) {
	t.Helper()
	form := regexp.MustCompile(`^00-([0-9a-f]{32})-([0-9a-f]{16})-01$`)
	m := form.FindStringSubmatch(h.Get("Traceparent"))
	if m == nil || strings.Trim(m[1], "0") == "" || strings.Trim(m[2], "0") == "" {
		t.Fatalf("traceparent %q is not W3C's", h.Values("Traceparent"))
	}
	return m[1], m[2]
}

func TestRequestAsItLeaves(t *testing.T) {
	for _, method := range []string{http.MethodGet, http.MethodHead, http.MethodOptions} {
		synctest.Test(t, func(t *testing.T) {
			said := answer(200)
			if method == http.MethodHead {
				said = strings.TrimSuffix(said, "{}")
			}
			p, d := newPeer(t, said), &desk{t: t}
			s := newSpec(t, KindHTTP, api+"/calendar?days=2")
			s.Method = method
			s.Headers = []Field{{Name: "Accept", Value: "application/json"}, {Name: "x-lower", Value: "kept"}}
			o := RunHTTP(t.Context(), s, newEnv(p, d))
			if len(o.Attempts) != 1 || o.Attempts[0].Reason != ReasonOK || o.Cut != "" {
				t.Fatalf("%s: %+v", method, o)
			}
			r, a := p.requests()[0], o.Attempts[0]
			for name, want := range map[string]string{
				"User-Agent": "perch/1.2 (tests)", "Accept-Encoding": "gzip", "Connection": "keep-alive",
				"Accept": "application/json", "X-Lower": "kept", "Cookie": "", "Authorization": "",
			} {
				if got := r.Header.Get(name); got != want {
					t.Errorf("%s: %s is %q, want %q", method, name, got, want)
				}
			}
			if r.Method != method || r.RequestURI != "/v1/calendar?days=2" || r.Host != "192.0.2.1" || r.ContentLength > 0 {
				t.Errorf("%s %s for %s with %d bytes", r.Method, r.RequestURI, r.Host, r.ContentLength)
			}
			trace, span := parseTraceparent(t, r.Header)
			if a.TraceID != trace || a.SpanID != span || a.Method != method || a.Status != 200 || a.Proto != "HTTP/1.1" {
				t.Errorf("%s: the attempt says %+v, the wire %s and %s", method, a, trace, span)
			}
			d.settled(t)
		})
	}
}

func TestHostCanBeAnother(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPeer(t, answer(200))
		s := newSpec(t, KindHTTP, api)
		s.Headers = []Field{{Name: "host", Value: "inside.example"}}
		RunHTTP(t.Context(), s, newEnv(p, &desk{t: t}))
		if r := p.requests()[0]; r.Host != "inside.example" || r.Header.Get("Host") != "" {
			t.Errorf("Host is %q, and a header %q", r.Host, r.Header.Values("Host"))
		}
	})
}

// One trace id an observation, a fresh span id an attempt.
func TestTraceIDs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, d := newPeer(t, answer(503), answer(503), answer(200), answer(200), answer(200), ""), &desk{t: t}
		env := newEnv(p, d)
		s := newSpec(t, KindHTTP, api)
		s.Retry.Attempts = 3
		first := RunHTTP(t.Context(), s, env)
		second := RunHTTP(t.Context(), s, env)
		third := playIdle(t, t.Context(), newSpec(t, KindIdle, api), time.Second, env)
		traces, spans := map[string]int{}, map[string]bool{}
		for _, r := range p.requests() {
			trace, span := parseTraceparent(t, r.Header)
			traces[trace]++
			spans[span] = true
		}
		want := len(first.Attempts) + len(second.Attempts) + len(third.Attempts)
		if len(traces) != 3 || len(spans) != len(p.requests()) || len(p.requests()) != want || want < 7 {
			t.Errorf("%d requests (%d attempts) carried the traces %v and %d spans", len(p.requests()), want, traces, len(spans))
		}
		for i, a := range append(append(first.Attempts, second.Attempts...), third.Attempts...) {
			if trace, span := parseTraceparent(t, p.requests()[i].Header); a.TraceID != trace || a.SpanID != span {
				t.Errorf("attempt %d says %s %s, the wire %s %s", i, a.TraceID, a.SpanID, trace, span)
			}
			if a.Began.IsZero() || a.Began.After(a.Started) {
				t.Errorf("attempt %d began at %s and left at %s", i, a.Began, a.Started)
			}
		}
	})
}

func TestSecretsGoWhereTheyBelong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const wild = "a&b=c d/é+%25#?"
		p := newPeer(t, answer(200))
		env := newEnv(p, &desk{t: t})
		env.Secrets = func(s Source) (Secret, error) {
			return map[Source]Secret{{Env: "KEY"}: NewSecret(wild), {File: "/token"}: NewSecret("t0ken")}[s], nil
		}
		s := newSpec(t, KindHTTP, api+"?days=2")
		s.Query = []Field{{Name: "api key", From: Source{Env: "KEY"}}, {Name: "lang", Value: "日本"}}
		s.Headers = []Field{{Name: "Authorization", Prefix: "Bearer ", From: Source{File: "/token"}}}
		if o := RunHTTP(t.Context(), s, env); len(o.Attempts) != 1 || !o.Attempts[0].OK() {
			t.Fatalf("%+v", o)
		}
		r := p.requests()[0]
		q := r.URL.Query()
		if q.Get("api key") != wild || q.Get("days") != "2" || q.Get("lang") != "日本" || len(q) != 3 {
			t.Errorf("the query arrived as %q", q)
		}
		if strings.ContainsAny(r.RequestURI, " é#") {
			t.Errorf("the request line holds what it must not: %q", r.RequestURI)
		}
		if got := r.Header.Get("Authorization"); got != "Bearer t0ken" {
			t.Errorf("Authorization is %q", got)
		}
		if s.URL.RawQuery != "days=2" {
			t.Errorf("the spec's own URL was changed: %s", s.URL)
		}
	})
}

// What cannot be read is perch's own problem, named after its header or
// parameter; nothing is sent, and the budget is not asked.
func TestUnreadableSecrets(t *testing.T) {
	for _, kind := range []Kind{KindHTTP, KindIdle} {
		for want, change := range map[string]func(*Spec){
			`reading the value of header "Authorization": reading env TOKEN: it is empty`: func(s *Spec) {
				s.Headers = []Field{{Name: "Authorization", From: Source{Env: "TOKEN"}}}
			},
			`reading the value of query parameter "key": reading env TOKEN: it is empty`: func(s *Spec) {
				s.Query = []Field{{Name: "key", From: Source{Env: "TOKEN"}}}
			},
		} {
			synctest.Test(t, func(t *testing.T) {
				p, d, w := newPeer(t, answer(200)), &desk{t: t}, &watcher{}
				env := newEnv(p, d)
				env.Watch = w.watch
				env.Secrets = func(s Source) (Secret, error) {
					return Secret{}, fmt.Errorf("reading %s: %w", s, errors.New("it is empty"))
				}
				s := newSpec(t, kind, api)
				change(s)
				o := playAny(t, t.Context(), s, env)
				if o.Cut != CutInternal || o.CutDetail != want || o.Problem != want || len(o.Attempts) != 0 {
					t.Errorf("%s: %+v", kind, o)
				}
				if len(d.asked()) != 0 || len(p.requests()) != 0 {
					t.Errorf("%s: it went on all the same: %q", kind, d.asked())
				}
				if got := fmt.Sprint(w.kinds()); got != "[started done]" {
					t.Errorf("%s: the watcher was told %s", kind, got)
				}
			})
		}
	}
}

// Perch asks for gzip, so expectations see what was compressed.
func TestAnswersAreDecompressed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var zipped bytes.Buffer
		w := gzip.NewWriter(&zipped)
		_, _ = w.Write([]byte(`{"days":[1,2]}`))
		_ = w.Close()
		p := newPeer(t, fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n%s", zipped.Len(), zipped.String()))
		s := newSpec(t, KindHTTP, api, "size(json.days) == 2")
		if o := RunHTTP(t.Context(), s, newEnv(p, &desk{t: t})); len(o.Attempts) != 1 || !o.Attempts[0].OK() {
			t.Errorf("%+v", o)
		}
	})
}

func TestPathIsWhatWasDeclared(t *testing.T) {
	for _, c := range []struct {
		via  Via
		head string
		ends TCPEnds
		want string
	}{
		{ViaNone, "", TCPEndsUnknown, "[]"},
		{ViaMesh, "", TCPEndsBeforePeer, "[mesh sidecar]"},
		{ViaProxy, "Via: 1.1 squid", TCPEndsBeforePeer, "[proxy]"},
		{ViaMesh, "Server: envoy", TCPEndsBeforePeer, "[mesh sidecar envoy]"},
		{ViaNone, "Server: envoy", TCPEndsBeforePeer, "[envoy]"},
	} {
		synctest.Test(t, func(t *testing.T) {
			headers := []string{}
			if c.head != "" {
				headers = append(headers, c.head)
			}
			p := newPeer(t, answer(503, headers...))
			s := newSpec(t, KindHTTP, api)
			s.Via, s.Retry.Attempts = c.via, 2 // two attempts name a proxy once
			o := RunHTTP(t.Context(), s, newEnv(p, &desk{t: t}))
			if o.Path.TCPEnds != c.ends || fmt.Sprint(o.Path.Via) != c.want || len(o.Attempts) != 2 {
				t.Errorf("via %s, %q: %+v", c.via, c.head, o.Path)
			}
		})
	}
}

// How a connection is opened follows from the URL and the declared client.
func TestConnectionOptions(t *testing.T) {
	for _, c := range []struct {
		address, host, port string
	}{
		{"http://api.example/v1", "api.example", "80"},
		{"https://api.example/v1", "api.example", "443"},
		{"https://api.example:8443", "api.example", "8443"},
		{"http://[2001:db8::1]", "2001:db8::1", "80"},
	} {
		s := newSpec(t, KindHTTP, c.address)
		s.Timeouts = Timeouts{DNS: 1, Connect: 2, TLS: 3, Response: 4}
		s.Client = &Client{TCPKeepAlive: 15 * time.Second}
		made := &call{spec: s, env: newEnv(nil, &desk{t: t})}
		if err := made.prepare(); err != nil {
			t.Fatal(err)
		}
		o := made.options()
		if o.Host != c.host || o.Port != c.port || (o.TLS != nil) != (c.port != "80") {
			t.Errorf("%s: %s %s, TLS %v", c.address, o.Host, o.Port, o.TLS != nil)
		}
		if o.DNS != 1 || o.Connect != 2 || o.Handshake != 3 || o.TCPKeepAlive != 15*time.Second {
			t.Errorf("%s: %+v", c.address, o)
		}
		s.Client = nil
		if o := made.options(); o.TCPKeepAlive != 0 {
			t.Errorf("%s: TCP keep-alive packets each %s that nobody asked for", c.address, o.TCPKeepAlive)
		}
	}
}

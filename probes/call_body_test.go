package probes

import (
	"errors"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// aSearch is a POST that somebody vouches for.
func aSearch(t *testing.T) *Spec {
	t.Helper()
	s := newSpec(t, KindHTTP, api)
	s.Method, s.ReadOnly, s.Body = http.MethodPost, "a search", []byte(`{"text":"shoes"}`)
	return s
}

func TestDeclaredPOST(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, d := newPeer(t, answer(200)), &desk{t: t}
		o := RunHTTP(t.Context(), aSearch(t), newEnv(p, d))
		seen := p.requests()
		if len(seen) != 1 || len(o.Attempts) != 1 || !o.Attempts[0].OK() || o.Attempts[0].Method != http.MethodPost {
			t.Fatalf("%d requests, %+v", len(seen), o)
		}
		r := seen[0]
		if r.Method != http.MethodPost || r.ContentLength != 16 || r.Header.Get("Content-Type") != "application/json" {
			t.Errorf("%s, %d bytes, %q", r.Method, r.ContentLength, r.Header.Get("Content-Type"))
		}
		d.settled(t)
	})
}

func TestOwnContentTypeStays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPeer(t, answer(200))
		s := aSearch(t)
		s.Body, s.Headers = []byte("q=shoes"), []Field{{Name: "content-type", Value: "application/x-www-form-urlencoded"}}
		RunHTTP(t.Context(), s, newEnv(p, &desk{t: t}))
		if seen := p.requests(); len(seen) != 1 || !slices.Equal(seen[0].Header.Values("Content-Type"), []string{"application/x-www-form-urlencoded"}) {
			t.Errorf("%+v", seen)
		}
	})
}

// TestPOSTIsSentOnce: whatever the spec wants and the answer is, no second one
// leaves. The specs are made by hand: the config refuses them.
func TestPOSTIsSentOnce(t *testing.T) {
	for name, c := range map[string]struct {
		change  func(*Spec)
		answers []string
	}{
		"the connection ends": {func(s *Spec) { s.Retry.Attempts = 2 }, []string{"", answer(200)}},
		"503":                 {func(s *Spec) { s.Retry.Attempts = 2 }, []string{answer(503), answer(200)}},
		"401":                 {func(s *Spec) { s.Retry.Attempts = 2 }, []string{answer(401), answer(200)}},
		"307":                 {func(s *Spec) { s.Redirects = 3 }, []string{answer(307, "Location: /b"), answer(200)}},
		"303":                 {func(s *Spec) { s.Redirects = 3 }, []string{answer(303, "Location: /b"), answer(200)}},
		"several requests":    {func(s *Spec) { s.Requests = 3 }, []string{answer(200)}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p, d := newPeer(t, c.answers...), &desk{t: t}
				s := aSearch(t)
				c.change(s)
				RunHTTP(t.Context(), s, newEnv(p, d))
				if seen := p.requests(); len(seen) != 1 {
					t.Errorf("%d requests left", len(seen))
				}
				d.settled(t)
			})
		})
	}
}

// TestPOSTNobodyVouchesFor never leaves, not even when the config's checks fail.
func TestPOSTNobodyVouchesFor(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*Spec)
		says   string
	}{
		"no reason":          {func(s *Spec) { s.ReadOnly = "" }, "nobody says"},
		"a mutation":         {func(s *Spec) { s.Body = []byte(`{"query":"mutation {zq}"}`) }, "a GraphQL mutation"},
		"a reason of blanks": {func(s *Spec) { s.ReadOnly = " \t\n" }, "nobody says"},
		"another method in a header": {func(s *Spec) {
			s.Headers = []Field{{Name: "X-HTTP-Method-Override", From: Source{Env: "M"}}}
		}, "another method"},
		"another method in the body": {func(s *Spec) { s.Body = []byte(`{"_method":"DELETE"}`) }, "another method"},
		"another method of a GET": {func(s *Spec) {
			s.Method, s.ReadOnly, s.Body = "GET", "", nil
			s.Headers = []Field{{Name: "X_HTTP_Method_Override", Value: "DELETE"}}
		}, "another method"},
		"another method in a GET's URL": {func(s *Spec) {
			s.Method, s.ReadOnly, s.Body = "GET", "", nil
			s.URL = &url.URL{Scheme: "http", Host: s.URL.Host, Path: "/", RawQuery: "_method=DELETE"}
		}, "another method"},
		"a PUT": {func(s *Spec) { s.Method = http.MethodPut }, "the method PUT"},
		"a GET that is": {func(s *Spec) {
			s.Method, s.URL = "GET", &url.URL{Scheme: "http", Host: s.URL.Host, Path: "/", RawQuery: "query=mutation{zq}"}
		}, "a GraphQL mutation"},
		"a hidden method": {func(s *Spec) { s.ReadOnly, s.GRPC = "", &GRPC{Method: "shop.Stock/Sell"} }, "shop.Stock/Sell"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p, d := newPeer(t, answer(200)), &desk{t: t}
				s := aSearch(t)
				c.change(s)
				h := &http.Request{Method: s.Method, URL: s.URL, Header: http.Header{}}
				for _, f := range s.Headers {
					h.Header.Set(f.Name, "DELETE")
				}
				k := &call{spec: s, env: newEnv(p, d), body: s.Body}
				k.env.Secrets = func(Source) (Secret, error) { return NewSecret("DELETE"), nil }
				var denied *Denied
				if err := k.harmless(h); !errors.As(err, &denied) || !strings.Contains(denied.Why, c.says) || strings.Contains(denied.Why, "zq") {
					t.Errorf("%v, want %q", err, c.says)
				}
				if s.GRPC != nil {
					return // how it is spoken is tested elsewhere
				}
				if o := RunHTTP(t.Context(), s, k.env); o.Cut != CutSkipped || len(p.requests()) != 0 {
					t.Errorf("cut %q, %d requests", o.Cut, len(p.requests()))
				}
				d.settled(t)
			})
		})
	}
}

func TestHeldPOSTNeverLeaves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, d := newPeer(t, answer(200)), &desk{t: t}
		s := aSearch(t)
		s.Kind = KindIdle
		done := make(chan Observation)
		StartIdle(t.Context(), s, time.Second, newEnv(p, d), func(o Observation) { done <- o })
		if o := <-done; o.Cut != CutSkipped || !strings.Contains(o.CutDetail, "fresh connections only") || len(p.requests()) != 0 {
			t.Errorf("%+v, %d requests", o, len(p.requests()))
		}
		d.settled(t)
	})
}

// TestWaitedPOSTNeverLeaves: a connection that was held before its first request is
// no fresh one.
func TestWaitedPOSTNeverLeaves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, d := newPeer(t, answer(200)), &desk{t: t}
		done := make(chan Observation)
		StartUnused(t.Context(), aSearch(t), time.Second, newEnv(p, d), func(o Observation) { done <- o })
		if o := <-done; len(p.requests()) != 0 || !strings.Contains(o.CutDetail, "this one waited") {
			t.Errorf("%+v, %d requests", o, len(p.requests()))
		}
		d.settled(t)
	})
}

func TestPolicyStillRefusesPOST(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPeer(t, answer(200))
		env := newEnv(p, &desk{t: t})
		env.Policy = &Policy{File: "policy.yaml"}
		if o := RunHTTP(t.Context(), aSearch(t), env); o.Cut != CutSkipped || !strings.Contains(o.CutDetail, "the method POST") || len(p.requests()) != 0 {
			t.Errorf("%+v", o)
		}
		env.Policy.Methods = []string{http.MethodPost}
		if o := RunHTTP(t.Context(), aSearch(t), env); o.Cut != "" || len(p.requests()) != 1 {
			t.Errorf("%+v", o)
		}
	})
}

// TestBodyLeavesAnew: each request reads the body from its beginning.
func TestBodyLeavesAnew(t *testing.T) {
	c := &call{spec: aSearch(t), env: Env{IDs: NewIDs(1)}, header: http.Header{}, public: http.Header{}}
	c.addBody()
	for range 2 {
		r, _ := c.request(c.spec.URL, c.header)
		if got, err := io.ReadAll(r.Body); err != nil || string(got) != string(c.spec.Body) {
			t.Errorf("%q, %v", got, err)
		}
	}
}

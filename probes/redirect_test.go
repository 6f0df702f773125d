package probes

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
)

func moved(location string, more ...string) string {
	return answer(302, append(more, "Location: "+location)...)
}

func TestRedirectsStayWithTheOrigin(t *testing.T) {
	for _, c := range []struct {
		url, location string
		followed      string // the next request line; empty: none
	}{
		{"http://api.example/v1/a", "b", "/v1/b"},
		{"http://api.example/v1/a", "/b?c=d", "/b?c=d"},
		{"http://api.example/v1/a", "?c=d", "/v1/a?c=d"},
		{"http://api.example/v1/a", "http://api.example/b", "/b"},
		{"http://api.example/v1/a", "http://API.example/b", "/b"},
		{"http://api.example/v1/a", "HTTP://api.example:80/b", "/b"},
		{"http://api.example:80/v1/a", "http://api.example/b", "/b"},
		{"http://api.example:8080/v1/a", "http://api.example:8080/b#part", "/b"},
		{"http://api.example/v1/a", "//api.example/b", "/b"},
		{"http://[2001:db8::1]/v1/a", "http://[2001:DB8::1]:80/b", "/b"},
		{"http://api.example/v1/a", "http://api.example:81/b", ""},
		{"http://api.example:8080/v1/a", "http://api.example/b", ""},
		{"http://api.example/v1/a", "https://api.example/b", ""},
		{"http://api.example/v1/a", "https://api.example:80/b", ""},
		{"http://api.example/v1/a", "http://other.example/b", ""},
		{"http://api.example/v1/a", "http://api.example.evil/b", ""},
		{"http://api.example/v1/a", "http://api.example@evil.example/b", ""},
		{"http://api.example/v1/a", "http://user@api.example/b", ""},
		{"http://api.example/v1/a", "//user:word@api.example/b", ""},
		{"http://api.example/v1/a", "//evil.example/b", ""},
		{"http://api.example/v1/a", `\\evil.example/b`, "/v1/%5C%5Cevil.example/b"},
		{"http://api.example/v1/a", "http:/b", ""},
		{"http://api.example/v1/a", "http:b", ""},
		{"http://api.example/v1/a", "ftp://api.example/b", ""},
		{"http://api.example/v1/a", "javascript:alert(1)", ""},
		{"http://api.example/v1/a", "http://api.example:80:80/b", ""},
		{"http://api.example/v1/a", "%zz", ""},
		{"http://api.example/v1/a", "http://[::1/b", ""},
	} {
		synctest.Test(t, func(t *testing.T) {
			p, d := newPeer(t, moved(c.location), answer(200)), &desk{t: t}
			env := newEnv(p, d)
			env.Resolve = anywhere
			s := newSpec(t, KindHTTP, c.url)
			s.Redirects = 3
			o := RunHTTP(t.Context(), s, env)
			a, seen := o.Attempts[0], p.requests()
			switch {
			case len(o.Attempts) != 1 || o.Cut != "":
				t.Errorf("%s from %s: %+v", c.location, c.url, o)
			case c.followed == "":
				if len(seen) != 1 || a.Reason != ReasonRedirected || !strings.Contains(a.Detail, "another host or port") {
					t.Errorf("%s from %s: %d requests, %s (%s)", c.location, c.url, len(seen), a.Reason, a.Detail)
				}
			case len(seen) != 2 || seen[1].RequestURI != c.followed || a.Reason != ReasonOK:
				t.Errorf("%s from %s: %d requests, the last to %s, %s, want %s", c.location, c.url, len(seen), seen[len(seen)-1].RequestURI, a.Reason, c.followed)
			case !strings.EqualFold(strings.TrimSuffix(seen[1].Host, ":80"), strings.TrimSuffix(s.URL.Host, ":80")):
				t.Errorf("%s from %s: Host is %s", c.location, c.url, seen[1].Host)
			}
			if strings.Contains(a.Detail, "evil") || strings.Contains(a.Detail, "other.example") {
				t.Errorf("the peer's words are in the detail: %s", a.Detail)
			}
			d.settled(t)
		})
	}
}

func TestRedirectsAreCounted(t *testing.T) {
	for _, c := range []struct {
		kind     Kind
		allowed  int
		answers  []string
		requests int
		reason   Reason
	}{
		{KindHTTP, 0, []string{moved("/b"), answer(200)}, 1, ReasonRedirected},
		{KindHTTP, 1, []string{moved("/b"), answer(200)}, 2, ReasonOK},
		{KindHTTP, 1, []string{moved("/b"), moved("/c"), answer(200)}, 2, ReasonRedirected},
		{KindHTTP, 2, []string{moved("/b"), moved("/c"), answer(200)}, 3, ReasonOK},
		{KindHTTP, 5, []string{moved("/loop")}, 6, ReasonRedirected},
		{KindHTTP, 3, []string{moved("/b"), answer(404)}, 2, ReasonStatus},
		{KindHTTP, 3, []string{moved("/b"), answer(503)}, 2, ReasonUnavailable},
		{KindHTTP, 3, []string{moved("/b"), ""}, 2, ReasonEOF},
		{KindHTTP, 3, []string{answer(304)}, 1, ReasonStatus}, // no Location
		{KindIdle, 3, []string{moved("/b"), answer(200)}, 1, ReasonRedirected},
	} {
		synctest.Test(t, func(t *testing.T) {
			p, d := newPeer(t, c.answers...), &desk{t: t}
			s := newSpec(t, c.kind, api)
			s.Redirects = c.allowed
			o := playAny(t, t.Context(), s, newEnv(p, d))
			if len(p.requests()) != c.requests || len(o.Attempts) != 1 || o.Attempts[0].Reason != c.reason {
				t.Errorf("%d allowed, %q: %d requests, %v, want %d and %s", c.allowed, c.answers, len(p.requests()), reasons(o), c.requests, c.reason)
			}
			sent := slices.DeleteFunc(d.asked(), func(call string) bool { return call != "send redirect" })
			if len(sent) != c.requests-1 {
				t.Errorf("%d hops asked the budget %d times", c.requests-1, len(sent))
			}
			d.settled(t)
		})
	}
}

// An idle rung does not follow when it is reused either.
func TestReuseIsNotRedirected(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPeer(t, answer(200), moved("/b"), answer(200))
		s := newSpec(t, KindIdle, api)
		s.Redirects = 3
		o := playIdle(t, t.Context(), s, 1e9, newEnv(p, &desk{t: t}))
		if got := fmt.Sprint(reasons(o)); got != "[ok redirected]" || len(p.requests()) != 2 {
			t.Errorf("%s in %d requests", got, len(p.requests()))
		}
	})
}

func TestExpectedRedirectIsNotFollowed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPeer(t, moved("/b"), answer(200))
		s := newSpec(t, KindHTTP, api, "status == 302")
		s.Redirects = 3
		if o := RunHTTP(t.Context(), s, newEnv(p, &desk{t: t})); o.Attempts[0].Reason != ReasonOK || len(p.requests()) != 1 {
			t.Errorf("%v in %d requests", reasons(o), len(p.requests()))
		}
	})
}

// Whatever a Location says, no secret and no credential goes along.
func TestRedirectsCarryNoCredentials(t *testing.T) {
	for _, location := range []string{"/b", "b?day=1", "#part", "?", "", "?key=S3CRET&day=1", "?day=1&k%65y=S3CRET", "/b?key=S3CRET", "?key"} {
		synctest.Test(t, func(t *testing.T) {
			p := newPeer(t, moved(location), answer(200))
			env := newEnv(p, &desk{t: t})
			env.Secrets = func(Source) (Secret, error) { return NewSecret("S3CRET"), nil }
			s := newSpec(t, KindHTTP, api+"?days=2")
			s.Redirects = 1
			s.Query = []Field{{Name: "key", From: Source{Env: "K"}}}
			s.Headers = []Field{
				{Name: "Accept", Value: "text/plain"},
				{Name: "x-partner", From: Source{Env: "K"}},
				{Name: "authorization", Value: "Basic S3CRET"}, {Name: "Cookie", Value: "S3CRET"},
				{Name: "X-API-Key", Value: "S3CRET"}, {Name: "Proxy-Authorization", Value: "S3CRET"},
			}
			o := RunHTTP(t.Context(), s, env)
			seen := p.requests()
			if location == "" { // an empty header is none
				if len(seen) != 1 {
					t.Errorf("an empty Location was followed")
				}
				return
			}
			if len(seen) != 2 || o.Attempts[0].Reason != ReasonOK {
				t.Fatalf("%q: %d requests, %v", location, len(seen), reasons(o))
			}
			if first := fmt.Sprint(seen[0].RequestURI, seen[0].Header); strings.Count(first, "S3CRET") != 6 {
				t.Errorf("the first request lacks some of the six: %s", first)
			}
			if hop := fmt.Sprint(seen[1].RequestURI, seen[1].Header); strings.Contains(hop, "S3CRET") {
				t.Errorf("%q made the hop carry a secret: %s", location, hop)
			}
			for _, kept := range []string{"User-Agent", "Accept", "Accept-Encoding", "Connection"} {
				if seen[1].Header.Get(kept) != seen[0].Header.Get(kept) {
					t.Errorf("the hop's %s is %q", kept, seen[1].Header.Get(kept))
				}
			}
			if strings.Contains(location, "day=1") && seen[1].URL.Query().Get("day") != "1" {
				t.Errorf("%q lost its own parameter: %s", location, seen[1].RequestURI)
			}
			trace, span := parseTraceparent(t, seen[0].Header)
			if hopTrace, hopSpan := parseTraceparent(t, seen[1].Header); hopTrace != trace || hopSpan == span {
				t.Errorf("the hop is %s %s after %s %s", hopTrace, hopSpan, trace, span)
			}
			hops := o.Attempts[0].Hops
			if len(hops) != 1 || hops[0].SpanID != span || hops[0].Status/100 != 3 || hops[0].Started.After(o.Attempts[0].Started) {
				t.Errorf("the attempt tells of the hops %+v, the wire of the span %s", hops, span)
			}
		})
	}
}

// A hop goes on on the same connection, or on a new one when the answer ended
// it or the budget has no room soon enough.
func TestRedirectsConnection(t *testing.T) {
	later := func(stage string) error {
		if stage == "send redirect" {
			return &Denied{Why: "not now", Later: true}
		}
		return nil
	}
	once := func() func(string) error {
		used := false
		return func(stage string) error {
			if used {
				return nil
			}
			err := later(stage)
			used = err != nil
			return err
		}
	}
	for _, c := range []struct {
		name    string
		answers []string
		at      func(string) error
		conns   string
		calls   string
		cut     Cut
	}{
		{"kept", []string{moved("/b"), answer(200)}, nil, "[1 1]", "dial warm, send warm, send redirect, release", ""},
		{"closed", []string{moved("/b", "Connection: close"), answer(200)}, nil, "[1 2]",
			"dial warm, send warm, release, dial redirect, send redirect, release", ""},
		{"no room soon", []string{moved("/b"), answer(200)}, once(), "[1 2]",
			"dial warm, send warm, send redirect, release, dial redirect, send redirect, release", ""},
		{"never room", []string{moved("/b"), answer(200)}, later, "[1]",
			"dial warm, send warm, send redirect, release, dial redirect, send redirect, release", CutSkipped},
	} {
		synctest.Test(t, func(t *testing.T) {
			p, d := newPeer(t, c.answers...), &desk{t: t, at: c.at}
			s := newSpec(t, KindHTTP, api)
			s.Redirects = 2
			o := RunHTTP(t.Context(), s, newEnv(p, d))
			var conns []int
			for _, r := range p.requests() {
				conns = append(conns, r.conn)
			}
			if got := strings.Join(d.asked(), ", "); fmt.Sprint(conns) != c.conns || got != c.calls || o.Cut != c.cut || d.peak != 1 {
				t.Errorf("%s: on connections %v, cut %q, %d open at once, the budget was asked: %s", c.name, conns, o.Cut, d.peak, got)
			}
			d.settled(t)
		})
	}
}

// What perch's own budget or end keeps from being followed is no fault of the
// API's; what the budget refused to follow was answered all the same.
func TestRedirectsDenied(t *testing.T) {
	for _, stage := range []string{"send redirect", "dial redirect"} {
		for _, cut := range []Cut{CutSkipped, CutCanceled} {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancelCause(t.Context())
				p, d := newPeer(t, moved("/b", "Connection: close"), answer(200)), &desk{t: t}
				d.at = func(at string) error {
					switch {
					case at != stage:
						return nil
					case cut == CutSkipped:
						return &Denied{Why: "used up"}
					}
					cancel(errors.New("the deadline"))
					return context.Cause(ctx)
				}
				s := newSpec(t, KindHTTP, api)
				s.Redirects, s.Retry.Attempts = 2, 2
				o := RunHTTP(ctx, s, newEnv(p, d))
				want := map[Cut]string{CutSkipped: "its redirect was not followed: used up", CutCanceled: "the deadline"}[cut]
				if o.Cut != cut || o.CutDetail != want || len(p.requests()) != 1 || (cut == CutSkipped) != (len(o.Attempts) == 1) {
					t.Errorf("%s, %s: %+v after %d requests", stage, cut, o, len(p.requests()))
				}
				d.settled(t)
			})
		}
	}
}

func FuzzRedirectTarget(f *testing.F) {
	for _, seed := range []string{"/b", "#x", "?key=S3CRET", "//evil", "http://api.example:80/?k%65y=S3CRET", "%zz", "\\\\evil", "http:b", "//api.example/?a&&key&=;key=S3CRET"} {
		f.Add(seed)
	}
	s := &Spec{URL: &url.URL{Scheme: "http", Host: "api.example", Path: "/v1", RawQuery: "days=2"}, Query: []Field{{Name: "key", From: Source{Env: "K"}}}}
	f.Fuzz(func(t *testing.T, location string) {
		c := &call{spec: s}
		to := c.target(s.URL, location)
		if to == nil {
			return
		}
		if !sameOrigin(s.URL, to) || to.User != nil || to.Scheme != "http" || !strings.EqualFold(to.Hostname(), "api.example") {
			t.Errorf("%q leads to %s", location, to)
		}
		if to.Query().Has("key") {
			t.Errorf("%q carries a secret parameter on: %s", location, to)
		}
		again, err := url.Parse(to.String())
		if err != nil || !sameOrigin(to, again) {
			t.Errorf("%q leads to what is read as %v, %v", location, again, err)
		}
	})
}

// A redirect that the budget has no room for leaves what was answered as it was: the
// request left, and is told.
func TestRedirectWithoutRoom(t *testing.T) {
	for name, c := range map[string]struct {
		first string
		at    string // what the budget refuses
		later bool
	}{
		"on the same connection":     {moved("/b"), "send redirect", false},
		"for a new one, which waits": {moved("/b"), "dial redirect", true},
		"after a close":              {moved("/b", "Connection: close"), "dial redirect", false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p, d := newPeer(t, c.first, answer(200)), &desk{t: t}
				d.at = func(stage string) error {
					switch {
					case stage == c.at:
						return &Denied{Why: "full"}
					case c.later && stage == "send redirect":
						return &Denied{Why: "not yet", Later: true}
					}
					return nil
				}
				s := newSpec(t, KindHTTP, api)
				s.Redirects = 2
				o := RunHTTP(t.Context(), s, newEnv(p, d))
				if len(o.Attempts) != 1 || o.Cut != CutSkipped || o.CutDetail != "its redirect was not followed: full" || len(p.requests()) != 1 {
					t.Fatalf("%d requests: %+v", len(p.requests()), o)
				}
				if a := o.Attempts[0]; a.Reason != ReasonRedirected || a.Status != 302 || a.Detail != "status 302, a redirect that was not followed: full" {
					t.Errorf("%s, status %d: %q", a.Reason, a.Status, a.Detail)
				}
				d.settled(t)
			})
		})
	}
}

package probes

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
)

// environ is an environment of pairs.
func environ(pairs ...string) func(string) (string, bool) {
	return func(name string) (string, bool) {
		for i := 0; i+1 < len(pairs); i += 2 {
			if pairs[i] == name {
				return pairs[i+1], true
			}
		}
		return "", false
	}
}

func throughEnvironment(t *testing.T, address string) *Spec {
	t.Helper()
	s := newSpec(t, KindHTTP, address)
	s.Way.Proxy.Environment = true
	return s
}

// The environment's proxy is the one that the common clients would take.
func TestForwardOfTheEnvironment(t *testing.T) {
	const proxy = "http://proxy.example:3128"
	tests := []struct {
		name, url, want, by string
		env                 []string
	}{
		{"none", "https://api.example/", "", "", nil},
		{"https", "https://api.example/", proxy, "HTTPS_PROXY", []string{"HTTPS_PROXY", proxy, "HTTP_PROXY", "http://other:1"}},
		{"http", "http://api.example/", proxy, "HTTP_PROXY", []string{"HTTP_PROXY", proxy}},
		{"the small name first", "https://api.example/", proxy, "https_proxy", []string{"HTTPS_PROXY", "http://other:1", "https_proxy", proxy}},
		{"all", "https://api.example/", "socks5h://s.example:1080", "ALL_PROXY", []string{"ALL_PROXY", "socks5h://s.example"}},
		{"the own name before all", "https://api.example/", proxy, "HTTPS_PROXY", []string{"all_proxy", "http://other:1", "HTTPS_PROXY", proxy}},
		{"no scheme", "https://api.example/", proxy, "https_proxy", []string{"https_proxy", "proxy.example:3128"}},
		{"a port by scheme", "https://api.example/", "https://proxy.example:443", "https_proxy", []string{"https_proxy", "https://proxy.example/"}},
		{"IPv6", "https://api.example/", "http://[2001:db8::1]:3128", "https_proxy", []string{"https_proxy", "http://[2001:db8::1]:3128"}},
		{"credentials are not shown", "https://api.example/", proxy, "https_proxy", []string{"https_proxy", "http://me:s3cret@proxy.example:3128"}},
		{"empty is not set", "https://api.example/", proxy, "HTTPS_PROXY", []string{"https_proxy", " ", "HTTPS_PROXY", proxy}},
		{"excepted", "https://api.internal/", "", "", []string{"https_proxy", proxy, "NO_PROXY", "internal"}},
		{"excepted by port", "https://api.internal:8443/", "", "", []string{"https_proxy", proxy, "no_proxy", "api.internal:8443"}},
		{"another port", "https://api.internal/", proxy, "https_proxy", []string{"https_proxy", proxy, "no_proxy", "api.internal:8443"}},
		{"excepted network", "https://10.1.2.3/", "", "", []string{"https_proxy", proxy, "no_proxy", "10.0.0.0/8"}},
		{"loopback", "https://127.0.0.1:8080/", "", "", []string{"https_proxy", proxy}},
		{"localhost", "http://localhost:8080/", "", "", []string{"http_proxy", proxy}},
		{"a CGI's caller", "http://api.example/", "", "", []string{"HTTP_PROXY", proxy, "REQUEST_METHOD", "GET"}},
		{"a CGI's own", "http://api.example/", proxy, "http_proxy", []string{"http_proxy", proxy, "REQUEST_METHOD", "GET"}},
	}
	for _, tt := range tests {
		f, err := throughEnvironment(t, tt.url).Forward(environ(tt.env...))
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		got, by := "", ""
		if f != nil {
			got, by = f.String(), f.By
		}
		if got != tt.want || by != tt.by {
			t.Errorf("%s: %q by %q, want %q by %q", tt.name, got, by, tt.want, tt.by)
		}
	}
}

// What the environment holds in place of a proxy is told by its name alone.
func TestForwardThatIsNone(t *testing.T) {
	for _, value := range []string{"socks4://p:1", "ftp://s3cret@p", "http://me:s3cret@[bad", "me:s3cret%zz@p", "http://", "s3cret\x00"} {
		f, err := throughEnvironment(t, "https://api.example/").Forward(environ("HTTPS_PROXY", value))
		if err == nil {
			t.Errorf("%q is taken for %v", value, f)
		} else if strings.Contains(err.Error(), "s3cret") || !strings.Contains(err.Error(), "HTTPS_PROXY") {
			t.Errorf("%q: %v", value, err)
		}
	}
}

func TestForwardOfTheConfig(t *testing.T) {
	s := newSpec(t, KindHTTP, "https://127.0.0.1/")
	s.Way.Proxy.URL = &url.URL{Scheme: "socks5", Host: "p.example"}
	f, err := s.Forward(nil)
	if err != nil || f.String() != "socks5://p.example:1080" || f.By != "configured" {
		t.Errorf("%v, %v", f, err)
	}
	s.Way.Socket = "/run/api.sock"
	if f, err := s.Forward(nil); f != nil || err != nil {
		t.Errorf("a unix socket behind a proxy: %v, %v", f, err)
	}
	s = newSpec(t, KindHTTP, "https://api.example/")
	if f, err := s.Forward(environ("HTTPS_PROXY", "http://p:1")); f != nil || err != nil {
		t.Errorf("proxy: none goes through %v, %v", f, err)
	}
}

// A plain http request goes to the proxy whole, with credentials of the config or
// of the variable, and the path says where its connection ends.
func TestPlainThroughProxy(t *testing.T) {
	const inURL, inSource = "Basic bWU6aW4tdXJs", "Basic bWU6ZnJvbS1zb3VyY2U="
	for _, from := range []Source{{}, {Env: "PROXY_LOGIN"}} {
		synctest.Test(t, func(t *testing.T) {
			p, d := newPeer(t, answer(200)), &desk{t: t}
			s := throughEnvironment(t, "http://api.example/v1")
			s.Way.Proxy.Credentials = from
			env := newEnv(p, d)
			env.Getenv = environ("http_proxy", "http://me:in-url@192.0.2.9:3128")
			env.Secrets = func(Source) (Secret, error) { return NewSecret("me:from-source"), nil }
			o := RunHTTP(t.Context(), s, env)
			if got := reasons(o); !slices.Equal(got, []Reason{ReasonOK}) {
				t.Fatalf("%v: %+v", got, o)
			}
			want := inURL
			if !from.Zero() {
				want = inSource
			}
			r := p.requests()[0]
			if r.RequestURI != "http://api.example/v1" || r.Host != "api.example" || r.Header.Get("Proxy-Authorization") != want {
				t.Errorf("%s for %s with %q", r.RequestURI, r.Host, r.Header.Get("Proxy-Authorization"))
			}
			if o.Path.TCPEnds != TCPEndsBeforePeer || o.Path.Words() != "proxy (http_proxy, http://192.0.2.9:3128)" {
				t.Errorf("the path ends %s at %s", o.Path.TCPEnds, o.Path.Words())
			}
			d.settled(t)
		})
	}
}

// A 407 is the proxy's, not an answer of the API, and the same credentials are not
// shown again: neither by a second try nor by another probe of the run.
func TestPlainProxyWantsCredentials(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, d := newPeer(t, answer(407)), &desk{t: t}
		s := throughEnvironment(t, "http://api.example/v1")
		env := newEnv(p, d)
		env.Getenv, env.Refusals = environ("http_proxy", "192.0.2.9:3128"), &ProxyRefusals{}
		s.Retry.Attempts = 3
		o := RunHTTP(t.Context(), s, env)
		if next := RunHTTP(t.Context(), s, env); next.Cut != CutSkipped || !strings.Contains(next.CutDetail, "the proxy 192.0.2.9:3128 did not let it through") {
			t.Errorf("another probe: %+v", next)
		}
		env.Getenv = environ("http_proxy", "me:in-url@192.0.2.9:3128")
		other := RunHTTP(t.Context(), s, env)
		if !slices.Equal(reasons(other), []Reason{ReasonProxy}) || len(p.requests()) != 2 {
			t.Fatalf("with other credentials: %+v, %d requests", other, len(p.requests()))
		}
		if detail := other.Attempts[0].Detail; !strings.Contains(detail, "it does not accept the credentials of http_proxy") || strings.Contains(detail, "in-url") {
			t.Error(detail)
		}
		if got := reasons(o); !slices.Equal(got, []Reason{ReasonProxy}) || !strings.Contains(o.Attempts[0].Detail, "the proxy 192.0.2.9:3128: it refused with 407: it wants credentials") {
			t.Errorf("%v: %+v", got, o.Attempts)
		}
	})
}

// Credentials that cannot be read, or are none, end the step before anything is
// dialled, and are told by their source alone.
func TestProxyCredentialsAreWrong(t *testing.T) {
	long := strings.Repeat("s3cret", 50)
	for _, c := range []struct {
		scheme, read, says string
		cut                Cut
	}{
		{"http", "", "the source is gone", CutInternal},
		{"http", "s3cret", "not user:password", CutConfig},
		{"http", ":s3cret", "not user:password", CutConfig},
		{"socks5", "me:" + long, "the credentials of proxy_credentials: SOCKS5 takes a user and a password of at most 255 bytes", CutConfig},
		{"socks5h", long + ":s3cret", "at most 255 bytes", CutConfig},
	} {
		p, d := newPeer(t, answer(200)), &desk{t: t}
		s := newSpec(t, KindHTTP, api)
		s.Way.Proxy.URL = &url.URL{Scheme: c.scheme, Host: "192.0.2.9:3128"}
		s.Way.Proxy.Credentials = Source{Env: "PROXY_LOGIN"}
		env := newEnv(p, d)
		env.Secrets = func(Source) (Secret, error) {
			if c.read == "" {
				return Secret{}, errors.New("the source is gone")
			}
			return NewSecret(c.read), nil
		}
		o := RunHTTP(t.Context(), s, env)
		if o.Cut != c.cut || !strings.Contains(o.CutDetail, c.says) || strings.Contains(fmt.Sprintf("%+v", o), "s3cret") || len(d.asked()) > 0 {
			t.Errorf("%+v: %+v after %q", c, o, d.asked())
		}
	}
}

// What the policy says of hosts holds for the proxy, too; what it says of networks
// holds for every address that is dialled, and a name that the proxy looks up is
// refused, since its address is not seen. Nothing is dialled.
func TestPolicyOfTheWay(t *testing.T) {
	networks := []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")}
	tests := []struct {
		name, url, proxy, socket string
		policy                   Policy
		refused                  string // empty: it is allowed
	}{
		{"host", "http://api.example/", "http://192.0.2.9", "", Policy{Hosts: []string{"other.example", "192.0.2.9"}}, `the host "api.example"`},
		{"proxy's host", "http://api.example/", "http://192.0.2.9", "", Policy{Hosts: []string{"api.example"}}, `the host "192.0.2.9"`},
		{"both hosts", "http://api.example/", "http://192.0.2.9", "", Policy{Hosts: []string{"api.example", "192.0.2.9"}}, ""},
		{"proxy's network", "http://192.0.2.1/", "http://198.51.100.9", "", Policy{Networks: networks}, "the address 198.51.100.9"},
		{"proxy's denied network", "http://api.example/", "http://198.51.100.9", "", Policy{DeniedNetworks: networks}, "looks up its address"},
		{"a name that the proxy resolves", "http://api.example/", "http://192.0.2.9", "", Policy{Networks: networks}, "looks up its address"},
		{"an address behind the proxy", "http://198.51.100.1/", "http://192.0.2.9", "", Policy{Networks: networks}, "the address 198.51.100.1"},
		{"both addresses", "http://192.0.2.1/", "http://192.0.2.9", "", Policy{Networks: networks}, ""},
		{"a socket", "http://api.example/", "", "/run/api.sock", Policy{Hosts: []string{"api.example"}}, "the socket"},
		{"a socket beside networks", "http://api.example/", "", "/run/api.sock", Policy{DeniedNetworks: networks}, "the socket"},
		{"a socket, and nothing of hosts", "http://api.example/", "", "/run/api.sock", Policy{MaxShare: 1}, ""},
	}
	for _, tt := range tests {
		synctest.Test(t, func(t *testing.T) {
			p, d := newPeer(t, answer(200)), &desk{t: t}
			s := newSpec(t, KindHTTP, tt.url)
			if tt.proxy != "" {
				s.Way.Proxy.URL, _ = url.Parse(tt.proxy)
			}
			s.Way.Socket = tt.socket
			env := newEnv(p, d)
			env.Policy = &tt.policy
			o := RunHTTP(t.Context(), s, env)
			switch sent := len(p.requests()); {
			case tt.refused == "" && (sent != 1 || o.Cut != ""):
				t.Errorf("%s: %d sent: %+v", tt.name, sent, o)
			case tt.refused != "" && (sent != 0 || o.Cut != CutSkipped || !strings.Contains(o.CutDetail, tt.refused)):
				t.Errorf("%s: %d sent: %+v", tt.name, sent, o)
			}
			d.settled(t)
		})
	}
}

// FuzzForward: whatever stands in the variable, what is shown of it is a proxy's
// scheme, host and port.
func FuzzForward(f *testing.F) {
	for _, value := range []string{"http://user:pw@proxy:3128", "user:pw@proxy:3128", "http://pw@proxy", "http://proxy:3128/pw?pw", "socks5h://[::1]", "pw://proxy", "http://u:%zz@proxy"} {
		f.Add(value)
	}
	f.Fuzz(func(t *testing.T, value string) {
		s := Spec{URL: &url.URL{Scheme: "https", Host: "api.example"}, Way: Way{Proxy: Proxy{Environment: true}}}
		proxy, err := s.Forward(environ("HTTPS_PROXY", value))
		if err != nil || proxy == nil {
			return
		}
		u, err := url.Parse(proxy.String())
		if err != nil || u.User != nil || u.Path != "" || u.RawQuery != "" || u.Port() == "" || u.Hostname() != proxy.Host {
			t.Errorf("%q is shown as %q (%v)", value, proxy, err)
		}
	})
}

package probes

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"perch.example/internal/memnet"
)

// serve runs a handler on a network in memory, which all names lead to.
func serve(t *testing.T, h http.HandlerFunc) *memnet.Network {
	t.Helper()
	n := memnet.New()
	s := &http.Server{Handler: h}
	go func() { _ = s.Serve(n) }()
	t.Cleanup(func() { _ = s.Close(); _ = n.Close() })
	return n
}

func unreachable(context.Context, string, string) (net.Conn, error) {
	return nil, &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}
}

func is[T error](err error) bool {
	var as T
	return errors.As(err, &as)
}

func withToken(t *testing.T, kind Kind) *Spec {
	t.Helper()
	s := newSpec(t, kind, api)
	s.OAuth = &OAuth{
		TokenURL: &url.URL{Scheme: "http", Host: "127.0.0.7", Path: "/token"}, ClientID: "a b", Secret: Source{Env: "ID"},
		Scopes: []string{"read", "more"}, Audience: "stock", DailyLimit: 10,
	}
	return s
}

func tokenEnv(t *testing.T, n *memnet.Network) Env {
	env := newEnv(nil, &desk{t: t})
	env.Dial = n.Dial
	env.Secrets = func(s Source) (Secret, error) {
		if s.Env != "ID" {
			return Secret{}, fmt.Errorf("reading %s: it is not set", s)
		}
		return NewSecret("zqsecret:%"), nil
	}
	return env
}

func TestTokenRequest(t *testing.T) {
	for _, inBody := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			n := serve(t, func(w http.ResponseWriter, r *http.Request) {
				id, secret, basic := r.BasicAuth()
				if inBody {
					id, secret = url.QueryEscape(r.PostFormValue("client_id")), url.QueryEscape(r.PostFormValue("client_secret"))
				}
				got := strings.Join([]string{
					r.Method, r.URL.Path, id, secret, r.PostFormValue("grant_type"), r.PostFormValue("scope"), r.PostFormValue("audience"),
					r.Header.Get("User-Agent"), fmt.Sprint(basic),
				}, "|")
				if want := "POST|/token|a+b|zqsecret%3A%25|client_credentials|read more|stock|perch/1.2 (tests)|" + fmt.Sprint(!inBody); got != want {
					t.Errorf("got  %s\nwant %s", got, want)
				}
				w.Header().Set("Content-Type", "application/json")
				_, _ = w.Write([]byte(`{"access_token":"zqtoken","token_type":"bearer","expires_in":3600}`))
			})
			s := withToken(t, KindHTTP)
			s.OAuth.InBody = inBody
			got, err := FetchToken(t.Context(), s, tokenEnv(t, n))
			if err != nil || got.Secret.Reveal() != "zqtoken" || !got.Expires.Equal(time.Now().Add(time.Hour)) {
				t.Errorf("%+v, %v", got, err)
			}
		})
	}
}

func TestTokenEndpointFails(t *testing.T) {
	const isJSON = "application/json"
	for name, c := range map[string]struct {
		status           int
		kind, body, says string
	}{
		"refused":            {401, isJSON, `{"error":"invalid_client","error_description":"zq"}`, "the token endpoint at 127.0.0.7: it answered 401 (invalid_client)"},
		"the secret as code": {400, isJSON, `{"error":"zqsecret_of_a_client"}`, "the token endpoint at 127.0.0.7: it answered 400"},
		"a code of its own":  {400, isJSON, `{"error":"zq zq"}`, "the token endpoint at 127.0.0.7: it answered 400"},
		"down":               {503, "text/html", "<p>zq</p>", "the token endpoint at 127.0.0.7: it answered 503"},
		"an error as 200":    {200, isJSON, `{"error":"invalid_scope"}`, "the token endpoint at 127.0.0.7: it answered 200 (invalid_scope)"},
		"no token":           {200, isJSON, `{"zq":1}`, "the token endpoint at 127.0.0.7: its answer holds no token"},
		"no JSON":            {200, isJSON, `zq`, "the token endpoint at 127.0.0.7: its answer holds no token"},
		"no bearer":          {200, isJSON, `{"access_token":"zq","token_type":"mac"}`, "the token endpoint at 127.0.0.7: its token is no bearer token"},
		"a line's end":       {200, isJSON, `{"access_token":"zq\r\nX: y"}`, "the token endpoint at 127.0.0.7: its token cannot be sent in a header"},
		"elsewhere":          {307, isJSON, "", "the token endpoint at 127.0.0.7: it answered 307"},
		"too much":           {200, isJSON, `{"access_token":"zq","x":"` + strings.Repeat("x", maxTokenAnswer) + `"}`, "the token endpoint at 127.0.0.7: too_large: "},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				asked := 0
				n := serve(t, func(w http.ResponseWriter, _ *http.Request) {
					asked++
					w.Header().Set("Content-Type", c.kind)
					w.Header().Set("Location", "http://192.0.2.8/zq")
					w.WriteHeader(c.status)
					_, _ = w.Write([]byte(c.body))
				})
				_, err := FetchToken(t.Context(), withToken(t, KindHTTP), tokenEnv(t, n))
				var none *TokenError
				if !errors.As(err, &none) || !strings.HasPrefix(none.Why, c.says) || strings.Contains(none.Why, "zq") || asked != 1 {
					t.Errorf("%v, asked %d times", err, asked)
				}
			})
		})
	}
}

func TestTokenEndpointOutOfReach(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*Env, *Spec)
		is     func(error) bool
		says   string
	}{
		"nobody there":              {func(e *Env, _ *Spec) { e.Dial = unreachable }, is[*TokenError], "the token endpoint at 127.0.0.7: refused: "},
		"another host than allowed": {func(e *Env, _ *Spec) { e.Policy = &Policy{File: "p.yaml", Hosts: []string{"192.0.2.1"}} }, is[*Denied], `the host "127.0.0.7"`},
		"an address that is denied": {func(e *Env, _ *Spec) {
			e.Policy = &Policy{File: "p.yaml", DeniedNetworks: []netip.Prefix{netip.MustParsePrefix("127.0.0.7/32")}}
		}, is[*Denied], "the address 127.0.0.7"},
		"no secret":    {func(_ *Env, s *Spec) { s.OAuth.Secret = Source{Env: "NO"} }, is[*misfit], "reading oauth2.client_secret: reading env NO"},
		"no authority": {func(_ *Env, s *Spec) { s.OAuth.TokenURL.Scheme, s.TLS.CAFile = "https", "/ca" }, is[*misfit], "reading tls.ca_file"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := serve(t, func(http.ResponseWriter, *http.Request) { t.Error("asked") })
				env, s := tokenEnv(t, n), withToken(t, KindHTTP)
				c.change(&env, s)
				_, err := FetchToken(t.Context(), s, env)
				if !c.is(err) || !strings.Contains(err.Error(), c.says) {
					t.Errorf("%v", err)
				}
			})
		})
	}
}

func TestTokenRequestIsCut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := serve(t, func(http.ResponseWriter, *http.Request) { time.Sleep(2 * time.Second) })
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, errors.New("enough"))
		defer cancel()
		if _, err := FetchToken(ctx, withToken(t, KindHTTP), tokenEnv(t, n)); err == nil || err.Error() != "enough" {
			t.Errorf("%v", err)
		}
		time.Sleep(2 * time.Second) // the server ends, too
	})
}

func TestTokenGoodAt(t *testing.T) {
	now := time.Now()
	for _, c := range []struct {
		life, left time.Duration
		good       bool
	}{
		{time.Hour, 61 * time.Second, true}, {time.Hour, 60 * time.Second, false}, {time.Minute, 7 * time.Second, true}, {time.Minute, 6 * time.Second, false},
		{time.Hour, -time.Second, false},
	} {
		token := Token{Secret: NewSecret("a"), Got: now, Expires: now.Add(c.life)}
		if got := token.GoodAt(token.Expires.Add(-c.left)); got != c.good {
			t.Errorf("%+v: %v", c, got)
		}
	}
	if (Token{}).GoodAt(now) || !(Token{Secret: NewSecret("a"), Got: now}).GoodAt(now.Add(time.Hour)) {
		t.Error("no token, or one without an end")
	}
}

// TestTokenIsNotShown: neither an error nor any way of printing tells of it.
func TestTokenIsNotShown(t *testing.T) {
	token := Token{Secret: NewSecret("zqtoken")}
	text, _ := json.Marshal(token)
	if all := fmt.Sprintf("%v %+v %#v %s", token, token, token, text); strings.Contains(all, "zqtoken") {
		t.Error(all)
	}
}

// TestTokenThroughAProxy: the token request takes the target's way out.
func TestTokenThroughAProxy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked []string
		n := serve(t, func(w http.ResponseWriter, r *http.Request) {
			asked = append(asked, r.Method+" "+r.RequestURI)
			w.WriteHeader(http.StatusForbidden)
		})
		env, s := tokenEnv(t, n), withToken(t, KindHTTP)
		s.OAuth.TokenURL.Scheme, s.OAuth.TokenURL.Host = "https", "192.0.2.7"
		s.Way.Proxy.URL = &url.URL{Scheme: "http", Host: "192.0.2.9:3128"}
		var dialled []string
		env.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
			dialled = append(dialled, address)
			return n.Dial(ctx, network, address)
		}
		_, err := FetchToken(t.Context(), s, env)
		if !is[*TokenError](err) || fmt.Sprint(dialled) != "[192.0.2.9:3128]" || fmt.Sprint(asked) != "[CONNECT 192.0.2.7:443]" {
			t.Errorf("%v, dialled %q, asked %q", err, dialled, asked)
		}
		env.Policy = &Policy{File: "p.yaml", Hosts: []string{"192.0.2.7"}}
		if _, err := FetchToken(t.Context(), s, env); !is[*Denied](err) || len(dialled) != 1 {
			t.Errorf("%v, dialled %q", err, dialled)
		}
	})
}

// TestSecretNeverLeavesInClearText: plain http is for this machine's own loopback,
// and behind a proxy that is the proxy's.
func TestSecretNeverLeavesInClearText(t *testing.T) {
	for _, c := range []struct {
		host, proxy string
		says        string
	}{
		{"127.0.0.7", "", ""},
		{"localhost", "", ""},
		{"192.0.2.7", "", "would leave over plain http"},
		{"localhost", "http://192.0.2.9:3128", "through the proxy http://192.0.2.9:3128"},
		{"127.0.0.7", "socks5h://192.0.2.9", "through the proxy socks5h://192.0.2.9:1080"},
		{"192.0.2.7", "http://127.0.0.1:3128", "through the proxy"},
	} {
		synctest.Test(t, func(t *testing.T) {
			n := serve(t, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				_, _ = w.Write([]byte(`{"access_token":"zqtoken"}`))
			})
			env, s, dials := tokenEnv(t, n), withToken(t, KindHTTP), 0
			env.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
				dials++
				return n.Dial(ctx, network, address)
			}
			env.Resolve = func(context.Context, string) ([]netip.Addr, error) {
				return []netip.Addr{netip.MustParseAddr("127.0.0.1")}, nil
			}
			s.OAuth.TokenURL.Host = c.host
			if c.proxy != "" {
				s.Way.Proxy.URL, _ = url.Parse(c.proxy)
			}
			_, err := FetchToken(t.Context(), s, env)
			if c.says == "" && (err != nil || dials != 1) {
				t.Errorf("%s, %s: %v, %d dials", c.host, c.proxy, err, dials)
			}
			if c.says != "" && (!is[*Denied](err) || !strings.Contains(err.Error(), c.says) || dials != 0) {
				t.Errorf("%s, %s: %v, %d dials", c.host, c.proxy, err, dials)
			}
		})
	}
}

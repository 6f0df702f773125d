package lab_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"perch.example/lab"
)

// proxied are the forward proxies: what Go's client says of a request to a good
// server behind each; empty: it is answered.
func proxied() map[string]string {
	return map[string]string{
		"proxy_healthy":      "",
		"proxy_idle_fin":     "",
		"proxy_refused":      "connection refused",
		"proxy_forbidden":    "Forbidden",
		"proxy_unauthorized": "Proxy Authentication Required",
		"proxy_bad_gateway":  "Bad Gateway",
		"proxy_eof":          "EOF",
		"proxy_reset":        "connection reset by peer",
		"proxy_garbage":      "malformed HTTP",
		"proxy_stall":        "Client.Timeout exceeded",
		"socks5_healthy":     "",
		"socks5_forbidden":   "connection not allowed by ruleset",
		"socks5_unreachable": "connection refused",
		"socks5_no_method":   "no acceptable authentication methods",
		"socks5_eof":         "EOF",
		"socks5_garbage":     "unexpected protocol version",
		"socks5_stall":       "Client.Timeout exceeded",
	}
}

// behind is a pooled client that reaches server through proxy.
func behind(t *testing.T, proxy, server *lab.Server) *http.Client {
	t.Helper()
	u, err := url.Parse(proxy.URL())
	if err != nil {
		t.Fatal(err)
	}
	c := client(t, server)
	transport := c.Transport.(*http.Transport)
	transport.Proxy = http.ProxyURL(u)
	if roots := proxy.ClientConfig().RootCAs; roots != nil {
		transport.TLSClientConfig.RootCAs = roots
	}
	return c
}

func TestProxies(t *testing.T) {
	t.Parallel()
	for name, want := range proxied() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := start(t, "healthy", lab.Options{TLS: true})
			proxy := start(t, name, options())
			c := behind(t, proxy, server)
			c.Timeout = patience
			if strings.HasPrefix(want, "Client.Timeout") {
				c.Timeout = 2 * quiet
			}
			resp, err := c.Get(server.URL())
			if err == nil {
				defer func() { _ = resp.Body.Close() }()
			}
			switch {
			case want == "" && (err != nil || resp.StatusCode != http.StatusOK):
				t.Errorf("got %v, %v, want an answer", resp, err)
			case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
				t.Errorf("got %v, want %q", err, want)
			}
		})
	}
}

func TestProxyForwardsPlainRequests(t *testing.T) {
	t.Parallel()
	for _, scheme := range []string{"proxy_healthy", "socks5_healthy"} {
		server, proxy := start(t, "healthy", lab.Options{}), start(t, scheme, options())
		c := behind(t, proxy, server)
		for range 2 { // the second on the same connection
			if status, body := get(t, c, server.URL()+"/calendar?days=2"); status != http.StatusOK || !strings.Contains(string(body), `"days"`) {
				t.Errorf("%s: status %d, body %q", scheme, status, body)
			}
		}
		if got := len(proxy.Requests()); got != 1 {
			t.Errorf("%s: %d requests for the proxy itself, want 1", scheme, got)
		}
		if opened, _ := server.Connections(); opened != 1 {
			t.Errorf("%s: %d connections to the server, want 1", scheme, opened)
		}
	}
}

func TestProxyOverTLS(t *testing.T) {
	t.Parallel()
	server, proxy := start(t, "healthy", lab.Options{}), start(t, "proxy_healthy", lab.Options{TLS: true})
	if status, _ := get(t, behind(t, proxy, server), server.URL()); status != http.StatusOK || !strings.HasPrefix(proxy.URL(), "https:") {
		t.Errorf("status %d through %s", status, proxy.URL())
	}
}

// TestProxyReachesOnlyLoopback: a lab that somebody lets others reach is no way
// further.
func TestProxyReachesOnlyLoopback(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{"proxy_healthy": "Forbidden", "socks5_healthy": "connection not allowed by ruleset"} {
		proxy := start(t, name, options())
		for _, host := range []string{"192.0.2.1", "elsewhere.invalid", "[2001:db8::1]", "0.0.0.0"} {
			c := behind(t, proxy, start(t, "healthy", lab.Options{}))
			resp, err := c.Get("https://" + host + ":8443/")
			if err == nil {
				_ = resp.Body.Close()
			}
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s to %s: %v, want %q", name, host, err, want)
			}
		}
	}
}

// TestProxyEndsIdleTunnels while the server behind it would not have.
func TestProxyEndsIdleTunnels(t *testing.T) {
	t.Parallel()
	server, proxy := start(t, "healthy", lab.Options{}), start(t, "proxy_idle_fin", options())
	c := behind(t, proxy, server)
	for range 2 {
		if status, _ := get(t, c, server.URL()); status != http.StatusOK {
			t.Errorf("status %d", status)
		}
	}
	for end := time.Now().Add(patience); len(proxy.Closes()) == 0; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the tunnel does not end")
		}
	}
	if got := len(server.Closes()); got != 0 {
		t.Errorf("the server ended %d connections", got)
	}
}

//go:build peers

package peers

import (
	"fmt"
	"net"
	"net/url"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"perch.example/probes"
)

// forwards are real forward proxies; each of their clients has the login that
// wants one. None lets a client through to port 1.
func forwards() []string { return []string{"tinyproxy", "squid", "microsocks"} }

const login, wrongLogin = "perch:let-me-through", "perch:hunter2"

// startForward runs a proxy on loopback and returns its URL, once it listens.
func startForward(t *testing.T, name string) *url.URL {
	t.Helper()
	dir, port := worldDir(t), freePort(t, nil, "127.0.0.1")
	var cmd *exec.Cmd
	scheme := "http"
	switch name {
	case "tinyproxy":
		cmd = exec.Command("tinyproxy", "-d", "-c", write(t, filepath.Join(dir, "tinyproxy.conf"), fmt.Sprintf(
			"Port %d\nListen 127.0.0.1\nTimeout 600\nMaxClients 20\nBasicAuth perch let-me-through\nLogLevel Error\n", port)))
	case "squid":
		cmd = exec.Command("squid", "-N", "-d", "0", "-f", write(t, filepath.Join(dir, "squid.conf"), fmt.Sprintf(
			"http_port 127.0.0.1:%d\nacl one port 1\nhttp_access deny one\nhttp_access allow all\ncache deny all\naccess_log none\n"+
				"cache_log /dev/null\npid_filename none\nshutdown_lifetime 0\ncoredump_dir /tmp\nvisible_hostname squid.test\n", port)))
	case "microsocks":
		scheme = "socks5h"
		cmd = exec.Command("microsocks", "-i", "127.0.0.1", "-p", strconv.Itoa(port), "-u", "perch", "-P", "let-me-through")
	}
	run(t, nil, name, cmd)
	u := &url.URL{Scheme: scheme, Host: net.JoinHostPort("127.0.0.1", strconv.Itoa(port))}
	for end := time.Now().Add(readyWithin); ; time.Sleep(20 * time.Millisecond) {
		conn, err := net.Dial("tcp", u.Host)
		if err == nil {
			_ = conn.Close()
			return u
		}
		if time.Now().After(end) {
			t.Fatalf("waiting for %s: %v", name, err)
		}
	}
}

// through is a probe's step by way of a proxy, with that login.
func through(t *testing.T, proxy *url.URL, kind probes.Kind, peer Peer, as string) (*probes.Spec, probes.Env) {
	t.Helper()
	s := newSpec(t, kind, peer.URL)
	s.TLS.CAFile = peer.CAFile
	s.Way.Proxy.URL, s.Way.Proxy.Credentials = proxy, probes.Source{Env: "LOGIN"}
	env := newEnv()
	env.Secrets = func(probes.Source) (probes.Secret, error) { return probes.NewSecret(as), nil }
	return s, env
}

// TestForwardProxies: through real proxies a server answers, plain and over TLS; a
// hold that is shorter than its idle timeout survives, a longer one ends as the
// proxy passes it on; and the path says where the connection ended.
func TestForwardProxies(t *testing.T) {
	for _, secure := range []bool{true, false} {
		peer := Start(t, "nginx", 1250*time.Millisecond, secure)
		for _, name := range forwards() {
			t.Run(fmt.Sprintf("%s/tls=%v", name, secure), func(t *testing.T) {
				t.Parallel()
				proxy := startForward(t, name)
				s, env := through(t, proxy, probes.KindHTTP, peer, login)
				o := probes.RunHTTP(t.Context(), s, env)
				if len(o.Attempts) != 1 || o.Attempts[0].Reason != probes.ReasonOK || o.Attempts[0].Remote.String() != proxy.Host {
					t.Fatalf("%+v", o)
				}
				if o.Path.TCPEnds != probes.TCPEndsBeforePeer || !slices.Contains(o.Path.Via, "proxy") {
					t.Errorf("the path ends %s, by %v", o.Path.TCPEnds, o.Path.Via)
				}
				s, env = through(t, proxy, probes.KindIdle, peer, login)
				if got := reused(t, s, env, 300*time.Millisecond); got.Reason != probes.ReasonOK && (secure || name == "microsocks") {
					t.Errorf("after 300ms: %s (%s)", got.Reason, got.Detail)
				}
				if !secure && name != "microsocks" {
					return // the proxy's own connection is held: how long is its own affair
				}
				want := probes.ReasonIdleFIN
				if secure {
					want = probes.ReasonIdleCloseNotify
				}
				if got := reused(t, s, env, 2500*time.Millisecond); got.Reason != want {
					t.Errorf("after 2.5s: %s (%s), want %s", got.Reason, got.Detail, want)
				}
			})
		}
	}
}

// reused plays a rung and returns its reuse; a warm-up that ends its connection
// speaks for itself.
func reused(t *testing.T, s *probes.Spec, env probes.Env, hold time.Duration) probes.Attempt {
	t.Helper()
	done := make(chan probes.Observation, 1)
	probes.StartIdle(t.Context(), s, hold, env, func(o probes.Observation) { done <- o })
	o := <-done
	if a := o.Attempt(probes.ConnectionReused); a != nil {
		return *a
	}
	if len(o.Attempts) == 0 {
		t.Fatalf("%+v", o)
	}
	return o.Attempts[0]
}

// TestForwardProxiesRefuse: what real proxies say when they do not do their part is
// the reason proxy, and tells the credentials to nobody.
func TestForwardProxiesRefuse(t *testing.T) {
	for _, name := range forwards() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			proxy := startForward(t, name)
			gone := Peer{URL: fmt.Sprintf("https://127.0.0.1:%d/", freePort(t, nil, "127.0.0.1"))}
			cases := map[string]struct {
				url, as string
			}{"nobody listens": {gone.URL, login}}
			if name == "squid" {
				cases["forbidden"] = struct{ url, as string }{"https://127.0.0.1:1/", login}
			} else {
				cases["wrong login"] = struct{ url, as string }{gone.URL, wrongLogin}
			}
			for what, c := range cases {
				s, env := through(t, proxy, probes.KindHTTP, Peer{URL: c.url}, c.as)
				o := probes.RunHTTP(t.Context(), s, env)
				if len(o.Attempts) != 1 || o.Attempts[0].Reason != probes.ReasonProxy {
					t.Errorf("%s: %+v", what, o)
					continue
				}
				detail := o.Attempts[0].Detail
				t.Logf("%s: %s", what, detail)
				if !strings.Contains(detail, proxy.Host) || strings.Contains(detail, "let-me") || strings.Contains(detail, "hunter2") {
					t.Errorf("%s: %q", what, detail)
				}
			}
		})
	}
}

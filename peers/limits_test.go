//go:build peers

package peers

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"perch.example/internal/stood"
	"perch.example/probes"
)

// edit is one thing that is changed in a server's configuration file.
type edit struct{ file, old, change string }

// changed runs a server whose configuration has one thing changed.
func changed(t *testing.T, name string, p place, e edit) Peer {
	t.Helper()
	p.dir, p.host = worldDir(t), "127.0.0.1"
	p.port = freePort(t, nil, p.host)
	peer := Peer{Name: name, Addr: net.JoinHostPort(p.host, strconv.Itoa(p.port)), Port: uint16(p.port), HTTP2: p.http2}
	scheme := "http://"
	if p.http2 {
		scheme, p.cert = "https://", newCertificate(t, p.dir, p.host)
		peer.CAFile, peer.RootCA = p.cert.caFile, p.cert.ca
	}
	peer.URL = scheme + peer.Addr + "/calendar"
	write(t, filepath.Join(p.dir, "www", "calendar"), twoDays)
	cmd := command(t, name, p)
	path := filepath.Join(p.dir, e.file)
	text, err := os.ReadFile(path)
	if err != nil || !strings.Contains(string(text), e.old) {
		t.Fatalf("%s has no %q (%v)", path, e.old, err)
	}
	if err := os.WriteFile(path, []byte(strings.Replace(string(text), e.old, e.change, 1)), 0o644); err != nil {
		t.Fatal(err)
	}
	run(t, nil, name, cmd)
	awaitAnswer(t, nil, peer)
	return peer
}

// retiring is a Go server that asks for no more reuse from a number of requests on.
func retiring(t *testing.T, after int64) Peer {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var served atomic.Int64
	server := &http.Server{}
	server.Handler = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if served.Add(1) == after {
			server.SetKeepAlivesEnabled(false)
		}
		_, _ = w.Write([]byte(twoDays))
	})
	done := make(chan struct{})
	go func() { defer close(done); _ = server.Serve(ln) }()
	t.Cleanup(func() { _ = server.Close(); <-done })
	return Peer{Name: "go", Addr: ln.Addr().String(), URL: "http://" + ln.Addr().String() + "/calendar"}
}

// TestLimits: after how many requests, or at which age, real servers end a connection,
// and that they say so.
func TestLimits(t *testing.T) {
	idle := place{idle: 30 * time.Second}
	overTLS := place{idle: 30 * time.Second, http2: true}
	for _, c := range []struct {
		name     string
		start    func(*testing.T) Peer
		protocol probes.Protocol
		gap      time.Duration
		requests int           // that it carries; 0: its age decides
		age      time.Duration // at least
		by       string
	}{
		{"nginx", func(t *testing.T) Peer {
			return changed(t, "nginx", idle, edit{"nginx.conf", "keepalive_requests 1000000", "keepalive_requests 5"})
		}, "", 20 * time.Millisecond, 5, 0, "Connection: close"},
		{"nginx by age", func(t *testing.T) Peer {
			return changed(t, "nginx", idle, edit{"nginx.conf", "keepalive_requests 1000000", "keepalive_time 1s"})
		}, "", 150 * time.Millisecond, 0, time.Second, "Connection: close"},
		{"apache2", func(t *testing.T) Peer {
			return changed(t, "apache2", idle, edit{"apache2.conf", "MaxKeepAliveRequests 0", "MaxKeepAliveRequests 5"})
		}, "", 20 * time.Millisecond, 6, 0, "Connection: close"},
		{"tomcat10", func(t *testing.T) Peer {
			return changed(t, "tomcat10", idle, edit{"conf/server.xml", `maxKeepAliveRequests="-1"`, `maxKeepAliveRequests="5"`})
		}, "", 20 * time.Millisecond, 5, 0, "Connection: close"},
		{"node", func(t *testing.T) Peer {
			return changed(t, "node", idle, edit{"server.js", "server.listen", "server.maxRequestsPerSocket = 5;\nserver.listen"})
		}, "", 20 * time.Millisecond, 5, 0, "Connection: close"},
		{"go", func(t *testing.T) Peer { return retiring(t, 5) }, "", 20 * time.Millisecond, 5, 0, "Connection: close"},
		{"nginx over HTTP/2", func(t *testing.T) Peer {
			return changed(t, "nginx", overTLS, edit{"nginx.conf", "keepalive_requests 1000000", "keepalive_requests 5"})
		}, probes.ProtocolH2, 20 * time.Millisecond, 5, 0, "GOAWAY"},
		{"haproxy has none", func(t *testing.T) Peer { return Start(t, "haproxy", 30*time.Second, false) }, "", 10 * time.Millisecond, 40, 0, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			peer := c.start(t)
			for range 5 {
				s := newSpec(t, probes.KindHTTP, peer.URL)
				s.Requests, s.Gap, s.Protocol, s.TLS.CAFile = 40, c.gap, c.protocol, peer.CAFile
				stood.Again(t, stood.Moment, func() (wrong []string) { // who stands still makes the next request, and meets the age, late
					o := probes.RunLimit(t.Context(), s, newEnv())
					l := o.Limit
					if l == nil || o.Cut != "" || l.Ended != (c.by != "") || l.Told != (c.by != "") || l.By != c.by {
						return []string{fmt.Sprintf("%+v of %+v", l, o)}
					}
					if c.requests > 0 && l.Requests != c.requests || l.Age < c.age || c.age > 0 && l.Age > c.age+500*time.Millisecond {
						wrong = append(wrong, l.Words())
					}
					if a := o.Attempts[len(o.Attempts)-1]; !a.OK() {
						wrong = append(wrong, fmt.Sprintf("the last answer: %+v", a))
					}
					return wrong
				})
				if c.name == "go" || c.age > 0 {
					break // it asks for no reuse any more; or: a second each
				}
			}
		})
	}
}

// TestUnusedConnections: what real servers do to a connection that never carried a
// request, at the timeout that they have for it.
func TestUnusedConnections(t *testing.T) {
	long := place{idle: 30 * time.Second}
	for _, c := range []struct {
		name   string
		start  func(*testing.T) Peer
		reason probes.Reason
		pushed int
		within time.Duration // after a second and a half
	}{
		{"haproxy", func(t *testing.T) Peer {
			return changed(t, "haproxy", long, edit{"haproxy.cfg", "timeout http-request 10s", "timeout http-request 1500ms"})
		}, probes.ReasonIdleBytes, 408, 50 * time.Millisecond},
		{"node", func(t *testing.T) Peer {
			return changed(t, "node", long, edit{"server.js", "createServer(", "createServer({headersTimeout: 1500, requestTimeout: 1500, connectionsCheckingInterval: 50}, "})
		}, probes.ReasonIdleBytes, 408, 150 * time.Millisecond},
		{"nginx", func(t *testing.T) Peer {
			return changed(t, "nginx", long, edit{"nginx.conf", "keepalive_requests 1000000", "client_header_timeout 1500ms"})
		}, probes.ReasonIdleFIN, 0, 50 * time.Millisecond},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newSpec(t, probes.KindIdle, c.start(t).URL)
			stood.Again(t, stood.Moment, func() (wrong []string) {
				for _, o := range playUnused(t, s) {
					if why := unusedWrong(o, c.reason, c.pushed, c.within); why != "" {
						wrong = append(wrong, why)
					}
				}
				return wrong
			})
		})
	}
}

// unusedFor is when these servers end what never carried a request: as far from the
// shorter hold as from the longer one.
const unusedFor = 1500 * time.Millisecond

// playUnused holds connections that carried nothing, for less than that and for more, and
// some that carried a request.
func playUnused(t *testing.T, s *probes.Spec) []probes.Observation {
	t.Helper()
	const each = 20
	seen := make(chan probes.Observation, 3*each)
	for range each {
		probes.StartUnused(t.Context(), s, 500*time.Millisecond, newEnv(), func(o probes.Observation) { seen <- o })
		probes.StartUnused(t.Context(), s, 2500*time.Millisecond, newEnv(), func(o probes.Observation) { seen <- o })
		probes.StartIdle(t.Context(), s, 2500*time.Millisecond, newEnv(), func(o probes.Observation) { seen <- o })
	}
	var all []probes.Observation
	for range 3 * each {
		all = append(all, <-seen)
	}
	return all
}

// unusedWrong holds an observation to what such a server does; empty: it is that.
func unusedWrong(o probes.Observation, reason probes.Reason, pushed int, within time.Duration) string {
	a, control := o.Attempt(probes.ConnectionReused), o.Attempt(probes.ConnectionControl)
	switch {
	case o.Cut != "" || a == nil:
		return fmt.Sprintf("%+v", o)
	case !o.Unused || o.Hold < unusedFor:
		if !a.OK() {
			return fmt.Sprintf("unused %v, %s: %s: %s", o.Unused, o.Hold, a.Reason, a.Detail)
		}
	case a.Reason != reason || a.PushedStatus != pushed || a.Status != 0 || control == nil || !control.OK():
		return fmt.Sprintf("%s, pushed %d, status %d: %s; control %+v", a.Reason, a.PushedStatus, a.Status, a.Detail, control)
	case o.Close == nil || (o.Close.Age-unusedFor).Abs() > within:
		return "closed: " + fmt.Sprint(o.Close)
	}
	return ""
}

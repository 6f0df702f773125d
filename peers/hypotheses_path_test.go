//go:build peers

package peers

import (
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"perch.example/lab"
)

// TestHypothesesBehindAProxy: where TCP ends before the API, what the next
// kernel acknowledges and closes says nothing of the API. Perch sees that by
// itself over TLS, or is told.
func TestHypothesesBehindAProxy(t *testing.T) {
	t.Parallel()
	playAll(t, closingRelays())
	playAll(t, deadRelays())
}

// far is the relay's distance to the API: the round trip is twice that.
const far = 15 * time.Millisecond

// behind puts a relay in front of the lab's server.
func behind(t *testing.T, p *subject, name string, o lab.Options, r *relay) {
	t.Helper()
	server := serve(t, p, name, o)
	r.to = server.Host()
	startRelay(t, r)
	p.url = strings.Replace(server.URL(), server.Host(), r.host(), 1)
}

func closingRelays() []scenario {
	idle := lab.Options{IdleTimeout: time.Second}
	overTLS := idle
	overTLS.TLS = true
	behindProxy := wanted{
		reason: "idle_fin", verdict: "fail", diagnosis: "early_close", ends: "before_peer", closedBy: "unknown",
		ruled:    "out open out in out open",
		evidence: map[string]string{"path_blocks": "TCP ends before the API"},
	}
	undeclared := behindProxy
	undeclared.reason = "idle_close_notify"
	undeclared.evidence = map[string]string{"path_blocks": `TCP ends before the API.* \d.*m?s`}
	plain := behindProxy
	plain.ends, plain.closedBy, plain.ruled, plain.evidence = "unknown", "peer", "out out out in out open", nil
	return []scenario{
		{"undeclared, over TLS, a close", func(t *testing.T, p *subject) {
			behind(t, p, "idle_close_notify", overTLS, &relay{delay: far})
			p.probe = held("2500ms")
		}, []wanted{undeclared}},
		{"declared, plain, a close", func(t *testing.T, p *subject) {
			behind(t, p, "idle_fin", idle, &relay{delay: far})
			p.via, p.probe = "proxy", held("2500ms")
		}, []wanted{behindProxy}},
		{"seen in the answer's headers, a close", func(t *testing.T, p *subject) {
			server := &http.Server{IdleTimeout: time.Second, Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Via", "1.1 gateway")
			})}
			ln, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			go func() { _ = server.Serve(ln) }()
			t.Cleanup(func() { _ = server.Close() })
			p.url, p.probe = "http://"+ln.Addr().String(), held("2500ms")
		}, []wanted{behindProxy}},
		// Nothing gives it away, and perch says what it saw: who closed is the
		// next kernel on the path, and tcp_ends says that it is not known whose.
		{"undeclared, plain, a close", func(t *testing.T, p *subject) {
			behind(t, p, "idle_fin", idle, &relay{delay: far})
			p.probe = held("2500ms")
		}, []wanted{plain}},
	}
}

// deadRelays acknowledge what they cannot deliver.
func deadRelays() []scenario {
	forgets := func() *relay { return &relay{delay: far, diesIdle: 1200 * time.Millisecond} }
	stalled := wanted{
		reason: "no_response", verdict: "fail", diagnosis: "stalled", ends: "before_peer", closedBy: "-",
		ruled:    "out open out in out open",
		evidence: map[string]string{"path_blocks": "TCP ends before the API"},
	}
	unknown := stalled
	unknown.ends, unknown.ruled = "unknown", "out out out in out open"
	unknown.evidence = map[string]string{"path_blocks": `acknowledged all \d+ of our bytes`}
	down := wanted{
		reason: "no_response", verdict: "fail", diagnosis: "service_down", ends: "before_peer", closedBy: "-",
		ruled: "in open out out out open",
	}
	hello := down
	hello.reason, hello.diagnosis, hello.ends = "tls", "unreachable", "unknown"
	return []scenario{
		{"dead far side, undeclared, over TLS", func(t *testing.T, p *subject) {
			behind(t, p, "healthy", lab.Options{TLS: true}, forgets())
			p.probe = held("2500ms")
		}, []wanted{stalled}},
		{"dead far side, declared, plain", func(t *testing.T, p *subject) {
			behind(t, p, "healthy", lab.Options{}, forgets())
			p.via, p.probe = "proxy", held("2500ms")
		}, []wanted{stalled}},
		{"dead far side, undeclared, plain", func(t *testing.T, p *subject) {
			behind(t, p, "healthy", lab.Options{}, forgets())
			p.probe = held("2500ms")
		}, []wanted{unknown}},
		{"nobody behind it, declared, plain", func(t *testing.T, p *subject) {
			p.url, p.via, p.probe = "http://"+startRelay(t, &relay{}).host(), "proxy", fresh
		}, []wanted{down}},
		{"nobody behind it, undeclared, over TLS", func(t *testing.T, p *subject) {
			p.url, p.probe = "https://"+startRelay(t, &relay{}).host(), fresh
		}, []wanted{hello}},
	}
}

// direct is how often a straight path must be seen as one.
const direct = 20

// TestStraightPathIsSeenAsOne: over TLS and with nothing in between TCP ends at
// the peer, near and far, on idle cores and on busy ones.
func TestStraightPathIsSeenAsOne(t *testing.T) {
	for _, busy := range []bool{false, true} {
		for _, rtt := range []time.Duration{0, 50 * time.Millisecond} {
			t.Run(fmt.Sprintf("rtt=%s/busy=%t", rtt, busy), func(t *testing.T) {
				if busy {
					keepBusy(t)
				}
				sawPeer(t, rtt)
			})
		}
	}
}

func sawPeer(t *testing.T, rtt time.Duration) {
	t.Helper()
	scenario{"", func(t *testing.T, p *subject) {
		var link *Link
		if rtt > 0 {
			link = Delay(t, rtt)
			p.within = link.client
		}
		peer := StartOn(t, link, "go", idleTimeout, true)
		p.url = strings.TrimSuffix(peer.URL, "/calendar")
		p.ca = peer.CAFile
		p.probe, p.probes, p.patience = fresh, direct, "10s"
	}, many(direct, wanted{reason: "ok", verdict: "pass", ends: "peer"})}.play(t)
}

// TestDelayedTLSIsSeenEveryTime is the other side: a relay with 5 ms or more
// behind it is seen, every time.
func TestDelayedTLSIsSeenEveryTime(t *testing.T) {
	for _, busy := range []bool{false, true} {
		t.Run(fmt.Sprintf("busy=%t", busy), func(t *testing.T) {
			if busy {
				keepBusy(t)
			}
			scenario{"", func(t *testing.T, p *subject) {
				server := serve(t, p, "healthy", lab.Options{TLS: true})
				p.url = "https://" + startRelay(t, &relay{to: server.Host(), delay: far}).host()
				p.probe, p.probes, p.patience = fresh, direct, "10s"
			}, many(direct, wanted{reason: "ok", ends: "before_peer"})}.play(t)
		})
	}
}

func many(n int, w wanted) (all []wanted) {
	for range n {
		all = append(all, w)
	}
	return all
}

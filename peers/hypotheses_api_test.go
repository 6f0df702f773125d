//go:build peers

package peers

import (
	"net"
	"net/http"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"perch.example/lab"
)

// TestHypothesesWhenTheAPIFails: it is down, or the path to it is, or it says
// that it is called too often. Each is told from the others.
func TestHypothesesWhenTheAPIFails(t *testing.T) {
	t.Parallel()
	playAll(t, downScenarios())
	playAll(t, blackholeScenarios())
	playAll(t, limitScenarios())
}

func downScenarios() []scenario {
	return []scenario{
		{"nothing listens", func(t *testing.T, p *subject) {
			serve(t, p, "refused", lab.Options{})
			p.probe = fresh
		}, []wanted{{
			reason: "refused", verdict: "fail", diagnosis: "unreachable", ends: "unknown", closedBy: "-",
			ruled:    "in open out out out open",
			evidence: map[string]string{"api_down": `after \d+(\.\d+)? m?s: .*refused`, "rate_limit": "no 429; it sent 0 requests"},
		}}},
		{"it answers 503", func(t *testing.T, p *subject) {
			serve(t, p, "unavailable", lab.Options{})
			p.probe = fresh
		}, []wanted{{
			reason: "unavailable", verdict: "fail", diagnosis: "service_down", ends: "unknown", closedBy: "-",
			ruled:    "in out out out out open",
			evidence: map[string]string{"api_down": "503", "path_blocks": "503"},
		}}},
		{"it answers 503 twice", func(t *testing.T, p *subject) {
			serve(t, p, "unavailable", lab.Options{})
			p.probe = fresh + ", retry: {attempts: 2, backoff: 50ms}"
		}, []wanted{{
			reason: "unavailable", verdict: "fail", diagnosis: "service_down", closedBy: "-",
			ruled: "in out out out out open", evidence: map[string]string{"api_down": "two fresh connections"},
		}}},
		{"its name is unknown", func(_ *testing.T, p *subject) {
			p.url, p.probe = "http://api.invalid", fresh
		}, []wanted{{
			reason: "dns", verdict: "fail", diagnosis: "unreachable", ends: "unknown", closedBy: "-",
			ruled: "open open out out out open",
		}}},
		{"nothing listens, and the retry list lacks that", func(t *testing.T, p *subject) {
			serve(t, p, "refused", lab.Options{})
			p.probe, p.client = fresh, declaredApache("none", "inside", "org.apache.http.NoHttpResponseException")
		}, []wanted{{
			reason: "refused", verdict: "fail", diagnosis: "unreachable", ruled: "in open out out out in",
			evidence: map[string]string{"retry_gap": "HttpHostConnectException"},
		}}},
		{"nothing listens, and the retry list holds that", func(t *testing.T, p *subject) {
			serve(t, p, "refused", lab.Options{})
			p.probe, p.client = fresh, declaredApache("none", "inside", "java.net.ConnectException")
		}, []wanted{{
			reason: "refused", verdict: "fail", diagnosis: "unreachable", ruled: "in open out out out out",
			evidence: map[string]string{"retry_gap": "ConnectException"},
		}}},
		{"it dies while a connection is held", diesWhileHeld, []wanted{{
			reason: "refused", verdict: "fail", diagnosis: "unreachable", ends: "unknown", closedBy: "peer",
			ruled: "in open out out out open",
		}}},
	}
}

// diesWhileHeld answers once; 500 ms later the process is gone, long before the reuse.
func diesWhileHeld(t *testing.T, p *subject) {
	var once sync.Once
	var server *lab.Server
	ready := make(chan struct{})
	server = serve(t, p, "healthy", lab.Options{OnRequest: func(lab.Request) {
		once.Do(func() {
			<-ready
			time.AfterFunc(500*time.Millisecond, func() { _ = server.Close() })
		})
	}})
	close(ready)
	p.probe = held("2s")
}

func blackholeScenarios() []scenario {
	return []scenario{
		{"a NAT forgot the held connection", func(t *testing.T, p *subject) {
			serve(t, p, "blackhole", lab.Options{})
			p.probe = held("500ms")
		}, []wanted{{
			reason: "blackhole", verdict: "fail", diagnosis: "silent_drop", ends: "unknown", closedBy: "-",
			ruled:    "out in out in out open",
			evidence: map[string]string{"path_blocks": `nothing acknowledged the \d+ bytes sent, for \d`, "api_down": "answered 200"},
		}}},
		{"a NAT forgot it, and the client neither stops nor repeats", func(t *testing.T, p *subject) {
			serve(t, p, "blackhole", lab.Options{})
			p.probe, p.client = held("500ms"), declaredApache("none", "inside", "java.net.SocketException")
		}, []wanted{{
			reason: "blackhole", verdict: "fail", diagnosis: "silent_drop", ends: "unknown", closedBy: "-",
			ruled:    "out in out in out in",
			evidence: map[string]string{"stale_pool": `([5-9]\d\d ms|[12](\.\d+)? s).* for any time`, "retry_gap": "SocketTimeoutException"},
		}}},
		{"every request is lost", losesRequests, []wanted{{
			reason: "blackhole", verdict: "fail", diagnosis: "service_down", ends: "unknown", closedBy: "-",
			ruled:    "in in out out out open",
			evidence: map[string]string{"path_blocks": `nothing acknowledged the \d+ bytes sent, for [12]`},
		}}},
		{"no connection, and another target answers", func(t *testing.T, p *subject) {
			other := &subject{}
			serve(t, other, "healthy", lab.Options{})
			p.more = "  - {name: other, url: " + other.url + ", rate_limit: 50/s, share: 100%, probes: [{name: probe, kind: http, path: /}]}\n"
			serve(t, p, "connect_timeout", lab.Options{})
			p.probe = fresh
		}, []wanted{{
			reason: "connect_timeout", verdict: "fail", diagnosis: "unreachable", ends: "unknown", closedBy: "-",
			ruled:    "in in out out out open",
			evidence: map[string]string{"path_blocks": `within [12](\.\d+)? s, while other answered`},
		}}},
		{"no connection, and nobody to compare with", func(t *testing.T, p *subject) {
			serve(t, p, "connect_timeout", lab.Options{})
			p.probe = fresh
		}, []wanted{{
			reason: "connect_timeout", verdict: "fail", diagnosis: "unreachable", ends: "unknown", closedBy: "-",
			ruled: "in open out out out open",
		}}},
	}
}

// losesRequests is a server whose kernel takes connections and loses every
// segment of a request, which PSH marks: sockets have their listener's filter.
func losesRequests(t *testing.T, p *subject) {
	lc := net.ListenConfig{Control: func(_, _ string, raw syscall.RawConn) (err error) {
		program := []unix.SockFilter{
			{Code: unix.BPF_LD | unix.BPF_B | unix.BPF_ABS, K: 13}, // the flags
			{Code: unix.BPF_JMP | unix.BPF_JSET | unix.BPF_K, K: 0x08, Jf: 1},
			{Code: unix.BPF_RET | unix.BPF_K, K: 0},
			{Code: unix.BPF_RET | unix.BPF_K, K: 0xffffffff},
		}
		filter := unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]}
		if failed := raw.Control(func(fd uintptr) {
			err = unix.SetsockoptSockFprog(int(fd), unix.SOL_SOCKET, unix.SO_ATTACH_FILTER, &filter)
		}); failed != nil {
			return failed
		}
		return err
	}}
	ln, err := lc.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: http.NotFoundHandler()}
	go func() { _ = server.Serve(ln) }()
	t.Cleanup(func() { _ = server.Close() })
	p.url, p.probe = "http://"+ln.Addr().String(), fresh
}

func limitScenarios() []scenario {
	limited := wanted{
		reason: "rate_limited", verdict: "fail", diagnosis: "rate_limited", closedBy: "-",
		ruled:    "out out out out in open",
		evidence: map[string]string{"rate_limit": `answered 429 and asked to wait 1 s; perch sent \d+ requests?`, "path_blocks": "429"},
	}
	return []scenario{
		{"429", func(t *testing.T, p *subject) {
			serve(t, p, "rate_limited", lab.Options{})
			p.probe = fresh
		}, []wanted{limited}},
		{"429 to every probe", func(t *testing.T, p *subject) {
			serve(t, p, "rate_limited", lab.Options{})
			p.probe, p.probes = fresh, 3
		}, []wanted{{}, {}, {}}}, // all but one are left out, as Retry-After asks
		{"429, and a retry list without it", func(t *testing.T, p *subject) {
			serve(t, p, "rate_limited", lab.Options{})
			p.probe, p.client = fresh, declaredApache("none", "inside", "java.io.IOException")
		}, []wanted{{
			reason: "rate_limited", verdict: "fail", diagnosis: "rate_limited", ruled: "out out out out in in",
			evidence: map[string]string{"retry_gap": "429"},
		}}},
		{"503 and asked to wait", func(t *testing.T, p *subject) {
			serve(t, p, "unavailable_retry_after", lab.Options{})
			p.probe = fresh
		}, []wanted{{
			reason: "unavailable", verdict: "fail", diagnosis: "service_down", ruled: "in out out out in open",
			evidence: map[string]string{"rate_limit": "answered 503 and asked to wait 1 s"},
		}}},
	}
}

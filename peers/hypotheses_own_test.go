//go:build peers

package peers

import (
	"crypto/tls"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"strconv"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"perch.example/lab"
)

// TestHypothesesOfPerchsOwnPod: a perch that was kept from the CPU, or that ran
// out of something, never blames the API. A failure that its delay does not
// explain stays the API's.
func TestHypothesesOfPerchsOwnPod(t *testing.T) {
	t.Parallel()
	playAll(t, stoppedScenarios())
	playAll(t, exhaustedScenarios())
}

// once returns an OnRequest that does something at the first request, before
// it is answered.
func once(do func()) func(lab.Request) {
	var first sync.Once
	return func(lab.Request) { first.Do(do) }
}

// stopped is a perch that stands still from the first request on: the answer
// leaves after `answer`, and perch goes on after `still`.
func stopped(t *testing.T, p *subject, answer, still time.Duration) func(lab.Request) {
	return once(func() {
		p.stop(t)
		time.AfterFunc(still, func() { p.goOn(t) })
		time.Sleep(answer)
	})
}

func stoppedScenarios() []scenario {
	own := wanted{
		verdict: "incomplete", diagnosis: "own_pod", ends: "unknown",
		evidence: map[string]string{"own_pod": `delayed by \d+(\.\d+)? m?s`},
	}
	slow, shaking, closed := own, own, own
	slow.reason, slow.ruled = "slow", "out out in out out open"
	shaking.reason, shaking.ends, shaking.ruled = "tls", "", "open open in out out open"
	closed.reason, closed.closedBy, closed.ruled = "idle_fin", "peer", "out out in open out open"
	return []scenario{
		{"stopped while the answer comes", func(t *testing.T, p *subject) {
			serve(t, p, "healthy", lab.Options{OnRequest: stopped(t, p, 0, time.Second)})
			p.probe = fresh + `, expect: ['latency < duration("300ms")']`
		}, []wanted{slow}},
		// An answer that lies in the kernel is one, however late perch looks.
		{"stopped until its timeout has passed", func(t *testing.T, p *subject) {
			serve(t, p, "healthy", lab.Options{OnRequest: stopped(t, p, 100*time.Millisecond, 1500*time.Millisecond)})
			p.probe = fresh
		}, []wanted{{reason: "ok", verdict: "pass"}}},
		{"stopped until the handshake's timeout has passed", stoppedInHandshake, []wanted{shaking}},
		{"stopped while the server closes what it holds", func(t *testing.T, p *subject) {
			// The reuse is due at 2 s and comes once the server has closed, at 3 s.
			var server *lab.Server
			serving := make(chan struct{})
			server = serve(t, p, "incident", lab.Options{IdleTimeout: 3 * time.Second, OnRequest: once(func() {
				time.AfterFunc(700*time.Millisecond, func() {
					p.stop(t)
					<-serving
					awaitClose(server)
					p.goOn(t)
				})
			})})
			close(serving)
			p.probe = held("2s")
		}, []wanted{closed}},
		// A refusal is one, however late perch reads it.
		{"stopped while a 503 comes", func(t *testing.T, p *subject) {
			serve(t, p, "unavailable", lab.Options{OnRequest: stopped(t, p, 0, time.Second)})
			p.probe = fresh
		}, []wanted{{
			reason: "unavailable", verdict: "fail", diagnosis: "service_down", closedBy: "-", ruled: "in out out out out open",
			evidence: map[string]string{"own_pod": `stood still|delayed`},
		}}},
		{"stopped while the API goes down", stoppedWhileItDies, []wanted{{
			reason: "refused", verdict: "fail", diagnosis: "unreachable", closedBy: "peer", ruled: "in open out out out open",
		}}},
		{"stopped for less than the failure took", func(t *testing.T, p *subject) {
			p.patience = "3s"
			serve(t, p, "no_response", lab.Options{OnRequest: once(func() {
				p.stop(t)
				time.AfterFunc(200*time.Millisecond, func() { p.goOn(t) })
			})})
			p.probe = fresh
		}, []wanted{{
			reason: "no_response", verdict: "fail", diagnosis: "service_down", closedBy: "-", ruled: "in out out out out open",
		}}},
	}
}

// awaitClose waits until the server has closed a connection, for half a minute at most,
// and for its FIN to be there.
func awaitClose(server *lab.Server) {
	for end := time.Now().Add(30 * time.Second); len(server.Closes()) == 0 && time.Now().Before(end); {
		time.Sleep(10 * time.Millisecond)
	}
	time.Sleep(200 * time.Millisecond)
}

// stoppedWhileItDies stops a perch that holds a connection until after its reuse
// was due. Meanwhile the API ends for good: no delay of perch's does that.
func stoppedWhileItDies(t *testing.T, p *subject) {
	var server *lab.Server
	ready := make(chan struct{})
	server = serve(t, p, "healthy", lab.Options{OnRequest: once(func() {
		<-ready
		time.AfterFunc(500*time.Millisecond, func() {
			p.stop(t)
			_ = server.Close()
			time.AfterFunc(2500*time.Millisecond, func() { p.goOn(t) })
		})
	})})
	close(ready)
	p.probe = held("2s")
}

// stoppedInHandshake answers each ClientHello at once, to a perch that stands
// still. In TLS 1.2 the server speaks last: what has come meanwhile is not all.
func stoppedInHandshake(t *testing.T, p *subject) {
	cert := newCertificate(t, t.TempDir(), "127.0.0.1")
	over := secured(t, cert, true)
	over.MaxVersion = tls.VersionTLS12
	over.GetConfigForClient = func(*tls.ClientHelloInfo) (*tls.Config, error) {
		p.stop(t)
		time.AfterFunc(1500*time.Millisecond, func() { p.goOn(t) })
		return nil, nil
	}
	server := &http.Server{Handler: http.NotFoundHandler(), TLSConfig: over, ErrorLog: log.New(io.Discard, "", 0)}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = server.ServeTLS(lastWordLate{ln}, "", "") }()
	t.Cleanup(func() { _ = server.Close() })
	p.url, p.ca, p.probe = "https://"+ln.Addr().String(), cert.caFile, fresh
}

// lastWordLate is a listener whose connections wait before all but their first flight: a
// perch that goes on finds the first one there, and could else have the whole handshake
// done before any of its threads comes to look at the clock.
type lastWordLate struct{ net.Listener }

func (l lastWordLate) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	return &lateAfterFirst{Conn: c}, err
}

type lateAfterFirst struct {
	net.Conn
	spoke bool
}

func (c *lateAfterFirst) Write(b []byte) (int, error) {
	if c.spoke {
		time.Sleep(300 * time.Millisecond)
	}
	c.spoke = true
	return c.Conn.Write(b)
}

func exhaustedScenarios() []scenario {
	own := wanted{reason: "connect_failed", verdict: "incomplete", diagnosis: "own_pod", ends: "unknown", closedBy: "-", ruled: "open open in out out open"}
	files, ports := own, own
	files.evidence = map[string]string{"own_pod": "file descriptors"}
	ports.evidence = map[string]string{"own_pod": "local ports"}
	return []scenario{
		{"no file descriptor is left", func(t *testing.T, p *subject) {
			// While the longer rung is held, perch may open no more than it has open.
			serve(t, p, "healthy", lab.Options{OnRequest: once(func() { go leaveNoDescriptor(t, p.pid(), 800*time.Millisecond) })})
			p.probe = "kind: idle, keep_alive: 5s, holds: [1s, 1200ms]" // half a second apart
		}, []wanted{files, {verdict: "pass"}}},
		{"no local port is left", usesUpPorts, []wanted{ports}},
	}
}

// leaveNoDescriptor limits the process to the descriptors that it has open, for
// as long as it takes. The limit is on their numbers: it is the lowest that was
// ever free, for some are open for a moment only.
func leaveNoDescriptor(t *testing.T, pid int, takes time.Duration) {
	limit := uint64(1 << 20)
	for end := time.Now().Add(takes); time.Now().Before(end) && t.Context().Err() == nil; time.Sleep(2 * time.Millisecond) {
		open, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
		if err != nil {
			t.Errorf("reading perch's descriptors: %v", err)
			return
		}
		used := map[string]bool{}
		for _, d := range open {
			used[d.Name()] = true
		}
		for n := range limit {
			if !used[strconv.FormatUint(n, 10)] {
				limit = n
				break
			}
		}
		if err := unix.Prlimit(pid, unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: limit, Max: limit}, nil); err != nil {
			t.Errorf("limiting perch's descriptors: %v", err)
			return
		}
	}
}

// usesUpPorts runs perch in a namespace that has four local ports, all of them
// in use for connections to the same server.
func usesUpPorts(t *testing.T, p *subject) {
	p.within = newNamespace(t, clientIP)
	var server *lab.Server
	if err := p.within.inside(func() (err error) {
		if server, err = lab.Start(t.Context(), "healthy", lab.Options{}); err != nil {
			return err
		}
		// Not before: a listener's port is one of the range too.
		return os.WriteFile("/proc/sys/net/ipv4/ip_local_port_range", []byte("50000 50003"), 0o644)
	}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Close() })
	for range 4 {
		if err := p.within.inside(func() error {
			conn, err := net.Dial("tcp", server.Host())
			if err == nil {
				t.Cleanup(func() { _ = conn.Close() })
			}
			return err
		}); err != nil {
			t.Fatalf("using up the local ports: %v", err)
		}
	}
	p.url, p.probe = server.URL(), fresh
}

// TestHypothesesUnderACPUQuota: perch shares a container's CPU limit with a
// greedy neighbour. Where no cpu controller can be written (a container without
// rights to its cgroup), the stopped perch of the other test has to do.
func TestHypothesesUnderACPUQuota(t *testing.T) {
	group, err := newCPUGroup(t)
	if err != nil {
		t.Logf("only SIGSTOP starves perch here, in TestHypothesesOfPerchsOwnPod: %v", err)
		return
	}
	t.Logf("the quota is that of %s", group.dir)
	scenario{"", func(t *testing.T, p *subject) {
		p.before = group.joining()
		serve(t, p, "healthy", lab.Options{OnRequest: once(func() {
			group.starve(t) // and the answer leaves, into a time in which perch stands still
			time.AfterFunc(period, func() { group.relieve(t) })
		})})
		p.probe = fresh + `, expect: ['latency < duration("300ms")']`
		if _, err := buildPerch(); err != nil { // not in the time that await gives
			t.Fatal(err)
		}
		group.await(t)
	}, []wanted{{
		reason: "slow", verdict: "incomplete", diagnosis: "own_pod", closedBy: "-", ruled: "out out in out out open",
		evidence: map[string]string{"own_pod": `throttled.* \d+(\.\d+)? m?s|\d m?s.*throttled`},
	}}}.play(t)
}

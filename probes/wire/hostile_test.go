package wire_test

import (
	"compress/gzip"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"perch.example/probes"
	"perch.example/probes/wire"
)

// flood writes until the client has closed.
func flood(p *peer, s string) {
	for {
		if _, err := io.WriteString(p.Conn, s); err != nil {
			return
		}
	}
}

// bomb writes 256 MiB of nothing, compressed.
func bomb(p *peer) {
	p.say("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nConnection: close\r\n\r\n")
	w := gzip.NewWriter(p.Conn)
	block := make([]byte, 1<<20)
	for range 256 {
		if _, err := w.Write(block); err != nil {
			return
		}
	}
	_ = w.Close()
}

func drip(p *peer, s string) {
	for i := 0; ; i++ {
		if _, err := io.WriteString(p.Conn, s[i%len(s):i%len(s)+1]); err != nil {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// Hostile answers end in their reason, within the timeout, and cost little
// memory whatever they promise.
func TestHostile(t *testing.T) {
	tests := []struct {
		name   string
		want   probes.Reason
		answer func(*peer)
	}{
		{"endless head", probes.ReasonBadResponse, func(p *peer) { p.say("HTTP/1.1 200 OK\r\n"); flood(p, "A: b\r\n") }},
		{"endless line", probes.ReasonBadResponse, func(p *peer) { p.say("HTTP/1.1 200 "); flood(p, strings.Repeat("x", 4096)) }},
		{"endless informational", probes.ReasonBadResponse, func(p *peer) { flood(p, "HTTP/1.1 103 Early Hints\r\n\r\n") }},
		{"endless body", probes.ReasonTooLarge, func(p *peer) { p.say("HTTP/1.1 200 OK\r\n\r\n"); flood(p, strings.Repeat("x", 4096)) }},
		{"endless chunks", probes.ReasonTooLarge, func(p *peer) {
			p.say("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
			flood(p, "1000\r\n"+strings.Repeat("x", 4096)+"\r\n")
		}},
		{"endless trailers", probes.ReasonBadResponse, func(p *peer) {
			p.say("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: A\r\n\r\n0\r\n")
			flood(p, "A: b\r\n")
		}},
		{"trailers that FIN cuts", probes.ReasonPartialBody, func(p *peer) {
			p.say("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\nA: b")
			p.bye()
		}},
		{"trailers that stall", probes.ReasonPartialBody, func(p *peer) {
			p.say("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\nA: b\r\n")
			p.linger()
		}},
		{"status 000", probes.ReasonBadResponse, func(p *peer) { p.say("HTTP/1.1 000 Zero\r\nContent-Length: 0\r\n\r\n"); p.linger() }},
		{"status +20", probes.ReasonBadResponse, func(p *peer) { p.say("HTTP/1.1 +20 Plus\r\nContent-Length: 0\r\n\r\n"); p.linger() }},
		{"huge length", probes.ReasonTooLarge, func(p *peer) {
			p.say(fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n", int64(1)<<60))
			flood(p, strings.Repeat("x", 4096))
		}},
		{"gzip bomb", probes.ReasonTooLarge, bomb},
		{"gzip of nothing like it", probes.ReasonBadResponse, func(p *peer) {
			p.say("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 20\r\n\r\nthis is not zipped!!")
			p.linger()
		}},
		{"slow drip of a head", probes.ReasonPartialHead, func(p *peer) { p.say("HTTP/1.1 200 OK\r\n"); drip(p, "Drip: drip\r\n") }},
		{"slow drip of a body", probes.ReasonPartialBody, func(p *peer) { p.say("HTTP/1.1 200 OK\r\nContent-Length: 99999\r\n\r\n"); drip(p, "drip") }},
		{"conflicting lengths", probes.ReasonBadResponse, func(p *peer) {
			p.say("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n")
			flood(p, "0\r\n\r\n")
		}},
		{"ssh banner", probes.ReasonBadResponse, func(p *peer) { p.say("SSH-2.0-OpenSSH_9.2\r\n"); p.linger() }},
		{"noise", probes.ReasonBadResponse, func(p *peer) { flood(p, "\x15\x03\x01\x00\x02\x02\x50") }},
	}
	for _, f := range flavors(t) {
		for _, tt := range tests {
			t.Run(f.name+"/"+tt.name, func(t *testing.T) {
				s := serve(t, f.server, func(p *peer) { p.request(); tt.answer(p) })
				timeout := 10 * time.Second
				slow := strings.Contains(tt.name, "drip") || strings.Contains(tt.name, "stall")
				if slow {
					timeout = 200 * time.Millisecond // which is what ends it
				}
				r := ask(t, timeout)
				r.HTTP.Header.Set("Accept-Encoding", "gzip")
				unlessLate(t, func() bool {
					c, p := s.open(f.client)
					e := bounded(t, c, r)
					late := slow && p.late(e, timeout)
					if !late {
						mustBe(t, e, tt.want)
					}
					return late
				})
			})
		}
	}
}

// growth returns by how much the process's memory grew while f ran: what Go
// holds from the system, of which the server's end here is a part.
func growth(t *testing.T, f func()) uint64 {
	t.Helper()
	debug.FreeOSMemory()
	before := held()
	var most atomic.Uint64
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			most.Store(max(most.Load(), held()))
			select {
			case <-stop:
				return
			case <-time.After(time.Millisecond):
			}
		}
	}()
	f()
	close(stop)
	<-stopped
	return max(most.Load(), before) - before
}

func held() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.Sys - m.HeapReleased
}

// A certificate may name a hundred hosts, each as long as it likes: the error that lists
// them stays short.
func TestNamesOfCertificateInError(t *testing.T) {
	a := authority(t)
	server := a.leaf(t, func(c *x509.Certificate) {
		for i := range 90 {
			c.DNSNames = append(c.DNSNames, fmt.Sprint(strings.Repeat("x", 60), i, ".", strings.Repeat("y", 60), ".example"))
		}
	})
	s := serve(t, server, (*peer).linger)
	_, e := wire.Open(t.Context(), s.options(&tls.Config{RootCAs: a.pool, ServerName: "api.example", MinVersion: tls.VersionTLS12}))
	mustBe(t, e, probes.ReasonCertificate)
	if len(e.Error) > 1100 || !strings.Contains(e.Error, "certificate is valid for") {
		t.Errorf("%d bytes: %.200s", len(e.Error), e.Error)
	}
}

// bounded makes an exchange, the connection's last, that ends with its timeout and costs
// little memory, whatever comes.
func bounded(t *testing.T, c *wire.Conn, r wire.Request) (e wire.Evidence) {
	t.Helper()
	grown := growth(t, func() { _, e = c.Exchange(t.Context(), r) })
	if e.Elapsed > r.Timeout+promptly {
		t.Errorf("took %v", e.Elapsed)
	}
	_ = c.Close()
	if grown > 32<<20 {
		t.Errorf("memory grew by %d MiB, want less than 32", grown>>20)
	}
	return e
}

package wire_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"perch.example/probes"
	"perch.example/probes/wire"
)

func zipped(s string) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = w.Write([]byte(s)) // a buffer does not fail
	_ = w.Close()
	return b.String()
}

func TestAnswers(t *testing.T) {
	const zip = "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n"
	chunk := func(s string) string { return strings.ToUpper(hex(len(s))) + "\r\n" + s + "\r\n0\r\n\r\n" }
	tests := []struct {
		name, method, encoding, answer string
		status                         int
		body                           string
		closes                         bool
		then                           func(*peer)
	}{
		{name: "informational first", answer: "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" + whole, status: 200, body: "hi"},
		{name: "chunks and trailers", answer: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: A\r\n\r\n2\r\nhi\r\n0\r\nA: b\r\n\r\n", status: 200, body: "hi"},
		{name: "head", method: http.MethodHead, answer: "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n", status: 200},
		{name: "head of what is compressed", method: http.MethodHead, encoding: "gzip", answer: "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 9\r\n\r\n", status: 200},
		{name: "no content", answer: "HTTP/1.1 204 No Content\r\n\r\n", status: 204},
		{name: "not modified", answer: "HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n", status: 304},
		{name: "empty", answer: "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", status: 200},
		{name: "the same length twice", answer: "HTTP/1.1 200 OK\r\nContent-Length: 2\r\ncontent-length: 2\r\n\r\nhi", status: 200, body: "hi"},
		{name: "compressed", encoding: "gzip", answer: zip + chunk(zipped("hello")), status: 200, body: "hello"},
		{name: "compressed and nothing", encoding: "gzip", answer: "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 0\r\n\r\n", status: 200},
		{name: "compressed unasked", answer: zip + chunk(zipped("hello")), status: 200, body: zipped("hello")},
		{name: "asked to close", answer: "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nhi", status: 200, body: "hi", closes: true},
		{name: "1.0", answer: "HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nhi", status: 200, body: "hi", closes: true},
		{name: "until the close", answer: "HTTP/1.1 200 OK\r\n\r\nhi", status: 200, body: "hi", closes: true, then: (*peer).bye},
	}
	for _, f := range flavors(t) {
		for _, tt := range tests {
			t.Run(f.name+"/"+tt.name, func(t *testing.T) {
				t.Parallel()
				s := serve(t, f.server, func(p *peer) {
					p.request()
					p.say(tt.answer)
					if tt.then != nil {
						tt.then(p)
					}
					p.warm()
					p.linger()
				})
				c, _ := s.open(f.client)
				r := ask(t, 5*time.Second)
				r.HTTP.Method = http.MethodGet
				if tt.method != "" {
					r.HTTP.Method = tt.method
				}
				if tt.encoding != "" {
					r.HTTP.Header.Set("Accept-Encoding", tt.encoding)
				}
				got, e := c.Exchange(t.Context(), r)
				mustBe(t, e, probes.ReasonOK)
				if got.Status != tt.status || string(got.Body) != tt.body || got.Close != tt.closes || (got.TLS != nil) != e.TLS {
					t.Errorf("got %d %q close %v tls %v, want %d %q close %v", got.Status, got.Body, got.Close, got.TLS != nil, tt.status, tt.body, tt.closes)
				}
				if !tt.closes {
					warmed(t, c) // the body was read to its end
				}
			})
		}
	}
}

func hex(n int) string {
	const digits = "0123456789abcdef"
	if n < 16 {
		return digits[n : n+1]
	}
	return hex(n/16) + digits[n%16:n%16+1]
}

// What follows an answer is left over: the next exchange knows.
func TestLeftOvers(t *testing.T) {
	for _, f := range flavors(t) {
		t.Run(f.name, func(t *testing.T) {
			s := serve(t, f.server, func(p *peer) {
				p.request()
				p.say(whole + "HTTP/1.1 408 Request Timeout\r\n\r\n")
				p.request()
				p.say(whole)
				p.linger()
			})
			c, _ := s.open(f.client)
			r, e := c.Exchange(t.Context(), ask(t, 5*time.Second))
			mustBe(t, e, probes.ReasonOK)
			if r.Status != 200 || e.LeftAfter == 0 {
				t.Errorf("status %d, %d bytes left over; want 200 and some", r.Status, e.LeftAfter)
			}
			// The answer that follows is our own: it is the 408 that nobody had asked for.
			_, e = c.Exchange(t.Context(), ask(t, 5*time.Second))
			mustBe(t, e, probes.ReasonIdleBytes)
			if e.PushedStatus != 408 {
				t.Errorf("status %d is told as unasked, want 408", e.PushedStatus)
			}
		})
	}
}

// A request larger than the socket's buffers needs many writes, and more than
// one TLS record.
func TestLargeRequest(t *testing.T) {
	for _, f := range flavors(t) {
		t.Run(f.name, func(t *testing.T) {
			const size = 8 << 20
			s := serve(t, f.server, func(p *peer) {
				p.pause()
				r, err := http.ReadRequest(p.br)
				if err != nil || len(r.Header.Get("Large")) != size {
					t.Errorf("request: %v", err)
				}
				p.say(whole)
				p.linger()
			})
			c, _ := s.open(f.client)
			r := ask(t, 20*time.Second)
			r.HTTP.Header.Set("Large", strings.Repeat("x", size))
			got, e := c.Exchange(t.Context(), r)
			mustBe(t, e, probes.ReasonOK)
			if got.Status != 200 || e.RequestBytes != e.RequestSize || e.RequestSize < size {
				t.Errorf("status %d, %d of %d bytes written", got.Status, e.RequestBytes, e.RequestSize)
			}
			if e.Kernel && *e.RequestBytesAcked != e.RequestSize {
				t.Errorf("%d of %d bytes acknowledged", *e.RequestBytesAcked, e.RequestSize)
			}
		})
	}
}

// What each phase takes to the instant is in TestPhases, without a machine's delays.
func TestPhasesAndCounts(t *testing.T) {
	s := serve(t, nil, func(p *peer) {
		p.request()
		time.Sleep(30 * time.Millisecond)
		p.say(whole[:20])
		time.Sleep(30 * time.Millisecond)
		p.say(whole[20:])
		p.linger()
	})
	c, _ := s.open(nil)
	var passed time.Time
	r := ask(t, 5*time.Second)
	r.Gate = func(context.Context) error { time.Sleep(30 * time.Millisecond); passed = time.Now(); return nil }
	_, e := c.Exchange(t.Context(), r)
	took := time.Since(passed)
	mustBe(t, e, probes.ReasonOK)
	if e.Phases.Wait < 30*time.Millisecond || e.Phases.Transfer < 0 || e.Elapsed < 60*time.Millisecond || e.Elapsed != e.Phases.Wait+e.Phases.Transfer {
		t.Errorf("phases %+v of %v", e.Phases, e.Elapsed)
	}
	if passed.IsZero() || e.Started.Before(passed) || e.Elapsed > took {
		t.Errorf("the gate's wait is in the measurement: %v of %v behind it", e.Elapsed, took)
	}
	if e.Phases.Connect <= 0 || e.ResponseBytes != int64(len(whole)) || e.Age < 30*time.Millisecond {
		t.Errorf("evidence: %+v", e)
	}
}

func TestGateRefuses(t *testing.T) {
	s := serve(t, nil, (*peer).linger)
	c, _ := s.open(nil)
	r := ask(t, 5*time.Second)
	r.Gate = func(context.Context) error { return errors.New("no budget") }
	_, e := c.Exchange(t.Context(), r)
	mustBe(t, e, probes.ReasonSkipped)
	if !e.Started.IsZero() || e.RequestBytes != 0 {
		t.Errorf("something left: %+v", e)
	}
}

func TestZeroRequestHasLimits(t *testing.T) {
	s := serve(t, nil, func(p *peer) {
		p.request()
		p.say("HTTP/1.1 200 OK\r\n\r\n")
		for {
			if _, err := p.Write(make([]byte, 1<<16)); err != nil {
				return
			}
		}
	})
	c, _ := s.open(nil)
	_, e := c.Exchange(t.Context(), wire.Request{HTTP: get(t)})
	mustBe(t, e, probes.ReasonTooLarge)
}

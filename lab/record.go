package lab

import (
	"net/http"
	"net/netip"
	"slices"
	"sync"
	"time"
)

// maxRecorded bounds the memory of a lab that runs for long: later requests are
// answered and counted no more.
const maxRecorded = 200_000

// Request is one request that the server received.
type Request struct {
	At         time.Time // when its first byte was there to be read
	Method     string
	URI        string // as it stood in the request line
	Header     http.Header
	Connection int // 1 for the server's first connection
	Number     int // 1 for the connection's first request
	Remote     netip.AddrPort
}

// Close is an end that the server put to a connection on purpose.
type Close struct {
	At         time.Time // just before the segment left
	Connection int
	Remote     netip.AddrPort
	Idle       time.Duration // since the last byte the server wrote, or since the connection was accepted
}

type record struct {
	mu       sync.Mutex
	requests []Request
	closes   []Close
}

func (r *record) request(q Request) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.requests) < maxRecorded {
		r.requests = append(r.requests, q)
	}
}

func (r *record) close(c Close) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.closes) < maxRecorded {
		r.closes = append(r.closes, c)
	}
}

// Requests returns what was received so far, in the order of arrival.
func (s *Server) Requests() []Request {
	s.record.mu.Lock()
	defer s.record.mu.Unlock()
	return slices.Clone(s.record.requests)
}

// Closes returns the ends that the server put to connections so far.
func (s *Server) Closes() []Close {
	s.record.mu.Lock()
	defer s.record.mu.Unlock()
	return slices.Clone(s.record.closes)
}

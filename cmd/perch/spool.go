package main

import (
	"io"
	"slices"
	"sync"
	"time"
)

// mostSpooled is how many bytes wait at most for somebody who does not read.
const mostSpooled = 8 << 20

// spool hands on what is written to it, and whoever writes never waits for the reader:
// beyond mostSpooled a write is dropped as a whole. Safe for concurrent use.
type spool struct {
	to io.Writer

	mu      sync.Mutex
	waiting [][]byte
	size    int           // of what waits, and of what is being handed on
	idle    chan struct{} // closed when nothing waits; nil: nothing does
	lost    int           // writes that were dropped, and not told of
	err     error         // of a write, likewise
}

// Write never fails: what went wrong is in trouble.
func (s *spool) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.size > 0 && s.size+len(p) > mostSpooled {
		s.lost++
		return len(p), nil
	}
	s.waiting, s.size = append(s.waiting, slices.Clone(p)), s.size+len(p)
	if s.idle == nil {
		s.idle = make(chan struct{})
		go s.hand()
	}
	return len(p), nil
}

// hand hands on until nothing waits.
func (s *spool) hand() {
	for {
		s.mu.Lock()
		if len(s.waiting) == 0 {
			close(s.idle)
			s.idle = nil
			s.mu.Unlock()
			return
		}
		next := s.waiting[0]
		s.waiting = s.waiting[1:]
		s.mu.Unlock()
		_, err := s.to.Write(next)
		s.mu.Lock()
		s.size -= len(next)
		if err != nil {
			s.err = err
		}
		s.mu.Unlock()
	}
}

// flush waits until all is handed on, for so long at most.
func (s *spool) flush(within time.Duration) {
	s.mu.Lock()
	idle := s.idle
	s.mu.Unlock()
	if idle != nil {
		waitFor(idle, within)
	}
}

// trouble is what went wrong since it was asked last: how many writes were dropped, and
// the error of another one.
func (s *spool) trouble() (lost int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	lost, err = s.lost, s.err
	s.lost, s.err = 0, nil
	return lost, err
}

// waitFor waits for it to be closed, for so long at most, and reports whether it was.
func waitFor(it <-chan struct{}, most time.Duration) bool {
	t := time.NewTimer(most)
	defer t.Stop()
	select {
	case <-it:
		return true
	case <-t.C:
		return false
	}
}

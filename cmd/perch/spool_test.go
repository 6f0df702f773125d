package main

import (
	"bytes"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// unread is a stdout that takes nothing before it is read.
type unread struct {
	read chan struct{} // closed: it is
	mu   sync.Mutex
	text bytes.Buffer
}

func (u *unread) Write(p []byte) (int, error) {
	<-u.read
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.text.Write(p)
}

func (u *unread) String() string {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.text.String()
}

// What nobody reads is dropped as a whole, and counted; who writes never waits; what was
// not dropped comes in order.
func TestSpool(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out := &unread{read: make(chan struct{})}
		s := &spool{to: out}
		long := strings.Repeat("x", mostSpooled)
		for _, text := range []string{"a", "b", long, "c"} {
			if n, err := s.Write([]byte(text)); n != len(text) || err != nil {
				t.Errorf("%d, %v", n, err)
			}
		}
		began := time.Now()
		if s.flush(time.Second); time.Since(began) != time.Second {
			t.Errorf("flushing took %s", time.Since(began))
		}
		close(out.read)
		s.flush(time.Second)
		if out.String() != "abc" {
			t.Errorf("%.20q was handed on", out.String())
		}
		if lost, err := s.trouble(); lost != 1 || err != nil {
			t.Errorf("%d lost, %v", lost, err)
		}
		if lost, _ := s.trouble(); lost != 0 {
			t.Error("it is told twice")
		}
		if _, err := s.Write([]byte(long + long)); err != nil {
			t.Error(err)
		}
		s.flush(time.Second)
		if lost, _ := s.trouble(); lost != 0 || len(out.String()) != 3+2*len(long) {
			t.Error("a long one is dropped though nothing waits")
		}
	})
}

func TestSpoolSaysWhatFails(t *testing.T) {
	s := &spool{to: full{}}
	for range 2 {
		if _, err := s.Write([]byte("a")); err != nil {
			t.Error(err)
		}
		s.flush(time.Minute)
		if _, err := s.trouble(); err == nil || errors.Is(err, errBroken) {
			t.Error(err)
		}
	}
}

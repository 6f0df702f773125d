//go:build peers && linux

package wire_test

import (
	"context"
	"net"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"perch.example/probes"
	"perch.example/probes/wire"
)

// These need root: a socket filter loses segments where a path would.

// filter puts a classic BPF program on the server's socket. On TCP it sees the
// segment from its header on, and returns how much of it stays.
func (p *peer) filter(t testing.TB, program []unix.SockFilter) {
	p.control(t, func(fd int) error {
		return unix.SetsockoptSockFprog(fd, unix.SOL_SOCKET, unix.SO_ATTACH_FILTER,
			&unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]})
	})
}

func (p *peer) control(t testing.TB, f func(fd int) error) {
	raw, err := p.raw.SyscallConn()
	if err == nil {
		if e := raw.Control(func(fd uintptr) { err = f(int(fd)) }); e != nil {
			err = e
		}
	}
	if err != nil {
		t.Errorf("controlling the server's socket (needs root): %v", err)
	}
}

// loseAll is a path that forgot the connection.
func (p *peer) loseAll(t testing.TB) {
	p.filter(t, []unix.SockFilter{{Code: unix.BPF_RET | unix.BPF_K}})
}

// loseData loses what is longer than any TCP header without data.
func (p *peer) loseData(t testing.TB) {
	p.filter(t, []unix.SockFilter{
		{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_LEN},
		{Code: unix.BPF_JMP | unix.BPF_JGT | unix.BPF_K, K: 60, Jt: 1},
		{Code: unix.BPF_RET | unix.BPF_K, K: 0xffffffff},
		{Code: unix.BPF_RET | unix.BPF_K, K: 0},
	})
}

// lost returns how many segments the filter has lost.
func (p *peer) lost(t testing.TB) uint32 {
	var memory [unix.SK_MEMINFO_VARS]uint32
	p.control(t, func(fd int) error {
		size := uint32(unsafe.Sizeof(memory))
		_, _, errno := unix.Syscall6(unix.SYS_GETSOCKOPT, uintptr(fd), unix.SOL_SOCKET, unix.SO_MEMINFO,
			uintptr(unsafe.Pointer(&memory)), uintptr(unsafe.Pointer(&size)), 0)
		if errno != 0 {
			return errno
		}
		return nil
	})
	return memory[unix.SK_MEMINFO_DROPS]
}

// losesRequest loses what comes from now on, and returns when that was
// something.
func (p *peer) losesRequest(t testing.TB) {
	p.loseData(t)
	before := p.lost(t)
	p.did()
	for p.lost(t) == before && t.Context().Err() == nil {
		time.Sleep(time.Millisecond)
	}
}

func blackhole(t testing.TB, f flavor, timeout time.Duration) wire.Evidence {
	s := serve(t, f.server, func(p *peer) {
		p.warm()
		p.loseAll(t)
		p.did()
		p.linger()
	})
	c, p := s.open(f.client)
	warmed(t, c)
	<-p.acted
	_, e := c.Exchange(t.Context(), ask(t, timeout))
	mustBe(t, e, probes.ReasonBlackhole)
	return e
}

// Silence is told from a slow server even where the timeout is too short for
// it: looking goes on, the attempt does not grow.
func TestBlackhole(t *testing.T) {
	rounds(t, 200, func(t *testing.T, f flavor, i int) probes.Reason {
		timeout := []time.Duration{time.Second, 50 * time.Millisecond, 300 * time.Millisecond}[i%3]
		e := blackhole(t, f, timeout)
		if e.Elapsed < timeout || e.Elapsed > timeout+promptly {
			t.Errorf("elapsed %v, want the timeout %v", e.Elapsed, timeout)
		}
		if e.RequestBytesAcked == nil || *e.RequestBytesAcked != 0 {
			t.Errorf("acknowledged %v, want 0", e.RequestBytesAcked)
		}
		return probes.Classify(e)
	})
}

// A slow server acknowledges; a very short timeout does not make it a hole.
func TestSlowIsNoBlackhole(t *testing.T) {
	rounds(t, 200, func(t *testing.T, f flavor, i int) probes.Reason {
		s := serve(t, f.server, func(p *peer) { p.warm(); p.linger() })
		c, _ := s.open(f.client)
		warmed(t, c)
		_, e := c.Exchange(t.Context(), ask(t, time.Duration(1+i)*time.Millisecond))
		mustBe(t, e, probes.ReasonNoResponse)
		if e.RequestBytesAcked == nil || *e.RequestBytesAcked != e.RequestSize {
			t.Errorf("acknowledged %v of %d", e.RequestBytesAcked, e.RequestSize)
		}
		return probes.Classify(e)
	})
}

// TCP keep-alive that finds nobody is silence, not a reset.
func TestTCPKeepAliveGivesUp(t *testing.T) {
	s := serve(t, nil, func(p *peer) { p.warm(); p.loseAll(t); p.did(); p.linger() })
	o := s.options(nil)
	o.Dial = (&net.Dialer{KeepAliveConfig: net.KeepAliveConfig{
		Enable: true, Idle: time.Second, Interval: time.Second, Count: 1,
	}}).DialContext
	c, e := wire.Open(t.Context(), o)
	if c == nil {
		t.Fatal(e.Error)
	}
	defer func() { _ = c.Close() }()
	warmed(t, c)
	<-(<-s.peers).acted
	h := c.Hold(t.Context(), time.Now().Add(20*time.Second), true)
	if h.Close == nil {
		t.Fatalf("held: %+v, want an end", h)
	}
	_, e = c.Exchange(t.Context(), ask(t, time.Second))
	mustBe(t, e, probes.ReasonBlackhole)
	if e.IdleClose == nil || e.IdleClose.State != "silent" || e.IdleClose.Age < 1500*time.Millisecond {
		t.Errorf("idle close: %+v, want silence after 2s", e.IdleClose)
	}
}

// The FIN leaves when the request is on its way: the filter loses the request,
// and says so.
func TestCrossedClose(t *testing.T) {
	rounds(t, 200, func(t *testing.T, f flavor, i int) probes.Reason {
		bye := f.client != nil && i%2 == 1
		s := serve(t, f.server, func(p *peer) {
			p.warm()
			p.losesRequest(t)
			if bye {
				p.bye()
				return
			}
			_ = p.raw.CloseWrite()
			p.linger()
		})
		c, p := s.open(f.client)
		warmed(t, c)
		<-p.acted
		_, e := c.Exchange(context.Background(), ask(t, 10*time.Second))
		mustBe(t, e, probes.ReasonCrossedClose)
		return probes.Classify(e)
	})
}

// A 408 that was on its way when we wrote answers nothing of ours.
func TestCrossedBytes(t *testing.T) {
	rounds(t, 200, func(t *testing.T, f flavor, _ int) probes.Reason {
		s := serve(t, f.server, func(p *peer) {
			p.warm()
			p.losesRequest(t)
			p.say("HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
			p.bye()
		})
		c, p := s.open(f.client)
		warmed(t, c)
		<-p.acted
		r, e := c.Exchange(context.Background(), ask(t, 10*time.Second))
		mustBe(t, e, probes.ReasonIdleBytes)
		if r.Status != 0 || e.PushedStatus != 408 {
			t.Errorf("status %d, pushed %d; want none, and 408", r.Status, e.PushedStatus)
		}
		return probes.Classify(e)
	})
}

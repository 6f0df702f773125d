//go:build peers && linux

package wire_test

import (
	"context"
	"net/netip"
	"os"
	"os/exec"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"perch.example/probes"
)

// inFarNetwork names the environment in which this test binary finds itself in
// a network of its own.
const inFarNetwork = "WIRE_TEST_FAR_NETWORK"

// oneWay is how long a packet travels in the far network: a round trip is 50 ms.
const oneWay = 25 * time.Millisecond

// TestFar runs the tests of this file in a network namespace of their own
// (needs root), whose other side is 50 ms away and is this machine again.
func TestFar(t *testing.T) {
	if os.Getenv(inFarNetwork) == "" {
		args := []string{"-test.run=^TestFar$", "-test.v=" + map[bool]string{true: "true", false: "false"}[testing.Verbose()]}
		cmd := exec.CommandContext(t.Context(), os.Args[0], args...)
		cmd.Env = append(os.Environ(), inFarNetwork+"=1")
		cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET}
		out, err := cmd.CombinedOutput()
		t.Logf("%s", out)
		if err != nil {
			t.Fatalf("in a network namespace of its own (needs root): %v", err)
		}
		return
	}
	layNetwork(t)
	var crossed atomic.Int32
	t.Run("crossed", func(t *testing.T) {
		farRounds(t, 500, func(t *testing.T, f flavor, i int) { farCrossed(t, f, i, &crossed) })
	})
	if n := crossed.Load(); n < 3*500/2 {
		t.Errorf("only %d of 1500 closes crossed a request: this machine is too slow to tell", n)
	}
	t.Run("eof", func(t *testing.T) { farRounds(t, 500, farEOF) })
	t.Run("crossed bytes", func(t *testing.T) { farRounds(t, 200, farBytes) })
	t.Run("endings", farEndings)
}

func farServe(t *testing.T, f flavor, script func(*peer)) *server {
	s := serveOn(t, farHere+":0", f.server, script)
	s.addr = netip.AddrPortFrom(netip.MustParseAddr(farThere), s.addr.Port())
	return s
}

func farRounds(t *testing.T, n int, f func(*testing.T, flavor, int)) {
	for _, fl := range flavors(t) {
		t.Run(fl.name, func(t *testing.T) {
			var running sync.WaitGroup
			slots := make(chan struct{}, 50)
			for i := range n {
				slots <- struct{}{}
				running.Go(func() { f(t, fl, i); <-slots })
			}
			running.Wait()
		})
	}
}

// farCrossed writes while the close travels: after the server has closed, and
// before that can be known here.
func farCrossed(t *testing.T, f flavor, i int, crossed *atomic.Int32) {
	act := make(chan struct{})
	s := farServe(t, f, func(p *peer) {
		p.warm()
		<-act
		if i%2 == 1 {
			p.bye()
		} else {
			p.fin()
		}
		p.did()
	})
	c, p := s.open(f.client)
	warmed(t, c)
	r := ask(t, 10*time.Second)
	var closing, closed time.Time
	r.Gate = func(context.Context) error {
		closing = time.Now()
		close(act)
		<-p.acted
		closed = time.Now()
		return nil
	}
	_, e := c.Exchange(t.Context(), r)
	if e.After.At.Sub(closing) > oneWay || e.Started.Before(closed) {
		return // this machine was too slow: that was no crossing
	}
	crossed.Add(1)
	mustBe(t, e, probes.ReasonCrossedClose)
	if e.Elapsed > 2*oneWay {
		return // looked at late; the reason was right all the same
	}
	if first := e.First; first == nil || first.Acked != 0 {
		t.Errorf("first event: %+v", first)
	}
}

// farEOF closes with the request read.
func farEOF(t *testing.T, f flavor, i int) {
	s := farServe(t, f, func(p *peer) {
		p.warm()
		p.request()
		if i%2 == 1 {
			p.bye()
		} else {
			p.fin()
		}
	})
	c, _ := s.open(f.client)
	warmed(t, c)
	_, e := c.Exchange(t.Context(), ask(t, 10*time.Second))
	mustBe(t, e, probes.ReasonEOF)
	if e.Elapsed < 2*oneWay-5*time.Millisecond {
		t.Errorf("elapsed %v, want a round trip", e.Elapsed)
	}
}

// farBytes sends a 408 that crosses the request.
func farBytes(t *testing.T, f flavor, _ int) {
	act := make(chan struct{})
	s := farServe(t, f, func(p *peer) {
		p.warm()
		<-act
		p.say("HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")
		p.bye()
		p.did()
	})
	c, p := s.open(f.client)
	warmed(t, c)
	r := ask(t, 10*time.Second)
	r.Gate = func(context.Context) error { close(act); <-p.acted; return nil }
	_, e := c.Exchange(t.Context(), r)
	mustBe(t, e, probes.ReasonIdleBytes)
	if e.PushedStatus != 408 {
		t.Errorf("pushed status %d, want 408", e.PushedStatus)
	}
}

// farOrLate reports whether the peer came too late with what it says before the timeout.
func farOrLate(t *testing.T, f flavor, e ending, held bool) bool {
	s := farServe(t, f, e.after(held))
	c, p := s.open(f.client)
	if held {
		warmed(t, c)
	}
	_, ev := c.Exchange(t.Context(), e.request(t))
	if e.speaks() && p.late(ev, patience()-6*oneWay) {
		return true
	}
	mustBe(t, ev, e.want(f))
	return false
}

// farEndings runs every ending over the distance.
func farEndings(t *testing.T) {
	for _, f := range flavors(t) {
		for _, e := range afterRequest() {
			if e.want(f) == "" {
				continue
			}
			t.Run(f.name+"/"+e.name, func(t *testing.T) {
				var running sync.WaitGroup
				for i := range 20 {
					running.Go(func() {
						unlessLate(t, func() bool { return farOrLate(t, f, e, i%2 == 1) })
					})
				}
				running.Wait()
			})
		}
	}
}

package wire_test

import (
	"context"
	"testing"
	"time"

	"perch.example/probes"
	"perch.example/probes/wire"
)

// A connection that never carried a request is held as well; the session
// ticket that lies queued on it is no close.
func TestHoldUnused(t *testing.T) {
	for _, f := range flavors(t) {
		t.Run(f.name, func(t *testing.T) {
			s := serve(t, f.server, func(p *peer) { p.warm(); p.linger() })
			c, _ := s.open(f.client)
			h := c.Hold(t.Context(), time.Now().Add(50*time.Millisecond), true)
			if !h.LateKnown {
				t.Errorf("held: %+v, want to the end", h)
			}
			warmed(t, c)
		})
	}
}

// What ends an unused connection is told from the ticket before it.
func TestHoldUnusedUntilClosed(t *testing.T) {
	for _, f := range flavors(t) {
		for _, e := range beforeRequest()[:3] {
			if e.want(f) == "" {
				continue
			}
			t.Run(f.name+"/"+e.name, func(t *testing.T) {
				t.Parallel()
				act := make(chan struct{})
				var closed deed
				s := serve(t, f.server, func(p *peer) {
					<-act
					closed.of(func() { e.script(p) })
					p.did()
					p.linger()
				})
				idle := [2]time.Time{time.Now()}
				c, p := s.open(f.client)
				idle[1] = time.Now()
				time.AfterFunc(30*time.Millisecond, func() { close(act) })
				var seen time.Time
				c.OnEnd(func(*wire.Close) { seen = time.Now() })
				h := c.Hold(t.Context(), time.Now().Add(10*time.Second), true)
				if h.Close == nil {
					t.Fatalf("held: %+v, want a close after 30ms", h)
				}
				<-p.acted
				mustDate(t, h.Close, closed, idle, seen)
				_, ev := c.Exchange(t.Context(), ask(t, 5*time.Second))
				mustBe(t, ev, e.want(f))
			})
		}
	}
}

// A hold that is not to end at a close goes on after it, a RST included, and
// remembers when it was.
func TestHoldGoesOn(t *testing.T) {
	t.Parallel()
	for _, e := range beforeRequest()[:2] {
		t.Run(e.name, func(t *testing.T) {
			t.Parallel()
			held := make(chan struct{})
			var closed deed
			s := serve(t, nil, func(p *peer) {
				p.warm()
				<-held
				time.Sleep(20 * time.Millisecond) // most often the hold waits by then
				closed.of(func() { e.script(p) })
				p.did()
			})
			c, p := s.open(nil)
			idle := idled(t, c)
			close(held)
			var seen time.Time
			c.OnEnd(func(*wire.Close) { seen = time.Now() })
			until := time.Now().Add(standstill)
			h := c.Hold(t.Context(), until, false)
			if time.Now().Before(until) || !h.LateKnown || h.Canceled {
				t.Errorf("held: %+v until %v early", h, time.Until(until))
			}
			if h.Close == nil {
				t.Fatalf("held: %+v, want a close", h)
			}
			<-p.acted
			mustDate(t, h.Close, closed, idle, seen)
			_, ev := c.Exchange(t.Context(), ask(t, 5*time.Second))
			mustBe(t, ev, e.plain)
			if !ev.HoldKnown || ev.HoldLate != h.Late || ev.Idle < until.Sub(idle[1]) {
				t.Errorf("evidence: %+v", ev)
			}
		})
	}
}

// However chatty a peer is while idle, what is kept is bounded, and its end is
// not forgotten.
func TestHoldEventsAreBounded(t *testing.T) {
	t.Parallel()
	s := serve(t, nil, func(p *peer) {
		p.warm()
		for range 60 {
			p.say("x")
			time.Sleep(time.Millisecond)
		}
		p.fin()
		p.did()
	})
	c, p := s.open(nil)
	warmed(t, c)
	c.Hold(t.Context(), time.Now().Add(200*time.Millisecond), false)
	<-p.acted
	_, e := c.Exchange(t.Context(), ask(t, time.Second))
	mustBe(t, e, probes.ReasonIdleBytes)
	if len(e.Events) == 0 || len(e.Events) > 16 {
		t.Errorf("%d events kept, want 1 to 16", len(e.Events))
	}
}

// Hold and Exchange may each run in a goroutine of its own, one after another.
func TestHoldInAnotherGoroutine(t *testing.T) {
	s := serve(t, nil, func(p *peer) { p.warm(); p.warm(); p.linger() })
	c, _ := s.open(nil)
	warmed(t, c)
	done := make(chan struct{})
	go func() {
		c.Hold(t.Context(), time.Now().Add(10*time.Millisecond), false)
		go func() { defer close(done); warmed(t, c) }()
	}()
	<-done
}

// A hold that is cut, as a pool's connection is drawn, leaves the connection as good as
// it was, and what was seen before the cut dated as it was.
func TestHoldThatIsCut(t *testing.T) {
	for _, f := range flavors(t) {
		t.Run(f.name, func(t *testing.T) {
			held := make(chan struct{})
			var closed deed
			s := serve(t, f.server, func(p *peer) {
				for range 4 {
					p.warm()
				}
				<-held
				time.Sleep(20 * time.Millisecond) // most often the hold waits by then
				closed.of(p.fin)
				p.did()
			})
			c, p := s.open(f.client)
			idle := idled(t, c)
			for range 3 { // drawn while it is well
				ctx, cut := context.WithCancel(t.Context())
				time.AfterFunc(10*time.Millisecond, cut)
				if h := c.Hold(ctx, time.Now().Add(time.Hour), false); !h.Canceled || h.Close != nil {
					t.Fatalf("held: %+v, want a cut", h)
				}
				idle = idled(t, c)
			}
			close(held)
			ctx, cut := context.WithCancel(t.Context())
			var seen time.Time
			c.OnEnd(func(*wire.Close) {
				seen = time.Now()
				time.AfterFunc(40*time.Millisecond, cut)
			})
			h := c.Hold(ctx, time.Now().Add(time.Hour), false)
			if !h.Canceled || h.Close == nil {
				t.Fatalf("held: %+v, %+v, want a cut after a close", h, h.Close)
			}
			<-p.acted
			mustDate(t, h.Close, closed, idle, seen)
			again := time.Now()
			_, e := c.Exchange(t.Context(), ask(t, 5*time.Second))
			mustBe(t, e, probes.ReasonIdleFIN)
			if e.IdleClose == nil || e.IdleClose.Age != h.Close.Age || e.Idle < again.Sub(idle[1]) {
				t.Errorf("closed at %+v, idle for %s; seen before the cut: %+v", e.IdleClose, e.Idle, h.Close)
			}
		})
	}
}

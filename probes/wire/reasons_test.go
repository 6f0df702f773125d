package wire_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"perch.example/probes"
	"perch.example/probes/wire"
)

// ending is one way in which a connection, or an answer, ends: what the
// server does, and the reasons under which perch knows it.
type ending struct {
	name   string
	plain  probes.Reason // empty: not without TLS
	tls    probes.Reason // empty: not under TLS
	script func(*peer)
	short  bool // the response timeout ends it
}

// afterRequest are endings that follow the request; on a fresh connection and
// on a held one they have the same name.
func afterRequest() []ending {
	return []ending{
		{name: "whole", plain: probes.ReasonOK, tls: probes.ReasonOK, script: func(p *peer) { p.say(whole); p.linger() }},
		{name: "fin", plain: probes.ReasonEOF, tls: probes.ReasonEOF, script: (*peer).fin},
		{name: "close_notify", tls: probes.ReasonEOF, script: (*peer).bye},
		{name: "rst", plain: probes.ReasonReset, tls: probes.ReasonReset, script: (*peer).rst},
		{name: "nothing", plain: probes.ReasonNoResponse, tls: probes.ReasonNoResponse, short: true, script: (*peer).linger},
		{name: "head then fin", plain: probes.ReasonPartialHead, tls: probes.ReasonPartialHead, script: func(p *peer) { p.say("HTTP/1.1 200 OK\r\nConte"); p.fin() }},
		{name: "one byte then fin", plain: probes.ReasonPartialHead, tls: probes.ReasonPartialHead, script: func(p *peer) { p.say("H"); p.fin() }},
		{name: "head then close_notify", tls: probes.ReasonPartialHead, script: func(p *peer) { p.say("HTTP/1.1 200 OK\r\nConte"); p.bye() }},
		{name: "head then rst", plain: probes.ReasonPartialHead, tls: probes.ReasonPartialHead, script: func(p *peer) { p.say("HTTP/1.1 2"); p.pause(); p.rst() }},
		{name: "head then nothing", plain: probes.ReasonPartialHead, tls: probes.ReasonPartialHead, short: true, script: func(p *peer) { p.say("HTTP/1.1 200 OK\r\n"); p.linger() }},
		{name: "body then fin", plain: probes.ReasonPartialBody, tls: probes.ReasonPartialBody, script: func(p *peer) { p.say("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhi"); p.fin() }},
		{name: "body then rst", plain: probes.ReasonPartialBody, tls: probes.ReasonPartialBody, script: func(p *peer) { p.say("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhi"); p.pause(); p.rst() }},
		{name: "chunk then fin", plain: probes.ReasonPartialBody, tls: probes.ReasonPartialBody, script: func(p *peer) { p.say("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n"); p.fin() }},
		{name: "body then nothing", plain: probes.ReasonPartialBody, tls: probes.ReasonPartialBody, short: true, script: func(p *peer) { p.say("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhi"); p.linger() }},
		{name: "not http", plain: probes.ReasonBadResponse, tls: probes.ReasonBadResponse, script: func(p *peer) { p.say("SSH-2.0-OpenSSH_9.2\r\n"); p.linger() }},
		{name: "bad chunk", plain: probes.ReasonBadResponse, tls: probes.ReasonBadResponse, script: func(p *peer) { p.say("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"); p.linger() }},
		{name: "two lengths", plain: probes.ReasonBadResponse, tls: probes.ReasonBadResponse, script: func(p *peer) {
			p.say("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nhi")
			p.linger()
		}},
		{name: "length and chunks", plain: probes.ReasonBadResponse, tls: probes.ReasonBadResponse, script: func(p *peer) {
			p.say("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n")
			p.linger()
		}},
		{name: "large body", plain: probes.ReasonTooLarge, tls: probes.ReasonTooLarge, script: func(p *peer) {
			p.say("HTTP/1.1 200 OK\r\nContent-Length: 2000\r\n\r\n" + strings.Repeat("x", 2000))
			p.linger()
		}},
		{name: "garbage under tls", tls: probes.ReasonBadResponse, script: func(p *peer) { _, _ = p.raw.Write([]byte("what is this?")); p.linger() }},
	}
}

// beforeRequest are endings that come before the request; held is what perch
// calls them after a hold, fresh on a connection that carried nothing.
func beforeRequest() []struct {
	ending
	fresh probes.Reason
} {
	const late = "HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"
	return []struct {
		ending
		fresh probes.Reason
	}{
		{ending{name: "fin", plain: probes.ReasonIdleFIN, tls: probes.ReasonIdleFIN, script: (*peer).fin}, probes.ReasonCrossedClose},
		{ending{name: "rst", plain: probes.ReasonIdleRST, tls: probes.ReasonIdleRST, script: (*peer).rst}, probes.ReasonReset},
		{ending{name: "close_notify and fin", tls: probes.ReasonIdleCloseNotify, script: (*peer).bye}, probes.ReasonCrossedClose},
		{ending{name: "408", plain: probes.ReasonIdleBytes, tls: probes.ReasonIdleBytes, script: func(p *peer) { p.say(late) }}, probes.ReasonBadResponse},
		{ending{name: "408 and fin", plain: probes.ReasonIdleBytes, tls: probes.ReasonIdleBytes, script: func(p *peer) { p.say(late); p.fin() }}, probes.ReasonBadResponse},
		{ending{name: "408 and close", tls: probes.ReasonIdleBytes, script: func(p *peer) { p.say(late); p.bye() }}, probes.ReasonBadResponse},
		{ending{name: "banner", plain: probes.ReasonIdleBytes, tls: probes.ReasonIdleBytes, script: func(p *peer) { p.say("220 hello\r\n") }}, probes.ReasonBadResponse},
	}
}

// pause lets what was sent arrive as a segment of its own: a RST takes what
// the client has not read yet with it on some systems.
func (p *peer) pause() { time.Sleep(5 * time.Millisecond) }

func (e ending) want(f flavor) probes.Reason {
	if f.client == nil {
		return e.plain
	}
	return e.tls
}

func (e ending) request(t testing.TB) wire.Request {
	r := ask(t, 10*time.Second)
	if e.short {
		r.Timeout = patience()
	}
	r.MaxBody = 1000
	return r
}

func TestAfterTheRequest(t *testing.T) {
	t.Parallel()
	for _, f := range flavors(t) {
		for _, e := range afterRequest() {
			if e.want(f) == "" {
				continue
			}
			t.Run(f.name+"/fresh/"+e.name, func(t *testing.T) {
				t.Parallel()
				afterOnce(t, f, e, false)
			})
			t.Run(f.name+"/held/"+e.name, func(t *testing.T) {
				t.Parallel()
				afterOnce(t, f, e, true)
			})
		}
	}
}

func afterOnce(t testing.TB, f flavor, e ending, held bool) {
	unlessLate(t, func() bool { return afterOrLate(t, f, e, held) })
}

// speaks reports whether the timeout ends what the peer had begun to say.
func (e ending) speaks() bool { return e.short && e.plain != probes.ReasonNoResponse }

// after is the peer of one exchange, held of the second, that ends so.
func (e ending) after(held bool) func(*peer) {
	return func(p *peer) {
		if held {
			p.warm()
		}
		p.request()
		e.script(p)
	}
}

// afterOrLate reports whether the peer came too late with what it says before the timeout.
func afterOrLate(t testing.TB, f flavor, e ending, held bool) bool {
	s := serve(t, f.server, e.after(held))
	c, p := s.open(f.client)
	if held {
		warmed(t, c)
		if h := c.Hold(t.Context(), time.Now().Add(20*time.Millisecond), true); h.Close != nil || !h.LateKnown {
			t.Errorf("holding: %+v, want no close and a known lateness", h)
		}
	}
	r, ev := c.Exchange(t.Context(), e.request(t))
	if e.speaks() && p.late(ev, patience()) {
		return true
	}
	mustBe(t, ev, e.want(f))
	if (r.Status == 200) != (e.want(f) == probes.ReasonOK) {
		t.Errorf("status %d with %s", r.Status, e.want(f))
	}
	if ev.Held != held {
		t.Errorf("held %v, want %v", ev.Held, held)
	}
	if acked := ev.RequestBytesAcked; ev.Kernel && e.want(f) == probes.ReasonOK && (acked == nil || *acked != ev.RequestSize) {
		t.Errorf("acknowledged %v of %d bytes, want all", acked, ev.RequestSize)
	}
	return false
}

func TestBeforeTheRequest(t *testing.T) {
	for _, f := range flavors(t) {
		for _, e := range beforeRequest() {
			if e.want(f) == "" {
				continue
			}
			t.Run(f.name+"/fresh/"+e.name, func(t *testing.T) {
				t.Parallel()
				beforeFresh(t, f, e.ending, e.fresh)
			})
			t.Run(f.name+"/held/"+e.name, func(t *testing.T) {
				t.Parallel()
				beforeHeld(t, f, e.ending)
			})
		}
	}
}

// beforeFresh lets the server act while the request waits at the gate.
func beforeFresh(t testing.TB, f flavor, e ending, want probes.Reason) {
	act := make(chan struct{})
	s := serve(t, f.server, func(p *peer) { <-act; e.script(p); p.did(); p.linger() })
	c, p := s.open(f.client)
	r := e.request(t)
	r.Gate = func(context.Context) error { close(act); <-p.acted; return nil }
	_, ev := c.Exchange(t.Context(), r)
	mustBe(t, ev, want)
}

// beforeHeld lets the server act while the connection is held: the hold ends
// at the close, and the reuse says what it was.
func beforeHeld(t testing.TB, f flavor, e ending) {
	act := make(chan struct{})
	s := serve(t, f.server, func(p *peer) { p.warm(); <-act; e.script(p); p.did(); p.linger() })
	c, p := s.open(f.client)
	warmed(t, c)
	time.AfterFunc(30*time.Millisecond, func() { close(act) })
	h := c.Hold(t.Context(), time.Now().Add(10*time.Second), true)
	if h.Close == nil {
		t.Fatalf("holding: %+v, want a close", h)
	}
	if h.Close.Age < 30*time.Millisecond-h.Close.Resolution {
		t.Errorf("closed after %v, want at least 30ms: %+v", h.Close.Age, h.Close)
	}
	<-p.acted // all of it, not just its first segment
	_, ev := c.Exchange(t.Context(), e.request(t))
	mustBe(t, ev, e.want(f))
	state := map[probes.Reason]string{
		probes.ReasonIdleFIN: "fin", probes.ReasonIdleRST: "rst",
		probes.ReasonIdleBytes: "bytes", probes.ReasonIdleCloseNotify: "close_notify",
	}[e.want(f)]
	if ev.IdleClose == nil || ev.IdleClose.State != state || ev.IdleClose.Age != h.Close.Age {
		t.Errorf("closed while idle: %+v, want %q at %v", ev.IdleClose, state, h.Close.Age)
	}
	if strings.HasPrefix(e.name, "408") && ev.PushedStatus != 408 {
		t.Errorf("pushed status %d, want 408", ev.PushedStatus)
	}
}

// warmed makes the first exchange.
func warmed(t testing.TB, c *wire.Conn) {
	t.Helper()
	r, ev := c.Exchange(t.Context(), ask(t, 10*time.Second))
	if r.Status != 200 || string(r.Body) != "hi" {
		t.Fatalf("warming: %d %q: %s", r.Status, r.Body, probes.Explain(ev))
	}
	mustBe(t, ev, probes.ReasonOK)
}

func mustBe(t testing.TB, e wire.Evidence, want probes.Reason) {
	t.Helper()
	if got := probes.Classify(e); got != want {
		t.Errorf("reason %s (%s), want %s\n%s", got, probes.Explain(e), want, dump(e))
	}
}

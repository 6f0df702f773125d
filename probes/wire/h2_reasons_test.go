package wire_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/http2"

	"perch.example/probes"
	"perch.example/probes/wire"
)

// h2ending is one way in which an HTTP/2 connection, or an answer, ends.
type h2ending struct {
	name   string
	want   probes.Reason
	tls    bool // only under TLS
	short  bool // the response timeout ends it
	script func(*h2peer)
}

// fin ends the server's side, without a word of TLS; it goes on reading, so that
// what the client still says brings no RST.
func (h *h2peer) fin() { h.flush(); _ = h.raw.CloseWrite(); h.linger() }

// bye says close_notify first.
func (h *h2peer) bye() {
	h.flush()
	if c, ok := h.Conn.(interface{ CloseWrite() error }); ok {
		_ = c.CloseWrite()
	}
	h.fin()
}

func (h *h2peer) away(last uint32, code http2.ErrCode, debug string) {
	_ = h.WriteGoAway(last, code, []byte(debug))
}

func (h *h2peer) headsOK() { h.heads(false, ":status", "200") }

func h2AfterRequest() []h2ending {
	const forever = 1<<31 - 1
	return []h2ending{
		{name: "whole", want: probes.ReasonOK, script: func(h *h2peer) { h.whole(); h.read() }},
		{name: "trailers", want: probes.ReasonOK, script: func(h *h2peer) {
			h.headsOK()
			_ = h.WriteData(h.stream, false, []byte("hi"))
			h.heads(true, "grpc-status", "0")
			h.flush()
			h.read()
		}},
		{name: "early hints", want: probes.ReasonOK, script: func(h *h2peer) { h.heads(false, ":status", "103"); h.whole(); h.read() }},
		{name: "fin", want: probes.ReasonEOF, script: (*h2peer).fin},
		{name: "close_notify", want: probes.ReasonEOF, tls: true, script: (*h2peer).bye},
		{name: "rst", want: probes.ReasonReset, script: func(h *h2peer) { h.rst() }},
		{name: "nothing", want: probes.ReasonNoResponse, short: true, script: (*h2peer).read},
		{name: "only pings", want: probes.ReasonNoResponse, short: true, script: func(h *h2peer) {
			_ = h.WritePing(false, [8]byte{1})
			_ = h.WriteSettings()
			_ = h.WriteWindowUpdate(0, 5)
			h.flush()
			h.read()
		}},
		{name: "half a head then fin", want: probes.ReasonPartialHead, script: func(h *h2peer) { h.headsOK(); h.out.Truncate(h.out.Len() - 1); h.fin() }},
		{name: "hints then fin", want: probes.ReasonPartialHead, script: func(h *h2peer) { h.heads(false, ":status", "103"); h.fin() }},
		{name: "half a head then nothing", want: probes.ReasonPartialHead, short: true, script: func(h *h2peer) { h.headsOK(); h.out.Truncate(9); h.flush(); h.linger() }},
		{name: "head then fin", want: probes.ReasonPartialBody, script: func(h *h2peer) { h.headsOK(); h.fin() }},
		{name: "head then close_notify", want: probes.ReasonPartialBody, tls: true, script: func(h *h2peer) { h.headsOK(); h.bye() }},
		{name: "body then rst", want: probes.ReasonPartialBody, script: func(h *h2peer) {
			h.headsOK()
			_ = h.WriteData(h.stream, false, []byte("hi"))
			h.flush()
			h.pause()
			h.rst()
		}},
		{name: "body then nothing", want: probes.ReasonPartialBody, short: true, script: func(h *h2peer) {
			h.headsOK()
			_ = h.WriteData(h.stream, false, []byte("hi"))
			h.flush()
			h.linger()
		}},
		{name: "refused stream", want: probes.ReasonRefusedStream, script: func(h *h2peer) { _ = h.WriteRSTStream(h.stream, http2.ErrCodeRefusedStream); h.flush(); h.read() }},
		{name: "stream reset", want: probes.ReasonStreamReset, script: func(h *h2peer) { _ = h.WriteRSTStream(h.stream, http2.ErrCodeInternal); h.flush(); h.read() }},
		{name: "stream reset in the body", want: probes.ReasonStreamReset, script: func(h *h2peer) {
			h.headsOK()
			_ = h.WriteRSTStream(h.stream, http2.ErrCodeCancel)
			h.flush()
			h.read()
		}},
		{name: "goaway below", want: probes.ReasonGoawayUnprocessed, script: func(h *h2peer) { h.away(h.below(), 0, ""); h.flush(); h.read() }},
		{name: "goaway below then fin", want: probes.ReasonGoawayUnprocessed, script: func(h *h2peer) { h.away(h.below(), 0, ""); h.bye() }},
		{name: "graceful, then goaway below", want: probes.ReasonGoawayUnprocessed, script: func(h *h2peer) { h.away(forever, 0, ""); h.away(h.below(), 0, ""); h.fin() }},
		{name: "goaway above then fin", want: probes.ReasonGoawayProcessed, script: func(h *h2peer) { h.away(h.stream, 0, ""); h.fin() }},
		{name: "goaway above then nothing", want: probes.ReasonGoawayProcessed, short: true, script: func(h *h2peer) { h.away(forever, 0, ""); h.flush(); h.read() }},
		{name: "goaway above, half a body, fin", want: probes.ReasonGoawayProcessed, script: func(h *h2peer) { h.away(h.stream, 0, ""); h.headsOK(); h.fin() }},
		{name: "goaway above then stream reset", want: probes.ReasonGoawayProcessed, script: func(h *h2peer) {
			h.away(h.stream, 0, "")
			_ = h.WriteRSTStream(h.stream, http2.ErrCodeCancel)
			h.flush()
			h.read()
		}},
		{name: "goaway then whole", want: probes.ReasonOK, script: func(h *h2peer) { h.away(h.stream, 0, ""); h.whole(); h.read() }},
		{name: "whole with goaway", want: probes.ReasonOK, script: func(h *h2peer) { h.heads(true, ":status", "200"); h.away(h.stream, 0, ""); h.flush(); h.read() }},
		{name: "http/1", want: probes.ReasonBadResponse, script: func(h *h2peer) { h.say("HTTP/1.1 400 Bad Request\r\n\r\n"); h.linger() }},
		{name: "large body", want: probes.ReasonTooLarge, script: func(h *h2peer) {
			h.headsOK()
			_ = h.WriteData(h.stream, true, []byte(strings.Repeat("x", 2000)))
			h.flush()
			h.read()
		}},
	}
}

func TestH2AfterTheRequest(t *testing.T) {
	t.Parallel()
	for _, f := range h2flavors(t) {
		for _, e := range h2AfterRequest() {
			if e.tls && f.client == nil {
				continue
			}
			for name, held := range map[string]bool{"fresh": false, "held": true} {
				if e.short && held == (f.client == nil) {
					continue // its timeout takes long, and is the same for all
				}
				t.Run(f.name+"/"+name+"/"+e.name, func(t *testing.T) {
					t.Parallel()
					h2AfterOnce(t, f, e, held)
				})
			}
		}
	}
}

func h2AfterOnce(t testing.TB, f flavor, e h2ending, held bool) {
	unlessLate(t, func() bool { return h2AfterOrLate(t, f, e, held) })
}

// h2AfterOrLate reports whether the peer came too late with what it says before the timeout.
func h2AfterOrLate(t testing.TB, f flavor, e h2ending, held bool) bool {
	s := serveH2(t, f.server, func(h *h2peer) {
		if held {
			h.warm()
		} else {
			h.settle()
		}
		h.request()
		e.script(h)
	})
	c, p := s.openH2(f.client)
	if held {
		warmed(t, c)
		if h := c.Hold(t.Context(), time.Now().Add(20*time.Millisecond), true); h.Close != nil || !h.LateKnown {
			t.Errorf("holding: %+v, want no close and a known lateness", h)
		}
	}
	r, ev := c.Exchange(t.Context(), h2Request(t, e))
	if e.short && e.want != probes.ReasonNoResponse && p.late(ev, patience()) {
		return true
	}
	mustBe(t, ev, e.want)
	if (r.Status == 200) != (e.want == probes.ReasonOK) || r.Close != strings.Contains(e.name, "goaway") && e.want == probes.ReasonOK {
		t.Errorf("status %d, closes %v with %s", r.Status, r.Close, e.want)
	}
	if e.name == "trailers" && (r.Trailer.Get("Grpc-Status") != "0" || string(r.Body) != "hi") {
		t.Errorf("answer %+v", r)
	}
	if ev.Held != held || ev.Proto != "HTTP/2.0" || ev.H2 == nil || ev.H2.Goaway != nil && ev.H2.Goaway.Idle || ev.LeftOver > 0 || ev.Pushed {
		t.Errorf("evidence %s", dump(ev))
	}
	if acked := ev.RequestBytesAcked; ev.Kernel && e.want == probes.ReasonOK && (acked == nil || *acked != ev.RequestSize) {
		t.Errorf("acknowledged %v of %d bytes, want all", acked, ev.RequestSize)
	}
	return false
}

// h2BeforeRequest are endings that come before the request; want is what perch
// calls them after a hold, fresh on a connection that carried nothing.
func h2BeforeRequest() []struct {
	h2ending
	fresh probes.Reason
	state string
} {
	type row = struct {
		h2ending
		fresh probes.Reason
		state string
	}
	goaway := func(last uint32) func(*h2peer) { return func(h *h2peer) { h.away(last, 0, "max_idle"); h.flush() } }
	return []row{
		{h2ending{name: "goaway", want: probes.ReasonIdleGoaway, script: goaway(0)}, probes.ReasonGoawayUnprocessed, "goaway"},
		{h2ending{name: "goaway and fin", want: probes.ReasonIdleGoaway, script: func(h *h2peer) { goaway(0)(h); _ = h.raw.CloseWrite() }}, probes.ReasonGoawayUnprocessed, "goaway"},
		{h2ending{name: "goaway, close_notify and fin", tls: true, want: probes.ReasonIdleGoaway, script: func(h *h2peer) { h.away(0, 0, ""); h.half() }}, probes.ReasonGoawayUnprocessed, "goaway"},
		{h2ending{name: "fin", want: probes.ReasonIdleFIN, script: func(h *h2peer) { _ = h.raw.CloseWrite() }}, probes.ReasonCrossedClose, "fin"},
		{h2ending{name: "close_notify and fin", tls: true, want: probes.ReasonIdleCloseNotify, script: (*h2peer).half}, probes.ReasonCrossedClose, "close_notify"},
		{h2ending{name: "rst", want: probes.ReasonIdleRST, script: func(h *h2peer) { h.rst() }}, probes.ReasonReset, "rst"},
		{h2ending{name: "ping, then rst", want: probes.ReasonIdleRST, script: func(h *h2peer) { _ = h.WritePing(false, [8]byte{}); h.flush(); h.pause(); h.rst() }}, probes.ReasonReset, "rst"},
		{h2ending{name: "ping, then fin", want: probes.ReasonIdleFIN, script: func(h *h2peer) { _ = h.WritePing(false, [8]byte{}); h.flush(); _ = h.raw.CloseWrite() }}, probes.ReasonCrossedClose, "fin"},
	}
}

// half says close_notify and FIN, and goes on reading.
func (h *h2peer) half() {
	h.flush()
	if c, ok := h.Conn.(interface{ CloseWrite() error }); ok {
		_ = c.CloseWrite()
	}
	_ = h.raw.CloseWrite()
}

func TestH2BeforeTheRequest(t *testing.T) {
	for _, f := range h2flavors(t) {
		for _, e := range h2BeforeRequest() {
			if e.tls && f.client == nil {
				continue
			}
			t.Run(f.name+"/fresh/"+e.name, func(t *testing.T) {
				t.Parallel()
				h2BeforeFresh(t, f, e.h2ending, e.fresh)
			})
			t.Run(f.name+"/held/"+e.name, func(t *testing.T) {
				t.Parallel()
				h2BeforeHeld(t, f, e.h2ending, e.state)
			})
		}
	}
}

func h2BeforeFresh(t testing.TB, f flavor, e h2ending, want probes.Reason) {
	act := make(chan struct{})
	s := serveH2(t, f.server, func(h *h2peer) { h.settle(); <-act; e.script(h); h.did(); h.linger() })
	c, p := s.openH2(f.client)
	r := h2Request(t, e)
	r.Gate = func(context.Context) error { close(act); <-p.acted; return nil }
	_, ev := c.Exchange(t.Context(), r)
	mustBe(t, ev, want)
}

// h2BeforeHeld lets the server act while the connection is held: the hold ends
// at the close, and the reuse says what it was.
func h2BeforeHeld(t testing.TB, f flavor, e h2ending, state string) {
	act := make(chan struct{})
	s := serveH2(t, f.server, func(h *h2peer) { h.warm(); <-act; e.script(h); h.did(); h.linger() })
	c, p := s.openH2(f.client)
	warmed(t, c)
	time.AfterFunc(30*time.Millisecond, func() { close(act) })
	h := c.Hold(t.Context(), time.Now().Add(10*time.Second), true)
	if h.Close == nil || h.Close.Age < 30*time.Millisecond-h.Close.Resolution || h.Close.State != state {
		t.Errorf("holding: %+v %+v, want %q after 30ms", h, h.Close, state)
	}
	<-p.acted // all of it, not just its first segment
	_, ev := c.Exchange(t.Context(), h2Request(t, e))
	mustBe(t, ev, e.want)
	if h.Close == nil || ev.IdleClose == nil || ev.IdleClose.State != state || ev.IdleClose.Age != h.Close.Age {
		t.Errorf("closed while idle: %+v, want %q as held: %+v", ev.IdleClose, state, h.Close)
	}
	if g := ev.H2.Goaway; (g != nil) != (state == "goaway") || g != nil && (!g.Idle || g.Age != h.Close.Age || g.LastStream != 0) {
		t.Errorf("goaway %+v with %q", g, state)
	}
}

func h2Request(t testing.TB, e h2ending) wire.Request {
	r := ask(t, 10*time.Second)
	if e.short {
		r.Timeout = patience()
	}
	r.MaxBody = 1000
	return r
}

package wire_test

import (
	"sync"
	"testing"
	"time"

	"golang.org/x/net/http2"

	"perch.example/probes"
	"perch.example/probes/wire"
)

// A client reads while it idles: PING and SETTINGS are answered, and a frame that
// is cut by the hold's end is read on by the reuse.
func TestH2HoldAnswers(t *testing.T) {
	for _, f := range h2flavors(t) {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			half, cut := make(chan struct{}), make(chan struct{})
			s := serveH2(t, f.server, func(h *h2peer) {
				h.warm()
				_ = h.WriteSettings(http2.Setting{ID: http2.SettingMaxConcurrentStreams, Val: 7})
				_ = h.WritePing(false, [8]byte{1})
				h.flush()
				for h.acks == 0 {
					if h.frame() == nil {
						t.Error("no answer to a PING")
						return
					}
				}
				_ = h.WritePing(false, [8]byte{2})
				rest := append([]byte(nil), h.out.Bytes()[11:]...)
				h.out.Truncate(11)
				h.flush()
				close(half)
				<-cut
				h.out.Write(rest)
				h.request()
				h.whole()
				h.read()
				h.did()
				if h.acks != 2 {
					t.Errorf("%d PINGs were answered, want 2", h.acks)
				}
			})
			c, p := s.openH2(f.client)
			warmed(t, c)
			if h := heldUntil(t, c, half); h.Close != nil || !h.LateKnown {
				t.Errorf("held: %+v", h)
			}
			close(cut)
			r, e := c.Exchange(t.Context(), ask(t, 5*time.Second))
			mustBe(t, e, probes.ReasonOK)
			if e.H2.Pings < 1 || e.H2.PingsSent != 0 || r.Close || len(e.Events) != 0 {
				t.Errorf("%+v", *e.H2)
			}
			_ = c.Close()
			<-p.acted
		})
	}
}

// PINGs of our own are sent where the application's client sends them; who does
// not answer is noted.
func TestH2HoldPings(t *testing.T) {
	const every = 30 * time.Millisecond
	for name, deaf := range map[string]bool{"answered": false, "unanswered": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			enough := make(chan struct{})
			s := serveH2(t, nil, func(h *h2peer) {
				h.warm()
				var last time.Time
				var soon sync.Once
				for {
					switch f := h.frame().(type) {
					case nil:
						return
					case *http2.PingFrame:
						now := time.Now()
						if h.pinged >= 3 && now.Sub(last) < 2*every { // a machine that stands still only makes that longer
							soon.Do(func() { close(enough) })
						}
						last = now
						if !deaf {
							_ = h.WritePing(true, f.Data)
							h.flush()
						}
					case *http2.MetaHeadersFrame:
						h.whole()
						h.did()
					}
				}
			})
			c, _ := s.openH2(nil, func(o *wire.Options) { o.Ping = every })
			idle := idled(t, c)
			if h := c.Hold(t.Context(), time.Now().Add(100*time.Millisecond), true); h.Close != nil || !h.LateKnown {
				t.Errorf("held: %+v", h)
			}
			if h := heldUntil(t, c, enough); h.Close != nil || !h.LateKnown {
				t.Errorf("held: %+v", h)
			}
			most := int(time.Since(idle[0]) / every)
			_, e := c.Exchange(t.Context(), ask(t, 5*time.Second))
			mustBe(t, e, probes.ReasonOK)
			want := 0
			if deaf {
				want = e.H2.PingsSent
			}
			if e.H2.PingsSent < 3 || e.H2.PingsSent > most || e.H2.PingsUnanswered != want {
				t.Errorf("%+v, want at most %d", *e.H2, most)
			}
		})
	}
}

// Go and Caddy leave a second between GOAWAY and FIN, and may serve a stream in
// it: the hold goes on, and the reuse is idle_goaway, whatever comes of it.
func TestH2ReuseAfterGoaway(t *testing.T) {
	t.Parallel()
	const forever = 1<<31 - 1
	for _, tt := range []struct {
		name string
		then func(*h2peer)
		last uint32
		end  wire.Ending
	}{
		{"left out", (*h2peer).read, 1, wire.EndGoaway},
		{"served", func(h *h2peer) { h.request(); h.whole(); h.read() }, forever, wire.EndWhole},
		{"ignored", func(h *h2peer) { h.request(); h.half(); h.read() }, forever, wire.EndEOF},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			held := make(chan struct{})
			var gone deed
			s := serveH2(t, nil, func(h *h2peer) {
				h.warm()
				<-held
				time.Sleep(20 * time.Millisecond) // most often the hold waits by then
				h.away(tt.last, http2.ErrCodeEnhanceYourCalm, "too_many\x01pings")
				gone.of(h.flush)
				h.did()
				tt.then(h)
			})
			c, p := s.openH2(nil)
			idle := idled(t, c)
			close(held)
			until := time.Now().Add(standstill)
			h := c.Hold(t.Context(), until, false)
			if h.Close == nil || h.Close.State != "goaway" || time.Now().Before(until) || !h.LateKnown {
				t.Fatalf("held: %+v %+v", h, h.Close)
			}
			<-p.acted
			mustDate(t, h.Close, gone, idle, gone.after.Add(100*time.Millisecond)) // the kernel knows, however late perch looks
			_, e := c.Exchange(t.Context(), ask(t, 5*time.Second))
			mustBe(t, e, probes.ReasonIdleGoaway)
			if g := e.H2.Goaway; g == nil || g.LastStream != tt.last || g.Code != 11 || g.Debug != "too_many?pings" || e.Ending != tt.end {
				t.Errorf("goaway %+v, ending %q", g, e.Ending)
			}
		})
	}
}

// An unused connection has said its preface, and is held like any other.
func TestH2HoldUnused(t *testing.T) {
	for _, f := range h2flavors(t) {
		t.Run(f.name, func(t *testing.T) {
			s := serveH2(t, f.server, func(h *h2peer) { h.warm(); h.read() })
			c, _ := s.openH2(f.client)
			if h := c.Hold(t.Context(), time.Now().Add(50*time.Millisecond), true); !h.LateKnown || h.Close != nil {
				t.Errorf("held: %+v, want to the end", h)
			}
			warmed(t, c)
		})
	}
}

// What is no HTTP/2 ends the reading, not the hold; the reuse tells.
func TestH2HoldGarbage(t *testing.T) {
	garbage := map[string]func(*h2peer){
		"no TLS":                  func(h *h2peer) { _, _ = h.raw.Write([]byte("220 hello\r\n")) },
		"frame that is too large": func(h *h2peer) { h.say("\xff\xff\xff\x06\x00\x00\x00\x00\x00") },
		"answer that nobody asked for": func(h *h2peer) {
			h.headsOK()
			h.flush()
		},
		"ping of the wrong size": func(h *h2peer) { _ = h.WriteRawFrame(http2.FramePing, 0, 0, []byte("12")); h.flush() },
	}
	for _, f := range h2flavors(t) {
		for name, say := range garbage {
			t.Run(f.name+"/"+name, func(t *testing.T) {
				t.Parallel()
				s := serveH2(t, f.server, func(h *h2peer) { h.warm(); say(h); h.linger() })
				c, _ := s.openH2(f.client)
				warmed(t, c)
				if h := c.Hold(t.Context(), time.Now().Add(50*time.Millisecond), true); !h.LateKnown || h.Close != nil {
					t.Errorf("held: %+v, want to the end", h)
				}
				_, e := c.Exchange(t.Context(), ask(t, 5*time.Second))
				mustBe(t, e, probes.ReasonBadResponse)
			})
		}
	}
}

package wire_test

import (
	"testing"
	"time"

	"golang.org/x/net/http2"

	"perch.example/probes"
)

// A peer that speaks no HTTP/2 answers the preface in text and closes, long before
// our request. What it said is why nothing can be asked of it.
func TestH2PeerThatSpeaksHTTP1(t *testing.T) {
	for name, says := range map[string]string{
		"the peer answers in HTTP/1.1, not in HTTP/2":  "HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n",
		"the peer answers with text, not in HTTP/2":    "<!DOCTYPE HTML>\r\n<p>no such version</p>",
		"the peer answers in HTTP/1.1, not in HTTP/2 ": "HTTP/1.0 505 HTTP Version Not Supported\r\n\r\n",
	} {
		for _, unused := range []bool{false, true} {
			s := serveH2(t, nil, func(h *h2peer) {
				_, _ = h.Write([]byte(says))
				if !unused {
					h.rst()
				} else {
					_ = h.raw.CloseWrite()
				}
				h.did()
				h.linger()
			})
			c, p := s.openH2(nil)
			<-p.acted
			if unused {
				c.Hold(t.Context(), time.Now().Add(20*time.Millisecond), false)
			}
			_, e := c.Exchange(t.Context(), ask(t, 5*time.Second))
			mustBe(t, e, probes.ReasonBadResponse)
			if !e.H2.Text || e.Error != name && e.Error+" " != name {
				t.Errorf("%q, unused %v: %q", says, unused, e.Error)
			}
		}
	}
}

// Nothing of a peer's that has spoken HTTP/2 is taken for another protocol.
func TestH2TextAfterSettings(t *testing.T) {
	s := serveH2(t, nil, func(h *h2peer) {
		h.settle()
		h.request()
		_, _ = h.Write([]byte("HTTP/1.1 400 Bad Request\r\n\r\n"))
		h.read()
	})
	c, _ := s.openH2(nil)
	_, e := c.Exchange(t.Context(), ask(t, 5*time.Second))
	mustBe(t, e, probes.ReasonBadResponse)
	if e.H2.Text {
		t.Error("its SETTINGS had come")
	}
}

// An ordinary server sends some frames beside each answer: however many answers, that
// is no flood.
func TestH2TalkativeServer(t *testing.T) {
	const answers, frames = 400, 6
	s := serveH2(t, nil, func(h *h2peer) {
		h.settle()
		for h.request() {
			for range frames {
				_ = h.WriteWindowUpdate(0, 1)
			}
			h.whole()
		}
	})
	c, _ := s.openH2(nil)
	for i := range answers {
		if _, e := c.Exchange(t.Context(), ask(t, 5*time.Second)); probes.Classify(e) != probes.ReasonOK {
			t.Fatalf("request %d: %s", i+1, probes.Explain(e))
		}
	}
}

// A peer may allow no stream. perch sends all the same, and says so.
func TestH2NoStreams(t *testing.T) {
	s := serveH2(t, nil, func(h *h2peer) {
		_ = h.WriteSettings(http2.Setting{ID: http2.SettingMaxConcurrentStreams, Val: 0})
		h.flush()
		h.request()
		_ = h.WriteRSTStream(h.stream, http2.ErrCodeRefusedStream)
		h.flush()
		h.read()
	})
	c, _ := s.openH2(nil)
	_, e := c.Exchange(t.Context(), ask(t, 5*time.Second))
	mustBe(t, e, probes.ReasonRefusedStream)
	if !e.H2.NoStreams {
		t.Errorf("%s", dump(e))
	}
}

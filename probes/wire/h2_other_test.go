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
	const http1, text = "the peer answers in HTTP/1.1, not in HTTP/2", "the peer answers with text, not in HTTP/2"
	for says, want := range map[string]struct {
		name   string
		status int
	}{
		"HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n": {http1, 400},
		"HTTP/1.0 505 HTTP Version Not Supported\r\n\r\n":       {http1, 505},
		"HTTP/1.1 503": {http1, 503},
		"HTTP/1.1 5":   {http1, 0},
		"HTTP/1.1 abc": {http1, 0},
		"<!DOCTYPE HTML>\r\n<p>no such version</p>": {text, 0},
		"SSH-2.0-OpenSSH_9.6\r\n":                   {text, 0},
		"-ERR unknown command 'PRI'\r\n":            {text, 0},
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
			if !e.H2.Text || e.H2.HTTP1 != (want.name == http1) || e.H2.TextStatus != want.status || e.Error != want.name {
				t.Errorf("%q, unused %v: %q, %+v", says, unused, e.Error, e.H2)
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
	if e.H2.Text || e.H2.HTTP1 || e.H2.TextStatus != 0 {
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

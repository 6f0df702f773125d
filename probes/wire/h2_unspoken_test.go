package wire_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/http2"

	"perch.example/probes"
)

// written is what a server writes that speaks HTTP/2 only.
func written(t *testing.T, write ...func(*http2.Framer) error) string {
	t.Helper()
	var b bytes.Buffer
	f := http2.NewFramer(&b, nil)
	f.AllowIllegalWrites = true
	for _, w := range write {
		if err := w(f); err != nil {
			t.Fatal(err)
		}
	}
	return b.String()
}

func preferences(f *http2.Framer) error {
	return f.WriteSettings(http2.Setting{ID: http2.SettingMaxConcurrentStreams, Val: 250}, http2.Setting{ID: http2.SettingMaxFrameSize, Val: 16384})
}

func emptySettings(f *http2.Framer) error { return f.WriteSettings() }

func refusal(f *http2.Framer) error {
	return f.WriteGoAway(0, http2.ErrCodeProtocol, []byte("HTTP/2 client preface string missing or corrupt."))
}

// A peer that speaks HTTP/2 only sends its SETTINGS unasked, and ends the connection
// when our request is no preface: by GOAWAY and FIN, or by a RST. What it said is why
// nothing can be asked of it, whenever it came.
func TestPeerThatSpeaksHTTP2Only(t *testing.T) {
	grease := written(t, func(f *http2.Framer) error {
		return f.WriteSettings(http2.Setting{ID: 0x3a3a, Val: 7}, http2.Setting{ID: http2.SettingMaxFrameSize, Val: 16384})
	})
	for _, f := range flavors(t) {
		for name, tt := range map[string]struct {
			first, then string
			end         func(*peer)
			want        string
		}{
			"SETTINGS at once, then RST":             {written(t, preferences), "", (*peer).rst, "SETTINGS"},
			"SETTINGS at once, then silence":         {written(t, preferences), "", (*peer).linger, "SETTINGS"},
			"SETTINGS at once, then GOAWAY and FIN":  {written(t, preferences), written(t, refusal), (*peer).fin, "SETTINGS"},
			"SETTINGS and FIN before the request":    {written(t, preferences), "", nil, "SETTINGS"},
			"SETTINGS with an unknown one first":     {grease + written(t, (*http2.Framer).WriteSettingsAck), "", (*peer).linger, "SETTINGS"},
			"empty SETTINGS, then WINDOW_UPDATE":     {written(t, emptySettings, func(f *http2.Framer) error { return f.WriteWindowUpdate(0, 1<<20) }), "", (*peer).linger, "SETTINGS"},
			"empty SETTINGS after the request":       {"", written(t, func(f *http2.Framer) error { return f.WriteSettings() }), (*peer).fin, "SETTINGS"},
			"GOAWAY after the request, and no other": {"", written(t, refusal), (*peer).fin, "GOAWAY"},
		} {
			for _, unused := range []bool{false, true} {
				end := tt.end
				s := serve(t, f.server, func(p *peer) {
					p.say(tt.first)
					if tt.end == nil {
						_ = p.raw.CloseWrite()
						end = (*peer).linger
					}
					p.did()
					p.request()
					p.say(tt.then)
					end(p)
				})
				c, p := s.open(f.client)
				if tt.first != "" {
					<-p.acted
				}
				if unused {
					c.Hold(t.Context(), time.Now().Add(20*time.Millisecond), false)
				}
				_, e := c.Exchange(t.Context(), ask(t, 5*time.Second))
				mustBe(t, e, probes.ReasonBadResponse)
				if e.Frame != tt.want || !strings.HasPrefix(probes.Explain(e), "it speaks HTTP/2: what came is a "+tt.want+" frame, ") {
					t.Errorf("%s, %s, unused %v: frame %q, %s", f.name, name, unused, e.Frame, probes.Explain(e))
				}
				_ = c.Close()
			}
		}
	}
}

// Only what is such a frame, and the connection's first word, is taken for one.
func TestNoFrameOfHTTP2(t *testing.T) {
	stream := func(f *http2.Framer) error { return f.WriteRawFrame(http2.FrameSettings, 0, 1, nil) }
	for name, says := range map[string]string{
		"text":                       "hello, this is no HTTP\r\n",
		"zeros":                      strings.Repeat("\x00", 64),
		"half of a frame's header":   written(t, preferences)[:8],
		"SETTINGS on a stream":       written(t, stream),
		"SETTINGS of 5 bytes":        written(t, func(f *http2.Framer) error { return f.WriteRawFrame(http2.FrameSettings, 0, 0, []byte("12345")) }),
		"an acknowledgement of ours": written(t, (*http2.Framer).WriteSettingsAck),
		"a GOAWAY that is too short": written(t, func(f *http2.Framer) error { return f.WriteRawFrame(http2.FrameGoAway, 0, 0, []byte("1234")) }),
		"a length of 4, and zeros":   "\x00\x00\x00\x04" + strings.Repeat("\x00", 12),
		"the same, and longer":       "\x00\x00\x00\x04" + strings.Repeat("\x00", 40),
		"a setting that is none":     "\x00\x00\x06\x04" + strings.Repeat("\x00", 11),
		"no setting that is known":   written(t, func(f *http2.Framer) error { return f.WriteSettings(http2.Setting{ID: 0x4142, Val: 1}) }),
		"a value that is forbidden": written(t, func(f *http2.Framer) error {
			return f.WriteSettings(http2.Setting{ID: http2.SettingMaxFrameSize, Val: 1})
		}),
		"a GOAWAY of no known code": written(t, func(f *http2.Framer) error { return f.WriteGoAway(0, 0x61626364, nil) }),
		"empty SETTINGS, and text":  written(t, emptySettings) + "hello, this is no HTTP/2",
		"a PING":                    written(t, func(f *http2.Framer) error { return f.WritePing(false, [8]byte{}) }),
		"behind another answer":     "HTTP/1.1 100 Continue\r\n\r\n" + written(t, preferences),
	} {
		s := serve(t, nil, func(p *peer) {
			p.request()
			p.say(says)
			p.fin()
		})
		c, _ := s.open(nil)
		_, e := c.Exchange(t.Context(), ask(t, 5*time.Second))
		mustBe(t, e, probes.ReasonBadResponse)
		if e.Frame != "" {
			t.Errorf("%s: frame %q", name, e.Frame)
		}
	}
}

// Who has answered in HTTP/1.1 before speaks it.
func TestFramesAfterAnAnswer(t *testing.T) {
	says := written(t, preferences)
	s := serve(t, nil, func(p *peer) {
		p.warm()
		p.request()
		p.say(says)
		p.linger()
	})
	c, _ := s.open(nil)
	if _, e := c.Exchange(t.Context(), ask(t, 5*time.Second)); probes.Classify(e) != probes.ReasonOK {
		t.Fatal(probes.Explain(e))
	}
	_, e := c.Exchange(t.Context(), ask(t, 5*time.Second))
	mustBe(t, e, probes.ReasonBadResponse)
	if e.Frame != "" {
		t.Errorf("frame %q", e.Frame)
	}
}

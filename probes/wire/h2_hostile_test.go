package wire_test

import (
	"bytes"
	"encoding/binary"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/http2"

	"perch.example/probes"
)

// flood repeats what write writes until the client has closed.
func (h *h2peer) flood(write func()) {
	for {
		write()
		if _, err := h.Write(h.out.Bytes()); err != nil {
			return
		}
		h.out.Reset()
	}
}

// raw writes a frame that a library would refuse to write.
func (h *h2peer) raw9(length int, kind http2.FrameType, flags http2.Flags, stream uint32) {
	b := []byte{byte(length >> 16), byte(length >> 8), byte(length), byte(kind), byte(flags)}
	h.out.Write(binary.BigEndian.AppendUint32(b, stream))
}

// part writes a frame with any payload.
func (h *h2peer) part(kind http2.FrameType, flags http2.Flags, stream uint32, payload string) {
	h.raw9(len(payload), kind, flags, stream)
	h.out.WriteString(payload)
}

// literal is a field of a head that no table knows, 2 bytes of overhead.
func literal(name, value string) string {
	var b bytes.Buffer
	b.WriteByte(0)
	for _, s := range []string{name, value} {
		if n := len(s); n < 127 {
			b.WriteByte(byte(n))
		} else {
			b.WriteByte(127)
			for n -= 127; n >= 128; n >>= 7 {
				b.WriteByte(byte(n) | 128)
			}
			b.WriteByte(byte(n))
		}
		b.WriteString(s)
	}
	return b.String()
}

type h2hostile struct {
	name string
	want probes.Reason
	say  func(*h2peer)
	slow bool // the timeout ends it
}

func h2Floods() []h2hostile {
	const bad, none = probes.ReasonBadResponse, http2.Flags(0)
	return []h2hostile{
		{name: "pings", want: bad, say: func(h *h2peer) { h.flood(func() { _ = h.WritePing(false, [8]byte{}) }) }},
		{name: "ping acks", want: bad, say: func(h *h2peer) { h.flood(func() { _ = h.WritePing(true, [8]byte{}) }) }},
		{name: "settings", want: bad, say: func(h *h2peer) { h.flood(func() { _ = h.WriteSettings() }) }},
		{name: "settings acks", want: bad, say: func(h *h2peer) { h.flood(func() { _ = h.WriteSettingsAck() }) }},
		{name: "resets", want: bad, say: func(h *h2peer) { h.flood(func() { _ = h.WriteRSTStream(h.stream-2, 8) }) }},
		{name: "goaways", want: bad, say: func(h *h2peer) {
			h.flood(func() { h.away(1<<31-1, 0, strings.Repeat("x", 8000)) })
		}},
		{name: "window updates", want: bad, say: func(h *h2peer) { h.flood(func() { _ = h.WriteWindowUpdate(0, 1) }) }},
		{name: "priorities", want: bad, say: func(h *h2peer) {
			h.flood(func() { _ = h.WritePriority(h.stream, http2.PriorityParam{Weight: 3}) })
		}},
		{name: "unknown frames", want: bad, say: func(h *h2peer) { h.flood(func() { h.part(0xbe, none, 0, strings.Repeat("x", 1000)) }) }},
		{name: "empty data", want: bad, say: func(h *h2peer) {
			h.headsOK()
			h.flood(func() { _ = h.WriteData(h.stream, false, nil) })
		}},
		{name: "padding", want: bad, say: func(h *h2peer) {
			h.headsOK()
			h.flood(func() { _ = h.WriteDataPadded(h.stream, false, nil, make([]byte, 255)) })
		}},
		{name: "data", want: probes.ReasonTooLarge, say: func(h *h2peer) {
			h.headsOK()
			h.flood(func() { _ = h.WriteData(h.stream, false, make([]byte, 16<<10)) })
		}},
		{name: "informational heads", want: bad, say: func(h *h2peer) { h.flood(func() { h.heads(false, ":status", "103") }) }},
		{name: "empty continuations", want: bad, say: func(h *h2peer) {
			h.part(http2.FrameHeaders, none, h.stream, "")
			h.flood(func() { h.part(http2.FrameContinuation, none, h.stream, "") })
		}},
		{name: "continuations", want: bad, say: func(h *h2peer) {
			h.part(http2.FrameHeaders, none, h.stream, string(block(":status", "200")))
			h.flood(func() { h.part(http2.FrameContinuation, none, h.stream, strings.Repeat(literal("a", "b"), 3000)) })
		}},
		{name: "a head that unpacks to much", want: bad, say: func(h *h2peer) {
			// A field of 3,000 bytes goes into the table, and is named 15,000 times.
			big := literal("a", strings.Repeat("x", 3000))
			h.part(http2.FrameHeaders, http2.FlagHeadersEndHeaders, h.stream, string(block(":status", "200"))+"\x40"+big[1:]+strings.Repeat("\xbe", 12_000))
			h.flush()
			h.read()
		}},
	}
}

func h2Breaches() []h2hostile {
	const bad = probes.ReasonBadResponse
	const endHeaders, endStream, padded = http2.FlagHeadersEndHeaders, http2.FlagHeadersEndStream, http2.FlagDataPadded
	one := func(name string, say func(*h2peer)) h2hostile {
		return h2hostile{name: name, want: bad, say: func(h *h2peer) { say(h); h.flush(); h.read() }}
	}
	head := func(name string, fields ...string) h2hostile {
		return one(name, func(h *h2peer) { h.heads(false, fields...) })
	}
	return []h2hostile{
		one("frame larger than allowed", func(h *h2peer) { h.raw9(16<<10+1, http2.FrameData, 0, h.stream) }),
		one("frame of 16 MiB", func(h *h2peer) { h.raw9(1<<24-1, http2.FrameHeaders, 0, h.stream) }),
		one("push promise", func(h *h2peer) {
			_ = h.WritePushPromise(http2.PushPromiseParam{StreamID: h.stream, PromiseID: 2, EndHeaders: true, BlockFragment: block(":method", "GET")})
		}),
		one("answer on another stream", func(h *h2peer) { h.stream += 2; h.headsOK() }),
		one("answer on the connection", func(h *h2peer) { h.part(http2.FrameHeaders, endHeaders, 0, string(block(":status", "200"))) }),
		one("data before the head", func(h *h2peer) { _ = h.WriteData(h.stream, true, []byte("hi")) }),
		one("data on the connection", func(h *h2peer) { h.part(http2.FrameData, 0, 0, "hi") }),
		one("data on another stream", func(h *h2peer) { h.headsOK(); _ = h.WriteData(h.stream+2, false, []byte("hi")) }),
		one("reset of a stream never opened", func(h *h2peer) { _ = h.WriteRSTStream(h.stream+2, 8) }),
		one("reset of the connection", func(h *h2peer) { h.part(http2.FrameRSTStream, 0, 0, "\x00\x00\x00\x08") }),
		one("window update of nothing", func(h *h2peer) { h.part(http2.FrameWindowUpdate, 0, 0, "\x00\x00\x00\x00") }),
		one("window overflow", func(h *h2peer) { _ = h.WriteWindowUpdate(0, 1<<31-1) }),
		one("window overflow of a stream", func(h *h2peer) { _ = h.WriteWindowUpdate(h.stream, 1<<31-1) }),
		one("window overflow by settings", func(h *h2peer) {
			_ = h.WriteWindowUpdate(h.stream, 1<<30)
			_ = h.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 1<<31 - 1})
		}),
		one("settings of a wrong size", func(h *h2peer) { h.part(http2.FrameSettings, 0, 0, "12345") }),
		one("settings on a stream", func(h *h2peer) { h.part(http2.FrameSettings, 0, h.stream, "") }),
		one("settings: window", func(h *h2peer) { h.part(http2.FrameSettings, 0, 0, "\x00\x04\x80\x00\x00\x00") }),
		one("settings: frame size", func(h *h2peer) { h.part(http2.FrameSettings, 0, 0, "\x00\x05\x00\x00\x00\x01") }),
		one("settings: push", func(h *h2peer) { h.part(http2.FrameSettings, 0, 0, "\x00\x02\x00\x00\x00\x01") }),
		one("ack with a payload", func(h *h2peer) { h.part(http2.FrameSettings, http2.FlagSettingsAck, 0, "123456") }),
		one("ping of a wrong size", func(h *h2peer) { h.part(http2.FramePing, 0, 0, "1234567") }),
		one("ping on a stream", func(h *h2peer) { h.part(http2.FramePing, 0, h.stream, "12345678") }),
		one("goaway of a wrong size", func(h *h2peer) { h.part(http2.FrameGoAway, 0, 0, "1234567") }),
		one("padding beyond the frame", func(h *h2peer) { h.headsOK(); h.part(http2.FrameData, padded, h.stream, "\xffhi") }),
		one("continuation of nothing", func(h *h2peer) { h.part(http2.FrameContinuation, endHeaders, h.stream, "") }),
		one("head that another frame cuts", func(h *h2peer) {
			h.part(http2.FrameHeaders, 0, h.stream, string(block(":status", "200")))
			_ = h.WritePing(false, [8]byte{})
		}),
		one("continuation of another stream", func(h *h2peer) {
			h.part(http2.FrameHeaders, 0, h.stream, string(block(":status", "200")))
			h.part(http2.FrameContinuation, endHeaders, h.stream+2, "")
		}),
		one("head that cannot be unpacked", func(h *h2peer) {
			h.part(http2.FrameHeaders, endHeaders, h.stream, "\xff\xff\xff\xff\xff\xff\xff\xff\xff")
		}),
		one("head that names an empty table", func(h *h2peer) { h.part(http2.FrameHeaders, endHeaders, h.stream, "\xbe") }),
		one("table larger than agreed", func(h *h2peer) { h.part(http2.FrameHeaders, endHeaders, h.stream, "\x3f\xe2\x1f\x88") }),
		head("no status"),
		head("status of two digits", ":status", "20"),
		head("status of letters", ":status", "abc"),
		head("status with a sign", ":status", "+20"),
		head("status 099", ":status", "099"),
		head("two statuses", ":status", "200", ":status", "204"),
		head("request's fields", ":status", "200", ":method", "GET"),
		head("unknown pseudo field", ":status", "200", ":other", "1"),
		head("status after a field", "a", "b", ":status", "200"),
		head("capitals", ":status", "200", "Name", "b"),
		head("a line end in a value", ":status", "200", "a", "b\r\nc"),
		head("a field of the connection", ":status", "200", "connection", "close"),
		head("chunks", ":status", "200", "transfer-encoding", "chunked"),
		head("switching protocols", ":status", "101"),
		head("lengths that differ", ":status", "200", "content-length", "2", "content-length", "3"),
		head("length that is none", ":status", "200", "content-length", "-2"),
		one("an informational end", func(h *h2peer) {
			h.part(http2.FrameHeaders, endHeaders|endStream, h.stream, string(block(":status", "103")))
		}),
		one("less than the length", func(h *h2peer) {
			h.heads(false, ":status", "200", "content-length", "3")
			_ = h.WriteData(h.stream, true, []byte("hi"))
		}),
		one("more than the length", func(h *h2peer) {
			h.heads(false, ":status", "200", "content-length", "1")
			_ = h.WriteData(h.stream, false, []byte("hi"))
		}),
		one("nothing of the length", func(h *h2peer) { h.heads(true, ":status", "200", "content-length", "1") }),
		one("a body of no content", func(h *h2peer) {
			h.heads(false, ":status", "204")
			_ = h.WriteData(h.stream, true, []byte("hi"))
		}),
		one("second head", func(h *h2peer) { h.headsOK(); h.headsOK() }),
		one("trailer with a status", func(h *h2peer) { h.headsOK(); h.heads(true, ":status", "200") }),
		one("a large trailer", func(h *h2peer) {
			h.headsOK()
			for i, part := 0, strings.Repeat(literal("a", strings.Repeat("x", 100)), 150); i < 5; i++ {
				kind, flags := http2.FrameContinuation, http2.Flags(0)
				switch i {
				case 0:
					kind, flags = http2.FrameHeaders, endStream
				case 4:
					flags = endHeaders
				}
				h.part(kind, flags, h.stream, part)
			}
		}),
		one("more than the window", func(h *h2peer) {
			h.headsOK()
			for range 1<<20/(16<<10) + 1 { // none of it is read before all of it is here
				_ = h.WriteData(h.stream, false, make([]byte, 16<<10))
			}
		}),
		{name: "slow drip", want: probes.ReasonPartialHead, slow: true, say: func(h *h2peer) {
			h.raw9(1000, http2.FrameHeaders, endHeaders, h.stream)
			h.flush()
			drip(h.peer, "drip")
		}},
		{name: "slow pings", want: probes.ReasonNoResponse, slow: true, say: func(h *h2peer) {
			h.flood(func() { time.Sleep(5 * time.Millisecond); _ = h.WritePing(false, [8]byte{}) }) // no flood, also of what a busy machine reads late
		}},
		{name: "ssh banner", want: bad, say: func(h *h2peer) { h.say("SSH-2.0-OpenSSH_9.2\r\n"); h.linger() }},
	}
}

// Hostile frames end in their reason, within the timeout, and cost little memory
// whatever they promise.
func TestH2Hostile(t *testing.T) {
	for _, tt := range append(h2Floods(), h2Breaches()...) {
		t.Run(tt.name, func(t *testing.T) {
			s := serveH2(t, nil, func(h *h2peer) { h.warm(); h.request(); tt.say(h) })
			timeout := 10 * time.Second
			if tt.slow {
				timeout = 200 * time.Millisecond
			}
			unlessLate(t, func() bool {
				c, p := s.openH2(nil)
				warmed(t, c)
				e := bounded(t, c, ask(t, timeout))
				late := tt.slow && tt.want != probes.ReasonNoResponse && p.late(e, timeout)
				if !late && tt.name != "more than the window" { // unless it was read meanwhile
					mustBe(t, e, tt.want)
				}
				return late
			})
		})
	}
}

// The same while the connection is held: what is taken is bounded, the hold goes
// on to its end, and the reuse tells.
func TestH2HostileHold(t *testing.T) {
	for _, tt := range h2Breaches() {
		if tt.slow {
			continue
		}
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			h2HostileHold(t, tt)
		})
	}
	for _, tt := range h2Floods() {
		t.Run(tt.name, func(t *testing.T) {
			if grown := growth(t, func() { h2HostileHold(t, tt) }); grown > 32<<20 {
				t.Errorf("memory grew by %d MiB, want less than 32", grown>>20)
			}
		})
	}
}

func h2HostileHold(t *testing.T, tt h2hostile) {
	s := serveH2(t, nil, func(h *h2peer) { h.warm(); h.stream += 2; tt.say(h) })
	c, _ := s.openH2(nil)
	warmed(t, c)
	until := time.Now().Add(20 * time.Millisecond)
	h := c.Hold(t.Context(), until, false)
	if h.Canceled || !h.LateKnown || time.Now().Before(until) {
		t.Errorf("held: %+v", h)
	}
	r, e := c.Exchange(t.Context(), ask(t, 5*time.Second))
	if got := probes.Classify(e); got == probes.ReasonInternal || got == probes.ReasonOK && r.Status != 200 {
		t.Errorf("%s\n%s", got, dump(e))
	}
	if len(e.Events) > 16 {
		t.Errorf("%d events", len(e.Events))
	}
	_ = c.Close()
}

//go:build peers

package peers

import (
	"encoding/binary"
	"testing"
	"time"

	"golang.org/x/net/http2"
)

// goodbye is what a capture shows of the end of a held HTTP/2 connection.
type goodbye struct {
	Answered time.Time // the server's last data before the hold
	Goaway   time.Time // zero: none came
	Covered  uint32    // the last stream that the GOAWAY speaks of; 0 under TLS, where the capture cannot read it
	Notify   time.Time // of the close_notify; zero: none, or plain
	FIN      time.Time // zero: none came
	Asked    time.Time // when the reuse's request left; zero: none did
	Seen     bool      // the GOAWAY had come by then: the request acknowledges it
	Reply    int       // bytes that the server sent after the request, but for what ends connection and stream
}

// readGoodbye reads a connection whose first answer had been read by the
// instant answered, and whose second request was written at asked; zero: none
// was.
func readGoodbye(segments []Segment, secure bool, answered, asked time.Time) goodbye {
	var g goodbye
	var behind, knows uint32 // sequence number after the GOAWAY; what the request acknowledges
	for _, s := range segments {
		switch {
		case s.FromServer && s.At.After(answered):
			g.said(s, secure, &behind)
		case s.FromServer && s.Data > 0:
			g.Answered = s.At
		case !s.FromServer && s.Data > 0 && g.Asked.IsZero() && !asked.IsZero() && !s.At.Before(asked):
			g.Asked, knows = s.At, s.Ack
		}
	}
	g.Seen = !g.Goaway.IsZero() && !g.Asked.IsZero() && !before(knows, behind)
	return g
}

// said takes a segment that the server sent after its answer.
func (g *goodbye) said(s Segment, secure bool, behind *uint32) {
	if s.FIN && g.FIN.IsZero() {
		g.FIN = s.At
	}
	reply := s.Data
	for _, m := range sayings(s, secure) {
		switch {
		case m.what == "goaway" && g.Goaway.IsZero():
			g.Goaway, g.Covered, *behind = s.At, m.covered, s.Seq+uint32(m.end)
		case m.what == "notify" && g.Notify.IsZero():
			g.Notify = s.At
		}
		if m.what != "" {
			reply -= m.size
		}
	}
	if !g.Asked.IsZero() {
		g.Reply += reply
	}
}

// saying is a frame or, under TLS, a record.
type saying struct {
	size, end int    // bytes with its header, and where it ends in its segment
	what      string // "goaway", "notify", "reset" (of a stream); empty: anything else
	covered   uint32 // of a GOAWAY, where it can be read
}

// record tells by the little that a capture sees of a TLS record, its type and
// its length, what the server says: a GOAWAY is 17 bytes, and 7 more where
// apache adds "timeout"; a RST_STREAM 13, a close_notify 2. TLS 1.3 adds 17
// bytes, the JDK's another 16; TLS 1.2 adds 24 and shows which record is an
// alert. No record of these servers' answers is of those lengths.
func record(head []byte) (size int, what string) {
	size = int(binary.BigEndian.Uint16(head[3:]))
	switch {
	case head[0] == alertRecord, size == 2+17, size == 2+17+16:
		return size, "notify"
	case size == 17+17, size == 17+24, size == 17+17+16:
		return size, "goaway"
	case size == 13+17, size == 13+24, size == 13+17+16:
		return size, "reset"
	default:
		return size, ""
	}
}

// alertRecord is the type of a TLS record that nothing hides.
const alertRecord = 21

// sayings reads a segment of the server's as far as the capture kept it.
func sayings(s Segment, secure bool) []saying {
	header := 9
	if secure {
		header = 5
	}
	var all []saying
	for at := 0; at+header <= len(s.Head); {
		head := s.Head[at:]
		m := saying{}
		switch {
		case secure:
			m.size, m.what = record(head)
			m.size += header
		case http2.FrameType(head[3]) == http2.FrameGoAway:
			m.size, m.what = frameSize(head), "goaway"
			if len(head) >= header+4 {
				m.covered = binary.BigEndian.Uint32(head[header:])
			}
		case http2.FrameType(head[3]) == http2.FrameRSTStream:
			m.size, m.what = frameSize(head), "reset"
		default:
			m.size = frameSize(head)
		}
		at += m.size
		m.end = at
		all = append(all, m)
	}
	return all
}

// frameSize is how long a frame is, with its header.
func frameSize(head []byte) int { return 9 + int(head[0])<<16 + int(head[1])<<8 + int(head[2]) }

// TestGoodbye holds the reading of a capture, on segments made up for it.
func TestGoodbye(t *testing.T) {
	t.Parallel()
	at := func(ms int) time.Time { return time.UnixMilli(int64(ms)) }
	frame := func(size int, kind http2.FrameType, stream byte) []byte {
		return append([]byte{0, 0, byte(size), byte(kind), 0, 0, 0, 0, 0, 0, 0, 0, stream}, make([]byte, size-4)...)
	}
	sealed := func(size int) []byte { return append([]byte{23, 3, 3, 0, byte(size)}, make([]byte, size)...) }
	server := func(ms int, seq uint32, head []byte) Segment {
		return Segment{At: at(ms), FromServer: true, Data: len(head), Seq: seq, Head: head}
	}
	ask := Segment{At: at(0), Data: 60, Ack: 90}
	answer := server(10, 90, frame(4, http2.FrameHeaders, 0))
	again := func(ms int, ack uint32) Segment { return Segment{At: at(ms), Data: 60, Ack: ack} }
	fin := Segment{At: at(3010), FromServer: true, FIN: true, Seq: 120}
	goaway := server(2010, 103, frame(8, http2.FrameGoAway, 1))
	covering := server(2010, 103, append(frame(8, http2.FrameGoAway, 3), frame(20, http2.FrameHeaders, 0)...))
	for name, c := range map[string]struct {
		segments []Segment
		secure   bool
		asked    int // ms
		want     goodbye
	}{
		"in the second": {[]Segment{ask, answer, goaway, again(2500, 120), fin}, false, 2500,
			goodbye{Answered: at(10), Goaway: at(2010), Covered: 1, FIN: at(3010), Asked: at(2500), Seen: true}},
		"on its way": {[]Segment{ask, answer, goaway, again(2010, 103), fin}, false, 2010,
			goodbye{Answered: at(10), Goaway: at(2010), Covered: 1, FIN: at(3010), Asked: at(2010)}},
		"covered and answered": {[]Segment{ask, answer, again(2009, 103), covering}, false, 2009,
			goodbye{Answered: at(10), Goaway: at(2010), Covered: 3, Asked: at(2009), Reply: 29}},
		"answered": {[]Segment{ask, answer, again(2000, 103), server(2001, 103, frame(30, http2.FrameData, 0))}, false, 2000,
			goodbye{Answered: at(10), Asked: at(2000), Reply: 39}},
		"under TLS": {[]Segment{ask, answer, server(2010, 103, append(sealed(34), sealed(19)...)), fin, again(3500, 166)}, true, 3500,
			goodbye{Answered: at(10), Goaway: at(2010), Notify: at(2010), FIN: at(3010), Asked: at(3500), Seen: true}},
		"settled late": {[]Segment{ask, answer, again(30, 103), goaway, again(3500, 120)}, false, 3499,
			goodbye{Answered: at(10), Goaway: at(2010), Covered: 1, Asked: at(3500), Seen: true}},
		"reset, and covered": {[]Segment{ask, answer, again(2000, 103),
			server(2010, 103, append(frame(4, http2.FrameRSTStream, 0), frame(8, http2.FrameGoAway, 3)...))}, false, 2000,
			goodbye{Answered: at(10), Goaway: at(2010), Covered: 3, Asked: at(2000)}},
		"nothing": {[]Segment{ask}, false, 2000, goodbye{}},
	} {
		if got := readGoodbye(c.segments, c.secure, at(11), at(c.asked)); got != c.want {
			t.Errorf("%s:\n%+v, want\n%+v", name, got, c.want)
		}
	}
}

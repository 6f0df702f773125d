package wire

import (
	"encoding/binary"
	"errors"

	"golang.org/x/net/http2"
)

// startsLikeH2 notes that what came in the place of the connection's first answer is
// HTTP/2: a server that speaks nothing else sends its SETTINGS unasked, or says by a
// GOAWAY that our request is not its preface. Only what came with the first byte is
// looked at: more is not waited for. What a proxy says that reads our requests itself
// is not the host's.
func (x *exchange) startsLikeH2(err error) {
	if !errors.Is(err, errNotHTTP) || x.conn.served > 0 || x.conn.whole != nil {
		return
	}
	x.e.Frame = firstFrame(x.source.head)
}

// firstFrame is the name of the frame that bytes begin with, where it is one that an
// HTTP/2 connection may begin with or end by at once (RFC 9113, 3.4); empty: it is none.
// Of its payload what has come is looked at, too: other protocols begin with a length,
// and may look like a frame's header.
func firstFrame(b []byte) string {
	if len(b) < frameHeader {
		return ""
	}
	f, rest := parseFrameHead(b), b[frameHeader:]
	if f.flags != 0 || !f.ofConnection() {
		return ""
	}
	payload := rest[:min(f.length, len(rest))]
	switch {
	case f.kind == http2.FrameSettings && f.length == 0:
		if len(rest) > 0 && (len(rest) < frameHeader || !parseFrameHead(rest).ofConnection()) {
			return ""
		}
	case f.kind == http2.FrameSettings && !settings(payload):
		return ""
	case f.kind == http2.FrameGoAway && len(payload) >= 8 && binary.BigEndian.Uint32(payload[4:]) > uint32(http2.ErrCodeHTTP11Required):
		return ""
	case f.kind != http2.FrameSettings && f.kind != http2.FrameGoAway:
		return ""
	}
	return f.kind.String()
}

// ofConnection reports whether a frame is about the connection and not about a stream of
// it, and is as long as such a frame may be.
func (f frameHead) ofConnection() bool {
	if f.stream != 0 || f.length > h2MaxFrame {
		return false
	}
	switch f.kind { //nolint:exhaustive // the others are about streams, or unknown
	case http2.FrameSettings:
		return f.length%6 == 0
	case http2.FrameGoAway:
		return f.length >= 8
	case http2.FramePing:
		return f.length == 8
	case http2.FrameWindowUpdate:
		return f.length == 4
	}
	return false
}

// settings reports whether the payload of a SETTINGS frame, as far as it came, may be
// one: nothing in it is forbidden, and something is known. There are unknown ones in
// between, to keep their place open (GREASE).
func settings(payload []byte) bool {
	known := len(payload) < 6
	for ; len(payload) >= 6; payload = payload[6:] {
		s := http2.Setting{ID: http2.SettingID(binary.BigEndian.Uint16(payload)), Val: binary.BigEndian.Uint32(payload[2:])}
		if s.ID == 0 || s.Valid() != nil {
			return false
		}
		known = known || s.ID <= lastSetting
	}
	return known
}

// lastSetting is the highest that servers are known to send (RFC 9218, 2.1).
const lastSetting http2.SettingID = 9

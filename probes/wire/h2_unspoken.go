package wire

import (
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
func firstFrame(b []byte) string {
	if len(b) < frameHeader {
		return ""
	}
	f := parseFrameHead(b)
	settings := f.kind == http2.FrameSettings && f.flags == 0 && f.length%6 == 0
	goaway := f.kind == http2.FrameGoAway && f.length >= 8
	if f.stream != 0 || f.length > h2MaxFrame || !settings && !goaway {
		return ""
	}
	return f.kind.String()
}

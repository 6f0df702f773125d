package wire

import (
	"bytes"
	"errors"
	"fmt"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// What perch says of itself in its SETTINGS, and the limits of RFC 9113.
const (
	// h2Window is how much a peer may send unread, on a stream and on the
	// connection. It is read as it comes, so it bounds no memory of ours: clients
	// allow 1 MiB to 16 MiB, and a smaller one would make a long way look slow.
	h2Window = 1 << 20
	// h2MaxFrame is the largest payload of a frame, both ways: what either side
	// has to take, and may refuse more than.
	h2MaxFrame = 16 << 10
	// h2Initial is every window before anything is said of it.
	h2Initial = 1<<16 - 1
	// h2WindowLimit is more than any window may ever be.
	h2WindowLimit = 1 << 31
	// h2Table is the size of the header table that a peer's encoder may use, the
	// default. None would keep held connections smaller, but not every server does
	// as it is told.
	h2Table = 4096
)

// protoH2 is HTTP/2's name in an answer.
const protoH2 = "HTTP/2.0"

// h2 is what both sides of an HTTP/2 connection have agreed on, and what the
// peer's frames said since the last answer.
type h2 struct {
	framing framing
	stream  uint32         // our last stream; 0: none was opened yet
	decoder *hpack.Decoder // of the peer's heads; nil: none came yet

	settled bool  // the peer's SETTINGS came, which have to be its first frame
	initial int64 // how much we may send on a new stream
	window  int64 // how much we may send on the connection; negative: less than nothing
	current int64 // how much we may send on our stream
	room    int64 // how much the peer may send on the connection
	spent   int   // frames that brought no answer, since the connection was open

	full bool // the peer allows no stream

	replies []byte // frames that the next flush sends
	lost    Errno  // what the first write of replies that failed showed; a later write shows something else

	goaway     *Goaway
	goneAt     *Close // the GOAWAY as a close, where it came while idle
	notified   *Close // TLS's close_notify that came while idle
	broken     error  // what the peer sent is no HTTP/2: nothing more is read
	textStatus int    // where that is an HTTP/1 answer: its status; 0: not seen
	looked     time.Time
	pings      int // that the peer sent since the last exchange
	ping       pinger
}

// protocolError is something that RFC 9113 forbids, in words of our own: what
// the peer sent is not repeated.
type protocolError string

func (e protocolError) Error() string { return string(e) }

// Unwrap makes it one of the things that are no HTTP.
func (e protocolError) Unwrap() error { return errNotHTTP }

// broke returns what a library's error means, without its words: they may
// repeat what the peer sent.
func broke(err error) error {
	var connection http2.ConnectionError
	var stream http2.StreamError
	switch {
	case errors.As(err, &connection):
		return protocolError("a frame that HTTP/2 forbids: " + http2.ErrCode(connection).String())
	case errors.As(err, &stream):
		return protocolError("a frame that HTTP/2 forbids: " + stream.Code.String())
	default:
		return protocolError("a frame that cannot be read")
	}
}

// startH2 speaks HTTP/2's preface. It leaves at once, not with the first
// request: clients do so, and a server counts an unused connection's time from
// there. The offsets of our stream count it as they count a TLS handshake, so
// that what acknowledges a request is not mistaken.
func (c *Conn) startH2(o Options) {
	c.h2 = &h2{initial: h2Initial, window: h2Initial, room: h2Window, replies: preface(), ping: pinger{every: o.Ping}}
	c.idle.frames = true
	c.flush()
}

// preface is the fixed text, SETTINGS, and the connection's window.
func preface() []byte {
	var b bytes.Buffer
	b.WriteString(http2.ClientPreface)
	f := http2.NewFramer(&b, nil) // writing into memory does not fail
	_ = f.WriteSettings(
		http2.Setting{ID: http2.SettingEnablePush, Val: 0},
		http2.Setting{ID: http2.SettingInitialWindowSize, Val: h2Window},
		http2.Setting{ID: http2.SettingMaxHeaderListSize, Val: defaultMaxHead},
	)
	_ = f.WriteWindowUpdate(0, h2Window-h2Initial)
	return b.Bytes()
}

// agree settles what is spoken on a connection that stands.
func (c *Conn) agree(o Options) error {
	c.collect()
	if o.TLS == nil { // what is between us and an https proxy says nothing of the host
		if o.Protocol == SpeakH2 {
			c.startH2(o)
		}
		return nil
	}
	agreed := c.tls.ConnectionState().NegotiatedProtocol
	switch {
	case o.Protocol == SpeakHTTP1:
	case agreed == http2.NextProtoTLS:
		c.startH2(o)
	case o.Protocol == SpeakH2:
		return fmt.Errorf("TLS handshake: ALPN agreed on %s, want %q", agreedWords(agreed), http2.NextProtoTLS)
	}
	return nil
}

func agreedWords(agreed string) string {
	if agreed == "" {
		return "no protocol"
	}
	return fmt.Sprintf("%q", agreed)
}

// queue adds frames to the replies.
func (h *h2) queue(write func(*http2.Framer) error) {
	b := bytes.NewBuffer(h.replies)
	_ = write(http2.NewFramer(b, nil)) // into memory, and within the rules: it does not fail
	h.replies = b.Bytes()
}

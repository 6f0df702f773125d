package wire

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// framing puts frames together from what comes, however little at a time: what
// is cut short by a deadline goes on where it stopped. A head's CONTINUATIONs
// belong to its frame.
type framing struct {
	buf   []byte // the frames so far, from the first one's first byte
	at    int    // where in buf the last one begins
	parts int    // how many there are
	start int64  // offset in the peer's stream at which the first began
	in    bytes.Reader
	lib   *http2.Framer // parses what is complete; nil between exchanges, for it keeps a buffer
}

const (
	frameHeader = 9
	// maxParts bounds a head's frames: 64 KiB are 5 of the usual size.
	maxParts = 64
)

// frameHead is a frame's header.
type frameHead struct {
	length int
	kind   http2.FrameType
	flags  http2.Flags
	stream uint32
}

func parseFrameHead(b []byte) frameHead {
	return frameHead{
		length: int(b[0])<<16 | int(b[1])<<8 | int(b[2]),
		kind:   http2.FrameType(b[3]),
		flags:  http2.Flags(b[4]),
		stream: binary.BigEndian.Uint32(b[5:]) & (1<<31 - 1),
	}
}

// continues reports whether CONTINUATIONs have to follow.
func (f frameHead) continues() bool {
	return (f.kind == http2.FrameHeaders || f.kind == http2.FrameContinuation) && !f.flags.Has(http2.FlagHeadersEndHeaders)
}

// frameReader says where frames are read from.
type frameReader struct {
	r     io.Reader
	limit int64 // of a head, bytes
	// head is called as soon as a frame's header is there; nil: nobody asks.
	head func(frameHead)
}

// next reads one frame. An error of r's loses nothing: next may be called again.
// Any other error is final.
func (c *Conn) next(from frameReader) (http2.Frame, error) {
	g := &c.h2.framing
	for {
		if err := c.fill(from.r, g.at+frameHeader); err != nil {
			return nil, err
		}
		f := parseFrameHead(g.buf[g.at:])
		if err := g.permit(f, from.limit); err != nil {
			if errors.Is(err, answeredHTTP1) {
				c.h2.textStatus = c.statusLine(from.r)
			}
			return nil, err
		}
		if from.head != nil {
			from.head(f)
		}
		if err := c.fill(from.r, g.at+frameHeader+f.length); err != nil {
			return nil, err
		}
		if !f.continues() {
			return c.h2.parse(from.limit)
		}
		g.at, g.parts = len(g.buf), g.parts+1
	}
}

// fill reads until n bytes of buf are there.
func (c *Conn) fill(r io.Reader, n int) error {
	g := &c.h2.framing
	for len(g.buf) < n {
		first := len(g.buf) == 0
		if cap(g.buf) < n {
			g.buf = append(make([]byte, 0, n), g.buf...)
		}
		got, err := r.Read(g.buf[len(g.buf):n])
		if first && got > 0 {
			g.start = c.tap.start
		}
		g.buf = g.buf[:len(g.buf)+got]
		if len(g.buf) < n && err != nil {
			return err
		}
	}
	return nil
}

// What a peer sends that speaks no HTTP/2. Some answer with a page that has no head.
const (
	answeredHTTP1 protocolError = "the peer answers in HTTP/1.1, not in HTTP/2"
	answeredText  protocolError = "the peer answers with text, not in HTTP/2"
)

// statusLine is the status of an HTTP/1 answer whose first bytes are there; 0: it did
// not come. What could not be read changes nothing: what came is no HTTP/2.
func (c *Conn) statusLine(r io.Reader) int {
	_ = c.fill(r, len("HTTP/1.1 408"))
	return statusOfBytes(c.h2.framing.buf)
}

// notText reports whether a character is none of a text's. A frame's header begins
// with a length that is allowed, so with a zero byte.
func notText(r rune) bool {
	return r != '\r' && r != '\n' && r != '\t' && (r < ' ' || r > '~')
}

// permit refuses what would cost memory, before any of it is read.
func (g *framing) permit(f frameHead, limit int64) error {
	switch {
	case bytes.HasPrefix(g.buf, []byte("HTTP/1.")):
		return answeredHTTP1
	case g.parts == 0 && !bytes.ContainsFunc(g.buf[:frameHeader], notText):
		return answeredText
	case f.length > h2MaxFrame:
		return protocolError("a frame larger than allowed")
	case g.parts == 0:
		return nil
	case f.kind != http2.FrameContinuation || f.stream != parseFrameHead(g.buf).stream:
		return protocolError("a head that is not continued")
	case g.parts >= maxParts:
		return protocolError("a head in too many frames")
	case int64(len(g.buf)+f.length) > 2*limit: // packed it is smaller than its list, as a rule
		return errHeadLimit
	default:
		return nil
	}
}

// parse reads the frame that is complete.
func (h *h2) parse(limit int64) (http2.Frame, error) {
	g := &h.framing
	if g.lib == nil {
		g.lib = http2.NewFramer(nil, &g.in)
		g.lib.SetMaxReadFrameSize(h2MaxFrame)
		g.lib.SetReuseFrames()
	}
	if parseFrameHead(g.buf).kind == http2.FrameHeaders {
		if h.decoder == nil {
			h.decoder = hpack.NewDecoder(h2Table, nil)
		}
		g.lib.ReadMetaHeaders, g.lib.MaxHeaderListSize = h.decoder, uint32(min(limit, h2WindowLimit))
	}
	g.in.Reset(g.buf)
	f, err := g.lib.ReadFrame()
	size := len(g.buf)
	g.at, g.parts, g.buf = 0, 0, g.buf[:0]
	g.in.Reset(nil)
	if err != nil {
		return nil, broke(err)
	}
	if head, ok := f.(*http2.MetaHeadersFrame); ok && head.Truncated || ok && int64(size) > 2*limit {
		return nil, errHeadLimit
	}
	return f, nil
}

// rest lets go of what is needed only while frames come.
func (g *framing) rest() {
	g.lib = nil
	if len(g.buf) == 0 {
		g.buf = nil
	}
}

package lab

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// h2conn is one accepted connection that speaks HTTP/2. Frames are written to
// out and leave together with flush, so that what belongs together is never
// half there.
type h2conn struct {
	*conn
	framer *http2.Framer
	out    bytes.Buffer
	packer *hpack.Encoder
	packed bytes.Buffer // under packer

	asked    map[uint32]*h2request // streams whose request is not whole yet
	whole    []*h2request          // requests that wait to be answered
	last     uint32                // the highest stream that the client opened
	settings int                   // our SETTINGS that the client has not acknowledged
	pings    int                   // our PINGs that the client has not answered
	settled  bool                  // the client has acknowledged SETTINGS once
	window   int64                 // what the client takes on the connection, bytes
	initial  int64                 // what it takes on a new stream
	credit   map[uint32]int64      // what it allowed beyond that, by stream
}

// h2request is one request and the stream it came on.
type h2request struct {
	*http.Request
	stream uint32
	at     time.Time // when its first byte was there to be read
}

// errPreface says that the client does not begin as HTTP/2 does.
var errPreface = errors.New("no HTTP/2 preface")

// overH2 lets play speak HTTP/2 on an accepted connection.
func overH2(play func(*h2conn)) func(*conn) {
	return func(c *conn) {
		h := &h2conn{
			conn: c, asked: map[uint32]*h2request{}, credit: map[uint32]int64{},
			window: defaultWindow, initial: defaultWindow,
		}
		h.framer = http2.NewFramer(&h.out, c.in)
		h.framer.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
		h.packer = hpack.NewEncoder(&h.packed)
		if h.begin() == nil {
			play(h)
		}
	}
}

// defaultWindow is what a client takes that has said nothing (RFC 9113, 6.9.2).
const defaultWindow = 65535

// begin sends the server's SETTINGS and reads the client's preface.
func (h *h2conn) begin() error {
	h.announce()
	if err := h.flush(); err != nil {
		return err
	}
	if err := h.await(time.Time{}); err != nil {
		return err
	}
	preface := make([]byte, len(http2.ClientPreface))
	if _, err := io.ReadFull(h.in, preface); err != nil {
		return err
	}
	if string(preface) != http2.ClientPreface {
		return errPreface
	}
	return nil
}

// announce sends SETTINGS, which the client has to acknowledge.
func (h *h2conn) announce() {
	_ = h.framer.WriteSettings(http2.Setting{ID: http2.SettingMaxConcurrentStreams, Val: 100})
	h.settings++
}

// flush writes the frames that wait, in one piece.
func (h *h2conn) flush() error {
	_, err := h.stream.Write(h.out.Bytes())
	h.out.Reset()
	return err
}

// next waits for the next whole request, as [conn.next] does. None is handed
// out before the client has acknowledged our SETTINGS: a frame of its that is
// still on its way would turn the FIN of a close into an RST. PINGs and SETTINGS
// are answered on the way and do not count as use.
func (h *h2conn) next(wait time.Duration) (*h2request, error) {
	for len(h.whole) == 0 || !h.settled {
		until := deadline(h.quiet, wait)
		if len(h.whole)+len(h.asked) > 0 { // what waits for its end, or for SETTINGS, is not idle
			until = time.Time{}
		}
		if err := h.await(until); err != nil {
			return nil, err
		}
		if err := h.frame(); err != nil {
			return nil, err
		}
	}
	q := h.whole[0]
	h.whole = h.whole[1:]
	h.served++
	h.note(q.Request, q.at)
	return q, nil
}

// ignore reads what the client sends for d (0: until it is gone) and answers no
// request, but PINGs and SETTINGS; false when the client is gone.
func (h *h2conn) ignore(d time.Duration) bool {
	until := deadline(time.Now(), d)
	for {
		err := h.await(until)
		if errors.Is(err, errIdle) {
			return true
		}
		if err != nil || h.frame() != nil {
			return false
		}
		h.whole = nil
	}
}

// frame reads one frame and does what it asks for.
func (h *h2conn) frame() error {
	at := time.Now()
	f, err := h.framer.ReadFrame()
	if err != nil {
		return err
	}
	switch f := f.(type) {
	case *http2.MetaHeadersFrame:
		h.opened(f, at)
	case *http2.DataFrame:
		h.data(f)
	case *http2.RSTStreamFrame:
		delete(h.asked, f.StreamID)
	case *http2.WindowUpdateFrame:
		h.allowed(f)
	case *http2.SettingsFrame:
		h.told(f)
	case *http2.PingFrame:
		if f.IsAck() {
			h.pings--
		} else {
			_ = h.framer.WritePing(true, f.Data)
		}
	}
	if h.out.Len() == 0 {
		return nil
	}
	return h.flush()
}

func (h *h2conn) opened(f *http2.MetaHeadersFrame, at time.Time) {
	if f.StreamID <= h.last { // trailers
		h.ended(f.StreamID, f.StreamEnded())
		return
	}
	h.last = f.StreamID
	q := &http.Request{
		Method: f.PseudoValue("method"), RequestURI: f.PseudoValue("path"), Host: f.PseudoValue("authority"),
		Proto: "HTTP/2.0", ProtoMajor: 2, Header: http.Header{},
	}
	for _, field := range f.RegularFields() {
		q.Header.Add(field.Name, field.Value)
	}
	h.asked[f.StreamID] = &h2request{Request: q, stream: f.StreamID, at: at}
	h.ended(f.StreamID, f.StreamEnded())
}

// data forgets a request's body and allows the client as much again.
func (h *h2conn) data(f *http2.DataFrame) {
	if n := f.Length; n > 0 {
		_ = h.framer.WriteWindowUpdate(0, n)
		if !f.StreamEnded() {
			_ = h.framer.WriteWindowUpdate(f.StreamID, n)
		}
	}
	h.ended(f.StreamID, f.StreamEnded())
}

// ended takes a request for whole when its stream ended.
func (h *h2conn) ended(stream uint32, ended bool) {
	if q := h.asked[stream]; ended && q != nil {
		delete(h.asked, stream)
		h.whole = append(h.whole, q)
	}
}

func (h *h2conn) allowed(f *http2.WindowUpdateFrame) {
	if f.StreamID == 0 {
		h.window += int64(f.Increment)
	} else if f.StreamID <= h.last {
		h.credit[f.StreamID] += int64(f.Increment)
	}
}

func (h *h2conn) told(f *http2.SettingsFrame) {
	if f.IsAck() {
		h.settings--
		h.settled = true
		return
	}
	if size, ok := f.Value(http2.SettingInitialWindowSize); ok {
		h.initial = int64(size)
	}
	_ = h.framer.WriteSettingsAck()
}

// good writes a whole, expected answer; false when the client is gone.
func (h *h2conn) good(q *h2request) bool {
	return h.answer(q, http.StatusOK, twoDays)
}

// answer writes a whole answer in one piece; false when the client is gone. Each
// header is "name: value".
func (h *h2conn) answer(q *h2request, status int, body string, headers ...string) bool {
	headers = append(headers, "content-length: "+strconv.Itoa(len(body)))
	if q.Method == http.MethodHead {
		body = ""
	}
	h.head(q, status, body == "", headers...)
	if body != "" {
		_ = h.framer.WriteData(q.stream, true, []byte(body))
		h.window -= int64(len(body))
	}
	delete(h.credit, q.stream)
	return h.push()
}

// push writes the frames that wait and begins to count idleness anew; false
// when the client is gone.
func (h *h2conn) push() bool {
	err := h.flush()
	h.quiet = time.Now()
	return err == nil
}

// head adds an answer's HEADERS to what waits.
func (h *h2conn) head(q *h2request, status int, end bool, headers ...string) {
	_ = h.framer.WriteHeaders(http2.HeadersFrameParam{
		StreamID: q.stream, BlockFragment: h.block(status, headers...), EndStream: end, EndHeaders: true,
	})
}

// block is an answer's packed header block.
func (h *h2conn) block(status int, headers ...string) []byte {
	h.packed.Reset()
	field := func(name, value string) {
		// The buffer takes all that it is given.
		_ = h.packer.WriteField(hpack.HeaderField{Name: name, Value: value})
	}
	field(":status", strconv.Itoa(status))
	field("date", time.Now().UTC().Format(http.TimeFormat))
	field("content-type", "application/json")
	for _, header := range headers {
		name, value, _ := strings.Cut(header, ": ")
		field(name, value)
	}
	return bytes.Clone(h.packed.Bytes())
}

// goaway says that no stream above last was, or will be, processed, and why.
func (h *h2conn) goaway(last uint32, code http2.ErrCode, debug string) bool {
	h.leaving()
	_ = h.framer.WriteGoAway(last, code, []byte(debug))
	return h.push()
}

// over ends the connection as a server does that closes in order: close_notify
// under TLS, then FIN.
func (h *h2conn) over() {
	h.notify()
	h.fin()
}

package wire

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"

	"golang.org/x/net/http2"
)

var (
	errStreamReset = errors.New("the stream was reset")
	errLeftOut     = errors.New("a GOAWAY left the request out")
)

// answer is what comes on our stream.
type answer struct {
	x       *exchange
	c       *Conn
	rest    []byte // of the request's body, which the peer has no window for yet
	room    int64  // how much the peer may send on our stream
	head    *http.Response
	data    []byte // DATA that has not been read yet
	length  int64  // what the head says of it; -1: nothing
	got     int64  // what came
	informs int    // 1xx answers so far
	ended   bool
}

// receiveH2 reads the answer to its end.
func (x *exchange) receiveH2() Response {
	c := x.conn
	x.source = source{r: c.reader(), x: x}
	x.e.H2 = &H2{}
	a := &answer{x: x, c: c, rest: x.rest, room: h2Window, length: -1}
	out, err := a.read()
	if err == nil {
		x.e.Stage, x.e.Ending = StageDone, EndWhole
		c.arrived() // a GOAWAY that came with the answer: nothing can follow
		out.Close = c.h2.goaway != nil
	} else {
		x.failed(err)
		if errors.Is(err, errNotHTTP) || errors.Is(err, errHeadLimit) {
			c.h2.broken = err
		}
	}
	c.h2.framing.rest()
	return out
}

func (a *answer) read() (Response, error) {
	for a.head == nil {
		if err := a.step(); err != nil {
			return Response{}, err
		}
	}
	out := Response{Status: a.head.StatusCode, Header: a.head.Header, Proto: a.head.Proto}
	body, err := a.x.readBody(a.head)
	if err != nil {
		return Response{}, err
	}
	out.Body, out.Trailer = body, a.head.Trailer
	if a.c.tls != nil {
		state := a.c.tls.ConnectionState()
		out.TLS = &state
	}
	return out, nil
}

// step takes the next frame, whatever it is.
func (a *answer) step() error {
	x, h := a.x, a.c.h2
	if h.broken != nil {
		return h.broken
	}
	if h.goaway != nil && h.goaway.LastStream < h.stream && x.source.stage == StageNone {
		return errLeftOut // no answer will come: what is waited for is told already
	}
	a.send()
	f, err := a.c.next(frameReader{r: frameSource{&x.source}, limit: orDefault(x.req.MaxHead, defaultMaxHead), head: a.began})
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF // not the body's end
	}
	if err != nil {
		return err
	}
	switch f := f.(type) {
	case *http2.MetaHeadersFrame:
		if f.StreamID == h.stream && h.settled {
			return a.headers(f)
		}
	case *http2.DataFrame:
		if f.StreamID == h.stream && h.settled {
			return a.take(f)
		}
	case *http2.RSTStreamFrame:
		if f.StreamID == h.stream && h.settled {
			code := uint32(f.ErrCode)
			x.e.H2.Reset = &code
			x.decided(h.framing.start)
			return fmt.Errorf("%w: %s", errStreamReset, f.ErrCode)
		}
	}
	if err := a.c.control(f); err != nil {
		return err
	}
	if _, ok := f.(*http2.GoAwayFrame); ok {
		x.left(h.framing.start)
	}
	return nil
}

// began notes the first byte of an answer: of a frame of our stream that brings
// one. What a peer says of the connection is none.
func (a *answer) began(f frameHead) {
	s := &a.x.source
	if s.stage == StageNone && f.stream == a.c.h2.stream && (f.kind == http2.FrameHeaders || f.kind == http2.FrameData) {
		s.began(a.c.h2.framing.start)
	}
}

// send writes replies, and what the peer has made room for.
func (a *answer) send() {
	c, h := a.c, a.c.h2
	before, size, out := len(a.rest), int64(len(c.unsent)), c.tap.out
	if before > 0 {
		h.queue(func(w *http2.Framer) error { a.rest = h.sendBody(w, a.rest); return nil })
	}
	c.push()
	if len(a.rest) < before {
		left := c.tap.out - out
		a.x.e.RequestSize += left + int64(len(c.unsent)) - size
		a.x.e.RequestBytes += max(left-size, 0)
	}
}

// headers takes a head: informational, the answer's, or what follows its body.
func (a *answer) headers(f *http2.MetaHeadersFrame) error {
	header, err := answerHeader(f)
	if err != nil {
		return err
	}
	if a.head != nil {
		if !f.StreamEnded() || len(f.PseudoFields()) > 0 {
			return protocolError("a second head, which is no trailer")
		}
		a.head.Trailer = header
		return a.end()
	}
	status, err := statusOf(f)
	switch {
	case err != nil:
		return err
	case status < 200:
		if a.informs++; a.informs > maxInformational || f.StreamEnded() || status == http.StatusSwitchingProtocols {
			return protocolError("an informational answer that HTTP/2 forbids, or too many")
		}
		return nil
	}
	a.head = &http.Response{
		StatusCode: status, Header: header, Body: io.NopCloser(a),
		Proto: protoH2, ProtoMajor: 2, Request: a.x.req.HTTP,
	}
	a.x.source.stage = StageBody
	if a.length, err = a.declared(); err != nil {
		return err
	}
	if f.StreamEnded() {
		return a.end()
	}
	return nil
}

// answerHeader returns the fields of a head, as HTTP/1's are.
func answerHeader(f *http2.MetaHeadersFrame) (http.Header, error) {
	header := make(http.Header, len(f.Fields))
	for _, field := range f.RegularFields() {
		switch field.Name {
		case "connection", "keep-alive", "proxy-connection", "transfer-encoding", "upgrade": // 8.2.2: malformed
			return nil, protocolError("a field of HTTP/1's connection, which HTTP/2 forbids: " + field.Name)
		}
		name := http.CanonicalHeaderKey(field.Name)
		header[name] = append(header[name], field.Value)
	}
	return header, nil
}

func statusOf(f *http2.MetaHeadersFrame) (int, error) {
	pseudo := f.PseudoFields()
	if len(pseudo) != 1 || pseudo[0].Name != ":status" || len(pseudo[0].Value) != 3 {
		return 0, protocolError("a head without a status of its own")
	}
	status, err := strconv.ParseUint(pseudo[0].Value, 10, 16)
	if err != nil || status < 100 {
		return 0, protocolError("a head without a status of its own")
	}
	return int(status), nil
}

// declared is the body's length as the head says it; -1: it says none, or
// speaks of a body that is not sent.
func (a *answer) declared() (int64, error) {
	if a.bodyless() {
		return -1, nil
	}
	values := a.head.Header["Content-Length"]
	if len(values) == 0 {
		return -1, nil
	}
	n, err := strconv.ParseUint(values[0], 10, 63)
	if err != nil {
		return 0, errConflict
	}
	for _, v := range values[1:] {
		if v != values[0] {
			return 0, errConflict
		}
	}
	return int64(n), nil
}

// bodyless reports whether the answer has no body, whatever length it tells.
func (a *answer) bodyless() bool {
	s := a.head.StatusCode
	return a.x.req.HTTP.Method == http.MethodHead || s == http.StatusNotModified || s == http.StatusNoContent
}

// end notes the end of the answer.
func (a *answer) end() error {
	a.ended = true
	if a.length >= 0 && a.got != a.length {
		return errConflict
	}
	return nil
}

// take takes a DATA frame, and gives its room back.
func (a *answer) take(f *http2.DataFrame) error {
	h := a.c.h2
	size := int64(f.Length) // with its padding
	if err := h.received(size); err != nil {
		return err
	}
	switch a.room -= size; {
	case a.head == nil:
		return protocolError("DATA before the head")
	case a.room < 0:
		return protocolError("more DATA than the window allows")
	case len(f.Data()) > 0 && a.bodyless():
		return protocolError("a body, where the answer has none")
	case len(f.Data()) == 0:
		if err := a.c.spend(); err != nil {
			return err
		}
	}
	a.data = f.Data() // read before the next frame is
	a.got += int64(len(a.data))
	if a.length >= 0 && a.got > a.length {
		return errConflict
	}
	h.giveBack()
	if f.StreamEnded() {
		return a.end()
	}
	if a.room <= h2Window/2 {
		more := uint32(h2Window - a.room)
		a.room = h2Window
		h.queue(func(w *http2.Framer) error { return w.WriteWindowUpdate(h.stream, more) })
	}
	return nil
}

// Read reads the body.
func (a *answer) Read(p []byte) (int, error) {
	for len(a.data) == 0 {
		if a.ended {
			return 0, io.EOF
		}
		if err := a.step(); err != nil {
			return 0, err
		}
	}
	n := copy(p, a.data)
	a.data = a.data[n:]
	return n, nil
}

package wire

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
)

// Limits that hold when a request says none.
const (
	defaultMaxHead = 64 << 10
	defaultMaxBody = 1 << 20
	// maxInformational is how many 1xx answers may precede the final one.
	maxInformational = 16
)

var (
	errConflict  = errors.New("the answer's lengths conflict")
	errNotHTTP   = errors.New("not an HTTP answer")
	errBodyLimit = errors.New("the answer's body is too large")
)

// readers are used again: a buffer for each answer would be half of all that a
// probe allocates.
var readers = sync.Pool{New: func() any { return bufio.NewReader(nil) }} //nolint:gochecknoglobals // what is given back has to lie somewhere

// receive reads the answer to its end.
func (x *exchange) receive() Response {
	x.source = source{r: x.conn.reader(), x: x, limit: orDefault(x.req.MaxHead, defaultMaxHead)}
	br := readers.Get().(*bufio.Reader)
	br.Reset(&x.source)
	defer func() {
		br.Reset(nil) // keeps nothing of the exchange
		readers.Put(br)
	}()
	resp, err := x.readHead(br)
	if err != nil {
		x.failed(err)
		return Response{}
	}
	out := Response{Status: resp.StatusCode, Header: resp.Header, Proto: resp.Proto, Close: resp.Close}
	if x.unasked() && x.e.LeftOver == 0 { // what was left over is gone: this head is our own answer's
		x.e.PushedStatus = resp.StatusCode
	}
	out.Body, err = x.readBody(resp)
	if err != nil {
		x.failed(err) // not closed: net/http would first read the body to its end
		return Response{}
	}
	_ = resp.Body.Close()
	x.e.Stage, x.e.Ending = StageDone, EndWhole
	left, _ := br.Peek(br.Buffered())
	left = append(left[:len(left):len(left)], x.conn.decrypted()...)
	x.e.LeftAfter, x.leftStatus = len(left), statusOfBytes(left)
	if x.conn.tls != nil {
		state := x.conn.tls.ConnectionState()
		out.TLS = &state
	}
	return out
}

// statusOfBytes is the status of the answer that bytes begin with; 0: they begin with none.
func statusOfBytes(b []byte) int {
	rest, ok := bytes.CutPrefix(b, []byte("HTTP/1."))
	if !ok || len(rest) < len("1 408") || rest[1] != ' ' {
		return 0
	}
	status, err := strconv.Atoi(string(rest[2:5]))
	if err != nil || status < 100 {
		return 0
	}
	return status
}

// readHead reads heads until the final answer's.
func (x *exchange) readHead(br *bufio.Reader) (*http.Response, error) {
	for n := range maxInformational {
		if err := startsLikeHTTP(br); err != nil {
			if n == 0 {
				x.startsLikeH2(err)
			}
			return nil, err
		}
		resp, err := http.ReadResponse(br, x.req.HTTP)
		head := x.source.head[:len(x.source.head)-br.Buffered()]
		switch {
		case conflicting(head):
			return nil, errConflict
		case err != nil:
			return nil, err
		case int64(len(head)) > x.source.limit:
			return nil, errHeadLimit
		case resp.StatusCode < 100: // net/http takes 000 and +20 for statuses
			return nil, errNotHTTP
		}
		if resp.StatusCode >= 200 || resp.StatusCode == http.StatusSwitchingProtocols {
			x.source.stage, x.source.head = StageBody, nil
			return resp, nil
		}
		x.source.head = append([]byte(nil), x.source.head[len(head):]...)
		x.source.limit -= int64(len(head))
	}
	return nil, errNotHTTP
}

// startsLikeHTTP looks at the first bytes: what is no HTTP need not be waited
// for until a line ends.
func startsLikeHTTP(br *bufio.Reader) error {
	const magic = "HTTP/"
	for n := 1; n <= len(magic); n++ {
		b, err := br.Peek(n)
		if err != nil {
			return err
		}
		if b[n-1] != magic[n-1] {
			return errNotHTTP
		}
	}
	return nil
}

// conflicting reports whether a head gives more than one length: the two ends
// of a connection, and what is between them, would not agree where it ends.
// net/http drops a Content-Length beside chunks without a word.
func conflicting(head []byte) bool {
	var length []byte
	var lengths, codings bool
	for line := range bytes.Lines(head) {
		name, value, ok := bytes.Cut(line, []byte(":"))
		if !ok {
			continue
		}
		switch {
		case bytes.EqualFold(name, []byte("Transfer-Encoding")):
			codings = true
		case bytes.EqualFold(name, []byte("Content-Length")):
			value = bytes.TrimSpace(value)
			if lengths && !bytes.Equal(length, value) {
				return true
			}
			length, lengths = value, true
		}
	}
	return lengths && codings
}

// readBody reads the body to its end, decompressed if we asked for that.
func (x *exchange) readBody(resp *http.Response) ([]byte, error) {
	limit := orDefault(x.req.MaxBody, defaultMaxBody)
	sent := &capped{r: resp.Body, left: limit}
	if !x.compressed(resp) {
		return io.ReadAll(sent)
	}
	first := make([]byte, 1)
	if _, err := io.ReadFull(sent, first); err == io.EOF { //nolint:errorlint // ReadFull's own
		return nil, nil // no body: HEAD, 204, or an empty one
	} else if err != nil {
		return nil, err
	}
	zipped, err := gzip.NewReader(io.MultiReader(bytes.NewReader(first), sent))
	if err != nil {
		return nil, fmt.Errorf("decompressing: %w", err)
	}
	return io.ReadAll(&capped{r: zipped, left: limit})
}

// compressed reports whether the body is gzip that we asked for.
func (x *exchange) compressed(resp *http.Response) bool {
	return strings.EqualFold(resp.Header.Get("Content-Encoding"), "gzip") &&
		strings.Contains(strings.ToLower(x.req.HTTP.Header.Get("Accept-Encoding")), "gzip")
}

// failed notes why there is no whole answer: how reading ended where it did,
// else what was wrong with what was read.
func (x *exchange) failed(err error) {
	s := &x.source
	x.e.Stage, x.e.Error = s.stage, err.Error()
	// What was cut reads like something malformed: a head, and the trailers after
	// the last chunk. Reading had only ended if the parser wanted more than came.
	ended := s.err != nil && !errors.Is(err, errNotHTTP)
	switch {
	case errors.Is(err, errHeadLimit):
		x.e.Ending = EndHeadLimit
	case errors.Is(err, errBodyLimit):
		x.e.Ending = EndBodyLimit
	case errors.Is(err, errConflict):
		x.e.Ending = EndConflict
	case errors.Is(err, errStreamReset):
		x.e.Ending = EndStreamReset
	case errors.Is(err, errLeftOut):
		x.e.Ending = EndGoaway
	case ended:
		x.e.Ending = s.ended
	default:
		x.e.Ending = EndGarbage
	}
}

// capped ends a body beyond its limit with errBodyLimit.
type capped struct {
	r    io.Reader
	left int64
}

func (c *capped) Read(p []byte) (int, error) {
	if c.left < 0 {
		return 0, errBodyLimit
	}
	if int64(len(p)) > c.left+1 {
		p = p[:c.left+1]
	}
	n, err := c.r.Read(p)
	c.left -= int64(n)
	if c.left < 0 {
		return n, errBodyLimit
	}
	return n, err
}

func orDefault(n, otherwise int64) int64 {
	if n <= 0 {
		return otherwise
	}
	return n
}

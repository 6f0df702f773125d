package wire

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/http/httpguts"
	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// encode writes a request's head, and as much of its body as the peer's
// windows allow now; it returns the rest of the body.
func (h *h2) encode(out *bytes.Buffer, r *http.Request, secure bool) (rest []byte, err error) {
	body, err := wholeBody(r)
	if err != nil {
		return nil, err
	}
	fields, err := requestFields(r, len(body), secure)
	if err != nil {
		return nil, err
	}
	h.stream, h.current = h.stream+2, h.initial
	if h.stream == 2 { // the first
		h.stream = 1
	}
	w := http2.NewFramer(out, nil) // into memory, and within the rules: it does not fail
	block := pack(fields)
	first := block[:min(len(block), h2MaxFrame)]
	_ = w.WriteHeaders(http2.HeadersFrameParam{
		StreamID: h.stream, BlockFragment: first, EndStream: len(body) == 0, EndHeaders: len(first) == len(block),
	})
	for block = block[len(first):]; len(block) > 0; {
		part := block[:min(len(block), h2MaxFrame)]
		block = block[len(part):]
		_ = w.WriteContinuation(h.stream, len(block) == 0, part)
	}
	return h.sendBody(w, body), nil
}

// sendBody writes what the windows allow and returns the rest.
func (h *h2) sendBody(w *http2.Framer, body []byte) []byte {
	for len(body) > 0 {
		n := min(int64(len(body)), h2MaxFrame, h.window, h.current)
		if n <= 0 {
			break
		}
		h.window, h.current = h.window-n, h.current-n
		_ = w.WriteData(h.stream, n == int64(len(body)), body[:n])
		body = body[n:]
	}
	return body
}

// wholeBody reads the request's body, which is small and in memory.
func wholeBody(r *http.Request) ([]byte, error) {
	if r.Body == nil || r.Body == http.NoBody {
		return nil, nil
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, fmt.Errorf("reading the body: %w", err)
	}
	return body, nil
}

// pack compresses without a table of its own: it says so at the beginning of
// each head, so nothing has to be kept while a connection is held, and whatever
// the peer allows is enough.
func pack(fields []hpack.HeaderField) []byte {
	var b bytes.Buffer
	e := hpack.NewEncoder(&b)
	e.SetMaxDynamicTableSize(0)
	for _, f := range fields {
		_ = e.WriteField(f) // into memory: it does not fail
	}
	return b.Bytes()
}

// requestFields returns the head of a request: HTTP/2's own fields, then the
// request's, without those that mean HTTP/1's connection.
func requestFields(r *http.Request, length int, secure bool) ([]hpack.HeaderField, error) {
	authority, scheme := r.Host, "http"
	if authority == "" {
		authority = r.URL.Host
	}
	if r.URL.Scheme == "https" || secure && r.URL.Scheme == "" {
		scheme = "https"
	}
	method := r.Method
	if method == "" {
		method = http.MethodGet
	}
	fields := []hpack.HeaderField{
		{Name: ":method", Value: method}, {Name: ":scheme", Value: scheme},
		{Name: ":authority", Value: authority}, {Name: ":path", Value: r.URL.RequestURI()},
	}
	for _, f := range fields {
		if !httpguts.ValidHeaderFieldValue(f.Value) {
			return nil, fmt.Errorf("the request's %s has a character that no header may have", f.Name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(r.Header)) {
		if !httpguts.ValidHeaderFieldName(name) {
			return nil, errors.New("a header's name has a character that none may have")
		}
		lower := strings.ToLower(name)
		for _, v := range r.Header[name] {
			switch {
			case ofConnection(lower), lower == "te" && !strings.EqualFold(v, "trailers"):
			case !httpguts.ValidHeaderFieldValue(v):
				return nil, fmt.Errorf("header %q has a character that none may have", name)
			default:
				fields = append(fields, hpack.HeaderField{Name: lower, Value: v})
			}
		}
	}
	if length > 0 {
		fields = append(fields, hpack.HeaderField{Name: "content-length", Value: strconv.Itoa(length)})
	}
	return fields, nil
}

// ofConnection names the fields that HTTP/2 has no place for, and those that it
// says in its own way.
func ofConnection(lower string) bool {
	switch lower {
	case "connection", "keep-alive", "proxy-connection", "transfer-encoding", "upgrade", "http2-settings", "host", "content-length":
		return true
	default:
		return false
	}
}

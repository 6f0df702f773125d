package lab

import (
	"bytes"
	"net/http"
	"strings"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

func h2HostileScenarios() []Scenario {
	bad := func(name string, say func(*h2conn, *h2request), about string) Scenario {
		return Scenario{Name: "h2_bad_response_" + name, Reason: "bad_response", play: onH2Request(nonsense(say)), H2: true, About: about}
	}
	return []Scenario{
		{Name: "h2_bad_response", Reason: "bad_response", play: h2NotSpoken, H2: true,
			About: "Answers HTTP/2's preface with 400 in HTTP/1.1, as a server does that speaks nothing else."},
		bad("hpack", badBlock, "Answers with a header block that cannot be unpacked."),
		bad("bomb", hpackBomb, "Answers with a header block of 16 KiB that unpacks to 48 MiB."),
		bad("frame", badFrame, "Answers with DATA on stream 0, which belongs to the connection."),
		bad("stream", badStream, "Answers on a stream that nobody opened."),
		bad("frame_size", badSize, "Answers with a frame of 32 KiB where 16 KiB are allowed."),
		bad("push", badPush, "Answers with PUSH_PROMISE to a client that allowed none."),
		bad("headless", badHeadless, "Answers with DATA where HEADERS must come first."),
		bad("no_status", badStatus, "Answers with HEADERS without :status."),
		{Name: "h2_bad_response_endless_head", Reason: "bad_response", play: onH2Request(h2EndlessHead), H2: true,
			About: "Sends CONTINUATION without end."},
		{Name: "h2_too_large", Reason: "too_large", play: onH2Request(h2TooLarge), H2: true,
			About: "Sends DATA without end, as fast as the client allows."},
	}
}

// h2NotSpoken is HTTP/1.1 only: it takes the preface for a request, as nginx
// does where http2 is off.
func h2NotSpoken(c *conn) {
	if c.await(time.Time{}) != nil {
		return
	}
	c.send(head(http.StatusBadRequest, "Connection: close", "Content-Length: 0"))
	c.swallow(0)
}

// nonsense says what no client may accept, and goes on living: the end of the
// connection is no hint.
func nonsense(say func(*h2conn, *h2request)) func(*h2conn, *h2request) bool {
	return func(h *h2conn, q *h2request) bool {
		h.framer.AllowIllegalWrites = true
		say(h, q)
		if h.push() {
			h.swallow(0)
		}
		return false
	}
}

// badBlock refers to an entry that no table has.
func badBlock(h *h2conn, q *h2request) {
	_ = h.framer.WriteHeaders(http2.HeadersFrameParam{
		StreamID: q.stream, BlockFragment: []byte{0xff, 0xff, 0xff, 0x7f}, EndStream: true, EndHeaders: true,
	})
}

// hpackBomb puts one header of 3 KiB into the client's table and refers to it,
// a byte each, as often as a frame holds.
func hpackBomb(h *h2conn, q *h2request) {
	block := h.block(http.StatusOK)
	h.packed.Reset()
	field := hpack.HeaderField{Name: "x-lab", Value: strings.Repeat("a", 3<<10)}
	_ = h.packer.WriteField(field)
	block = append(block, h.packed.Bytes()...)
	h.packed.Reset()
	_ = h.packer.WriteField(field)
	block = append(block, bytes.Repeat(h.packed.Bytes(), 16<<10-len(block))...)
	_ = h.framer.WriteHeaders(http2.HeadersFrameParam{StreamID: q.stream, BlockFragment: block, EndStream: true, EndHeaders: true})
}

func badFrame(h *h2conn, _ *h2request) { _ = h.framer.WriteData(0, false, []byte(twoDays)) }

func badStream(h *h2conn, q *h2request) {
	h.head(&h2request{stream: q.stream + 100}, http.StatusOK, true)
}

func badSize(h *h2conn, q *h2request) {
	h.head(q, http.StatusOK, false)
	_ = h.framer.WriteData(q.stream, true, make([]byte, 32<<10))
}

func badPush(h *h2conn, q *h2request) {
	_ = h.framer.WritePushPromise(http2.PushPromiseParam{
		StreamID: q.stream, PromiseID: 2, BlockFragment: h.block(http.StatusOK), EndHeaders: true,
	})
}

func badHeadless(h *h2conn, q *h2request) { _ = h.framer.WriteData(q.stream, true, []byte(twoDays)) }

func badStatus(h *h2conn, q *h2request) {
	h.packed.Reset()
	_ = h.packer.WriteField(hpack.HeaderField{Name: "content-type", Value: "application/json"})
	_ = h.framer.WriteHeaders(http2.HeadersFrameParam{
		StreamID: q.stream, BlockFragment: h.packed.Bytes(), EndStream: true, EndHeaders: true,
	})
}

// h2EndlessHead sends headers until the client has had enough. They are
// sensitive, so that each is sent in full, and of a letter that would only grow
// by being packed.
func h2EndlessHead(h *h2conn, q *h2request) bool {
	_ = h.framer.WriteHeaders(http2.HeadersFrameParam{StreamID: q.stream, BlockFragment: h.block(http.StatusOK)})
	h.packed.Reset()
	for range 12 {
		_ = h.packer.WriteField(hpack.HeaderField{Name: "x-lab", Value: strings.Repeat("~", 1000), Sensitive: true})
	}
	ok := h.push()
	for ok {
		_ = h.framer.WriteContinuation(q.stream, false, h.packed.Bytes())
		ok = h.push()
	}
	return false
}

// h2TooLarge sends DATA until the client has had enough, and no more than it
// allows.
func h2TooLarge(h *h2conn, q *h2request) bool {
	chunk := bytes.Repeat([]byte("0123456789abcdef"), 1<<10)
	h.head(q, http.StatusOK, false)
	h.credit[q.stream] += h.initial
	for h.push() {
		for h.window < int64(len(chunk)) || h.credit[q.stream] < int64(len(chunk)) {
			if h.await(time.Time{}) != nil || h.frame() != nil {
				return false
			}
		}
		_ = h.framer.WriteData(q.stream, false, chunk)
		h.window -= int64(len(chunk))
		h.credit[q.stream] -= int64(len(chunk))
	}
	return false
}

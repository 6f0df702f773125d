package lab

import (
	"net/http"
	"strconv"

	"golang.org/x/net/http2"
)

func h2PartialScenarios() []Scenario {
	stays := func(h *h2conn) { h.ignore(0) }
	return []Scenario{
		{Name: "h2_partial_head", Reason: "partial_head", play: onH2Request(h2Partial(halfFrame, (*h2conn).over)), H2: true,
			About: "Sends half of a HEADERS frame, then closes."},
		{Name: "h2_partial_head_reset", Reason: "partial_head", play: onH2Request(h2Partial(halfBlock, func(h *h2conn) { h.rst() })), H2: true,
			About: "Sends HEADERS without END_HEADERS, then resets the connection."},
		{Name: "h2_partial_head_stall", Reason: "partial_head", play: onH2Request(h2Partial(halfBlock, stays)), H2: true,
			About: "Sends HEADERS without END_HEADERS, then nothing more."},
		{Name: "h2_partial_body", Reason: "partial_body", play: onH2Request(h2Partial(halfData, (*h2conn).over)), H2: true,
			About: "Sends half of the body, then closes without GOAWAY."},
		{Name: "h2_partial_body_reset", Reason: "partial_body", play: onH2Request(h2Partial(halfData, func(h *h2conn) { h.rst() })), H2: true,
			About: "Sends half of the body, then resets the connection."},
		{Name: "h2_partial_body_stall", Reason: "partial_body", play: onH2Request(h2Partial(halfData, stays)), H2: true,
			About: "Sends half of the body, then answers PINGs and nothing else."},
		{Name: "h2_stream_reset_body", Reason: "stream_reset", play: onH2Request(h2Partial(halfDataReset, stays)), H2: true,
			About: "Sends half of the body, then RST_STREAM INTERNAL_ERROR, as Go does whose handler panics."},
	}
}

// h2Partial sends what begin puts into out, waits until the client's kernel has
// it and lets end finish.
func h2Partial(begin func(*h2conn, *h2request), end func(*h2conn)) func(*h2conn, *h2request) bool {
	return func(h *h2conn, q *h2request) bool {
		begin(h, q)
		if h.push() && h.acknowledged() {
			end(h)
		}
		return false
	}
}

func halfFrame(h *h2conn, q *h2request) {
	h.head(q, http.StatusOK, false, wholeLength())
	h.out.Truncate(h.out.Len() / 2)
}

func halfBlock(h *h2conn, q *h2request) {
	_ = h.framer.WriteHeaders(http2.HeadersFrameParam{
		StreamID: q.stream, BlockFragment: h.block(http.StatusOK, wholeLength()),
	})
}

// halfData ends within the JSON.
func halfData(h *h2conn, q *h2request) {
	h.head(q, http.StatusOK, false, wholeLength())
	_ = h.framer.WriteData(q.stream, false, []byte(twoDays[:len(twoDays)/2]))
}

func halfDataReset(h *h2conn, q *h2request) {
	halfData(h, q)
	_ = h.framer.WriteRSTStream(q.stream, http2.ErrCodeInternal)
}

func wholeLength() string { return "content-length: " + strconv.Itoa(len(twoDays)) }

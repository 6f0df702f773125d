package lab

import (
	"time"

	"golang.org/x/net/http2"
)

func h2StreamScenarios() []Scenario {
	return []Scenario{
		{Name: "h2_blackhole", Reason: "blackhole", play: overH2(h2Blackhole), H2: true, Held: true, Linux: true, Root: true,
			About: "Answers the first stream and loses every segment afterwards."},
		{Name: "h2_crossed_close", Reason: "crossed_close", play: overH2(h2CrossedClose), H2: true, Held: true, Linux: true, Root: true,
			About: "Closes with FIN, and without GOAWAY, while the next request is on its way."},
		{Name: "h2_goaway_at_once", Reason: "goaway_unprocessed", play: overH2(goawayAtOnce), H2: true,
			About: "Says GOAWAY as soon as a connection stands, and processes nothing."},
		{Name: "h2_goaway_unprocessed", Reason: "goaway_unprocessed", play: onH2Request(goawayUnprocessed), H2: true, Held: true,
			About: "Answers the second request with GOAWAY whose last stream is below it, then closes."},
		{Name: "h2_goaway_unprocessed_calm", Reason: "goaway_unprocessed", play: onH2Request(goawayCalm), H2: true, Held: true,
			About: "Answers the second request with GOAWAY ENHANCE_YOUR_CALM, too_many_pings, whose last stream is below it."},
		{Name: "h2_goaway_processed", Reason: "goaway_processed", play: onH2Request(goawayProcessed), H2: true, Held: true,
			About: "Says GOAWAY that covers the second request, then closes without an answer."},
		{Name: "h2_refused_stream", Reason: "refused_stream", play: onH2Request(resets(http2.ErrCodeRefusedStream)), H2: true,
			About: "Ends one stream with RST_STREAM REFUSED_STREAM; on the same connection the next is answered."},
		{Name: "h2_stream_reset", Reason: "stream_reset", play: onH2Request(resets(http2.ErrCodeInternal)), H2: true,
			About: "Ends one stream with RST_STREAM INTERNAL_ERROR; on the same connection the next is answered."},
		{Name: "h2_stream_reset_cancel", Reason: "stream_reset", play: onH2Request(resets(http2.ErrCodeCancel)), H2: true,
			About: "Ends one stream with RST_STREAM CANCEL, as a proxy does whose own upstream is gone."},
		{Name: "h2_eof", Reason: "eof", play: onH2Request(h2EOF), H2: true,
			About: "Reads the request, then closes with FIN, without an answer and without GOAWAY."},
		{Name: "h2_reset", Reason: "reset", play: onH2Request(h2Reset), H2: true,
			About: "Reads the request, then resets the connection."},
		{Name: "h2_no_response", Reason: "no_response", play: onH2Request(h2NoResponse), H2: true,
			About: "Never answers the request, but PINGs, and sends its own five times a second."},
	}
}

func h2Blackhole(h *h2conn) {
	if q, ok := h.lastGood(); ok {
		h.vanish(func() bool { return h.good(q) })
	}
}

func h2CrossedClose(h *h2conn) {
	if q, ok := h.lastGood(); ok {
		h.cross(func() bool { return h.good(q) })
	}
}

// goawayAtOnce is a server that is being shut down. It reads on until the
// client is gone, so that no RST takes the GOAWAY along.
func goawayAtOnce(h *h2conn) {
	if h.goaway(0, http2.ErrCodeNo, "") {
		h.ignore(0)
	}
}

func goawayUnprocessed(h *h2conn, q *h2request) bool {
	return turnAway(h, below(q.stream), http2.ErrCodeNo, "")
}

func goawayCalm(h *h2conn, q *h2request) bool {
	return turnAway(h, below(q.stream), http2.ErrCodeEnhanceYourCalm, "too_many_pings")
}

func goawayProcessed(h *h2conn, q *h2request) bool {
	return turnAway(h, q.stream, http2.ErrCodeNo, "")
}

// turnAway ends the connection over an unanswered request.
func turnAway(h *h2conn, last uint32, code http2.ErrCode, debug string) bool {
	if h.goaway(last, code, debug) {
		h.over()
	}
	return false
}

// resets ends one stream and keeps the connection: who asks again is answered.
func resets(code http2.ErrCode) func(*h2conn, *h2request) bool {
	return func(h *h2conn, q *h2request) bool {
		if h.served > h.server.options.Healthy+1 {
			return h.good(q)
		}
		_ = h.framer.WriteRSTStream(q.stream, code)
		return h.push()
	}
}

func h2EOF(h *h2conn, _ *h2request) bool {
	h.fin()
	return false
}

func h2Reset(h *h2conn, _ *h2request) bool {
	h.rst()
	return false
}

// pingEvery is how often a server that does not answer shows that it lives.
const pingEvery = 200 * time.Millisecond

// h2NoResponse keeps bytes coming that are no answer.
func h2NoResponse(h *h2conn, _ *h2request) bool {
	for h.ignore(pingEvery) {
		h.ping()
		if !h.push() {
			break
		}
	}
	return false
}

package lab

import (
	"crypto/tls"
	"errors"
	"net/http"
	"time"

	"golang.org/x/net/http2"
)

func h2Scenarios() []Scenario {
	return []Scenario{
		{Name: "h2_healthy", Reason: "ok", play: onH2Request(nil), H2: true,
			About: "Answers every request over HTTP/2 at once and never closes."},
		{Name: "h2_pings", Reason: "ok", play: overH2(h2Pings), H2: true, Held: true, timed: true,
			About: "Sends a PING and SETTINGS on an idle connection; the next request is turned away with GOAWAY unless both were answered."},
		{Name: "h2_goaway_answered", Reason: "ok", play: onH2Request(h2GoawayAnswered), H2: true,
			About: "Says GOAWAY while it works on the request, then answers it and closes, as a server does that is shut down in order."},
		{Name: "h2_status", Reason: "status", play: onH2Request(h2Status), H2: true,
			About: "Answers 404 over HTTP/2."},
		{Name: "h2_slow", Reason: "slow", play: onH2Request(h2Slow), H2: true,
			About: "Answers well over HTTP/2 and 400 ms late."},
		{Name: "h2_alpn_refused", Reason: "tls", play: onRequest(nil), H2: true, TLS: true, identity: http1Only,
			About: "Speaks only HTTP/1.1 and says so: the alert no_application_protocol meets a client that offers only h2."},
		{Name: "h2_alpn_ignored", Reason: "tls", play: onRequest(nil), H2: true, TLS: true, identity: noALPN,
			About: "Knows nothing of ALPN: the handshake succeeds and agrees on no protocol."},
	}
}

// onH2Request answers the first Options.Healthy requests of a connection well
// and hands every later one to misbehave, which says whether the connection goes
// on. With nil all answers are good.
func onH2Request(misbehave func(*h2conn, *h2request) bool) func(*conn) {
	return overH2(func(h *h2conn) {
		for {
			q, err := h.next(0)
			if err != nil {
				return
			}
			answer := misbehave
			if answer == nil || h.served <= h.server.options.Healthy {
				answer = (*h2conn).good
			}
			if !answer(h, q) {
				return
			}
		}
	})
}

// lastGood answers all good requests but the last, which it returns unanswered.
func (h *h2conn) lastGood() (*h2request, bool) {
	for {
		q, err := h.next(0)
		if err != nil {
			return nil, false
		}
		if h.served >= h.server.options.Healthy {
			return q, true
		}
		if !h.good(q) {
			return nil, false
		}
	}
}

// h2Pings asks once in each idleness for what RFC 9113 wants answered at once
// (6.5.3, 6.7). A client that reads only when it wants something has not
// answered when its next request comes.
func h2Pings(h *h2conn) {
	var wait time.Duration // none before the first answer: a slow client is not idle
	for {
		q, err := h.next(wait)
		if errors.Is(err, errIdle) {
			h.ping()
			h.announce()
			h.push()
			q, err = h.next(0)
		}
		if err != nil {
			return
		}
		if h.pings > 0 || h.settings > 0 {
			h.goaway(below(q.stream), http2.ErrCodeProtocol, "PING or SETTINGS not answered")
			h.over()
			return
		}
		if !h.good(q) {
			return
		}
		wait = h.server.options.IdleTimeout / 2
	}
}

// below is the client's last stream before that one; 0 when it is the first.
func below(stream uint32) uint32 { return max(stream, 2) - 2 }

func h2GoawayAnswered(h *h2conn, q *h2request) bool {
	if h.goaway(q.stream, http2.ErrCodeNo, "") && h.good(q) && h.acknowledged() {
		h.over()
	}
	return false
}

func h2Status(h *h2conn, q *h2request) bool {
	return h.answer(q, http.StatusNotFound, `{"error":"the lab says Not Found"}`+"\n")
}

func h2Slow(h *h2conn, q *h2request) bool {
	return h.sleep(h.server.options.Delay) && h.good(q)
}

func http1Only(_ *authority, config *tls.Config) error {
	config.NextProtos = []string{"http/1.1"}
	return nil
}

func noALPN(_ *authority, config *tls.Config) error {
	config.NextProtos = nil
	return nil
}

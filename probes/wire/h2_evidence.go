package wire

import (
	"errors"

	"golang.org/x/net/http2"
)

// evidence is what the frames said: with what the exchange noted.
func (h *h2) evidence(noted *H2) *H2 {
	e := H2{Stream: h.stream, Pings: h.pings, PingsSent: h.ping.sent, PingsUnanswered: h.ping.pending, NoStreams: h.full}
	e.HTTP1 = !h.settled && errors.Is(h.broken, answeredHTTP1)
	e.Text = e.HTTP1 || !h.settled && errors.Is(h.broken, answeredText)
	if e.HTTP1 {
		e.TextStatus = h.textStatus
	}
	if noted != nil {
		e.Reset = noted.Reset
	}
	if h.goaway != nil {
		g := *h.goaway
		e.Goaway = &g
	}
	return &e
}

// left notes when a GOAWAY came, that began at an offset in the peer's stream.
func (x *exchange) left(start int64) {
	h := x.conn.h2
	switch {
	case h.goneAt != nil: // one had come before
	case start < x.before:
		h.goneAt = x.conn.closedBy("goaway", x.e.Before)
		h.goaway.Idle, h.goaway.Age = true, h.goneAt.Age
	case x.source.stage == StageNone && h.goaway.LastStream < h.stream:
		x.decided(start)
	}
}

// restH2 readies what was noted for the next use: what ended the connection with
// or before the answer had ended it when idling began.
func (c *Conn) restH2() {
	h := c.h2
	h.pings, h.ping.sent, h.ping.pending = 0, 0, 0
	if h.goaway != nil {
		h.goneAt = &Close{At: c.idleSince, State: "goaway"}
		h.goaway.Idle, h.goaway.Age = true, 0
	}
	if h.notified != nil {
		h.notified = &Close{At: c.idleSince, State: "close_notify"}
	}
}

// writeErr is the class of a write's error. Where replies were written before it,
// theirs was the first, and only the first says what had happened.
func (c *Conn) writeErr(err error) Errno {
	if c.h2 != nil && c.h2.lost != "" {
		return c.h2.lost
	}
	return errnoOf(err)
}

// CodeName returns the name that RFC 9113 (7) gives to an error code of RST_STREAM
// or GOAWAY.
func CodeName(code uint32) string { return http2.ErrCode(code).String() }

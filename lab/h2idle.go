package lab

import (
	"errors"
	"math"
	"time"

	"golang.org/x/net/http2"
)

func h2IdleScenarios() []Scenario {
	held := func(name, reason string, end func(*h2conn), about string) Scenario {
		return Scenario{Name: name, Reason: reason, play: overH2(untilH2Idle(end)), H2: true, Held: true, timed: true, About: about}
	}
	closeNotify := held("h2_idle_close_notify", "idle_close_notify", (*h2conn).over,
		"Ends an idle HTTP/2 connection with TLS close_notify and FIN, and without GOAWAY.")
	closeNotify.TLS = true
	return []Scenario{
		held("h2_idle_goaway", "idle_goaway", idleGoaway,
			"Ends an idle connection with GOAWAY, close_notify and FIN at once, as nginx, haproxy and Node do."),
		held("h2_idle_goaway_lingering", "idle_goaway", idleGoawayLingering,
			"Says GOAWAY on an idle connection and closes one second later; what is asked in that second is ignored, as Go and Caddy do."),
		held("h2_idle_goaway_open", "idle_goaway", idleGoawayOpen,
			"Says GOAWAY on an idle connection and keeps it open, ignoring what is asked: the second that Go leaves, without end."),
		held("h2_idle_goaway_twice", "idle_goaway", idleGoawayTwice,
			"Says GOAWAY for streams to come, PINGs, says GOAWAY for good and closes, as grpc-go and Envoy do."),
		held("h2_idle_too_many_pings", "idle_goaway", idleTooManyPings,
			"Ends an idle connection with GOAWAY ENHANCE_YOUR_CALM, too_many_pings, as a gRPC server does."),
		closeNotify,
		held("h2_idle_fin", "idle_fin", func(h *h2conn) { h.fin() },
			"Closes an idle HTTP/2 connection with FIN and without GOAWAY; over TLS without close_notify."),
		held("h2_idle_rst", "idle_rst", func(h *h2conn) { h.rst() },
			"Resets an idle HTTP/2 connection."),
	}
}

// untilH2Idle answers well until the connection has been idle for the idle
// timeout, used or not, and then lets end close it.
func untilH2Idle(end func(*h2conn)) func(*h2conn) {
	return func(h *h2conn) {
		for {
			q, err := h.next(h.server.options.IdleTimeout)
			if errors.Is(err, errIdle) {
				end(h)
				return
			}
			if err != nil || !h.good(q) {
				return
			}
		}
	}
}

func idleGoaway(h *h2conn) {
	if h.goaway(h.last, http2.ErrCodeNo, "") {
		h.over()
	}
}

// lingersFor is how long Go's server, and with it Caddy, waits between GOAWAY
// and the end.
const lingersFor = time.Second

func idleGoawayLingering(h *h2conn) {
	if h.goaway(h.last, http2.ErrCodeNo, "") && h.ignore(lingersFor) {
		h.over()
	}
}

func idleGoawayOpen(h *h2conn) {
	if h.goaway(h.last, http2.ErrCodeNo, "") {
		h.ignore(0)
	}
}

// idleGoawayTwice first says that the client should open no more streams, and
// names the last one only when the client's answer to a PING shows that none is
// on its way.
func idleGoawayTwice(h *h2conn) {
	h.ping()
	if !h.goaway(math.MaxInt32, http2.ErrCodeNo, "graceful_stop") {
		return
	}
	for until := time.Now().Add(lingersFor); h.pings > 0; {
		if h.await(until) != nil || h.frame() != nil {
			break
		}
	}
	for _, q := range h.whole {
		h.good(q)
	}
	idleGoaway(h)
}

func idleTooManyPings(h *h2conn) {
	if h.goaway(h.last, http2.ErrCodeEnhanceYourCalm, "too_many_pings") {
		h.over()
	}
}

// ping adds a PING to what waits.
func (h *h2conn) ping() {
	_ = h.framer.WritePing(false, [8]byte{'l', 'a', 'b'})
	h.pings++
}

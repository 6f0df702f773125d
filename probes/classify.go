package probes

import (
	"sync"
	"time"

	"perch.example/probes/wire"
)

// Classify returns the reason that the wire showed: the first rule of the list
// that matches, or ReasonInternal. ReasonOK means a whole answer; what the
// answer says is judged elsewhere. It is pure, and looks at no error's text.
func Classify(e wire.Evidence) Reason {
	for _, r := range wireRules() {
		if r.match(e) {
			return r.reason
		}
	}
	return ReasonInternal
}

// rule is one line of the deciding order.
type rule struct {
	reason Reason
	match  func(wire.Evidence) bool
}

// wireRules is the deciding order, made once: every attempt of every probe asks.
//
//nolint:gochecknoglobals // it cannot change: a constant that has to be computed
var wireRules = sync.OnceValue(func() []rule {
	return []rule{
		{ReasonCanceled, func(e wire.Evidence) bool { return e.Canceled }},
		{ReasonSkipped, func(e wire.Evidence) bool { return e.Refused }},
		{ReasonDNS, failed(wire.FailureDNS)},
		{ReasonRefused, failed(wire.FailureRefused)},
		{ReasonConnectTimeout, failed(wire.FailureConnectTimeout)},
		{ReasonConnectFailed, failed(wire.FailureConnect)},
		{ReasonProxy, failed(wire.FailureProxy)},
		{ReasonCertificate, failed(wire.FailureCertificate)},
		{ReasonTLS, failed(wire.FailureTLS)},
		// TLS 1.3 servers refuse a client's certificate only after it believes
		// the handshake done: the alert stands where the answer should.
		{ReasonTLS, takenBack},

		// What had happened before our write. On a fresh connection the same
		// facts have other names: nothing was idle. Servers send GOAWAY,
		// close_notify and FIN together. Where a whole answer came in spite of the
		// GOAWAY (Go and Caddy leave a second before the FIN), a client that reads
		// would not have asked.
		{ReasonBadResponse, noHTTP2},
		{ReasonBadResponse, noHTTP1},
		{ReasonIdleGoaway, func(e wire.Evidence) bool { return e.Held && goneBefore(e) }},
		{ReasonGoawayUnprocessed, func(e wire.Evidence) bool { return !e.Held && goneBefore(e) && leftOut(e) }},
		{ReasonIdleCloseNotify, func(e wire.Evidence) bool { return e.Held && e.Alerted }},
		{ReasonIdleBytes, func(e wire.Evidence) bool { return e.Held && unasked(e) }},
		{ReasonBadResponse, func(e wire.Evidence) bool { return !e.Held && unasked(e) }},
		{ReasonIdleFIN, func(e wire.Evidence) bool { return e.Held && finBefore(e) }},
		{ReasonCrossedClose, func(e wire.Evidence) bool { return !e.Held && (e.Alerted || finBefore(e)) }},
		{ReasonBlackhole, func(e wire.Evidence) bool { return gaveUpBefore(e) || swallowed(e) }},
		{ReasonIdleRST, func(e wire.Evidence) bool { return e.Held && resetBefore(e) }},
		{ReasonReset, func(e wire.Evidence) bool { return !e.Held && resetBefore(e) }},

		// HTTP/2's own words for what became of our stream, whether or not a part of
		// the answer had come.
		{ReasonGoawayUnprocessed, leftOut},
		{ReasonRefusedStream, func(e wire.Evidence) bool { return streamReset(e) && *e.H2.Reset == refusedStream }},
		{ReasonGoawayProcessed, func(e wire.Evidence) bool { return gone(e) && (cut(e) || streamReset(e)) }},
		{ReasonStreamReset, streamReset},

		// No byte of an answer. The FIN's own acknowledgement tells whether the
		// peer had our request when it closed; a RST carries none.
		{ReasonCrossedClose, func(e wire.Evidence) bool {
			return silent(e) && closed(e) && e.WriteErr != wire.ErrnoReset && e.First != nil && e.First.Acked == 0
		}},
		{ReasonEOF, func(e wire.Evidence) bool {
			return silent(e) && closed(e) && e.WriteErr != wire.ErrnoReset // the write took the RST, reading finds its rest
		}},
		{ReasonReset, func(e wire.Evidence) bool {
			return silent(e) && (e.Ending == wire.EndReset || e.WriteErr == wire.ErrnoReset)
		}},
		{ReasonNoResponse, func(e wire.Evidence) bool { return silent(e) && e.Ending == wire.EndTimeout }},

		{ReasonPartialHead, func(e wire.Evidence) bool { return e.Stage == wire.StageHead && cut(e) }},
		{ReasonPartialBody, func(e wire.Evidence) bool { return e.Stage == wire.StageBody && cut(e) }},
		{ReasonBadResponse, func(e wire.Evidence) bool {
			return e.Ending == wire.EndGarbage || e.Ending == wire.EndHeadLimit || e.Ending == wire.EndConflict
		}},
		{ReasonTooLarge, func(e wire.Evidence) bool { return e.Ending == wire.EndBodyLimit }},
		{ReasonOK, func(e wire.Evidence) bool { return e.Stage == wire.StageDone && e.Ending == wire.EndWhole }},
	}
})

func failed(f wire.Failure) func(wire.Evidence) bool {
	return func(e wire.Evidence) bool { return e.Failure == f }
}

// refusedWithin is how long after a handshake an alert that comes before any request
// still takes that back: a round trip, and what a busy server needs. Later it ends an
// idle connection.
const refusedWithin = time.Second

// takenBack reports whether a TLS alert came before any answer on a new connection,
// also on one that was then held without a request.
func takenBack(e wire.Evidence) bool {
	if e.Stage != wire.StageNone || e.Ending != wire.EndAlert {
		return false
	}
	return !e.Held || e.Served == 0 && (e.IdleClose == nil || e.IdleClose.Age < refusedWithin)
}

// refusedStream is HTTP/2's REFUSED_STREAM: the request was not looked at.
const refusedStream = 7

// gone reports whether a GOAWAY came before the answer's end.
func gone(e wire.Evidence) bool { return e.H2 != nil && e.H2.Goaway != nil }

// goneBefore reports whether a GOAWAY had come before our write.
func goneBefore(e wire.Evidence) bool { return gone(e) && e.H2.Goaway.Idle }

// leftOut reports whether a GOAWAY promised that our request was not processed.
func leftOut(e wire.Evidence) bool {
	return gone(e) && silent(e) && e.H2.Goaway.LastStream < e.H2.Stream
}

// noHTTP2 reports whether a peer answered HTTP/2's preface in text. It closes then,
// often before our request, and that is not why nothing can be asked of it.
func noHTTP2(e wire.Evidence) bool { return e.H2 != nil && e.H2.Text }

// noHTTP1 reports whether a peer began with frames where HTTP/1.1 was spoken. It sends
// them unasked, often before our request, and often closes then: that is neither an end
// of idleness nor why nothing can be asked of it.
func noHTTP1(e wire.Evidence) bool { return e.Frame != "" }

// streamReset reports whether the peer gave up our stream, and nothing else.
func streamReset(e wire.Evidence) bool {
	return e.H2 != nil && e.H2.Reset != nil && e.Ending == wire.EndStreamReset
}

// unasked reports whether application bytes came that answer nothing of ours:
// left over from the last answer, here before our write, or in a segment that
// does not acknowledge our request. Over HTTP/2 an answer names its request.
func unasked(e wire.Evidence) bool {
	return e.H2 == nil && (e.LeftOver > 0 || e.Pushed ||
		!silent(e) && e.First != nil && e.First.Acked == 0)
}

// finBefore reports whether a FIN had come before our write. When a RST
// followed it, the state no longer tells, but the write does.
func finBefore(e wire.Evidence) bool {
	return e.Before != nil && (e.Before.State == wire.StateCloseWait || unsent(e) && e.WriteErr == wire.ErrnoPipe)
}

// resetBefore reports whether a RST, and no FIN, had come before our write.
func resetBefore(e wire.Evidence) bool {
	return e.Before != nil && (e.Before.State == wire.StateClose || unsent(e) && e.WriteErr == wire.ErrnoReset)
}

// gaveUpBefore reports whether TCP keep-alive had found nobody before our write.
func gaveUpBefore(e wire.Evidence) bool {
	return e.Before != nil && unsent(e) && e.WriteErr == wire.ErrnoTimeout
}

// swallowed reports whether our request vanished: sent again at least twice,
// never acknowledged. An HTTP/2 PING that was lost before it is sent again in
// its place, and by then seldom.
func swallowed(e wire.Evidence) bool {
	return silent(e) && e.Ending == wire.EndTimeout && e.Before != nil && e.Last != nil &&
		e.RequestBytesAcked != nil && *e.RequestBytesAcked == 0 &&
		(e.Last.TotalRetrans-e.Before.TotalRetrans >= 2 || e.Before.Unacked > 0 && e.Before.Retransmits >= 2)
}

func unsent(e wire.Evidence) bool { return e.RequestBytes == 0 }

// silent reports whether no byte of an answer came on a connection that stood.
func silent(e wire.Evidence) bool { return e.Failure == "" && e.Stage == wire.StageNone }

// closed reports whether the peer ended the connection in an orderly way.
func closed(e wire.Evidence) bool {
	return e.Ending == wire.EndEOF || e.Ending == wire.EndCloseNotify || e.Ending == wire.EndAlert
}

// cut reports whether reading ended for another reason than what was read.
func cut(e wire.Evidence) bool {
	return closed(e) || e.Ending == wire.EndReset || e.Ending == wire.EndTimeout
}

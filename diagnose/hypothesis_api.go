package diagnose

import (
	"fmt"

	"perch.example/probes"
)

// apiDown is ruled by a fresh connection at the same moment on the same path.
func (j *judgement) apiDown() (probes.Ruling, string) {
	a := j.at
	switch {
	case answered(a) && j.reused():
		return probes.RuledOut, "the held connection " + answer(*a)
	case answered(a):
		return probes.RuledOut, "a fresh connection " + answer(*a)
	case j.reused() && j.rung.control != nil:
		return probes.RuledOut, "a fresh connection " + j.since(*j.rung.control) + answer(*j.rung.control)
	case a.WantsHTTP1():
		return probes.RuledOut, fmt.Sprintf("it answered after %s that it wants the request in HTTP/1.1", human(a.Elapsed))
	case otherProtocol(*a) && heard(j.spoke):
		return probes.RuledOut, "on another connection of this run it " + answer(*j.spoke)
	case saysDown(*a):
		return probes.RuledOpen, fmt.Sprintf("it answered HTTP/2's preface in HTTP/1, with status %d: that may be about the protocol, or about the API", a.TextStatus)
	case a.NoHTTP2:
		return probes.RuledOut, fmt.Sprintf("it answered HTTP/2's preface with %s in text: it is there, and speaks HTTP/1", bytesOf(a.ResponseBytes))
	case a.NoHTTP1:
		return probes.RuledOut, fmt.Sprintf("it sent frames of HTTP/2 where HTTP/1.1 was spoken (%s): it is there", bytesOf(a.ResponseBytes))
	case a.NoALPN:
		// As with a certificate: something stands there and speaks TLS.
		return probes.RuledOpen, fmt.Sprintf("it spoke TLS and agreed, after %s, to none of what ALPN offered: no request was sent", human(a.Elapsed))
	case j.answeredItself() && a.Reason == probes.ReasonBadResponse:
		return probes.RuledOut, fmt.Sprintf("it %s: it is there, and what it says is no gRPC", answer(*a))
	case j.answeredItself():
		return probes.RuledOut, "it " + answer(*a)
	case j.reused() && answered(j.again):
		return probes.RuledOut, j.besideText()
	case j.reused() && j.rung.carried() && j.facts.Kind == probes.KindBurst:
		return probes.RuledIn, fmt.Sprintf("it %s, on a connection that was alive, and no call within %s after it was answered as expected", answer(*a), human(againWithin))
	case j.reused():
		return probes.RuledOpen, fmt.Sprintf("the reuse after %s idle failed, and no fresh connection was tried beside it", human(j.rung.reuseAge()))
	case answered(j.again) && a.Connection == probes.ConnectionControl:
		return probes.RuledOpen, fmt.Sprintf("the control %s; %s", freshly(*a), j.laterText("another fresh connection "))
	case answered(j.again):
		return probes.RuledOut, j.laterText("a second fresh connection ")
	}
	return j.freshFailed()
}

// laterText words the second try; fresh is what it is called on a connection of its own.
func (j *judgement) laterText(fresh string) string {
	if j.again.Connection == probes.ConnectionReused { // a burst's
		fresh = "another call "
	}
	return fresh + j.since(*j.again) + answer(*j.again)
}

// freshFailed rules where nothing was answered on a fresh connection either.
func (j *judgement) freshFailed() (probes.Ruling, string) {
	a := j.at
	switch {
	case j.tokenless():
		return probes.RuledOpen, "nothing was asked of it: " + a.Detail
	case j.facts.Exhausted:
		return probes.RuledOpen, "nothing was asked of it: this pod had no more " + exhausted(*a)
	case j.facts.Delayed:
		return probes.RuledOpen, fmt.Sprintf("a fresh connection failed after %s, while perch itself was delayed by %s", human(a.Elapsed), human(j.delay()))
	case neverAsked(a.Reason) && (j.again == nil || neverAsked(j.again.Reason)):
		return probes.RuledOpen, fmt.Sprintf("nothing was asked of it: %s, after %s", Meaning(a.Reason), human(a.Elapsed))
	case a.Reason == probes.ReasonCertificate:
		// Something stands there and speaks TLS; that it is the API is not proven.
		return probes.RuledOpen, fmt.Sprintf("a certificate came after %s and could not be verified: no request was sent", human(a.Elapsed))
	case a.Reason == probes.ReasonProxyUpstreamReset:
		return probes.RuledOpen, fmt.Sprintf("a proxy on the way %s, for its own connection: the API itself was not heard", answer(*a))
	case a.Calmed() != "":
		return probes.RuledOpen, fmt.Sprintf("it was there, and said ENHANCE_YOUR_CALM after %s: it takes what it gets for too much", human(a.Elapsed))
	case j.again == nil:
		return probes.RuledIn, "a fresh connection " + freshly(*a)
	case means(*j.again) == means(*a):
		return probes.RuledIn, fmt.Sprintf("two fresh connections failed, after %s and %s: %s", human(a.Elapsed), human(j.again.Elapsed), means(*a))
	}
	return probes.RuledIn, fmt.Sprintf("two fresh connections failed, after %s and %s: %s, then %s",
		human(a.Elapsed), human(j.again.Elapsed), means(*a), means(*j.again))
}

// saysDown reports whether HTTP/2's preface was answered in HTTP/1 with a status that may
// as well be the API's own.
func saysDown(a probes.Attempt) bool { return a.NoHTTP2 && a.TextStatus >= 500 && a.TextStatus < 600 }

// neverAsked reports whether the API's own host need not have been reached: its
// name was not known, the connect met an error of this system or on the way, a
// forward proxy did not connect.
func neverAsked(r probes.Reason) bool {
	return r == probes.ReasonDNS || r == probes.ReasonConnectFailed || r == probes.ReasonProxy
}

// answeredItself reports whether the API gave a whole answer that only means
// something else than "down".
func (j *judgement) answeredItself() bool {
	if j.tokenless() {
		return false
	}
	switch j.at.Reason {
	case probes.ReasonRateLimited, probes.ReasonUnauthorized, probes.ReasonRedirected,
		probes.ReasonStatus, probes.ReasonSlow, probes.ReasonExpectation, probes.ReasonTooLarge:
		return true
	case probes.ReasonBadResponse:
		return j.at.Status > 0 || j.at.NoHTTP2 || j.at.NoHTTP1 // HTTP, but not what was spoken
	default:
		return false
	}
}

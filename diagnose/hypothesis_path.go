package diagnose

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"perch.example/probes"
)

const (
	// samePathWithin is how near in time another target must have answered to
	// witness that the path was open.
	samePathWithin = time.Minute
	// tellingRTT is the least round trip against which the time of a RST says
	// from how far it came.
	tellingRTT = time.Millisecond
)

// pathBlocks is ruled by what came through: an answer, an acknowledgement, or
// the peer's own close beside a fresh connection that worked: a block would have
// stopped that one. Where TCP ends before the API none of it is the API's.
func (j *judgement) pathBlocks() (probes.Ruling, string) {
	a := j.at
	switch {
	case answered(a), a.Reason == probes.ReasonSlow:
		return probes.RuledOut, "the peer " + answer(*a)
	case j.facts.Exhausted:
		return probes.RuledOpen, "no packet left: this pod had no more " + exhausted(*a)
	case j.rung.obs.Path.TCPEnds == probes.TCPEndsBeforePeer && a.Status > 0:
		return probes.RuledOpen, fmt.Sprintf("%s: the answer %s may be its own", j.beforePeer(), a.Answer())
	case j.rung.obs.Path.TCPEnds == probes.TCPEndsBeforePeer:
		return probes.RuledOpen, j.beforePeer() + ": its acknowledgements, FINs and RSTs are not the API's own"
	case j.facts.Delayed && (a.Reason == probes.ReasonConnectTimeout || a.Reason == probes.ReasonBlackhole):
		return probes.RuledOpen, fmt.Sprintf("nothing was seen to come back within %s, and perch itself was delayed by %s", human(a.Elapsed), human(j.delay()))
	case j.tokenless():
		return probes.RuledOpen, "nothing was sent on it"
	case j.opening():
		return j.pathOfOpening()
	case a.Reason == probes.ReasonBlackhole:
		return probes.RuledIn, j.swallowed()
	case a.Reason == probes.ReasonProxyUpstreamReset:
		return probes.RuledOpen, "a proxy on the way " + answer(*a) + ": the path behind it was not seen"
	case a.ResponseBytes > 0 && partly(a.Reason):
		return probes.RuledOut, fmt.Sprintf("%s of an answer came through in %s", bytesOf(a.ResponseBytes), human(a.Elapsed))
	case a.Status > 0 && a.Reason != probes.ReasonIdleBytes, j.answeredItself(), a.Reason == probes.ReasonUnavailable:
		return probes.RuledOut, "the peer " + answer(*a)
	}
	return j.pathOfClose()
}

// partly reports whether the answer began, or was something else than HTTP.
func partly(r probes.Reason) bool {
	switch r {
	case probes.ReasonPartialHead, probes.ReasonPartialBody, probes.ReasonBadResponse, probes.ReasonTooLarge:
		return true
	default:
		return false
	}
}

// swallowed says what vanished.
func (j *judgement) swallowed() string {
	a := j.at
	text := fmt.Sprintf("nothing acknowledged the %d bytes sent, for %s", a.RequestBytes, human(a.Elapsed))
	if a.RequestBytes == 0 {
		text = fmt.Sprintf("TCP keep-alive packets got no answer during %s idle", human(j.rung.reuseAge()))
	}
	if fresh := j.besideText(); fresh != "" {
		text += "; " + fresh + ": the path lost this connection only"
	}
	return text
}

// pathOfClose rules on a connection that was ended, or that stayed silent.
func (j *judgement) pathOfClose() (probes.Ruling, string) {
	came, fresh, acked := j.cameThrough(), j.besideText(), allAcked(*j.at)
	switch {
	case came != "" && acked && j.at.Reason == probes.ReasonEOF:
		return probes.RuledOut, also(came, fresh)
	case came != "" && fresh != "":
		return probes.RuledOut, fmt.Sprintf("%s, and %s: a block would not have let the fresh connection pass", came, fresh)
	case came != "" && acked:
		return probes.RuledOut, came + ": a block would not have let our bytes pass"
	case came != "" && !j.reused():
		return probes.RuledOut, came + ": a block would not have let the connect pass"
	case came != "":
		return probes.RuledOpen, came + "; no fresh connection was tried beside it"
	case bareReset(j.at.Reason):
		return j.pathOfReset(fresh)
	case acked:
		return probes.RuledOut, fmt.Sprintf("the peer acknowledged all %d of our bytes", j.at.RequestBytes)
	}
	return probes.RuledOpen, also(unacknowledged(*j.at), fresh)
}

// also adds what happened beside; empty: nothing did.
func also(text, beside string) string {
	if beside == "" {
		return text
	}
	return text + "; " + beside
}

// cameThrough says what of the peer's own arrived in good order; empty: nothing
// that a device in between could not have sent.
func (j *judgement) cameThrough() string {
	a, c := j.at, j.rung.obs.Close
	switch a.Reason {
	case probes.ReasonIdleFIN, probes.ReasonIdleCloseNotify, probes.ReasonIdleGoaway, probes.ReasonIdleBytes:
		what := map[probes.Reason]string{
			probes.ReasonIdleFIN: "the peer's FIN", probes.ReasonIdleCloseNotify: "the peer's TLS close_notify",
			probes.ReasonIdleGoaway: "the peer's GOAWAY", probes.ReasonIdleBytes: "bytes that the peer pushed",
		}[a.Reason]
		if c == nil {
			return fmt.Sprintf("%s came through within %s idle", what, human(j.rung.reuseAge()))
		}
		return fmt.Sprintf("%s came through after %s idle", what, human(c.Age))
	case probes.ReasonCrossedClose:
		if a.RequestBytes == 0 {
			return fmt.Sprintf("the peer's FIN came through before we wrote, %s after the connect", human(a.ConnectionAge+a.Elapsed))
		}
		return fmt.Sprintf("the peer's FIN came through %s after our write", human(a.Elapsed))
	case probes.ReasonEOF:
		if allAcked(*a) {
			return fmt.Sprintf("the peer acknowledged all %d of our bytes, then its FIN came through", a.RequestBytes)
		}
		return fmt.Sprintf("the peer's FIN came through %s after our write", human(a.Elapsed))
	case probes.ReasonGoawayProcessed, probes.ReasonGoawayUnprocessed:
		return fmt.Sprintf("the peer's GOAWAY came through %s after our write", human(a.Elapsed))
	case probes.ReasonRefusedStream, probes.ReasonStreamReset:
		return fmt.Sprintf("the peer's RST_STREAM came through %s after our write", human(a.Elapsed))
	default:
		return ""
	}
}

// bareReset reports whether a RST ended it, which whoever stands in between can
// send as well as the peer: nothing signs it.
func bareReset(r probes.Reason) bool { return r == probes.ReasonIdleRST || r == probes.ReasonReset }

// pathOfReset rules on a bare RST. It is out only where it came from as far as
// the peer: acknowledged before it and a fresh connection worked, or a whole
// round trip to a TLS peer that nothing hides.
func (j *judgement) pathOfReset(fresh string) (probes.Ruling, string) {
	a, rtt := j.at, j.at.RoundTrip()
	const whose = "from the peer or a device in between: a RST does not say"
	ruled, text := probes.RuledOpen, ""
	switch {
	case a.Reason == probes.ReasonIdleRST && j.rung.obs.Close != nil:
		text = fmt.Sprintf("a RST came after %s idle, %s", human(j.rung.obs.Close.Age), whose)
	case a.Reason == probes.ReasonIdleRST:
		text = fmt.Sprintf("a RST came within %s idle, %s", human(j.rung.reuseAge()), whose)
	case allAcked(*a) && fresh != "":
		ruled, text = probes.RuledOut, fmt.Sprintf("the peer acknowledged all %d of our bytes before a RST came", a.RequestBytes)
	case rtt < tellingRTT:
		text = fmt.Sprintf("a RST came %s after our write, %s", human(a.Elapsed), whose)
	case a.Elapsed < rtt:
		text = fmt.Sprintf("a RST came %s after our write, sooner than the peer's round trip of %s: sent before, or from nearer by", human(a.Elapsed), human(rtt))
	case fresh != "" && j.rung.obs.Path.TCPEnds == probes.TCPEndsPeer:
		ruled, text = probes.RuledOut, fmt.Sprintf("a RST came %s after our write, so from as far as the TLS peer (round trip %s)", human(a.Elapsed), human(rtt))
	default:
		text = fmt.Sprintf("a RST came %s after our write (round trip %s), %s", human(a.Elapsed), human(rtt), whose)
	}
	return ruled, also(text, fresh)
}

func allAcked(a probes.Attempt) bool {
	return a.RequestBytesAcked != nil && a.RequestBytes > 0 && *a.RequestBytesAcked >= a.RequestBytes
}

// unacknowledged says what is known where nothing came back.
func unacknowledged(a probes.Attempt) string {
	switch {
	case a.RequestBytes == 0:
		return "no request byte was sent in " + human(a.Elapsed)
	case a.RequestBytesAcked == nil:
		return fmt.Sprintf("whether the peer acknowledged our %d bytes is not known", a.RequestBytes)
	case *a.RequestBytesAcked == 0:
		return fmt.Sprintf("the peer acknowledged 0 of our %d bytes in %s: too soon to call it lost", a.RequestBytes, human(a.Elapsed))
	}
	return fmt.Sprintf("the peer acknowledged %d of our %d bytes in %s: a path that drops large packets looks so", *a.RequestBytesAcked, a.RequestBytes, human(a.Elapsed))
}

// opening reports whether it failed before there was a connection to send on.
func (j *judgement) opening() bool {
	switch j.at.Reason {
	case probes.ReasonDNS, probes.ReasonRefused, probes.ReasonConnectTimeout, probes.ReasonConnectFailed,
		probes.ReasonProxy, probes.ReasonTLS, probes.ReasonCertificate:
		return true
	default:
		return false
	}
}

// pathOfOpening rules on a connection that was never made.
func (j *judgement) pathOfOpening() (probes.Ruling, string) {
	a := j.at
	took := human(a.Elapsed)
	switch a.Reason {
	case probes.ReasonDNS:
		return probes.RuledOpen, "the name did not resolve after " + took + ": no packet went to the API"
	case probes.ReasonRefused:
		return probes.RuledOpen, "the connect was refused after " + took + ": by the API's host, or by a firewall that rejects"
	case probes.ReasonConnectTimeout:
		return j.connectBlocked()
	case probes.ReasonProxy:
		return probes.RuledOpen, "the proxy did not connect after " + took + ": the path behind it was not seen"
	case probes.ReasonTLS:
		return probes.RuledOpen, fmt.Sprintf("it connected in %s, and the handshake failed after %s: a server does that, or a device that filters by name", human(a.Phases.Connect), took)
	case probes.ReasonCertificate:
		return probes.RuledOpen, "a certificate came back after " + took + ", so packets pass; whose it is could not be verified"
	default:
		return probes.RuledOpen, "the connect failed after " + took + " with an error, of this system or from the way, not for want of an answer"
	}
}

// connectBlocked rules on a connect that timed out by the other targets.
func (j *judgement) connectBlocked() (probes.Ruling, string) {
	end := endOf(j.rung.obs, *j.at)
	var names []string
	for _, o := range j.l.in.OtherAnswered {
		if o.At.Sub(end).Abs() <= samePathWithin && !slices.Contains(names, o.Target) {
			names = append(names, o.Target)
		}
	}
	if len(names) == 0 {
		return probes.RuledOpen, fmt.Sprintf("no connection within %s, and no other target answered within a minute of it", human(j.at.Elapsed))
	}
	return probes.RuledIn, fmt.Sprintf("no connection within %s, while %s answered", human(j.at.Elapsed), strings.Join(names, ", "))
}

// beforePeer says what ends TCP before the API, and how that is known.
func (j *judgement) beforePeer() string {
	p := j.rung.obs.Path
	var at []string
	for i, via := range p.Via {
		if i < len(p.By) && p.By[i] != "" {
			via += ", " + p.By[i]
		}
		at = append(at, via)
	}
	if len(at) == 0 && p.TCPRTT > 0 && p.Hello > 0 {
		at = append(at, fmt.Sprintf("TCP round trip %s, TLS hello %s", human(p.TCPRTT), human(p.Hello)))
	}
	if len(at) == 0 {
		return "TCP ends before the API"
	}
	return "TCP ends before the API (" + strings.Join(at, "; ") + ")"
}

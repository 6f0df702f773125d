package report

import "perch.example/probes"

// reasonWords says what a reason means on the wire.
func reasonWords(r probes.Reason) string {
	switch r {
	case probes.ReasonCanceled:
		return "cut short before it could end"
	case probes.ReasonSkipped:
		return "not tried"
	case probes.ReasonInternal:
		return "perch itself could not do its part"
	case probes.ReasonDNS:
		return "the host name could not be resolved"
	case probes.ReasonRefused:
		return "the host answered that nothing listens there"
	case probes.ReasonConnectTimeout:
		return "nothing answered our connection attempt"
	case probes.ReasonConnectFailed:
		return "the connection could not be opened"
	case probes.ReasonProxy:
		return "the proxy did not open the connection"
	case probes.ReasonCertificate:
		return "the server's certificate was not accepted"
	case probes.ReasonTLS:
		return "the TLS handshake failed"
	case probes.ReasonOK:
		return "a whole answer, as expected"
	case probes.ReasonNoKeepAlive:
		return "the answer ended the connection, so there was nothing to hold"
	default:
		return idleWords(r)
	}
}

// idleWords covers what ends a held connection, or a request on it.
func idleWords(r probes.Reason) string {
	switch r {
	case probes.ReasonIdleGoaway:
		return "a GOAWAY had come while the connection was idle"
	case probes.ReasonIdleCloseNotify:
		return "the peer had closed the idle TLS connection before we wrote"
	case probes.ReasonIdleBytes:
		return "the peer had sent bytes that nobody asked for while the connection was idle"
	case probes.ReasonIdleFIN:
		return "the peer had closed the idle connection (FIN) before we wrote"
	case probes.ReasonIdleRST:
		return "the idle connection had been reset (RST) before we wrote"
	case probes.ReasonBlackhole:
		return "nothing came back, not even an acknowledgement of our packets"
	case probes.ReasonGoawayUnprocessed:
		return "the peer said GOAWAY and did not process the request"
	case probes.ReasonRefusedStream:
		return "the peer refused the stream and did not process the request"
	case probes.ReasonGoawayProcessed:
		return "the peer said GOAWAY and may have processed the request"
	case probes.ReasonStreamReset:
		return "the peer reset the stream and may have processed the request"
	case probes.ReasonCrossedClose:
		return "the peer's close and our request crossed on the way; the request was not accepted"
	case probes.ReasonEOF:
		return "the peer took the request and closed the connection without an answer"
	case probes.ReasonReset:
		return "the connection was reset (RST) instead of an answer"
	case probes.ReasonNoResponse:
		return "no byte of an answer came in time"
	default:
		return answerWords(r)
	}
}

// answerWords covers answers that are not whole or not as expected.
func answerWords(r probes.Reason) string {
	switch r {
	case probes.ReasonPartialHead:
		return "the answer ended within its head"
	case probes.ReasonPartialBody:
		return "the answer ended within its body"
	case probes.ReasonBadResponse:
		return "what came back is not valid HTTP"
	case probes.ReasonTooLarge:
		return "the answer is larger than the probe allows"
	case probes.ReasonProxyUpstreamReset:
		return "a proxy answered that its own connection to the API broke"
	case probes.ReasonRateLimited:
		return "the answer is 429: too many requests"
	case probes.ReasonUnavailable:
		return "the answer says that the service is not available"
	case probes.ReasonUnauthorized:
		return "the answer refuses the credentials"
	case probes.ReasonRedirected:
		return "the answer is a redirect, which was not followed"
	case probes.ReasonStatus:
		return "the answer has another status than expected"
	case probes.ReasonSlow:
		return "the answer came later than expected"
	case probes.ReasonExpectation:
		return "the answer is not as expected"
	default:
		return ""
	}
}

package diagnose

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"perch.example/probes"
)

// human writes a duration as people say it: 0.04 ms, 0.2 ms, 142 ms, 1.001 s, 12.5 min.
func human(d time.Duration) string {
	if d >= 10*time.Millisecond {
		d = d.Round(time.Millisecond) // before a unit is chosen: 999.6 ms is 1 s
	}
	switch {
	case d < 0:
		return "-" + human(-d)
	case d < 100*time.Microsecond:
		return trim(float64(d)/float64(time.Millisecond), 3) + " ms"
	case d < 10*time.Millisecond:
		return trim(float64(d)/float64(time.Millisecond), 1) + " ms"
	case d < time.Second:
		return trim(float64(d)/float64(time.Millisecond), 0) + " ms"
	case d < 10*time.Minute:
		return trim(d.Seconds(), 3) + " s"
	case d < 48*time.Hour:
		return trim(d.Minutes(), 1) + " min"
	}
	return trim(d.Hours()/24, 1) + " days"
}

// trim writes a number with at most that many decimals.
func trim(v float64, decimals int) string {
	s := strconv.FormatFloat(v, 'f', decimals, 64)
	if strings.Contains(s, ".") {
		s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	return s
}

// bytesOf counts bytes: "1 byte", "17 bytes".
func bytesOf(n int64) string {
	if n == 1 {
		return "1 byte"
	}
	return strconv.FormatInt(n, 10) + " bytes"
}

// answer words an answer: "answered 200 in 142 ms", or that of a handshake alone.
func answer(a probes.Attempt) string {
	if a.TLS != nil && a.RequestBytes == 0 {
		return fmt.Sprintf("shook hands over TLS %s in %s", a.TLS.Version, human(a.Elapsed))
	}
	if a.Status == 0 {
		return "answered in " + human(a.Elapsed)
	}
	return fmt.Sprintf("answered %s in %s", a.Answer(), human(a.Elapsed))
}

// failure words what an attempt showed, with its detail.
func failure(a probes.Attempt) string {
	text := means(a)
	detail := a.Detail
	if byStatus(a) {
		_, detail, _ = strings.Cut(detail, "; ") // behind the status: what became of its token
		if a.Reason != probes.ReasonUnauthorized {
			detail = ""
		}
	}
	if detail != "" {
		text += " (" + detail + ")"
	}
	return text
}

// means is Meaning, of an attempt: where the status decided, with that status.
func means(a probes.Attempt) string {
	switch {
	case a.NoHTTP2:
		return "the peer speaks no HTTP/2"
	case a.NoHTTP1:
		return "the peer speaks no HTTP/1.1"
	case a.Reason == probes.ReasonBadResponse && a.Status > 0:
		return fmt.Sprintf("the answer (%d) was no valid gRPC", a.Status)
	case byStatus(a), a.GRPC != nil && a.Reason == probes.ReasonRateLimited:
		return "the answer was " + a.Answer()
	case a.GRPC != nil && a.Reason == probes.ReasonUnavailable:
		return "it does not serve"
	}
	return Meaning(a.Reason)
}

// byStatus reports whether an answer was judged by one of several statuses,
// which its reason does not tell apart. A health check that says NOT_SERVING does
// so with the status OK.
func byStatus(a probes.Attempt) bool {
	return a.Status > 0 && (a.GRPC == nil || a.GRPC.Code != 0) && (a.Reason == probes.ReasonUnavailable || a.Reason == probes.ReasonUnauthorized)
}

// tokenless reports whether the API was not asked since there was no token to ask
// it with.
func (j *judgement) tokenless() bool {
	return j.at.NoToken
}

// Meaning says in a few words what a reason is. It continues the sentence "the
// attempt ended because ...".
func Meaning(r probes.Reason) string {
	switch r {
	case probes.ReasonCanceled:
		return "the run was cut short"
	case probes.ReasonSkipped:
		return "it was not tried"
	case probes.ReasonInternal:
		return "perch itself could not do its part"
	case probes.ReasonDNS:
		return "the name did not resolve"
	case probes.ReasonRefused:
		return "the connection was refused"
	case probes.ReasonConnectTimeout:
		return "the connect timed out"
	case probes.ReasonConnectFailed:
		return "the connect failed"
	case probes.ReasonProxy:
		return "the proxy did not connect"
	case probes.ReasonCertificate:
		return "the certificate could not be verified"
	case probes.ReasonTLS:
		return "the TLS handshake failed"
	case probes.ReasonNoKeepAlive:
		return "the answer ends its connection"
	case probes.ReasonOK:
		return "a whole answer came, as expected"
	default:
		return meaningOfExchange(r)
	}
}

// meaningOfExchange covers the reasons of a request that was sent.
func meaningOfExchange(r probes.Reason) string {
	switch r {
	case probes.ReasonIdleGoaway:
		return "a GOAWAY had come before the request"
	case probes.ReasonIdleCloseNotify:
		return "a TLS close_notify had come before the request"
	case probes.ReasonIdleBytes:
		return "bytes that nobody had asked for had come before the request"
	case probes.ReasonIdleFIN:
		return "a FIN had come before the request"
	case probes.ReasonBlackhole:
		return "nothing on the path acknowledged anything any more"
	case probes.ReasonIdleRST:
		return "a reset had come before the request"
	case probes.ReasonGoawayUnprocessed:
		return "a GOAWAY said that the request was not processed"
	case probes.ReasonRefusedStream:
		return "the stream was refused"
	case probes.ReasonGoawayProcessed:
		return "a GOAWAY left open whether the request was processed"
	case probes.ReasonStreamReset:
		return "the stream was reset"
	case probes.ReasonCrossedClose:
		return "a close crossed the request on its way"
	case probes.ReasonEOF:
		return "the request was acknowledged, then the connection was closed without an answer"
	case probes.ReasonReset:
		return "the connection was reset without an answer"
	case probes.ReasonNoResponse:
		return "no answer came in time"
	default:
		return meaningOfAnswer(r)
	}
}

// meaningOfAnswer covers the reasons of an answer, or of a part of one.
func meaningOfAnswer(r probes.Reason) string {
	switch r {
	case probes.ReasonPartialHead:
		return "the answer ended inside its head"
	case probes.ReasonPartialBody:
		return "the answer ended inside its body"
	case probes.ReasonBadResponse:
		return "what came was no valid HTTP answer"
	case probes.ReasonTooLarge:
		return "the answer was larger than max_body"
	case probes.ReasonProxyUpstreamReset:
		return "a proxy answered that its own connection to the API had been reset"
	case probes.ReasonRateLimited:
		return "the answer was 429: too many requests"
	case probes.ReasonUnavailable:
		return "the answer was 502, 503 or 504"
	case probes.ReasonUnauthorized:
		return "the answer was 401 or 403"
	case probes.ReasonRedirected:
		return "the answer was a redirect that is not followed"
	case probes.ReasonStatus:
		return "the answer had another status than expected"
	case probes.ReasonSlow:
		return "the answer was slower than expected"
	case probes.ReasonExpectation:
		return "the answer was not as expected"
	default:
		return "something unknown happened"
	}
}

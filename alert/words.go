package alert

import (
	"strconv"

	"perch.example/probes"
)

// headline says a diagnosis as the end of "stock-api: ...".
func headline(d probes.Diagnosis) string {
	switch d {
	case probes.DiagnosisOwnPod:
		return "perch itself was held up"
	case probes.DiagnosisUnstable:
		return "the first try fails, the second works"
	case probes.DiagnosisUnreachable:
		return "no connection can be made"
	case probes.DiagnosisCertificate:
		return "the certificate is not valid, or not for long"
	case probes.DiagnosisServiceDown:
		return "requests on fresh connections fail too"
	case probes.DiagnosisProxyStale:
		return "a proxy on the path uses dead connections of its own"
	case probes.DiagnosisRateLimited:
		return "the API says that it is called too often"
	case probes.DiagnosisUnauthorized:
		return "the API refuses the credentials"
	case probes.DiagnosisContract:
		return "the answer is not what is expected"
	case probes.DiagnosisSlow:
		return "answers come later than expected"
	case probes.DiagnosisNoKeepAlive:
		return "the API ends the connection after each answer"
	case probes.DiagnosisUndeclaredClose:
		return "connections are closed for something other than idle time"
	case probes.DiagnosisEarlyClose:
		return "idle connections are closed too early"
	case probes.DiagnosisStaleConnection:
		return "requests on idle connections fail"
	case probes.DiagnosisStalled:
		return "idle connections take the request and never answer"
	case probes.DiagnosisSilentDrop:
		return "idle connections die without a sign"
	case probes.DiagnosisMassClose:
		return "many connections were closed at once"
	}
	return "something fails"
}

// explanation says a hypothesis as people say it in the incident's call.
func explanation(id probes.HypothesisID) string {
	switch id {
	case probes.HypothesisAPIDown:
		return "the API is down"
	case probes.HypothesisPathBlocks:
		return "the network blocks us"
	case probes.HypothesisOwnPod:
		return "our own pod is too busy"
	case probes.HypothesisStalePool:
		return "the pool kept the connection too long"
	case probes.HypothesisRateLimit:
		return "we call too often"
	case probes.HypothesisRetryGap:
		return "our retries miss this"
	}
	return string(id)
}

// closing says by what a close was seen.
func closing(h probes.HowClosed) string {
	switch h {
	case probes.HowFIN:
		return "FIN"
	case probes.HowRST:
		return "RST"
	case probes.HowBytes:
		return "bytes that nobody asked for"
	case probes.HowCloseNotify:
		return "TLS close_notify"
	case probes.HowGoaway:
		return "HTTP/2 GOAWAY"
	case probes.HowSilent:
		return "silence"
	}
	return string(h)
}

// retries says what the application's retry policy makes of it.
func retries(c probes.RetryCover) string {
	switch c {
	case probes.CoverCovered:
		return "Its retry policy covers this: the call is sent again."
	case probes.CoverUncovered:
		return "Its retry policy does not cover this: the call is not sent again, and the error reaches the caller."
	case probes.CoverUnsafe:
		return "Its retry policy would send again what may have been executed already."
	case probes.CoverUnknown:
		return "Whether its retries cover this is not known: no retry policy is declared."
	}
	return ""
}

// verdictWord stands at the head of a row: readable without colour.
func verdictWord(v probes.Verdict) string {
	switch v {
	case probes.VerdictPass:
		return "pass"
	case probes.VerdictDegraded:
		return "degraded"
	case probes.VerdictFail:
		return "FAIL"
	case probes.VerdictSkipped:
		return "skipped"
	case probes.VerdictIncomplete:
		return "incomplete"
	}
	return "unknown"
}

// got says what an attempt came to: the status of its answer, or why none came.
func got(a probes.Attempt) string {
	switch a.Reason {
	case probes.ReasonDNS, probes.ReasonRefused, probes.ReasonConnectTimeout, probes.ReasonConnectFailed,
		probes.ReasonProxy, probes.ReasonCertificate, probes.ReasonTLS:
		return "no connection (" + string(a.Reason) + ")"
	default:
	}
	switch {
	case a.Status == 0:
		return "no answer (" + string(a.Reason) + ")"
	case a.OK():
		return strconv.Itoa(a.Status)
	}
	return strconv.Itoa(a.Status) + " (" + string(a.Reason) + ")"
}

package report

import (
	"strings"

	"perch.example/probes"
)

// verdictWord is a verdict as it stands at the head of a line.
func verdictWord(v probes.Verdict) string {
	if v == "" {
		return "UNKNOWN" // an unset verdict is never a pass
	}
	return strings.ToUpper(string(v))
}

// diagnosisWords says a diagnosis in a few words.
func diagnosisWords(d probes.Diagnosis) string {
	switch d {
	case probes.DiagnosisOwnPod:
		return "perch itself was held up for as long as the failure took"
	case probes.DiagnosisUnstable:
		return "the first try failed, the second worked"
	case probes.DiagnosisUnreachable:
		return "no connection could be made"
	case probes.DiagnosisCertificate:
		return "the certificate is not valid, or not for long"
	case probes.DiagnosisServiceDown:
		return "requests on fresh connections fail too"
	case probes.DiagnosisProxyStale:
		return "a proxy on the path used a dead connection of its own"
	case probes.DiagnosisRateLimited:
		return "the API says that it is called too often"
	case probes.DiagnosisUnauthorized:
		return "the API refuses the credentials"
	case probes.DiagnosisContract:
		return "the answer is not what the probe expects"
	case probes.DiagnosisSlow:
		return "the answer came later than the probe allows"
	case probes.DiagnosisNoKeepAlive:
		return "the API ends the connection after each answer"
	case probes.DiagnosisUndeclaredClose:
		return "connections are closed for something other than idle time"
	case probes.DiagnosisEarlyClose:
		return "idle connections are closed too early"
	case probes.DiagnosisStaleConnection:
		return "a request on an idle connection fails"
	case probes.DiagnosisStalled:
		return "an idle connection takes the request and never answers"
	case probes.DiagnosisSilentDrop:
		return "idle connections die without a sign"
	case probes.DiagnosisMassClose:
		return "many connections were closed at once, as a reload or deploy does"
	}
	return ""
}

// hypothesisWords says what somebody in the incident's call would say.
func hypothesisWords(id probes.HypothesisID) string {
	switch id {
	case probes.HypothesisAPIDown:
		return "the API is down"
	case probes.HypothesisPathBlocks:
		return "the network blocks us"
	case probes.HypothesisOwnPod:
		return "our own pod is too busy"
	case probes.HypothesisStalePool:
		return "the pool kept it too long"
	case probes.HypothesisRateLimit:
		return "we call too often"
	case probes.HypothesisRetryGap:
		return "our retries miss this"
	}
	return string(id)
}

// rulingWord is IN, OUT or open, and its ink.
func rulingWord(r probes.Ruling) span {
	switch r {
	case probes.RuledIn:
		return span{inkBad, "IN"}
	case probes.RuledOut:
		return span{inkGood, "OUT"}
	case probes.RuledOpen:
		return span{inkWarn, "open"}
	}
	return span{inkWarn, "open"}
}

// howWords says by what a close was seen.
func howWords(h probes.HowClosed) string {
	switch h {
	case probes.HowFIN:
		return "FIN"
	case probes.HowRST:
		return "RST"
	case probes.HowBytes:
		return "unasked bytes"
	case probes.HowCloseNotify:
		return "TLS close_notify"
	case probes.HowGoaway:
		return "GOAWAY"
	case probes.HowSilent:
		return "silence"
	}
	return string(h)
}

// howShort is howWords where there is little room.
func howShort(h probes.HowClosed) string {
	switch h {
	case probes.HowBytes:
		return "bytes"
	case probes.HowCloseNotify:
		return "close_notify"
	default:
		return howWords(h)
	}
}

// coverWords says what the application's retry policy would have done.
func coverWords(c probes.RetryCover) string {
	switch c {
	case probes.CoverCovered:
		return "its retry policy covers this: the call is sent again"
	case probes.CoverUncovered:
		return "its retry policy does not cover this: the call is not sent again"
	case probes.CoverUnsafe:
		return "its retry policy would send again what may have been executed"
	case probes.CoverUnknown:
		return "whether its retries cover this is not known"
	}
	return ""
}

package probes

import "slices"

// Words says a diagnosis as the end of "stock-api: ..."; the same in every
// sink. Empty for none.
func (d Diagnosis) Words() string {
	switch d {
	case DiagnosisOwnPod:
		return "perch itself was held up for as long as the failure took"
	case DiagnosisUnstable:
		return "the first try fails, the second works"
	case DiagnosisUnreachable:
		return "no connection can be made"
	case DiagnosisCertificate:
		return "the certificate is not valid, or not for long"
	case DiagnosisServiceDown:
		return "requests on fresh connections fail"
	case DiagnosisProxyStale:
		return "a proxy on the path uses dead connections of its own"
	case DiagnosisRateLimited:
		return "the API says that it is called too often"
	case DiagnosisUnauthorized:
		return "the API refuses the credentials"
	case DiagnosisContract:
		return "the answer is not what is expected"
	case DiagnosisSlow:
		return "answers come later than expected"
	case DiagnosisNoKeepAlive:
		return "the API ends the connection after each answer"
	case DiagnosisUndeclaredClose:
		return "connections are closed for something other than idle time"
	case DiagnosisEarlyClose:
		return "idle connections are closed too early"
	case DiagnosisStaleConnection:
		return "requests on idle connections fail"
	case DiagnosisStalled:
		return "idle connections take the request and never answer"
	case DiagnosisSilentDrop:
		return "idle connections die without a sign"
	case DiagnosisMassClose:
		return "many connections were closed at once, as a reload or deploy does"
	case DiagnosisBoundChanged:
		return "idle connections end at another age than before"
	}
	return ""
}

// DiagnosisWords says the outcome's diagnosis as the end of "stock-api: ...". A
// close as expected is not too early: the client's limit is too long. Of a
// service that is down beside a connection that was held, and of a certificate,
// the outcome knows more than the diagnosis.
func (o Outcome) DiagnosisWords() string {
	switch {
	case o.ByClient && o.Diagnosis == DiagnosisEarlyClose:
		return "the client keeps idle connections longer than the path does"
	case o.Diagnosis == DiagnosisServiceDown && o.heldToo():
		return o.Diagnosis.Words() + " too"
	case o.Diagnosis == DiagnosisUnauthorized && o.unasked():
		return "there is no token to ask the API with"
	case o.Diagnosis == DiagnosisCertificate:
		return o.certificateWords()
	}
	return o.Diagnosis.Words()
}

// unasked reports whether all that was not authorized was not even sent: there was no
// token.
func (o Outcome) unasked() bool {
	n := 0
	for _, a := range o.Attempts {
		if a.Reason == ReasonUnauthorized && !a.NoToken {
			return false
		}
		if a.NoToken {
			n++
		}
	}
	return n > 0
}

// heldToo reports whether a held connection had failed before the fresh one.
func (o Outcome) heldToo() bool {
	return slices.ContainsFunc(o.Attempts, func(a Attempt) bool { return a.Connection == ConnectionControl })
}

// Words says a hypothesis as people say it in the incident's call.
func (id HypothesisID) Words() string {
	switch id {
	case HypothesisAPIDown:
		return "the API is down"
	case HypothesisPathBlocks:
		return "the network blocks us"
	case HypothesisOwnPod:
		return "our own pod is too busy"
	case HypothesisStalePool:
		return "the pool kept it too long"
	case HypothesisRateLimit:
		return "we call too often"
	case HypothesisRetryGap:
		return "our retries miss this"
	}
	return string(id)
}

// Words names a close as the wire does.
func (h HowClosed) Words() string {
	switch h {
	case HowFIN:
		return "FIN"
	case HowRST:
		return "RST"
	case HowBytes:
		return "unasked bytes"
	case HowCloseNotify:
		return "TLS close_notify"
	case HowGoaway:
		return "GOAWAY"
	case HowSilent:
		return "silence"
	}
	return string(h)
}

package alert

import (
	"strconv"

	"perch.example/probes"
)

// trouble says a diagnosis, and never nothing.
func trouble(d probes.Diagnosis) string {
	if words := d.Words(); words != "" {
		return words
	}
	return "something fails"
}

// troubleOf says an outcome's diagnosis, and never nothing.
func troubleOf(o probes.Outcome) string {
	if words := o.DiagnosisWords(); words != "" {
		return words
	}
	return trouble(o.Diagnosis)
}

// retries says what the application's retry policy makes of it.
func retries(r probes.RetryOutcome) string {
	if r.Hidden {
		return "Its own automatic retry sends it again: no retry layer sees an error."
	}
	switch r.Application {
	case probes.CoverCovered:
		return "Its retry policy covers this: the call is sent again."
	case probes.CoverUncovered:
		if r.Beside != "" {
			return sentence(capital(r.Beside) + ", and the error reaches the caller")
		}
		return "Its retry policy does not cover this: the error reaches the caller."
	case probes.CoverUnsafe:
		return "Its retry policy would send again what may have been executed already."
	case probes.CoverUnknown:
		return "Whether its retries cover this is not known: no retry policy is declared."
	}
	return ""
}

// ordinal words which of several in a row is meant.
func ordinal(n int) string {
	switch n {
	case 1:
		return "first"
	case 2:
		return "second"
	case 3:
		return "third"
	}
	return strconv.Itoa(n) + "th"
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

// rowWord is verdictWord, of an outcome.
func rowWord(o probes.Outcome) string {
	if o.Accepted != nil {
		return "accepted"
	}
	return verdictWord(o.Verdict)
}

// number writes a count.
func number(n int) string { return strconv.Itoa(n) }

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
		return string(a.Reason)
	case a.OK():
		return a.Answer()
	}
	return a.Answer() + " (" + string(a.Reason) + ")"
}

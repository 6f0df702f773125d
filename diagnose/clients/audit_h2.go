package clients

import (
	"slices"

	"perch.example/probes"
)

// auditReasonsH2 are the reasons that a client can meet over HTTP/2, what ends idle
// connections first. Bytes that nobody asked for are frames there, and a head comes whole.
func auditReasonsH2() []probes.Reason {
	first := []probes.Reason{
		probes.ReasonIdleGoaway, probes.ReasonIdleFIN, probes.ReasonIdleCloseNotify,
		probes.ReasonGoawayUnprocessed, probes.ReasonGoawayProcessed, probes.ReasonRefusedStream, probes.ReasonStreamReset,
	}
	for _, r := range auditReasons() {
		if r != probes.ReasonIdleBytes && r != probes.ReasonPartialHead && !slices.Contains(first, r) {
			first = append(first, r)
		}
	}
	return first
}

// reasonsOver are those that an audit is about.
func reasonsOver(http2 bool) []probes.Reason {
	if http2 {
		return auditReasonsH2()
	}
	return auditReasons()
}

// ofFrames reports whether HTTP/2's own frames tell of it: each time a connection or a
// stream ended without an answer, which another one would have given.
func ofFrames(r probes.Reason) bool {
	switch eventOf(r) {
	case GoawayIdle, GoawayUnprocessed, GoawayProcessed, StreamRefused, StreamReset:
		return true
	default:
		return false
	}
}

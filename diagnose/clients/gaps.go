package clients

import (
	"net/http"

	"perch.example/probes"
)

// gapReasons are the transient failures of the network that a standard retry
// policy should cover.
func gapReasons() []probes.Reason {
	return []probes.Reason{
		probes.ReasonDNS, probes.ReasonRefused, probes.ReasonConnectTimeout,
		probes.ReasonIdleCloseNotify, probes.ReasonIdleFIN, probes.ReasonIdleRST, probes.ReasonIdleBytes,
		probes.ReasonBlackhole, probes.ReasonCrossedClose, probes.ReasonEOF, probes.ReasonReset,
		probes.ReasonNoResponse, probes.ReasonPartialHead,
		probes.ReasonRateLimited, probes.ReasonUnavailable,
	}
}

// Gaps judges the declared policy, for a GET, against each reason that the
// catalog knows of, at an idle age at which the client does not look. Without
// a declared policy there is nothing to judge.
func Gaps(decl probes.Client) []probes.RetryGap {
	if decl.Retry == nil {
		return nil
	}
	var gaps []probes.RetryGap
	for _, reason := range gapReasons() {
		_, result, cover := Experience(decl, reason, http.MethodGet, 0)
		if result == Unknown {
			continue
		}
		gaps = append(gaps, probes.RetryGap{Client: decl.Kind, Reason: reason, Gap: cover == probes.CoverUncovered})
	}
	return gaps
}

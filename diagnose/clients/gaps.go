package clients

import (
	"net/http"
	"slices"

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

// gapsOver are those that a probe can meet over its protocol. Over HTTP/2 what its
// frames tell is transient, too.
func gapsOver(http2 bool) []probes.Reason {
	return slices.DeleteFunc(reasonsOver(http2), func(r probes.Reason) bool {
		return !ofFrames(r) && !slices.Contains(gapReasons(), r)
	})
}

// Gaps judges the declared policy, for a GET, against each reason that the
// catalog knows of, at an idle age at which the client does not look, and over HTTP/2
// where decl says so. Without a declared policy there is nothing to judge.
func Gaps(decl probes.Client) []probes.RetryGap {
	if decl.Retry == nil {
		return nil
	}
	var gaps []probes.RetryGap
	for _, reason := range gapsOver(decl.HTTP2) {
		_, result, cover := Experience(decl, reason, http.MethodGet, 0)
		if result == Unknown {
			continue
		}
		gaps = append(gaps, probes.RetryGap{Client: decl.Kind, Reason: reason, Gap: cover == probes.CoverUncovered})
	}
	return gaps
}

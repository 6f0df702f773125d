package diagnose

import (
	"slices"
	"strings"

	"perch.example/probes"
)

// proxyAdvice is for whoever runs what ends TCP before the API: its own
// settings decide on this side of it. Empty: nothing is known to.
func (j *judgement) proxyAdvice() string {
	path := j.rung.obs.Path
	if path.TCPEnds != probes.TCPEndsBeforePeer {
		return ""
	}
	what := "the proxy on the path"
	if len(path.Via) > 0 {
		what = "the " + strings.Join(path.Via, " and the ")
	}
	if j.rule.Diagnosis == probes.DiagnosisSilentDrop {
		text := "For whoever runs " + what + ": TCP ends there, and so do the application's TCP keep-alive packets; it has to send its own towards the API."
		if j.mesh() {
			text += " With Istio that is trafficPolicy.connectionPool.tcp.tcpKeepalive in the DestinationRule of the API's host."
		}
		return text
	}
	text := "For whoever runs " + what + ": TCP ends there, so that its own idle timeout may be what closed the connection."
	if !j.mesh() {
		return text
	}
	setting := "tcp.idleTimeout"
	if j.l.in.Spec.URL != nil && j.l.in.Spec.URL.Scheme == "http" {
		setting = "http.idleTimeout"
	}
	return text + " With Istio that is trafficPolicy.connectionPool." + setting + " (1 h by default) in the DestinationRule of the API's host."
}

// mesh reports whether a mesh's proxy was declared or seen.
func (j *judgement) mesh() bool {
	return j.l.in.Spec.Via == probes.ViaMesh || slices.ContainsFunc(j.rung.obs.Path.Via, func(via string) bool {
		return strings.Contains(via, "mesh") || strings.Contains(via, "envoy")
	})
}

// meshHint names the proxy's setting towards the API.
func (j *judgement) meshHint() string {
	if !j.mesh() {
		return ""
	}
	return " With Istio that is trafficPolicy.connectionPool.http.idleTimeout in the DestinationRule of the API's host."
}

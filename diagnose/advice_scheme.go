package diagnose

import (
	"strings"

	"perch.example/probes"
)

// schemeAdvice is about a handshake with what speaks no TLS, or agrees to no HTTP/2;
// nil: it is not that. The handshake's own text names the cause; it chooses words here
// and decides nothing.
func (j *judgement) schemeAdvice() []step {
	has := func(s string) bool { return j.at.Reason == probes.ReasonTLS && strings.Contains(j.at.Detail, s) }
	switch {
	case has("first record does not look like a TLS handshake"):
		return []step{next("check the URL's scheme and port: what listens there speaks no TLS. Where it is plain HTTP, the scheme is http.")}
	case has("no application protocol") && j.l.in.Spec.GRPC != nil:
		return []step{next("check the URL's port and what stands before it: it agrees to no HTTP/2 (ALPN), which gRPC needs.")}
	case has("no application protocol"):
		return []step{next("set protocol: http/1.1, or auto, for this probe: the server agrees to no HTTP/2 (ALPN). Where the application would speak HTTP/2 to it, it speaks HTTP/1.1 there.")}
	}
	return nil
}

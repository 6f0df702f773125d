package diagnose

import (
	"fmt"
	"strings"

	"perch.example/probes"
)

// schemeAdvice is about a handshake with what speaks no TLS; nil: it is not that. The
// handshake's own text names the cause; it chooses words here and decides nothing.
func (j *judgement) schemeAdvice() []step {
	if j.at.Reason != probes.ReasonTLS || !strings.Contains(j.at.Detail, "first record does not look like a TLS handshake") {
		return nil
	}
	return []step{next("check the URL's scheme and port: what listens there speaks no TLS. Where it is plain HTTP, the scheme is http.")}
}

// protocolAdvice is about a peer that answers, and speaks something else; nil: it is not
// that.
func (j *judgement) protocolAdvice() []step {
	grpc, a := j.l.in.Spec.GRPC != nil, j.at
	switch {
	case otherProtocol(*a) && (answered(j.again) || j.spoke != nil):
		return []step{next("ask the API's owner which versions of HTTP each of its servers and load balancers speaks: one connection of this run met one that does not speak this probe's, and another one was answered.")}
	case a.WantsHTTP1():
		return []step{next("set protocol: http/1.1 for this probe: the server wants the request in HTTP/1.1 (RST_STREAM HTTP_1_1_REQUIRED), as some do that ask for a client certificate.")}
	case a.NoHTTP1:
		return j.speakH2()
	case a.NoALPN:
		return j.agree()
	case a.Reason != probes.ReasonBadResponse || !j.answeredItself():
		return nil
	case grpc && a.NoHTTP2:
		return []step{next("check the URL's port: what listens there answers in HTTP/1" + withStatus(*a) + ", and gRPC needs HTTP/2.")}
	case grpc:
		return []step{next("check the URL's port and what stands before it: what answers there is no gRPC server, or a proxy that drops gRPC's trailers.")}
	case a.NoHTTP2:
		return []step{next("set protocol: http/1.1, or auto, for this probe: the peer answers in HTTP/1" + withStatus(*a) + ". Where the application speaks HTTP/2 to it, it fails in the same way.")}
	}
	return nil
}

// speakH2 is about a peer that speaks HTTP/2 only. A burst cannot: over HTTP/2 no pool
// hands out several connections.
func (j *judgement) speakH2() []step {
	const same = " Where the application speaks HTTP/1.1 to it, it fails in the same way."
	speak := probes.ProtocolH2C
	if u := j.l.in.Spec.URL; u != nil && u.Scheme == "https" {
		speak = probes.ProtocolH2
	}
	if j.facts.Kind == probes.KindBurst {
		return []step{next("put a probe of kind idle or http with protocol: " + string(speak) + " in the place of this burst: the peer speaks HTTP/2 only, and a burst speaks HTTP/1.1." + same)}
	}
	return []step{next(fmt.Sprintf("set protocol: %s for this probe (perch idle: --protocol %s): the peer speaks HTTP/2 only.%s", speak, speak, same))}
}

// withStatus is about an answer in HTTP/1 that may say that the API is down, too.
func withStatus(a probes.Attempt) string {
	if !saysDown(a) {
		return ""
	}
	return fmt.Sprintf(" (with %d, which may be the API's trouble as well)", a.TextStatus)
}

// agree is about a server that takes nothing of what ALPN offered. What it speaks instead
// it has not said.
func (j *judgement) agree() []step {
	const orPort = " Where that fails as well, check the URL's port."
	switch spec := j.l.in.Spec; {
	case spec.GRPC != nil:
		return []step{next("check the URL's port and what stands before it: it agrees to no HTTP/2 (ALPN), which gRPC needs.")}
	case spec.Speaks() == probes.ProtocolH2:
		return []step{next("set protocol: http/1.1, or auto, for this probe if the application does so: the server agreed to no HTTP/2 (ALPN offered h2 alone)." + orPort)}
	case spec.Speaks() == probes.ProtocolAuto:
		return []step{next("check the URL's port: the server refused all that ALPN offered, h2 and http/1.1.")}
	case j.facts.Kind == probes.KindBurst:
		return []step{next("put a probe of kind idle or http with protocol: h2 in the place of this burst if the application speaks HTTP/2: the server refused http/1.1, all that ALPN offered." + orPort)}
	}
	return []step{next("set protocol: h2, or auto, for this probe if the application does so: the server refused http/1.1, all that ALPN offered." + orPort)}
}

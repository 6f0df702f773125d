package diagnose

import (
	"fmt"

	"perch.example/probes"
)

// grpcStatus reports whether the attempt that decides was answered with a gRPC
// status. Its HTTP status is 200, or another than the one that HTTP's clients are
// known by: what they make of a 503 is not said of it.
func (j *judgement) grpcStatus() bool {
	if j.at == nil || j.at.GRPC == nil {
		return false
	}
	switch j.at.Reason {
	case probes.ReasonUnavailable, probes.ReasonRateLimited, probes.ReasonUnauthorized, probes.ReasonProxyUpstreamReset:
		return true
	default:
		return false
	}
}

// pingAdvice is about PINGs that come more often than a gRPC server allows
// (keepalive enforcement): the idle limits are not why the connection ended. The
// defaults are gRPC's own (doc/keepalive.md of grpc/grpc).
func (j *judgement) pingAdvice() []step {
	ping := "the client's HTTP/2 PING interval"
	if c := j.l.in.Spec.Client; c != nil && c.HTTP2Ping > 0 {
		ping += fmt.Sprintf(" of %s (http2_ping in perch's config)", human(c.HTTP2Ping))
	}
	return []step{
		next(fmt.Sprintf("raise %s to what the server allows, 5 min where nothing else is set, or send none while no call is under way (grpc-go: keepalive.ClientParameters{Time, PermitWithoutStream}; grpc-java: keepAliveTime, keepAliveWithoutCalls): "+
			"the server counted them and ended the connection after %s (GOAWAY ENHANCE_YOUR_CALM, too_many_pings). Lowering the idle limit does not help.", ping, human(j.at.Goaway.Age))),
		alternative("ask the API's owner to allow them (grpc-go: keepalive.EnforcementPolicy{MinTime, PermitWithoutStream}; grpc-java: permitKeepAliveTime, permitKeepAliveWithoutCalls)."),
	}
}

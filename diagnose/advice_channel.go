package diagnose

// channelAdvice is about a gRPC channel that outlives the path's idle connections:
// the catalog's clients are HTTP's, and none of their settings are its own. The
// names and the default are grpc-go's and grpc-java's own documentation.
func (j *judgement) channelAdvice() []step {
	const where = " In grpc-go that is grpc.WithIdleTimeout, in grpc-java ManagedChannelBuilder.idleTimeout; both have 30 min where nothing is set."
	text := j.below("keep the channel's longest time without a call") + where
	if j.at.Goaway != nil {
		return []step{aside("Mind: a GOAWAY that comes while no call is under way is no error to a gRPC channel: it connects again with the next call. What is left is a call that crosses it."), next(text)}
	}
	return []step{next(text)}
}

// serverSetting names what a gRPC server's own GOAWAY says that it follows; empty:
// it says nothing that is known.
func (j *judgement) serverSetting() string {
	if g := j.at.Goaway; j.l.in.Spec.GRPC != nil && g != nil && g.Debug == "max_idle" {
		return " The GOAWAY says max_idle: in grpc-go that is keepalive.ServerParameters{MaxConnectionIdle}, in grpc-java maxConnectionIdle."
	}
	return ""
}

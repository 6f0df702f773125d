package probes

// GRPC is a gRPC exchange: what kind grpc does, and what an idle probe does on
// its held connection when it is set. The zero value is the health check of the
// whole server.
type GRPC struct {
	Service       string // the health check's service; empty: the server's own
	Method        string // "package.Service/Method", a unary method declared read-only; empty: the health check
	Request       []byte // its request as JSON; nil: an empty message
	DescriptorSet string // file of a FileDescriptorSet; empty: server reflection
}

//go:build peers

package peers

import (
	"context"
	"net"
	"sync/atomic"
	"testing"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/health"
	"google.golang.org/grpc/health/grpc_health_v1"
	pb "google.golang.org/grpc/interop/grpc_testing"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/reflection"
	v1alpha "google.golang.org/grpc/reflection/grpc_reflection_v1alpha"
	"google.golang.org/grpc/status"
)

// grpcPeer is a real grpc-go server.
type grpcPeer struct {
	pb.UnimplementedTestServiceServer
	address string // http://127.0.0.1:port, or https
	caFile  string // TLS: its authority's
	health  *health.Server
	calls   atomic.Int64 // of UnaryCall and streams
	asked   atomic.Int64 // streams of server reflection
	traced  atomic.Int64 // calls with a traceparent and perch's user agent
}

// UnaryCall answers with the status that it is asked for, with a detail, or with a
// payload of the size that it is asked for.
func (p *grpcPeer) UnaryCall(ctx context.Context, r *pb.SimpleRequest) (*pb.SimpleResponse, error) {
	p.calls.Add(1)
	if md, _ := metadata.FromIncomingContext(ctx); len(md["traceparent"]) == 1 && len(md["user-agent"]) == 1 && md["user-agent"][0] == "perch/test" {
		p.traced.Add(1)
	}
	if s := r.GetResponseStatus(); s.GetCode() != 0 {
		st, err := status.New(codes.Code(s.GetCode()), s.GetMessage()).WithDetails(&errdetails.ErrorInfo{Reason: "SOLD_OUT", Domain: "shop.example"})
		if err != nil {
			return nil, err
		}
		return nil, st.Err()
	}
	return &pb.SimpleResponse{Username: "stock", Payload: &pb.Payload{Body: make([]byte, r.GetResponseSize())}}, nil
}

// StreamingOutputCall is there to be refused.
func (p *grpcPeer) StreamingOutputCall(*pb.StreamingOutputCallRequest, grpc.ServerStreamingServer[pb.StreamingOutputCallResponse]) error {
	p.calls.Add(1)
	return nil
}

// describes is how a server describes itself.
type describes string

const (
	describesNothing describes = "nothing"
	describesOld     describes = "v1alpha"
	describesAll     describes = "all"
)

// newGRPC serves until the test ends.
func newGRPC(t *testing.T, how describes, secure bool, options ...grpc.ServerOption) *grpcPeer {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &grpcPeer{address: "http://" + l.Addr().String(), health: health.NewServer()}
	if secure {
		p.address = "https://" + l.Addr().String()
		cert := newCertificate(t, t.TempDir(), "127.0.0.1")
		creds, err := credentials.NewServerTLSFromFile(cert.file, cert.keyFile)
		if err != nil {
			t.Fatal(err)
		}
		p.caFile, options = cert.caFile, append(options, grpc.Creds(creds))
	}
	options = append(options, grpc.StreamInterceptor(func(srv any, s grpc.ServerStream, info *grpc.StreamServerInfo, h grpc.StreamHandler) error {
		if info.IsServerStream && info.IsClientStream {
			p.asked.Add(1)
		}
		return h(srv, s)
	}))
	s := grpc.NewServer(options...)
	pb.RegisterTestServiceServer(s, p)
	grpc_health_v1.RegisterHealthServer(s, p.health)
	switch how {
	case describesAll:
		reflection.Register(s)
	case describesOld:
		v1alpha.RegisterServerReflectionServer(s, reflection.NewServer(reflection.ServerOptions{Services: s}))
	case describesNothing:
	}
	p.health.SetServingStatus("grpc.testing.TestService", grpc_health_v1.HealthCheckResponse_SERVING)
	go func() { _ = s.Serve(l) }()
	t.Cleanup(s.Stop)
	return p
}

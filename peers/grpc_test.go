//go:build peers

package peers

import (
	"os"
	"strings"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"

	pb "google.golang.org/grpc/interop/grpc_testing"

	"perch.example/probes"
)

// newGRPCSpec is a gRPC probe of p.
func newGRPCSpec(t *testing.T, kind probes.Kind, p *grpcPeer, g probes.GRPC, expectations ...string) *probes.Spec {
	t.Helper()
	s := newSpec(t, kind, p.address, expectations...)
	s.Method, s.GRPC, s.TLS.CAFile = "POST", &g, p.caFile
	if g.Method != "" {
		s.ReadOnly = "it answers what it is told to"
	}
	return s
}

const unary = "grpc.testing.TestService/UnaryCall"

// TestGRPCAgainstARealServer: each answer of a grpc-go server gives its reason,
// plain and over TLS.
func TestGRPCAgainstARealServer(t *testing.T) {
	for _, secure := range []bool{false, true} {
		p := newGRPC(t, describesAll, secure)
		p.health.SetServingStatus("down", grpc_health_v1.HealthCheckResponse_NOT_SERVING)
		for _, tt := range []struct {
			name   string
			g      probes.GRPC
			expect string
			want   probes.Reason
			code   string
			detail string
		}{
			{"the whole server", probes.GRPC{}, "", probes.ReasonOK, "OK", ""},
			{"a service", probes.GRPC{Service: "grpc.testing.TestService"}, `json.status == "SERVING" && proto == "HTTP/2.0"`, probes.ReasonOK, "OK", ""},
			{"a service that is down", probes.GRPC{Service: "down"}, "", probes.ReasonUnavailable, "OK", "NOT_SERVING"},
			{"no service", probes.GRPC{Service: "shop.Stock"}, "", probes.ReasonStatus, "NOT_FOUND", `knows no service "shop.Stock"`},
			{"a method", probes.GRPC{Method: unary, Request: []byte(`{"responseSize": 3}`)}, `json.username == "stock" && json.payload.body == "AAAA"`, probes.ReasonOK, "OK", ""},
			{"a large answer", probes.GRPC{Method: unary, Request: []byte(`{"responseSize": 100000}`)}, "", probes.ReasonTooLarge, "", ""},
			{"its status", probes.GRPC{Method: unary, Request: []byte(`{"responseStatus": {"code": 5, "message": "sold out: 50% \u00fc"}}`)}, "", probes.ReasonStatus, "NOT_FOUND", "ErrorInfo"},
			{"its status, as expected", probes.GRPC{Method: unary, Request: []byte(`{"responseStatus": {"code": 5, "message": "sold out: 50% \u00fc"}}`)},
				`grpc.code == 5 && grpc.message == "sold out: 50% ü" && grpc.details[0].reason == "SOLD_OUT"`, probes.ReasonOK, "NOT_FOUND", ""},
			{"unavailable", probes.GRPC{Method: unary, Request: []byte(`{"responseStatus": {"code": 14}}`)}, "", probes.ReasonUnavailable, "UNAVAILABLE", ""},
			{"unauthenticated", probes.GRPC{Method: unary, Request: []byte(`{"responseStatus": {"code": 16}}`)}, "", probes.ReasonUnauthorized, "UNAUTHENTICATED", ""},
			{"exhausted", probes.GRPC{Method: unary, Request: []byte(`{"responseStatus": {"code": 8}}`)}, "", probes.ReasonRateLimited, "RESOURCE_EXHAUSTED", ""},
			{"a method that is not there", probes.GRPC{Method: "grpc.testing.UnimplementedService/UnimplementedCall"}, "", probes.ReasonStatus, "UNIMPLEMENTED", "gRPC status UNIMPLEMENTED"},
		} {
			var expectations []string
			if tt.expect != "" {
				expectations = append(expectations, tt.expect)
			}
			o := probes.RunHTTP(t.Context(), newGRPCSpec(t, probes.KindGRPC, p, tt.g, expectations...), newEnv())
			if len(o.Attempts) != 1 {
				t.Errorf("%s, TLS %v: %+v", tt.name, secure, o)
				continue
			}
			a := o.Attempts[0]
			if a.Reason != tt.want || !strings.Contains(a.Detail, tt.detail) || tt.code != "" && (a.GRPC == nil || a.GRPC.Name != tt.code) {
				t.Errorf("%s, TLS %v: %s %q %+v, want %s %s %q", tt.name, secure, a.Reason, a.Detail, a.GRPC, tt.want, tt.code, tt.detail)
			}
			if strings.Contains(a.Detail, "sold out") {
				t.Errorf("%s: the detail has the server's words: %q", tt.name, a.Detail)
			}
		}
		if calls := p.calls.Load(); calls != p.traced.Load() || calls != 7 {
			t.Errorf("TLS %v: %d calls, %d of them with a trace and perch's name, want 7", secure, calls, p.traced.Load())
		}
	}
}

// TestGRPCDescriptions: a method is described by either version of reflection, or
// by a file, and what is remembered is not asked again.
func TestGRPCDescriptions(t *testing.T) {
	g := probes.GRPC{Method: unary, Request: []byte(`{"responseSize": 1}`)}
	for _, tt := range []struct {
		how   describes
		asked int64
	}{{describesAll, 1}, {describesOld, 1}} {
		p := newGRPC(t, tt.how, false)
		env := newEnv()
		env.Descriptors = &probes.Descriptors{}
		for range 3 {
			if o := probes.RunHTTP(t.Context(), newGRPCSpec(t, probes.KindGRPC, p, g), env); len(o.Attempts) != 1 || !o.Attempts[0].OK() || o.Attempts[0].Served != 0 {
				t.Errorf("%s: %+v", tt.how, o)
			}
		}
		if asked := p.asked.Load(); asked != tt.asked || p.calls.Load() != 3 {
			t.Errorf("%s: reflection was asked %d times, the method %d times", tt.how, asked, p.calls.Load())
		}
	}
	p := newGRPC(t, describesNothing, false)
	o := probes.RunHTTP(t.Context(), newGRPCSpec(t, probes.KindGRPC, p, g), newEnv())
	if len(o.Attempts) != 0 || o.Cut != probes.CutConfig || !strings.Contains(o.Problem, "descriptor_set") {
		t.Errorf("no reflection: %+v", o)
	}
	g.DescriptorSet = writeSet(t)
	o = probes.RunHTTP(t.Context(), newGRPCSpec(t, probes.KindGRPC, p, g), newEnv())
	if len(o.Attempts) != 1 || !o.Attempts[0].OK() {
		t.Errorf("a descriptor set: %+v", o)
	}
}

// TestGRPCCompressed: a server that compresses whatever was asked for is read.
func TestGRPCCompressed(t *testing.T) {
	// The only way to make this server do so.
	p := newGRPC(t, describesAll, false, grpc.RPCCompressor(grpc.NewGZIPCompressor())) //nolint:staticcheck // its successor asks the client first
	g := probes.GRPC{Method: unary, Request: []byte(`{"responseSize": 3000}`)}
	o := probes.RunHTTP(t.Context(), newGRPCSpec(t, probes.KindGRPC, p, g, `size(json.payload.body) == 4000`), newEnv())
	if len(o.Attempts) != 1 || !o.Attempts[0].OK() || o.Attempts[0].ResponseBytes > 1000 {
		t.Errorf("%+v", o)
	}
	g.Request = []byte(`{"responseSize": 300000}`)
	o = probes.RunHTTP(t.Context(), newGRPCSpec(t, probes.KindGRPC, p, g), newEnv())
	if len(o.Attempts) != 1 || o.Attempts[0].Reason != probes.ReasonTooLarge {
		t.Errorf("a bomb: %+v", o)
	}
}

// TestGRPCStreamsAreRefused: nothing is sent for them.
func TestGRPCStreamsAreRefused(t *testing.T) {
	p := newGRPC(t, describesAll, false)
	for _, set := range []string{"", writeSet(t)} {
		o := probes.RunHTTP(t.Context(), newGRPCSpec(t, probes.KindGRPC, p, probes.GRPC{Method: "grpc.testing.TestService/StreamingOutputCall", DescriptorSet: set}), newEnv())
		if len(o.Attempts) != 0 || o.Cut != probes.CutConfig || !strings.Contains(o.Problem, "is a streaming method") {
			t.Errorf("set %q: %+v", set, o)
		}
	}
	if p.calls.Load() != 0 {
		t.Errorf("%d calls, want none", p.calls.Load())
	}
}

// writeSet writes what describes the test service.
func writeSet(t *testing.T) string {
	t.Helper()
	set, seen := &descriptorpb.FileDescriptorSet{}, map[string]bool{}
	var add func(f protoreflect.FileDescriptor)
	add = func(f protoreflect.FileDescriptor) {
		if seen[f.Path()] {
			return
		}
		seen[f.Path()] = true
		for i := range f.Imports().Len() {
			add(f.Imports().Get(i))
		}
		set.File = append(set.File, protodesc.ToFileDescriptorProto(f))
	}
	add(pb.File_grpc_testing_test_proto)
	data, err := proto.Marshal(set)
	if err != nil {
		t.Fatal(err)
	}
	name := t.TempDir() + "/test.binpb"
	if err := os.WriteFile(name, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

package plan

import (
	"net/url"
	"strings"
	"testing"

	"perch.example/probes"
)

// TestAClientThatDoesNotSpeakTheProtocol is told of.
func TestAClientThatDoesNotSpeakTheProtocol(t *testing.T) {
	for _, tt := range []struct {
		kind     string
		protocol probes.Protocol
		grpc     bool
		want     string
	}{
		{"requests", probes.ProtocolH2, false, "speaks HTTP/2, which requests does not"},
		{"apache-httpclient-4.5", probes.ProtocolH2C, false, "which apache-httpclient-4.5 does not"},
		{"httpx", probes.ProtocolH2, false, "only if told to (Client(http2=True))"},
		{"go-net-http", probes.ProtocolH2, false, ""},
		{"requests", probes.ProtocolAuto, false, ""},
		{"requests", "", false, ""},
		{"go-net-http", "", true, "go-net-http is no gRPC client"},
		{"grpc-go", "", true, ""},
	} {
		s := &probes.Spec{Target: "a", Probe: "b", Kind: probes.KindIdle, Protocol: tt.protocol, URL: &url.URL{Scheme: "https", Host: "api.example"}, Client: &probes.Client{Kind: tt.kind}}
		if tt.grpc {
			s.GRPC = &probes.GRPC{}
		}
		if got := protocolNote(s); (got == "") != (tt.want == "") || !strings.Contains(got, tt.want) {
			t.Errorf("%s, %q, gRPC %t: %q, want %q", tt.kind, tt.protocol, tt.grpc, got, tt.want)
		}
	}
	if got := protocolNote(&probes.Spec{Protocol: probes.ProtocolH2}); got != "" {
		t.Errorf("no client: %q", got)
	}
}

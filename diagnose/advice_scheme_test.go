package diagnose

import (
	"strings"
	"testing"

	"perch.example/probes"
)

// TestWrongSchemeOrProtocol: the advice is about the config, not the API.
func TestWrongSchemeOrProtocol(t *testing.T) {
	for _, tt := range []struct {
		detail string
		alpn   bool
		grpc   bool
		want   string
	}{
		{"tls: first record does not look like a TLS handshake", false, false, "the scheme is http"},
		{"remote error: tls: no application protocol", true, true, "which gRPC needs"},
		{"remote error: tls: handshake failure", false, false, "ask the API's owner"},
		{"remote error: tls: no application protocol", false, false, "ask the API's owner"}, // a text decides nothing
	} {
		in := httpInput("tls")
		for k := range in.Observations[0].Attempts {
			in.Observations[0].Attempts[k].Detail = tt.detail
			in.Observations[0].Attempts[k].NoALPN = tt.alpn
		}
		if tt.grpc {
			in.Spec.GRPC = &probes.GRPC{}
		}
		got := strings.Join(Judge(in)[0].Advice, "\n")
		if !strings.Contains(got, tt.want) || strings.Contains(got, "ask the API's owner") != (tt.want == "ask the API's owner") {
			t.Errorf("%s: %q, want %q", tt.detail, got, tt.want)
		}
	}
}

package metrics

import (
	"net/url"
	"slices"
	"testing"

	"perch.example/probes"
)

// What a probe's protocol can end in is created, and nothing else: no server that
// speaks HTTP/2 alone answers unasked, and none of HTTP/1.1 sends a GOAWAY.
func TestPossibleByProtocol(t *testing.T) {
	for _, tt := range []struct {
		protocol   probes.Protocol
		scheme     string
		kind       probes.Kind
		http1, h2s bool
	}{
		{"", "https", probes.KindIdle, true, false},
		{probes.ProtocolHTTP1, "http", probes.KindIdle, true, false},
		{probes.ProtocolAuto, "http", probes.KindIdle, true, false},
		{probes.ProtocolAuto, "https", probes.KindIdle, true, true},
		{probes.ProtocolH2, "https", probes.KindIdle, false, true},
		{probes.ProtocolH2C, "http", probes.KindIdle, false, true},
		{probes.ProtocolH2C, "http", probes.KindHTTP, false, true},
	} {
		s := probes.Spec{Kind: tt.kind, Protocol: tt.protocol, URL: &url.URL{Scheme: tt.scheme, Host: "api.example"}}
		for _, c := range possibleFor(s).connections {
			for r, want := range map[probes.Reason]bool{
				probes.ReasonIdleBytes: tt.http1 && c.on == probes.ConnectionReused, probes.ReasonIdleGoaway: tt.h2s && c.on == probes.ConnectionReused,
				probes.ReasonGoawayUnprocessed: tt.h2s, probes.ReasonRefusedStream: tt.h2s, probes.ReasonGoawayProcessed: tt.h2s, probes.ReasonStreamReset: tt.h2s,
				probes.ReasonEOF: true,
			} {
				if slices.Contains(c.reasons, r) != want {
					t.Errorf("%q over %s, %s, %s: %s is not %v", tt.protocol, tt.scheme, tt.kind, c.on, r, want)
				}
			}
		}
		if gaps := gapReasons(s); slices.Contains(gaps, probes.ReasonIdleGoaway) != tt.h2s || slices.Contains(gaps, probes.ReasonIdleBytes) != tt.http1 {
			t.Errorf("%q over %s: gaps %v", tt.protocol, tt.scheme, gaps)
		}
	}
	if s := (probes.Spec{GRPC: &probes.GRPC{}, URL: &url.URL{Scheme: "http"}}); !mayBeH2(s) || mayBeHTTP1(s) {
		t.Error("gRPC is HTTP/2")
	}
}

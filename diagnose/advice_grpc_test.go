package diagnose

import (
	"strings"
	"testing"
	"time"

	"perch.example/probes"
)

// TestPingAdvice: a server that says that the PINGs are too many is believed; one
// that ends connections by age is told about as before.
func TestPingAdvice(t *testing.T) {
	const s = time.Second
	with := func(debug string, code uint32) Input {
		in := one(rungAt(0, 15*s, "idle_goaway").closed(4*s, probes.HowGoaway).reuse(func(a *probes.Attempt) {
			a.Goaway = &probes.Goaway{Code: code, Debug: debug, Age: 4 * s, Idle: true}
		}))
		in.Spec.KeepAlive = time.Minute
		in.Spec.Client = &probes.Client{Kind: "go-net-http", HTTP2Ping: s}
		return in
	}
	advice := strings.Join(Judge(with("too_many_pings", 11))[0].Advice, "\n")
	for _, want := range []string{
		"1. Raise the client's HTTP/2 PING interval of 1 s (http2_ping in perch's config)", "ended the connection after 4 s (GOAWAY ENHANCE_YOUR_CALM, too_many_pings)", "1b. Or ask the API's owner to allow them",
	} {
		if !strings.Contains(advice, want) {
			t.Errorf("%q, want %q", advice, want)
		}
	}
	if strings.Contains(advice, "max_idle") {
		t.Errorf("an idle limit is advised: %q", advice)
	}
	for _, other := range []Input{with("max_idle", 0), with("", 11)} {
		if advice := strings.Join(Judge(other)[0].Advice, "\n"); strings.Contains(advice, "PING") || advice == "" {
			t.Errorf("%q", advice)
		}
	}
}

// TestGRPCWords: a gRPC answer is told by its own status, since HTTP's is always
// 200; and a health check that does not serve by its detail.
func TestGRPCWords(t *testing.T) {
	for _, tt := range []struct {
		reason       probes.Reason
		code         int
		name, detail string
		want, limit  string
	}{
		{probes.ReasonUnavailable, 14, "UNAVAILABLE", "gRPC status UNAVAILABLE", "the answer was UNAVAILABLE", ""},
		{probes.ReasonUnavailable, 0, "OK", "the server's health check says NOT_SERVING", "it does not serve (the server's health check says NOT_SERVING)", ""},
		{probes.ReasonRateLimited, 8, "RESOURCE_EXHAUSTED", "gRPC status RESOURCE_EXHAUSTED", "the answer was RESOURCE_EXHAUSTED", "the API answered RESOURCE_EXHAUSTED"},
		{probes.ReasonStatus, 5, "NOT_FOUND", "gRPC status NOT_FOUND", "gRPC status NOT_FOUND", ""},
	} {
		in := httpInput(tt.reason)
		in.Spec.Kind, in.Spec.GRPC, in.Observations[0].Kind = probes.KindGRPC, &probes.GRPC{}, probes.KindGRPC
		for i := range in.Observations {
			for k := range in.Observations[i].Attempts {
				a := &in.Observations[i].Attempts[k]
				a.Status, a.GRPC, a.Detail = 200, &probes.GRPCStatus{Code: tt.code, Name: tt.name}, tt.detail
			}
		}
		o := Judge(in)[0]
		if !strings.Contains(o.Message, tt.want) || strings.Contains(o.Message, "200") {
			t.Errorf("%s: %q, want %q", tt.name, o.Message, tt.want)
		}
		for _, h := range o.Hypotheses {
			if h.ID == probes.HypothesisRateLimit && tt.limit != "" && !strings.Contains(h.Evidence, tt.limit) || strings.Contains(h.Evidence, "200") {
				t.Errorf("%s: %s: %q", tt.name, h.ID, h.Evidence)
			}
		}
	}
}

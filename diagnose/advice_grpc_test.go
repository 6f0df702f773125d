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

// TestTooManyPings: connections that the client's own PINGs end are never a pass,
// whatever the age; an idle limit at the same age is one.
func TestTooManyPings(t *testing.T) {
	const s = time.Second
	at := func(keepAlive time.Duration, reason probes.Reason, code uint32, debug string) Input {
		in := one(rungAt(0, 15*s, reason).closed(10*s, probes.HowGoaway).reuse(func(a *probes.Attempt) {
			a.Goaway = &probes.Goaway{Code: code, Debug: debug, Age: 10 * s, Idle: true}
		}))
		in.Spec.KeepAlive = keepAlive
		return in
	}
	for _, keepAlive := range []time.Duration{0, 3 * s, 10 * s, 15 * s, time.Minute} {
		for _, reason := range []probes.Reason{probes.ReasonIdleGoaway, probes.ReasonGoawayUnprocessed, probes.ReasonGoawayProcessed} {
			want := probes.VerdictDegraded
			if keepAlive > 10*s { // the only rung, and no run before
				want = probes.VerdictFail
			}
			in := at(keepAlive, reason, 11, "too_many_pings")
			o := Judge(in)[0]
			if o.Verdict != want || o.Diagnosis != probes.DiagnosisEarlyClose || o.Family != probes.FamilyConnection ||
				!strings.Contains(o.Message, "too_many_pings") || len(o.Advice) == 0 || !strings.Contains(o.Advice[0], "PING interval") {
				t.Errorf("%s, keep_alive %s: %s %s: %s\n%q", reason, keepAlive, o.Verdict, o.Diagnosis, o.Message, o.Advice)
			}
			if b := NextBound(in); b.Known != (probes.Bracket{}) {
				t.Errorf("%s: PINGs are taken for the path's bound: %+v", reason, b)
			}
		}
		o := Judge(at(keepAlive, probes.ReasonIdleGoaway, 0, ""))[0]
		if pass := keepAlive <= 10*s; pass != (o.Verdict == probes.VerdictPass) || strings.Contains(o.Message, "PING") {
			t.Errorf("an idle limit, keep_alive %s: %s: %s", keepAlive, o.Verdict, o.Message)
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

// TestHealthCheckThatDoesNotServe: it is told by what it says, not by the status OK
// that says it.
func TestHealthCheckThatDoesNotServe(t *testing.T) {
	in := httpInput(probes.ReasonUnavailable)
	in.Spec.Kind, in.Spec.GRPC, in.Observations[0].Kind = probes.KindGRPC, &probes.GRPC{}, probes.KindGRPC
	in.Spec.Client = &probes.Client{Kind: "go-net-http"}
	for k := range in.Observations[0].Attempts {
		a := &in.Observations[0].Attempts[k]
		a.Status, a.GRPC, a.Detail = 200, &probes.GRPCStatus{Name: "OK", Health: "NOT_SERVING"}, "the server's health check says NOT_SERVING"
	}
	o := Judge(in)[0]
	all := o.Message + "\n" + sentences(o) + strings.Join(o.Advice, "\n")
	for _, want := range []string{"it does not serve (the server's health check says NOT_SERVING)", "api_down in: a fresh connection answered NOT_SERVING in"} {
		if !strings.Contains(all, want) {
			t.Errorf("it lacks %q:\n%s", want, all)
		}
	}
	for _, wrong := range []string{"answered OK", "503", "Go net/http"} {
		if strings.Contains(all, wrong) {
			t.Errorf("it says %q:\n%s", wrong, all)
		}
	}
}

// TestGRPCClient: a declared client is not said to get HTTP's statuses of a gRPC
// answer, whatever its own protocol.
func TestGRPCClient(t *testing.T) {
	for _, tt := range []struct {
		reason probes.Reason
		status probes.GRPCStatus
		want   string
	}{
		{probes.ReasonUnavailable, probes.GRPCStatus{Code: 14, Name: "UNAVAILABLE"}, "gets the gRPC status UNAVAILABLE"},
		{probes.ReasonRateLimited, probes.GRPCStatus{Code: 8, Name: "RESOURCE_EXHAUSTED"}, "gets the gRPC status RESOURCE_EXHAUSTED"},
		{probes.ReasonUnauthorized, probes.GRPCStatus{Code: 16, Name: "UNAUTHENTICATED"}, "gets the gRPC status UNAUTHENTICATED"},
		{probes.ReasonUnavailable, probes.GRPCStatus{Name: "OK"}, ""},
	} {
		for _, kind := range []string{"jdk-httpclient", "go-net-http", "okhttp"} {
			in := httpInput(tt.reason)
			in.Spec.Kind, in.Spec.GRPC, in.Observations[0].Kind = probes.KindGRPC, &probes.GRPC{}, probes.KindGRPC
			in.Spec.Client = &probes.Client{Kind: kind}
			for i := range in.Observations {
				for k := range in.Observations[i].Attempts {
					a := &in.Observations[i].Attempts[k]
					a.Status, a.GRPC = 200, &tt.status
				}
			}
			o := Judge(in)[0]
			if o.Client == nil || o.Client.Experiences != tt.want || o.Retry.Beside != "" || o.Retry.Hidden {
				t.Errorf("%s, %s: %+v, %+v", kind, tt.status.Name, o.Client, o.Retry)
			}
		}
	}
}

package report

import (
	"testing"
	"time"

	"perch.example/probes"
)

// TestNoToken: nothing was answered, and nothing is said of an answer.
func TestNoToken(t *testing.T) {
	a := probes.Attempt{Reason: probes.ReasonUnauthorized, NoToken: true, Detail: "no token: the token endpoint at login.example: refused"}
	o := probes.Outcome{Kind: probes.KindHTTP, Verdict: probes.VerdictFail, Diagnosis: probes.DiagnosisUnauthorized, Reason: a.Reason, Attempts: []probes.Attempt{a}}
	for want, got := range map[string]string{
		"no token": exchange(&o), "unauthorized: there is no token to ask the API with": title(&o),
		"unauthorized: there was no token, and nothing was sent": wire(&a),
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestGRPCResult: a gRPC answer is told by its status, not by HTTP's.
func TestGRPCResult(t *testing.T) {
	attempt := func(r probes.Reason, s *probes.GRPCStatus) probes.Attempt {
		return probes.Attempt{Reason: r, Method: "POST", Status: 200, GRPC: s, Elapsed: 3 * time.Millisecond}
	}
	for want, attempts := range map[string][]probes.Attempt{
		"OK in 3 ms":                 {attempt(probes.ReasonOK, &probes.GRPCStatus{Name: "OK"})},
		"NOT_FOUND (status) in 3 ms": {attempt(probes.ReasonStatus, &probes.GRPCStatus{Code: 5, Name: "NOT_FOUND"})},
		"NOT_FOUND in 3 ms":          {attempt(probes.ReasonOK, &probes.GRPCStatus{Code: 5, Name: "NOT_FOUND"})},
		"200 (bad_response) in 3 ms": {attempt(probes.ReasonBadResponse, nil)},
		"NOT_SERVING (unavailable) in 3 ms, then OK in 3 ms": {attempt(probes.ReasonUnavailable, &probes.GRPCStatus{Name: "OK", Health: "NOT_SERVING"}), attempt(probes.ReasonOK, &probes.GRPCStatus{Name: "OK"})},
	} {
		o := probes.Outcome{Kind: probes.KindGRPC, Verdict: probes.VerdictPass, Attempts: attempts}
		if got := exchange(&o); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

package metrics

import (
	"net/url"
	"slices"
	"testing"

	"perch.example/probes"
)

// A handshake asks nothing, so that nothing of an answer is created; many requests on one
// connection can end as a held one does.
func TestWhatKindsCanProduce(t *testing.T) {
	u := &url.URL{Scheme: "https", Host: "api.example"}
	shakes := possibleFor(probes.Spec{Kind: probes.KindTLS, URL: u})
	if len(shakes.connections) != 1 || shakes.connections[0].on != probes.ConnectionFresh || len(shakes.holds) > 0 || slices.Contains(shakes.phases, phaseWait) {
		t.Errorf("%+v", shakes)
	}
	for r, want := range map[probes.Reason]bool{
		probes.ReasonOK: true, probes.ReasonCertificate: true, probes.ReasonTLS: true, probes.ReasonSlow: true, probes.ReasonExpectation: true,
		probes.ReasonDNS: true, probes.ReasonEOF: false, probes.ReasonStatus: false, probes.ReasonUnavailable: false,
	} {
		if got := slices.Contains(shakes.connections[0].reasons, r); got != want {
			t.Errorf("kind tls, %s: %v, want %v", r, got, want)
		}
	}
	one := possibleFor(probes.Spec{Kind: probes.KindHTTP, URL: u})
	limit := possibleFor(probes.Spec{Kind: probes.KindHTTP, URL: u, Requests: 100})
	if len(one.connections) != 1 || len(limit.connections) != 3 {
		t.Errorf("%d and %d kinds of connection, want 1 and 3", len(one.connections), len(limit.connections))
	}
	burst := possibleFor(probes.Spec{Kind: probes.KindBurst, URL: u, Burst: &probes.Shape{}})
	if len(burst.connections) != 3 || !slices.Contains(burst.connections[1].reasons, probes.ReasonIdleFIN) || slices.Contains(burst.connections[1].reasons, probes.ReasonIdleGoaway) ||
		!slices.Contains(burst.diagnoses, probes.DiagnosisEarlyClose) || len(burst.holds) > 0 {
		t.Errorf("of a burst: %+v", burst)
	}
	for _, d := range []probes.Diagnosis{probes.DiagnosisUndeclaredClose, probes.DiagnosisStaleConnection} {
		if slices.Contains(one.diagnoses, d) || !slices.Contains(limit.diagnoses, d) {
			t.Errorf("%s: of one request %v, of many %v", d, slices.Contains(one.diagnoses, d), slices.Contains(limit.diagnoses, d))
		}
	}
}

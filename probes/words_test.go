package probes

import (
	"testing"
	"time"
)

// TestDiagnosisWords: what the outcome knows beside its diagnosis is said.
func TestDiagnosisWords(t *testing.T) {
	at := time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
	one := func(a Attempt) []Attempt { return []Attempt{a} }
	refused := func(detail string, end time.Time) Outcome {
		return Outcome{Diagnosis: DiagnosisCertificate, Reason: ReasonCertificate, Started: at, Attempts: one(Attempt{Connection: ConnectionFresh, Reason: ReasonCertificate, Detail: detail, TLSExpiry: end})}
	}
	expires := func(left time.Duration) Outcome {
		return Outcome{Diagnosis: DiagnosisCertificate, Reason: ReasonOK, Started: at, Attempts: one(Attempt{Connection: ConnectionFresh, Reason: ReasonOK, Started: at.Add(time.Second), TLSExpiry: at.Add(time.Second + left)})}
	}
	year := at.AddDate(1, 0, 0)
	for _, tt := range []struct {
		name string
		o    Outcome
		want string
	}{
		{"a 503", Outcome{Diagnosis: DiagnosisServiceDown, Attempts: one(Attempt{Connection: ConnectionFresh, Reason: ReasonUnavailable, Status: 503})}, "requests on fresh connections fail"},
		{"a 503 after a reuse that failed", Outcome{Diagnosis: DiagnosisServiceDown, Attempts: []Attempt{{Connection: ConnectionReused, Reason: ReasonIdleFIN}, {Connection: ConnectionControl, Reason: ReasonUnavailable}}}, "requests on fresh connections fail too"},
		{"expired", refused("TLS handshake: x509: certificate has expired or is not yet valid: current time", at.Add(-25*time.Hour)), "the certificate expired on 2026-03-01"},
		{"another of its chain expired", refused("x509: certificate has expired or is not yet valid", year), "the certificate, or one that it is signed with, is not valid at this time"},
		{"a root", withChain(refused("x509: certificate has expired or is not yet valid", year), func(f *TLSFacts) {
			f.Earliest = Certificate{Subject: "Root", NotAfter: at.Add(-25 * time.Hour), Authority: true, Root: true}
		}), "the root certificate expired on 2026-03-01"},
		{"our own root soon", withChain(expires(60*24*time.Hour), func(f *TLSFacts) {
			f.Anchor = Certificate{Subject: "Root", NotAfter: at.Add(49 * time.Hour), Authority: true, Root: true}
		}), "the root certificate in tls.ca_file expires in 2 days"},
		{"another name", refused("x509: certificate is valid for a.example, not b.example", year), "the certificate is not valid for this name"},
		{"no address", refused("x509: cannot validate certificate for 192.0.2.1 because it doesn't contain any IP SANs", year), "the certificate is not valid for this name"},
		{"an unknown signer", refused("x509: certificate signed by unknown authority", year), "the certificate is signed by nobody that perch trusts"},
		{"something else", refused("x509: invalid signature", year), "the certificate is not valid"},
		{"soon", expires(12*24*time.Hour + time.Hour), "the certificate expires in 12 days"},
		{"tomorrow", expires(30 * time.Hour), "the certificate expires in 30 hours"},
		{"at once", expires(time.Hour), "the certificate expires within two hours"},
		{"no attempt is known", Outcome{Diagnosis: DiagnosisCertificate}, "the certificate is not valid, or not for long"},
		{"as expected", Outcome{Diagnosis: DiagnosisEarlyClose, ByClient: true}, "the client keeps idle connections longer than the path does"},
		{"too early", Outcome{Diagnosis: DiagnosisEarlyClose}, "idle connections are closed too early"},
		{"none", Outcome{}, ""},
	} {
		if got := tt.o.DiagnosisWords(); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

// withChain gives an outcome's attempt the facts of a handshake.
func withChain(o Outcome, change func(*TLSFacts)) Outcome {
	leaf := Certificate{Subject: "api.example", NotAfter: o.Attempts[0].TLSExpiry}
	o.Attempts[0].TLS = &TLSFacts{Leaf: leaf, Earliest: leaf}
	change(o.Attempts[0].TLS)
	return o
}

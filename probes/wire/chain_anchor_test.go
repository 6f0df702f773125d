package wire_test

import (
	"crypto/tls"
	"crypto/x509"
	"strings"
	"testing"

	"perch.example/probes/wire"
)

// A self-signed authority counts where the client was given it: those who gave it have
// to renew it.
func TestAnchor(t *testing.T) {
	var nobody *signer
	root := nobody.signs(t, "Private Root", 2*dayLong, nil, nil)
	renewed := nobody.signs(t, "Private Root", 900*dayLong, root, nil) // with the same key and name
	mid := root.signs(t, "Issuing", 300*dayLong, nil, nil)
	leaf := root.signs(t, "api.example", 60*dayLong, nil, leafOf)
	underMid := mid.signs(t, "api.example", 60*dayLong, nil, leafOf)
	self := nobody.signs(t, "api.example", 60*dayLong, nil, leafOf)
	tests := []struct {
		name  string
		roots []*signer
		sent  []*signer
		want  *signer // nil: none
	}{
		{"it signed the leaf", []*signer{root}, []*signer{leaf}, root},
		{"it signed an intermediate", []*signer{root}, []*signer{underMid, mid}, root},
		{"the server sends it", []*signer{root}, []*signer{underMid, mid, root}, root},
		{"renewed, beside the old one", []*signer{root, renewed}, []*signer{leaf}, renewed},
		{"an intermediate is the authority", []*signer{mid}, []*signer{underMid}, nil},
		{"the leaf is its own", []*signer{self}, []*signer{self}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c, e := shows(t, tls.VersionTLS13, nil, tt.roots, tt.sent...)
			if c == nil {
				t.Fatal(e.Error)
			}
			got := e.Chain.Anchor
			if tt.want == nil && got != (wire.Certificate{}) || tt.want != nil && (!got.NotAfter.Equal(tt.want.cert.NotAfter) || got.Subject != "Private Root" || !got.Root) {
				t.Errorf("%+v", got)
			}
			if !e.Chain.Earliest.NotAfter.Equal(tt.sent[0].cert.NotAfter) {
				t.Errorf("earliest %+v", e.Chain.Earliest)
			}
		})
	}
	state := tls.ConnectionState{
		Version: tls.VersionTLS13, PeerCertificates: []*x509.Certificate{leaf.cert}, VerifiedChains: [][]*x509.Certificate{{leaf.cert, root.cert}},
	}
	if f := wire.FactsOf(state, "", false); f.Anchor != (wire.Certificate{}) {
		t.Errorf("the system's: %+v", f.Anchor)
	}
}

func TestExpiredAnchor(t *testing.T) {
	var nobody *signer
	root := nobody.signs(t, "Dead Root", -2*dayLong, nil, nil)
	c, e := shows(t, tls.VersionTLS13, nil, []*signer{root}, root.signs(t, "api.example", 60*dayLong, nil, leafOf))
	if c != nil || e.Failure != wire.FailureCertificate {
		t.Fatalf("failure %q: %s", e.Failure, e.Error)
	}
	f := e.Chain
	if f.Earliest.Subject != "Dead Root" || !f.Earliest.Root || f.Anchor != f.Earliest || !strings.HasSuffix(e.Error, `(the root certificate "Dead Root" in tls.ca_file)`) {
		t.Errorf("%s: %+v", e.Error, f)
	}
}

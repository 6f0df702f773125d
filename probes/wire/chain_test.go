package wire_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"math/big"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/ocsp"

	"perch.example/probes"
	"perch.example/probes/wire"
)

// signer is one certificate and its key.
type signer struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

// signs makes a certificate that s signs, good until an hour before and after now
// plus left; nil signs itself. With like, for that key in place of a new one.
func (s *signer) signs(t *testing.T, name string, left time.Duration, like *signer, change func(*x509.Certificate)) *signer {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	if like != nil {
		key = like.key
	}
	serial, _ := rand.Int(rand.Reader, big.NewInt(1<<60))
	template := &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: name},
		NotBefore: time.Now().Add(-1000 * time.Hour), NotAfter: time.Now().Add(left).Truncate(time.Second),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
	}
	if change != nil {
		change(template)
	}
	by := s
	if by == nil {
		by = &signer{template, key}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, by.cert, key.Public(), by.key)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return &signer{cert, key}
}

// leafOf makes a template a server's.
func leafOf(c *x509.Certificate) {
	c.IsCA, c.KeyUsage, c.DNSNames = false, x509.KeyUsageDigitalSignature, []string{"api.example", "*.api.example"}
}

// shows returns what a handshake with a server shows that sends those certificates, the
// leaf's first, to a client that trusts roots.
func shows(t *testing.T, version uint16, staple []byte, roots []*signer, sent ...*signer) (*wire.Conn, wire.Evidence) {
	t.Helper()
	pair := tls.Certificate{PrivateKey: sent[0].key, OCSPStaple: staple}
	for _, s := range sent {
		pair.Certificate = append(pair.Certificate, s.cert.Raw)
	}
	s := serve(t, &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: version, MaxVersion: version, NextProtos: []string{"http/1.1"}}, (*peer).linger)
	pool := x509.NewCertPool()
	for _, r := range roots {
		pool.AddCert(r.cert)
	}
	c, e := wire.Open(t.Context(), s.options(&tls.Config{RootCAs: pool, ServerName: "api.example", MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"}}))
	if c != nil {
		t.Cleanup(func() { _ = c.Close() })
	}
	return c, e
}

const dayLong = 24 * time.Hour

func TestEarliestThatMatters(t *testing.T) {
	var nobody *signer
	root := nobody.signs(t, "Root", 900*dayLong, nil, nil)
	soonRoot := nobody.signs(t, "Soon Root", 10*dayLong, nil, nil)
	mid := root.signs(t, "Intermediate", 300*dayLong, nil, nil)
	soonMid := root.signs(t, "Soon Intermediate", 5*dayLong, nil, nil)
	twice := soonRoot.signs(t, "Intermediate", 9*dayLong, mid, nil)    // the same key and name, by another authority
	crossed := soonRoot.signs(t, "Intermediate", -5*dayLong, mid, nil) // likewise, and expired
	leaf := mid.signs(t, "api.example", 60*dayLong, nil, leafOf)
	underSoon := soonMid.signs(t, "api.example", 60*dayLong, nil, leafOf)
	long := mid.signs(t, "api.example", 500*dayLong, nil, leafOf)
	underRoot := soonRoot.signs(t, "api.example", 60*dayLong, nil, leafOf)
	partial := nobody.signs(t, "Corporate", 900*dayLong, nil, nil).signs(t, "Corporate Issuing", 3*dayLong, nil, nil)
	underPartial := partial.signs(t, "api.example", 60*dayLong, nil, leafOf)

	tests := []struct {
		name  string
		roots []*signer
		sent  []*signer
		want  *signer
	}{
		{"the leaf", []*signer{root}, []*signer{leaf, mid}, leaf},
		{"an intermediate", []*signer{root}, []*signer{underSoon, soonMid}, soonMid},
		{"an intermediate before a long leaf", []*signer{root}, []*signer{long, mid}, mid},
		{"an expired cross-signed one beside it", []*signer{root, soonRoot}, []*signer{leaf, mid, crossed}, leaf},
		{"of two chains the one that lives longer", []*signer{root, soonRoot}, []*signer{leaf, twice, mid}, leaf},
		{"only the shorter one is trusted", []*signer{soonRoot}, []*signer{leaf, twice, mid}, twice},
		{"no authority that everybody has", []*signer{soonRoot}, []*signer{underRoot}, underRoot},
		{"an authority that is signed by another", []*signer{partial}, []*signer{underPartial, partial}, partial},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c, e := shows(t, tls.VersionTLS13, nil, tt.roots, tt.sent...)
			if c == nil {
				t.Fatal(e.Error)
			}
			got := e.Chain.Earliest
			if !got.NotAfter.Equal(tt.want.cert.NotAfter) || got.Subject != tt.want.cert.Subject.CommonName || got.Issuer != tt.want.cert.Issuer.CommonName || got.Authority != tt.want.cert.IsCA {
				t.Errorf("got %+v, want %s by %s until %s", got, tt.want.cert.Subject.CommonName, tt.want.cert.Issuer.CommonName, tt.want.cert.NotAfter)
			}
			if !e.Chain.Leaf.NotAfter.Equal(tt.sent[0].cert.NotAfter) || e.Chain.Leaf.Authority {
				t.Errorf("leaf %+v", e.Chain.Leaf)
			}
			if c.Opening().Chain != e.Chain {
				t.Error("the connection does not share what its opening showed")
			}
		})
	}
}

// What was not accepted is named: the text of the error alone does not say whether
// it was the leaf.
func TestExpiredIntermediate(t *testing.T) {
	var nobody *signer
	root := nobody.signs(t, "Root", 900*dayLong, nil, nil)
	mid := root.signs(t, "Old Intermediate", -2*dayLong, nil, nil)
	leaf := mid.signs(t, "api.example", 60*dayLong, nil, leafOf)
	c, e := shows(t, tls.VersionTLS12, nil, []*signer{root}, leaf, mid)
	if c != nil || e.Failure != wire.FailureCertificate {
		t.Fatalf("failure %q: %s", e.Failure, e.Error)
	}
	if f := e.Chain; f.Earliest.Subject != "Old Intermediate" || !f.Earliest.Authority || f.Leaf.Subject != "api.example" {
		t.Errorf("%+v", f)
	}
}

func TestFactsOfAHandshake(t *testing.T) {
	var nobody *signer
	root := nobody.signs(t, "Root\n\x1b[31m"+strings.Repeat("é", 200), 900*dayLong, nil, nil)
	leaf := root.signs(t, "", 60*dayLong, nil, func(c *x509.Certificate) {
		leafOf(c)
		value, err := asn1.Marshal([]int{5})
		if err != nil {
			t.Fatal(err)
		}
		c.ExtraExtensions = []pkix.Extension{{Id: asn1.ObjectIdentifier{1, 3, 6, 1, 5, 5, 7, 1, 24}, Value: value}}
	})
	for version, want := range map[uint16]string{tls.VersionTLS12: "1.2", tls.VersionTLS13: "1.3"} {
		_, e := shows(t, version, nil, []*signer{root}, leaf)
		f := e.Chain
		if f == nil {
			t.Fatal(e.Error)
		}
		if f.Version != want || !strings.HasPrefix(f.Cipher, "TLS_") || f.ALPN != "http/1.1" || f.ServerName != "api.example" || !f.MustStaple || f.Staple != nil {
			t.Errorf("%+v", f)
		}
		if f.Leaf.Subject != "api.example" || strings.Join(f.Names, " ") != "api.example *.api.example" {
			t.Errorf("leaf %+v for %q", f.Leaf, f.Names)
		}
		if got := f.Leaf.Issuer; !strings.HasPrefix(got, "Root??[31mé") || len(got) > 110 || strings.ContainsAny(got, "\n\x1b") {
			t.Errorf("issuer %q", got)
		}
	}
}

func TestStaples(t *testing.T) {
	var nobody *signer
	root := nobody.signs(t, "Root", 900*dayLong, nil, nil)
	leaf := root.signs(t, "api.example", 60*dayLong, nil, leafOf)
	other := root.signs(t, "other.example", 60*dayLong, nil, leafOf)
	responder := root.signs(t, "Responder", 60*dayLong, nil, func(c *x509.Certificate) {
		leafOf(c)
		c.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageOCSPSigning}
	})
	stranger := nobody.signs(t, "Root", 900*dayLong, nil, nil)
	said := func(by *signer, about *signer, status int) []byte {
		template := ocsp.Response{
			Status: status, SerialNumber: about.cert.SerialNumber, RevokedAt: time.Now().Add(-30 * dayLong),
			ThisUpdate: time.Now().Add(-dayLong).Truncate(time.Second), NextUpdate: time.Now().Add(dayLong).Truncate(time.Second),
		}
		if by != root {
			template.Certificate = by.cert
		}
		der, err := ocsp.CreateResponse(root.cert, by.cert, template, by.key)
		if err != nil {
			t.Fatal(err)
		}
		return der
	}
	tests := []struct {
		name   string
		staple []byte
		want   wire.StapleStatus
		by     string
	}{
		{"good", said(root, leaf, ocsp.Good), wire.StapleGood, "Root"},
		{"by a responder", said(responder, leaf, ocsp.Good), wire.StapleGood, "Responder"},
		{"unknown", said(root, leaf, ocsp.Unknown), wire.StapleUnknown, "Root"},
		{"revoked", said(root, leaf, ocsp.Revoked), wire.StapleRevoked, "Root"},
		{"of another certificate", said(root, other, ocsp.Revoked), wire.StapleUnreadable, ""},
		{"by a certificate that may not", said(other, leaf, ocsp.Revoked), wire.StapleUnreadable, ""},
		{"by a stranger", said(stranger, leaf, ocsp.Revoked), wire.StapleUnreadable, ""},
		{"an answer without one", ocsp.UnauthorizedErrorResponse, wire.StapleUnreadable, ""},
		{"garbage", []byte("no staple"), wire.StapleUnreadable, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			for _, version := range []uint16{tls.VersionTLS12, tls.VersionTLS13} {
				c, e := shows(t, version, tt.staple, []*signer{root}, leaf)
				if e.Chain == nil || e.Chain.Staple == nil {
					t.Fatalf("no staple: %s", e.Error)
				}
				s := e.Chain.Staple
				if s.Status != tt.want || s.By != tt.by {
					t.Errorf("%s by %q, want %s by %q", s.Status, s.By, tt.want, tt.by)
				}
				if believed := tt.by != ""; believed == s.NextUpdate.IsZero() || believed == s.ThisUpdate.IsZero() {
					t.Errorf("from %s to %s", s.ThisUpdate, s.NextUpdate)
				}
				revoked := tt.want == wire.StapleRevoked
				if (c == nil) != revoked {
					t.Errorf("opened %v: %s", c != nil, e.Error)
				}
				if revoked && (probes.Classify(e) != probes.ReasonCertificate || !strings.Contains(e.Error, "revoked (since ")) {
					t.Errorf("%s: %s", probes.Classify(e), e.Error)
				}
			}
		})
	}
}

// FuzzStaple: a staple is the peer's own bytes. Whatever they are, only what the issuer
// signed is believed.
func FuzzStaple(f *testing.F) {
	a, err := newAuthority()
	if err != nil {
		f.Fatal(err)
	}
	config, err := a.newLeaf(nil)
	if err != nil {
		f.Fatal(err)
	}
	leaf, err := x509.ParseCertificate(config.Certificates[0].Certificate[0])
	if err != nil {
		f.Fatal(err)
	}
	stranger, err := newAuthority()
	if err != nil {
		f.Fatal(err)
	}
	forged, err := ocsp.CreateResponse(a.ca, stranger.ca, ocsp.Response{
		Status: ocsp.Revoked, SerialNumber: leaf.SerialNumber, ThisUpdate: time.Now(), Certificate: stranger.ca,
	}, stranger.key)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(forged)
	f.Add(ocsp.UnauthorizedErrorResponse)
	f.Add([]byte{0x30, 0x80})
	f.Fuzz(func(t *testing.T, staple []byte) {
		facts := wire.FactsOf(tls.ConnectionState{
			Version: tls.VersionTLS13, PeerCertificates: []*x509.Certificate{leaf}, OCSPResponse: staple,
			VerifiedChains: [][]*x509.Certificate{{leaf, a.ca}},
		}, "api.example", false)
		if s := facts.Staple; s != nil && s.Status != wire.StapleUnreadable {
			t.Errorf("%+v is believed", s)
		}
	})
}

// Connections to one server share what their handshakes showed; another staple, name or
// authority is another handshake.
func TestChainsAreShared(t *testing.T) {
	a := authority(t)
	one := serve(t, a.leaf(t, nil), (*peer).linger)
	two := serve(t, a.leaf(t, func(c *x509.Certificate) { c.DNSNames = []string{"api.example"} }), (*peer).linger)
	var chains wire.Chains
	opened := func(s *server, name string) *wire.TLSFacts {
		t.Helper()
		o := s.options(&tls.Config{RootCAs: a.pool, ServerName: name, MinVersion: tls.VersionTLS12})
		o.Chains = &chains
		c, e := wire.Open(t.Context(), o)
		if c == nil {
			t.Fatal(e.Error)
		}
		defer func() { _ = c.Close() }()
		return e.Chain
	}
	first := opened(one, "127.0.0.1")
	if again := opened(one, "127.0.0.1"); again != first {
		t.Error("two connections do not share")
	}
	named := opened(two, "api.example")
	if named == first || named.ServerName != "api.example" || first.ServerName != "" {
		t.Errorf("%+v is shared with %+v", named, first)
	}
}

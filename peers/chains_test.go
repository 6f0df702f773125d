//go:build peers

package peers

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/ocsp"

	"perch.example/probes"
)

// signed is one certificate of a chain, and its key.
type signed struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

// signs makes a certificate that ends after left; nil signs itself.
func (s *signed) signs(t *testing.T, name string, left time.Duration, server bool) *signed {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: name},
		NotBefore: time.Now().Add(-1000 * time.Hour), NotAfter: time.Now().Add(left),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
	}
	if server {
		template.IsCA, template.KeyUsage = false, x509.KeyUsageDigitalSignature
		template.IPAddresses = []net.IP{net.IPv4(127, 0, 0, 1)}
	}
	by := s
	if by == nil {
		by = &signed{template, key}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, by.cert, key.Public(), by.key)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return &signed{cert, key}
}

func (s *signed) pem() string { return block("CERTIFICATE", s.cert.Raw) }

// staple is what the authority says of leaf, until left from now.
func (s *signed) staple(t *testing.T, leaf *signed, status int, left time.Duration) []byte {
	t.Helper()
	now := time.Now()
	der, err := ocsp.CreateResponse(s.cert, s.cert, ocsp.Response{
		Status: status, SerialNumber: leaf.cert.SerialNumber, RevokedAt: now.Add(-48 * time.Hour),
		ThisUpdate: now.Add(-96 * time.Hour), NextUpdate: now.Add(left),
	}, s.key)
	if err != nil {
		t.Fatal(err)
	}
	return der
}

// chained runs nginx with that chain, the leaf first, and more of its directives.
func chained(t *testing.T, staple []byte, more string, root *signed, sent ...*signed) Peer {
	t.Helper()
	p := place{dir: worldDir(t), host: "127.0.0.1", idle: 30 * time.Second}
	p.port = freePort(t, nil, p.host)
	der, err := x509.MarshalPKCS8PrivateKey(sent[0].key)
	if err != nil {
		t.Fatal(err)
	}
	var chain strings.Builder
	for _, s := range sent {
		chain.WriteString(s.pem())
	}
	p.cert = certificate{
		file: write(t, filepath.Join(p.dir, "cert.pem"), chain.String()), keyFile: write(t, filepath.Join(p.dir, "key.pem"), block("PRIVATE KEY", der)),
		caFile: write(t, filepath.Join(p.dir, "ca.pem"), root.pem()),
	}
	if staple != nil {
		more += "ssl_stapling on; ssl_stapling_file " + write(t, filepath.Join(p.dir, "staple.der"), string(staple)) + ";"
	}
	write(t, filepath.Join(p.dir, "www", "calendar"), twoDays)
	cmd := command(t, "nginx", p)
	path := filepath.Join(p.dir, "nginx.conf")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(strings.Replace(string(text), "ssl_certificate ", more+" ssl_certificate ", 1)), 0o644); err != nil {
		t.Fatal(err)
	}
	run(t, nil, "nginx", cmd)
	addr := net.JoinHostPort(p.host, strconv.Itoa(p.port))
	awaitListening(t, addr)
	return Peer{Name: "nginx", Addr: addr, URL: "https://" + addr + "/calendar", CAFile: p.cert.caFile}
}

// awaitListening waits for a server whose certificate nobody may accept.
func awaitListening(t *testing.T, addr string) {
	t.Helper()
	for end := time.Now().Add(readyWithin); ; time.Sleep(20 * time.Millisecond) {
		conn, err := net.Dial("tcp", addr)
		if err == nil {
			_ = conn.Close()
			return
		}
		if time.Now().After(end) {
			t.Fatal(err)
		}
	}
}

// TestChainsAndStaples: what perch reads of a real server's handshake.
func TestChainsAndStaples(t *testing.T) {
	const day = 24 * time.Hour
	var nobody *signed
	root := nobody.signs(t, "Test Root", 900*day, false)
	mid := root.signs(t, "Test Intermediate", 300*day, false)
	soon := root.signs(t, "Soon Intermediate", 5*day, false)
	gone := root.signs(t, "Old Intermediate", -day, false)
	leaf := mid.signs(t, "api", 60*day, true)
	for _, c := range []struct {
		name    string
		staple  []byte
		more    string
		sent    []*signed
		reason  probes.Reason
		first   string // what ends first
		version string
		status  probes.Staple // and whether its end has passed
		trouble string        // of the staple
	}{
		{"a good staple", mid.staple(t, leaf, ocsp.Good, 2*day), "", []*signed{leaf, mid}, "ok", "api", "1.3", probes.Staple{Status: probes.StapleGood, By: "Test Intermediate"}, ""},
		{"one that has ended", mid.staple(t, leaf, ocsp.Good, -day), "", []*signed{leaf, mid}, "ok", "api", "1.3", probes.Staple{Status: probes.StapleGood, By: "Test Intermediate"}, "ended on"},
		{"revoked", mid.staple(t, leaf, ocsp.Revoked, 2*day), "", []*signed{leaf, mid}, "certificate", "api", "1.3", probes.Staple{Status: probes.StapleRevoked, By: "Test Intermediate"}, "is revoked"},
		{"none, TLS 1.2", nil, "ssl_protocols TLSv1.2;", []*signed{leaf, mid}, "ok", "api", "1.2", probes.Staple{}, ""},
		{"an intermediate that ends first", nil, "", []*signed{soon.signs(t, "api", 60*day, true), soon}, "ok", "Soon Intermediate", "1.3", probes.Staple{}, ""},
		{"an expired intermediate beside the good one", nil, "", []*signed{leaf, mid, gone}, "ok", "api", "1.3", probes.Staple{}, ""},
		{"an expired intermediate", nil, "", []*signed{gone.signs(t, "api", 60*day, true), gone}, "certificate", "Old Intermediate", "", probes.Staple{}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.more == "" {
				c.more = "ssl_protocols TLSv1.2 TLSv1.3;" // nginx 1.22 leaves 1.3 out by itself
			}
			peer := chained(t, c.staple, c.more, root, c.sent...)
			for _, kind := range []probes.Kind{probes.KindTLS, probes.KindHTTP} {
				s := newSpec(t, kind, peer.URL)
				s.TLS.CAFile = peer.CAFile
				play := probes.RunHTTP
				if kind == probes.KindTLS {
					play = probes.RunTLS
				}
				o := play(t.Context(), s, newEnv())
				if o.Cut != "" || len(o.Attempts) != 1 || o.Attempts[0].Reason != c.reason || o.Attempts[0].TLS == nil {
					t.Fatalf("%s: %+v", kind, o)
				}
				f := o.Attempts[0].TLS
				if f.Earliest.Subject != c.first || f.Version != c.version || f.Leaf.Subject != "api" {
					t.Errorf("%s: %+v", kind, f)
				}
				var got probes.Staple
				if f.Staple != nil {
					got = *f.Staple
				}
				if got.Status != c.status.Status || got.By != c.status.By {
					t.Errorf("%s: staple %+v", kind, got)
				}
				if trouble := o.Attempts[0].StapleTrouble(time.Now()); (trouble == "") != (c.trouble == "") || !strings.Contains(trouble, c.trouble) {
					t.Errorf("%s: trouble %q, want %q", kind, trouble, c.trouble)
				}
			}
		})
	}
}

package probes

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// identity is a certificate with its key, in PEM.
type identity struct{ cert, key []byte }

// newIdentity makes a self-signed certificate for a name, valid around the
// bubbles' year 2000 and for long.
func newIdentity(t *testing.T, name string) identity {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, DNSNames: []string{name},
		NotBefore: time.Date(1999, 1, 1, 0, 0, 0, 0, time.UTC), NotAfter: time.Date(2099, 1, 1, 0, 0, 0, 0, time.UTC),
		IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return identity{
		pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}),
	}
}

func (i identity) pair(t *testing.T) tls.Certificate {
	t.Helper()
	pair, err := tls.X509KeyPair(i.cert, i.key)
	if err != nil {
		t.Fatal(err)
	}
	return pair
}

func TestTLSSettings(t *testing.T) {
	api, other, client := newIdentity(t, "api.example"), newIdentity(t, "other.example"), newIdentity(t, "perch")
	files := map[string][]byte{
		"api.pem": api.cert, "other.pem": other.cert, "client.pem": client.cert, "client.key": client.key,
		"both.pem": append(slices.Clone(other.cert), api.cert...),
	}
	clients := x509.NewCertPool()
	clients.AppendCertsFromPEM(client.cert)
	for _, c := range []struct {
		name   string
		server identity
		limit  uint16 // the server's newest version
		asks   bool   // for a client certificate
		set    TLS
		want   Reason
	}{
		{"its authority is trusted", api, 0, false, TLS{CAFile: "api.pem"}, ReasonOK},
		{"one of the authorities is trusted", api, 0, false, TLS{CAFile: "both.pem"}, ReasonOK},
		{"only the system's roots are trusted", api, 0, false, TLS{}, ReasonCertificate},
		{"another authority is trusted", api, 0, false, TLS{CAFile: "other.pem"}, ReasonCertificate},
		{"the certificate is another's", other, 0, false, TLS{CAFile: "both.pem"}, ReasonCertificate},
		{"another's certificate is expected", other, 0, false, TLS{CAFile: "both.pem", ServerName: "other.example"}, ReasonOK},
		{"a client certificate is shown", api, 0, true, TLS{CAFile: "api.pem", CertFile: "client.pem", KeyFile: "client.key"}, ReasonOK},
		{"no client certificate is shown", api, tls.VersionTLS12, true, TLS{CAFile: "api.pem"}, ReasonTLS},
		{"1.2 is enough", api, tls.VersionTLS12, false, TLS{CAFile: "api.pem"}, ReasonOK},
		{"1.2 is not enough", api, tls.VersionTLS12, false, TLS{CAFile: "api.pem", MinVersion: tls.VersionTLS13}, ReasonTLS},
		{"1.3 where it is wanted", api, 0, false, TLS{CAFile: "api.pem", MinVersion: tls.VersionTLS13}, ReasonOK},
		{"1.1 is never enough", api, tls.VersionTLS11, false, TLS{CAFile: "api.pem"}, ReasonTLS},
	} {
		synctest.Test(t, func(t *testing.T) {
			p, d := newPeer(t, answer(200)), &desk{t: t}
			config := &tls.Config{
				Certificates: []tls.Certificate{c.server.pair(t)}, MinVersion: tls.VersionTLS10, MaxVersion: c.limit,
				SessionTicketsDisabled: true, // an in-memory pipe has no room for what nobody reads yet
			}
			if c.asks {
				config.ClientAuth, config.ClientCAs = tls.RequireAnyClientCert, clients
			}
			var asked, showed string
			config.GetConfigForClient = func(h *tls.ClientHelloInfo) (*tls.Config, error) {
				asked = fmt.Sprintf("%s %v", h.ServerName, h.SupportedProtos)
				return nil, nil
			}
			config.VerifyConnection = func(s tls.ConnectionState) error {
				if len(s.PeerCertificates) > 0 {
					showed = s.PeerCertificates[0].Subject.CommonName
				}
				return nil
			}
			p.wrap = func(raw net.Conn) net.Conn { return tls.Server(raw, config) }
			env := newEnv(p, d)
			env.Resolve = anywhere
			env.ReadFile = func(name string) ([]byte, error) {
				if content, ok := files[name]; ok {
					return content, nil
				}
				return nil, fmt.Errorf("open %s: no such file", name)
			}
			s := newSpec(t, KindHTTP, "https://api.example/v1", `tls != ""`)
			s.TLS = c.set
			o := RunHTTP(t.Context(), s, env)
			if len(o.Attempts) != 1 || o.Attempts[0].Reason != c.want {
				t.Fatalf("%s: %+v", c.name, o)
			}
			name := "api.example"
			if c.set.ServerName != "" {
				name = c.set.ServerName
			}
			if want := name + " [http/1.1]"; asked != want && c.limit != tls.VersionTLS11 {
				t.Errorf("%s: asked for %q, want %q", c.name, asked, want)
			}
			if (showed == "perch") != (c.asks && c.want == ReasonOK) {
				t.Errorf("%s: showed %q", c.name, showed)
			}
			if expiry := o.Attempts[0].TLSExpiry; c.want == ReasonOK && expiry.Year() != 2099 {
				t.Errorf("%s: expires %s", c.name, expiry)
			}
			d.settled(t)
		})
	}
}

// Files that cannot be used are perch's own problem, named by their setting.
func TestTLSFilesThatAreBad(t *testing.T) {
	good, other := newIdentity(t, "perch"), newIdentity(t, "other")
	files := map[string][]byte{
		"good.pem": good.cert, "good.key": good.key, "other.key": other.key, "empty": {}, "text": []byte("hello"),
		"broken.pem": []byte("-----BEGIN CERTIFICATE-----\naGVsbG8=\n-----END CERTIFICATE-----\n"),
	}
	for _, c := range []struct {
		set  TLS
		want string
	}{
		{TLS{CAFile: "none"}, "reading tls.ca_file: open none: no such file"},
		{TLS{CAFile: "empty"}, `reading tls.ca_file "empty": no PEM certificate inside`},
		{TLS{CAFile: "text"}, `reading tls.ca_file "text": no PEM certificate inside`},
		{TLS{CAFile: "broken.pem"}, `reading tls.ca_file "broken.pem": no PEM certificate inside`},
		{TLS{CAFile: "good.key"}, `reading tls.ca_file "good.key": no PEM certificate inside`},
		{TLS{CertFile: "none", KeyFile: "good.key"}, "reading tls.cert_file: open none: no such file"},
		{TLS{CertFile: "good.pem", KeyFile: "none"}, "reading tls.key_file: open none: no such file"},
		{TLS{CertFile: "good.pem", KeyFile: "other.key"}, `loading the client certificate "good.pem": tls: private key does not match public key`},
		{TLS{CertFile: "text", KeyFile: "good.key"}, `loading the client certificate "text": tls: failed to find any PEM data in certificate input`},
		{TLS{CertFile: "good.pem", KeyFile: "good.pem"}, `loading the client certificate "good.pem": tls: found a certificate rather than a key in the PEM for the private key`},
	} {
		d := &desk{t: t}
		env := newEnv(nil, d)
		env.ReadFile = func(name string) ([]byte, error) {
			if content, ok := files[name]; ok {
				return content, nil
			}
			return nil, fmt.Errorf("open %s: no such file", name)
		}
		s := newSpec(t, KindHTTP, "https://api.example/v1")
		s.TLS = c.set
		o := RunHTTP(t.Context(), s, env)
		if o.Cut != CutInternal || o.Problem != c.want || len(d.asked()) != 0 {
			t.Errorf("%+v: %s %q, want %q", c.set, o.Cut, o.Problem, c.want)
		}
		if strings.Contains(o.Problem, "PRIVATE") {
			t.Errorf("the key is in the text: %s", o.Problem)
		}
		s.URL.Scheme = "http" // then nobody looks at them
		if err := (&call{spec: s, env: env}).prepare(); err != nil {
			t.Errorf("plain: %v", err)
		}
	}
}

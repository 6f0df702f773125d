package wire_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"math/big"
	"net"
	"testing"
	"time"
)

// certificates are a small authority, made once a test.
type certificates struct {
	pool *x509.CertPool
	ca   *x509.Certificate
	key  *ecdsa.PrivateKey
}

func authority(t testing.TB) certificates {
	t.Helper()
	a, err := newAuthority()
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func newAuthority() (certificates, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return certificates{}, err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "wire test"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return certificates{}, err
	}
	ca, err := x509.ParseCertificate(der)
	if err != nil {
		return certificates{}, err
	}
	pool := x509.NewCertPool()
	pool.AddCert(ca)
	return certificates{pool: pool, ca: ca, key: key}, nil
}

// leaf returns a server's config with a certificate for 127.0.0.1, changed as
// asked.
func (a certificates) leaf(t testing.TB, change func(*x509.Certificate)) *tls.Config {
	t.Helper()
	config, err := a.newLeaf(change)
	if err != nil {
		t.Fatal(err)
	}
	return config
}

func (a certificates) newLeaf(change func(*x509.Certificate)) (*tls.Config, error) {
	template := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "leaf"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, KeyUsage: x509.KeyUsageDigitalSignature,
	}
	if change != nil {
		change(template)
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.ca, &key.PublicKey, a.key)
	if err != nil {
		return nil, err
	}
	return &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}, MinVersion: tls.VersionTLS12}, nil
}

// flavor is plain HTTP, or a version of TLS.
type flavor struct {
	name           string
	server, client *tls.Config
}

func flavors(t testing.TB) []flavor {
	t.Helper()
	a := authority(t)
	out := []flavor{{name: "plain"}}
	for name, version := range map[string]uint16{"tls12": tls.VersionTLS12, "tls13": tls.VersionTLS13} {
		server := a.leaf(t, nil)
		server.MaxVersion = version
		client := &tls.Config{RootCAs: a.pool, ServerName: "127.0.0.1", NextProtos: []string{"http/1.1"}, MinVersion: tls.VersionTLS12}
		out = append(out, flavor{name, server, client})
	}
	return out
}

//go:build peers

package peers

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
	"path/filepath"
	"testing"
	"time"
)

// certificate is a server's, as files.
type certificate struct {
	file, keyFile, bothFile, caFile string
	ca                              []byte
}

// newCertificate makes an authority and a certificate for host, in files below
// dir.
func newCertificate(t *testing.T, dir, host string) certificate {
	t.Helper()
	caKey, ca := issue(t, &x509.Certificate{
		Subject: pkix.Name{CommonName: "perch peers authority"}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageCertSign,
	}, nil, nil)
	key, leaf := issue(t, &x509.Certificate{
		Subject: pkix.Name{CommonName: host}, IPAddresses: []net.IP{net.ParseIP(host)},
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}, ca, caKey)
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	certPEM, keyPEM := block("CERTIFICATE", leaf.Raw), block("PRIVATE KEY", der)
	caPEM := block("CERTIFICATE", ca.Raw)
	return certificate{
		file:     write(t, filepath.Join(dir, "cert.pem"), certPEM),
		keyFile:  write(t, filepath.Join(dir, "key.pem"), keyPEM),
		bothFile: write(t, filepath.Join(dir, "both.pem"), certPEM+keyPEM),
		caFile:   write(t, filepath.Join(dir, "ca.pem"), caPEM),
		ca:       []byte(caPEM),
	}
}

// issue makes a key and its certificate, signed by parent; nil: by itself.
func issue(t *testing.T, template, parent *x509.Certificate, signer *ecdsa.PrivateKey) (*ecdsa.PrivateKey, *x509.Certificate) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	template.SerialNumber = big.NewInt(now.UnixNano())
	template.NotBefore, template.NotAfter = now.Add(-time.Hour), now.Add(60*24*time.Hour)
	if parent == nil {
		parent, signer = template, key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, key.Public(), signer)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return key, cert
}

func block(kind string, der []byte) string {
	return string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}))
}

// tlsConfig trusts the peer.
func (p Peer) tlsConfig() (*tls.Config, error) {
	host, _, err := net.SplitHostPort(p.Addr)
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(p.RootCA) {
		return nil, fmt.Errorf("reading the authority of %s: no certificate", p.Name)
	}
	spoken := "http/1.1"
	if p.HTTP2 {
		spoken = "h2"
	}
	return &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: pool, ServerName: host, NextProtos: []string{spoken}}, nil
}

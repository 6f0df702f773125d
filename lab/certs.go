package lab

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"
)

// authority is the certificate authority that a server makes for itself at its
// start and forgets at its end.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	host string // what its leaves are for, beside loopback; may be empty
}

// newAuthority makes an authority whose leaves are good for loopback and for
// the host of addr.
func newAuthority(addr string) (*authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("making the authority's key: %w", err)
	}
	now := time.Now()
	template := &x509.Certificate{
		SerialNumber:          big.NewInt(now.UnixNano()),
		Subject:               pkix.Name{CommonName: "perch lab authority"},
		NotBefore:             now.Add(-48 * time.Hour),
		NotAfter:              now.Add(90 * 24 * time.Hour),
		IsCA:                  true,
		BasicConstraintsValid: true,
		KeyUsage:              x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, fmt.Errorf("making the authority's certificate: %w", err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, fmt.Errorf("reading the authority's certificate: %w", err)
	}
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, fmt.Errorf("reading the address %q: %w", addr, err)
	}
	return &authority{cert: cert, key: key, host: host}, nil
}

// leaf signs a certificate for the names by which the server is reached. change, when not
// nil, spoils it before it is signed.
func (a *authority) leaf(change func(*x509.Certificate)) (tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("making a key: %w", err)
	}
	now := time.Now()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(now.UnixNano()),
		Subject:      pkix.Name{CommonName: "perch lab"},
		NotBefore:    now.Add(-24 * time.Hour),
		NotAfter:     now.Add(60 * 24 * time.Hour),
		KeyUsage:     x509.KeyUsageDigitalSignature,
		ExtKeyUsage:  []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
		DNSNames:     []string{"localhost"},
		IPAddresses:  []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback},
	}
	if ip := net.ParseIP(a.host); ip != nil {
		template.IPAddresses = append(template.IPAddresses, ip)
	} else if a.host != "" {
		template.DNSNames = append(template.DNSNames, a.host)
	}
	if change != nil {
		change(template)
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, key.Public(), a.key)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("signing a certificate: %w", err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, nil
}

// serverConfig is TLS with a good certificate.
func (a *authority) serverConfig() (*tls.Config, error) {
	cert, err := a.leaf(nil)
	if err != nil {
		return nil, err
	}
	return &tls.Config{
		MinVersion:   tls.VersionTLS12,
		NextProtos:   []string{"http/1.1"},
		Certificates: []tls.Certificate{cert},
	}, nil
}

// errPlain says that a plain server has no certificates.
var errPlain = errors.New("the scenario is served without TLS")

// CA returns the server's authority in PEM: what a client must trust. It is
// nil for a plain server.
func (s *Server) CA() []byte {
	if s.ca == nil {
		return nil
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.ca.cert.Raw})
}

// WriteCA writes the authority to ca.pem in dir and returns the file's path.
func (s *Server) WriteCA(dir string) (string, error) {
	if s.ca == nil {
		return "", fmt.Errorf("writing the lab's authority: %w", errPlain)
	}
	path := filepath.Join(dir, "ca.pem")
	if err := os.WriteFile(path, s.CA(), 0o600); err != nil {
		return "", fmt.Errorf("writing the lab's authority: %w", err)
	}
	return path, nil
}

// ClientConfig is what a Go client needs to trust the server; the zero
// configuration for a plain one.
func (s *Server) ClientConfig() *tls.Config {
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if s.ca != nil {
		config.RootCAs = x509.NewCertPool()
		config.RootCAs.AddCert(s.ca.cert)
	}
	return config
}

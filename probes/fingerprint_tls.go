package probes

import (
	"cmp"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"slices"
	"strings"
)

// longestName bounds what is kept of a name that the peer chose.
const longestName = 200

// showing is a client configuration that lets each certificate pass and keeps
// what it showed. Whom a certificate cannot be trusted for is what has to be
// seen: something that opens TLS on the way has one of its own. It is for
// connections on which nothing is sent.
func showing(base *tls.Config, to **TLSPrint) *tls.Config {
	config := base.Clone()
	config.InsecureSkipVerify = true // verified below, to say what came of it
	config.VerifyConnection = func(s tls.ConnectionState) error {
		*to = printTLS(s, base)
		return nil
	}
	return config
}

// printTLS says what a handshake showed, by the authorities of base.
func printTLS(s tls.ConnectionState, base *tls.Config) *TLSPrint {
	p := &TLSPrint{
		Version: strings.TrimPrefix(tls.VersionName(s.Version), "TLS "), ALPN: bounded(s.NegotiatedProtocol), Certificates: len(s.PeerCertificates),
	}
	if len(s.PeerCertificates) == 0 { // a client is always shown one; a bug must not panic
		return p
	}
	leaf := s.PeerCertificates[0]
	p.Issuer, p.Subject = bounded(leaf.Issuer.String()), bounded(leaf.Subject.String())
	p.Authority = bounded(cmp.Or(strings.Join(leaf.Issuer.Organization, ", "), leaf.Issuer.CommonName))
	p.SHA256, p.NamesSHA256, p.NotAfter = digest(leaf.Raw), digest([]byte(namesOf(leaf))), leaf.NotAfter
	between := x509.NewCertPool()
	for _, c := range s.PeerCertificates[1:] {
		between.AddCert(c)
	}
	_, err := leaf.Verify(x509.VerifyOptions{Roots: base.RootCAs, Intermediates: between, DNSName: base.ServerName})
	switch {
	case err != nil:
		p.NotTrusted = bounded(err.Error())
	case base.RootCAs != nil:
		p.TrustedBy = "ca_file"
	default:
		p.TrustedBy = "system"
	}
	return p
}

// namesOf are all names that a certificate is for, sorted, a line each.
func namesOf(c *x509.Certificate) string {
	all := slices.Clone(c.DNSNames)
	for _, ip := range c.IPAddresses {
		all = append(all, ip.String())
	}
	slices.Sort(all)
	return strings.Join(all, "\n")
}

func digest(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// bounded cuts what is too long, between two characters.
func bounded(s string) string {
	s = strings.ToValidUTF8(s, "?")
	if len(s) <= longestName {
		return s
	}
	return strings.ToValidUTF8(s[:longestName], "") + "..."
}

package wire

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/asn1"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

const (
	longestName = 100 // of a subject or issuer, bytes
	mostNames   = 20  // of a certificate's names that are kept
)

// TLSFacts is what one handshake showed, without the certificates themselves: ten
// thousand connections are held at once. It is made once a connection and never
// changed. Names are the peer's words, printable and shortened.
type TLSFacts struct {
	Version    string // "1.2", "1.3"; empty: no handshake was finished
	Cipher     string // as IANA names it
	ALPN       string // what was agreed; empty: nothing
	ServerName string // SNI as it was sent
	Leaf       Certificate
	// Earliest ends the peer's chain: of the verified chain that lives longest, what
	// expires first. An expired certificate that is sent beside it and that no client
	// needs does not count, nor a self-signed authority, which clients have from
	// elsewhere (Anchor). Of a chain that was not accepted: what was not, where that is known,
	// else the leaf.
	Earliest Certificate
	// Anchor is the self-signed authority that the chain ends in, where the client was
	// given its authorities (tls.ca_file): those who gave it have to renew it. Of
	// several, the one that lives longest. Zero: the system's, which others keep, or the
	// leaf itself.
	Anchor     Certificate
	Names      []string // for which the leaf is good, DNS names and addresses, at most 20
	MustStaple bool     // the leaf asks for an OCSP staple (RFC 7633)
	Staple     *Staple  // nil: none came
}

// Certificate is what is told of one certificate.
type Certificate struct {
	Subject, Issuer     string // common name, else organization, else the first DNS name; empty: none
	NotBefore, NotAfter time.Time
	Authority           bool // it signs others: it is not the leaf
	Root                bool // it is signed by itself: no other is above it
}

// FactsOf reads what a finished handshake showed, that asked for the name sni. own: the
// client was given its authorities, and does not trust the system's.
func FactsOf(state tls.ConnectionState, sni string, own bool) *TLSFacts {
	f := &TLSFacts{
		Version: versionName(state.Version), Cipher: strings.Clone(tls.CipherSuiteName(state.CipherSuite)),
		ALPN: strings.Clone(state.NegotiatedProtocol), ServerName: sni,
	}
	if len(state.PeerCertificates) == 0 {
		return f
	}
	leaf := state.PeerCertificates[0]
	f.ofLeaf(leaf)
	if own {
		f.Anchor = anchor(state.VerifiedChains)
	}
	chain := longestLived(state.VerifiedChains)
	if chain == nil { // not verified
		chain = state.PeerCertificates
	}
	f.Earliest = certificateOf(earliest(chain))
	if len(state.OCSPResponse) > 0 && len(chain) > 1 {
		f.Staple = stapleOf(state.OCSPResponse, leaf, chain[1])
	}
	return f
}

// refusedFacts reads what a handshake showed whose certificates were not accepted.
func refusedFacts(err error, sent []*x509.Certificate, sni string, own bool) *TLSFacts {
	f := &TLSFacts{ServerName: sni}
	if len(sent) > 0 {
		f.ofLeaf(sent[0])
	}
	if invalid, ok := errors.AsType[x509.CertificateInvalidError](err); ok && invalid.Cert != nil {
		f.Earliest = certificateOf(invalid.Cert)
		if own && f.Earliest.Root && f.Earliest != f.Leaf {
			f.Anchor = f.Earliest
		}
	}
	return f
}

// blamed names what was not accepted where it is not the leaf, for the end of an
// error.
func (f *TLSFacts) blamed() string {
	switch {
	case f.Earliest == f.Leaf:
		return ""
	case f.Anchor == f.Earliest:
		return fmt.Sprintf(" (the root certificate %q in tls.ca_file)", f.Earliest.Subject)
	case f.Earliest.Root:
		return fmt.Sprintf(" (the root certificate %q in the system's store)", f.Earliest.Subject)
	}
	return fmt.Sprintf(" (the certificate of %q, which the server's own is signed with)", f.Earliest.Subject)
}

func (f *TLSFacts) ofLeaf(leaf *x509.Certificate) {
	f.Leaf = certificateOf(leaf)
	f.Earliest, f.Names, f.MustStaple = f.Leaf, namesOf(leaf), mustStaple(leaf)
}

// longestLived returns the chain that is good for longest; nil: there is none.
func longestLived(chains [][]*x509.Certificate) []*x509.Certificate {
	var best []*x509.Certificate
	for _, chain := range chains {
		if len(chain) > 0 && (best == nil || earliest(chain).NotAfter.After(earliest(best).NotAfter)) {
			best = chain
		}
	}
	return best
}

// anchor returns the self-signed authority that lives longest of those that chains end
// in, leaves that sign themselves left out; zero: there is none.
func anchor(chains [][]*x509.Certificate) Certificate {
	var best *x509.Certificate
	for _, chain := range chains {
		last := chain[len(chain)-1]
		if len(chain) > 1 && selfSigned(last) && (best == nil || last.NotAfter.After(best.NotAfter)) {
			best = last
		}
	}
	if best == nil {
		return Certificate{}
	}
	return certificateOf(best)
}

func selfSigned(c *x509.Certificate) bool { return bytes.Equal(c.RawSubject, c.RawIssuer) }

// earliest returns the certificate of a chain that expires first, without a
// self-signed authority at its end; of several, the one nearest to the leaf.
func earliest(chain []*x509.Certificate) *x509.Certificate {
	if last := chain[len(chain)-1]; len(chain) > 1 && selfSigned(last) {
		chain = chain[:len(chain)-1]
	}
	return slices.MinFunc(chain, func(a, b *x509.Certificate) int { return a.NotAfter.Compare(b.NotAfter) })
}

func certificateOf(c *x509.Certificate) Certificate {
	first := func(names ...[]string) string {
		for _, n := range slices.Concat(names...) {
			if n != "" {
				return Printable(n, longestName)
			}
		}
		return ""
	}
	return Certificate{
		Subject:   first([]string{c.Subject.CommonName}, c.Subject.Organization, c.DNSNames),
		Issuer:    first([]string{c.Issuer.CommonName}, c.Issuer.Organization),
		NotBefore: c.NotBefore, NotAfter: c.NotAfter, Authority: c.IsCA, Root: c.IsCA && selfSigned(c),
	}
}

func namesOf(c *x509.Certificate) []string {
	var names []string
	for _, n := range c.DNSNames {
		names = append(names, Printable(n, longestName))
		if len(names) == mostNames {
			return names
		}
	}
	for _, ip := range c.IPAddresses[:min(len(c.IPAddresses), mostNames-len(names))] {
		names = append(names, ip.String())
	}
	return names
}

// mustStaple reports whether a certificate's TLS feature extension holds
// status_request, 5.
func mustStaple(c *x509.Certificate) bool {
	for _, e := range c.Extensions {
		if !e.Id.Equal(asn1.ObjectIdentifier{1, 3, 6, 1, 5, 5, 7, 1, 24}) {
			continue
		}
		var features []int
		if rest, err := asn1.Unmarshal(e.Value, &features); err == nil && len(rest) == 0 {
			return slices.Contains(features, 5)
		}
	}
	return false
}

// Printable makes the peer's words fit to be shown: on one line, at most most
// bytes, in a string of its own that keeps nothing bigger in memory.
func Printable(s string, most int) string {
	var b strings.Builder
	for _, r := range s {
		if !unicode.IsPrint(r) || r == utf8.RuneError {
			r = '?'
		}
		if b.Len()+utf8.RuneLen(r) > most {
			b.WriteString("…")
			break
		}
		b.WriteRune(r)
	}
	return b.String()
}

func versionName(v uint16) string {
	switch v {
	case tls.VersionTLS13:
		return "1.3"
	case tls.VersionTLS12:
		return "1.2"
	default: // perch speaks no other
		return ""
	}
}

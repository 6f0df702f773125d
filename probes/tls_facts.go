package probes

import (
	"time"

	"perch.example/probes/wire"
)

// TLSFacts is what a handshake showed: version, cipher, and what of the peer's
// certificates matters.
type TLSFacts = wire.TLSFacts

// Certificate is what is told of one certificate.
type Certificate = wire.Certificate

// Staple is an OCSP answer that came with a certificate.
type Staple = wire.Staple

// The statuses of a staple.
const (
	StapleGood       = wire.StapleGood
	StapleRevoked    = wire.StapleRevoked
	StapleUnknown    = wire.StapleUnknown
	StapleUnreadable = wire.StapleUnreadable
)

// expiresOf returns when the leaf does; zero: no certificate was seen.
func expiresOf(f *TLSFacts) time.Time {
	if f == nil {
		return time.Time{}
	}
	return f.Leaf.NotAfter
}

// Expires is the certificate of the attempt's connection that expires first of
// those that its clients need: the leaf, or one that it is signed with. Zero NotAfter:
// no TLS, or no certificate was seen.
func (a Attempt) Expires() Certificate {
	if a.TLS == nil || a.TLS.Earliest.NotAfter.IsZero() {
		return Certificate{NotAfter: a.TLSExpiry}
	}
	return a.TLS.Earliest
}

// stapleAhead is how far in the future a staple may begin: clocks differ, and the
// clients that look at staples allow as much and more.
const stapleAhead = 5 * time.Minute

// AnchorEnding is the authority of tls.ca_file that the attempt's chain ends in, where
// that ends within 21 days. From then on clients that look at it as perch does (Go,
// OpenSSL, .NET) accept nothing that it signed; others (Java) look only at what it
// signed. Zero NotAfter: there is none, or it is good for longer.
func (a Attempt) AnchorEnding(now time.Time) Certificate {
	if a.TLS == nil || a.TLS.Anchor.NotAfter.Sub(now) > longestWarned {
		return Certificate{}
	}
	return a.TLS.Anchor
}

// StapleTrouble says what is wrong with the OCSP staple of the attempt's
// connection, as the rest of a sentence that begins with "the certificate"; empty:
// nothing is, also where none came and none is asked for. A client that looks at
// staples may refuse the connection for each of them.
func (a Attempt) StapleTrouble(now time.Time) string {
	switch {
	case a.TLS == nil:
		return ""
	case a.TLS.Staple == nil && a.TLS.MustStaple:
		return "asks for an OCSP staple (must-staple), and none came"
	case a.TLS.Staple == nil:
		return ""
	}
	s := a.TLS.Staple
	switch {
	case s.Status == StapleUnreadable:
		return "came with an OCSP staple that is no answer about it, signed by its issuer"
	case s.Status == StapleRevoked:
		return "is revoked, its OCSP staple says"
	case s.Status == StapleUnknown:
		return "came with an OCSP staple that does not know it"
	case s.ThisUpdate.Sub(now) > stapleAhead:
		return "came with an OCSP staple that begins on " + s.ThisUpdate.UTC().Format("2006-01-02 15:04 MST")
	case !s.NextUpdate.IsZero() && now.After(s.NextUpdate):
		return "came with an OCSP staple that ended on " + s.NextUpdate.UTC().Format("2006-01-02 15:04 MST")
	}
	return ""
}

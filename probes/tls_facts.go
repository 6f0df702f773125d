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
	case !s.NextUpdate.IsZero() && now.After(s.NextUpdate):
		return "came with an OCSP staple that ended on " + s.NextUpdate.UTC().Format("2006-01-02 15:04 MST")
	}
	return ""
}

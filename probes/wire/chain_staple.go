package wire

import (
	"crypto/x509"
	"errors"
	"fmt"
	"slices"
	"time"

	"golang.org/x/crypto/ocsp"
)

// Staple is an OCSP answer that the peer sent with its certificate.
type Staple struct {
	Status StapleStatus
	// From here on zero where it cannot be read, or is not to be believed.
	ThisUpdate, NextUpdate, RevokedAt time.Time // NextUpdate zero: newer ones are always to be had
	By                                string    // who signed it: the certificate's issuer, or whom that appointed
}

// StapleStatus says what a staple says of the leaf.
type StapleStatus string

// The statuses. A staple that is not signed as it must be says nothing.
const (
	StapleGood       StapleStatus = "good"
	StapleRevoked    StapleStatus = "revoked"
	StapleUnknown    StapleStatus = "unknown"    // its maker does not know the certificate
	StapleUnreadable StapleStatus = "unreadable" // no OCSP answer, one about another certificate, or not signed by the issuer
)

// errRevoked says that a peer itself showed that its certificate is revoked.
var errRevoked = errors.New("its certificate is revoked")

// stapleOf reads a staple about leaf, which issuer has signed.
func stapleOf(der []byte, leaf, issuer *x509.Certificate) *Staple {
	r, err := ocsp.ParseResponseForCert(der, leaf, issuer)
	if err != nil || !appointed(r.Certificate, issuer, r.ProducedAt) {
		return &Staple{Status: StapleUnreadable}
	}
	s := &Staple{ThisUpdate: r.ThisUpdate, NextUpdate: r.NextUpdate, By: certificateOf(issuer).Subject}
	if r.Certificate != nil {
		s.By = certificateOf(r.Certificate).Subject
	}
	switch r.Status {
	case ocsp.Good:
		s.Status = StapleGood
	case ocsp.Revoked:
		s.Status, s.RevokedAt = StapleRevoked, r.RevokedAt
	default:
		s.Status = StapleUnknown
	}
	return s
}

// appointed reports whether the certificate inside a staple may sign for issuer:
// it is the issuer's own, or for OCSP and valid then (RFC 6960, 4.2.2.2). That the issuer
// signed it was verified.
func appointed(by, issuer *x509.Certificate, at time.Time) bool {
	if by == nil || by.Equal(issuer) {
		return true
	}
	return slices.Contains(by.ExtKeyUsage, x509.ExtKeyUsageOCSPSigning) && !at.Before(by.NotBefore) && !at.After(by.NotAfter)
}

// revoked returns an error where the peer itself showed, signed by its issuer, that
// its certificate is revoked: what is sent to it may be read by whoever has its
// key, and clients that look do not speak with it.
func (f *TLSFacts) revoked() error {
	if f.Staple == nil || f.Staple.Status != StapleRevoked {
		return nil
	}
	return fmt.Errorf("%w (since %s, its OCSP staple says)", errRevoked, f.Staple.RevokedAt.UTC().Format(time.DateOnly))
}

package wire

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"time"
)

// handshake speaks TLS over the tap.
func (c *Conn) handshake(ctx context.Context, o Options, e *Evidence) (Failure, error) {
	e.TLS = true
	config := o.TLS
	if config.ServerName == "" && !config.InsecureSkipVerify {
		config = config.Clone()
		config.ServerName = o.Host
	}
	began := time.Now()
	if o.Handshake > 0 {
		deadline(ctx, c.raw, began.Add(o.Handshake))
	}
	cut := cutOn(ctx, c.raw)
	c.tls = tls.Client(c.below(), config)
	// Not the caller's ctx: it would start a goroutine, and close the
	// connection; the deadline ends it as well.
	err := c.tls.HandshakeContext(context.Background())
	cut.stop()
	e.Phases.TLS = time.Since(began)
	if !c.tap.firstRead.IsZero() {
		// Not 0, which is unknown: the kernel dates what came by jiffies, and that
		// can reach back to the ClientHello itself.
		e.Hello = max(c.tap.firstRead.Sub(c.tap.firstWrite), 1)
	}
	state := c.tls.ConnectionState()
	if err != nil {
		e.Chain = refusedFacts(err, state.PeerCertificates, sni(config), config.RootCAs != nil)
		if e.Unagreed = refusedALPN(err); e.Unagreed {
			err = fmt.Errorf("%w: it takes none of what ALPN offered (%s)", err, strings.Join(config.NextProtos, ", "))
		}
		failure := handshakeFailure(err, e, config.RootCAs != nil)
		return failure, fmt.Errorf("TLS handshake: %w%s", err, e.Chain.blamed())
	}
	e.Chain = o.Chains.of(state, sni(config), config.RootCAs != nil)
	if err := e.Chain.revoked(); err != nil {
		return FailureCertificate, fmt.Errorf("TLS handshake: %w", err)
	}
	deadline(ctx, c.raw, time.Time{})
	return "", nil
}

// sni is the name that a ClientHello asks for: an address is none.
func sni(config *tls.Config) string {
	if _, err := netip.ParseAddr(config.ServerName); err == nil {
		return ""
	}
	return strings.TrimSuffix(config.ServerName, ".")
}

// noApplicationProtocol is the alert of a server that speaks nothing of what ALPN
// offered (RFC 7301, 3.2).
const noApplicationProtocol tls.AlertError = 120

// refusedALPN reports whether the peer ended the handshake with that alert.
// crypto/tls does not export the type of what it passes on, which has its words.
func refusedALPN(err error) bool {
	var op *net.OpError
	return remoteAlert(err) && errors.As(err, &op) && op.Err.Error() == noApplicationProtocol.Error()
}

// handshakeFailure tells what we did not accept of the peer's certificate from
// every other way to fail.
func handshakeFailure(err error, e *Evidence, own bool) Failure {
	var verification *tls.CertificateVerificationError
	var authority x509.UnknownAuthorityError
	var host x509.HostnameError
	var invalid x509.CertificateInvalidError
	switch {
	case errors.As(err, &verification):
		if len(verification.UnverifiedCertificates) > 0 {
			e.Chain = refusedFacts(err, verification.UnverifiedCertificates, e.Chain.ServerName, own)
		}
		return FailureCertificate
	case errors.As(err, &authority), errors.As(err, &host), errors.As(err, &invalid):
		return FailureCertificate
	default:
		return FailureTLS
	}
}

package probes

import "crypto/tls"

// noteAsked has c remember that a server asked for a client certificate. What it is
// given is what crypto/tls gives by itself: the configured one, if that suits.
func (c *call) noteAsked() {
	own := c.tls.Certificates
	c.tls.GetClientCertificate = func(asked *tls.CertificateRequestInfo) (*tls.Certificate, error) {
		c.asked, c.given = true, false
		for i := range own {
			if asked.SupportsCertificate(&own[i]) == nil {
				c.given = true
				return &own[i], nil
			}
		}
		return &tls.Certificate{}, nil
	}
}

// certificateAsked is what a refused handshake adds to its detail: whether the server
// had asked for a client certificate, and what it was given.
func (c *call) certificateAsked() string {
	switch {
	case !c.asked:
		return ""
	case c.given:
		return "; the server wants a client certificate, and was given that of tls.cert_file"
	case c.spec.TLS.CertFile != "":
		return "; the server wants a client certificate, and that of tls.cert_file is of none of the authorities or kinds that it names"
	}
	return "; the server wants a client certificate, and none is configured (tls.cert_file)"
}

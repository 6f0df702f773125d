package lab

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"io"
	"net"
	"net/http"
	"time"
)

func certificateScenarios() []Scenario {
	return []Scenario{
		{Name: "certificate", Reason: "certificate", play: onRequest(nil), TLS: true, identity: spoil(expired),
			About: "Shows a certificate that expired an hour ago."},
		{Name: "certificate_wrong_host", Reason: "certificate", play: onRequest(nil), TLS: true, identity: spoil(wrongHost),
			About: "Shows a certificate for another host."},
		{Name: "certificate_unknown", Reason: "certificate", play: onRequest(nil), TLS: true, identity: unknownAuthority,
			About: "Shows a certificate of an authority that nobody knows."},
		{Name: "certificate_expiring", Reason: "ok", play: onRequest(nil), TLS: true, identity: spoil(expiring),
			About: "Shows a good certificate that expires in ten days."},
	}
}

// spoil shows a certificate that change altered before it was signed.
func spoil(change func(*x509.Certificate)) func(*authority, *tls.Config) error {
	return func(a *authority, config *tls.Config) error {
		cert, err := a.leaf(change)
		if err != nil {
			return err
		}
		config.Certificates = []tls.Certificate{cert}
		return nil
	}
}

func expired(c *x509.Certificate) { c.NotAfter = time.Now().Add(-time.Hour) }

func expiring(c *x509.Certificate) { c.NotAfter = time.Now().Add(10 * 24 * time.Hour) }

func wrongHost(c *x509.Certificate) {
	c.DNSNames = []string{"elsewhere.invalid"}
	c.IPAddresses = []net.IP{net.IPv4(192, 0, 2, 1)}
}

// unknownAuthority signs with an authority that [Server.CA] does not hand out.
func unknownAuthority(a *authority, config *tls.Config) error {
	other, err := newAuthority(net.JoinHostPort(a.host, "0"))
	if err != nil {
		return err
	}
	return spoil(nil)(other, config)
}

func handshakeScenarios() []Scenario {
	return []Scenario{
		{Name: "tls", Reason: "tls", play: afterHello(handshakeFailure), TLS: true, raw: true,
			About: "Answers the ClientHello with the alert handshake_failure."},
		{Name: "tls_plain", Reason: "tls", play: afterHello(plainText), TLS: true, raw: true,
			About: "Speaks plain HTTP on a TLS port."},
		{Name: "tls_garbage", Reason: "tls", play: afterHello(garbage), TLS: true, raw: true,
			About: "Answers the ClientHello with bytes that are not TLS."},
		{Name: "tls_eof", Reason: "tls", play: afterHello((*conn).fin), TLS: true, raw: true,
			About: "Reads the ClientHello and closes with FIN."},
		{Name: "tls_reset", Reason: "tls", play: afterHello((*conn).rst), TLS: true, raw: true,
			About: "Reads the ClientHello and resets the connection."},
		{Name: "tls_stall", Reason: "tls", play: afterHello(stall), TLS: true, raw: true,
			About: "Reads the ClientHello and never answers."},
		{Name: "tls_old", Reason: "tls", play: onRequest(nil), TLS: true, identity: oldVersions,
			About: "Speaks no TLS above 1.1."},
		{Name: "tls_client_certificate", Reason: "tls", play: onRequest(nil), TLS: true, identity: wantsClient(tls.VersionTLS12),
			About: "Wants a client certificate, in TLS 1.2: the handshake fails."},
		{Name: "tls_client_certificate_13", Reason: "tls", play: onRequest(nil), TLS: true, identity: wantsClient(tls.VersionTLS13),
			About: "Wants a client certificate, in TLS 1.3: the alert comes when the client takes the handshake for done."},
	}
}

// afterHello reads the client's first record and goes on with answer.
func afterHello(answer func(*conn)) func(*conn) {
	return func(c *conn) {
		var header [5]byte
		if _, err := io.ReadFull(c.tcp, header[:]); err != nil {
			return
		}
		length := int64(binary.BigEndian.Uint16(header[3:]))
		if _, err := io.CopyN(io.Discard, c.tcp, length); err != nil {
			return
		}
		answer(c)
	}
}

// handshakeFailure is a fatal alert, then FIN.
func handshakeFailure(c *conn) {
	c.send("\x15\x03\x03\x00\x02\x02\x28")
	c.half()
}

// plainText is what a plain server says of a ClientHello.
func plainText(c *conn) {
	c.send(head(http.StatusBadRequest, "Connection: close", "Content-Length: 0"))
	c.half()
}

func garbage(c *conn) {
	c.send("\xde\xad\xbe\xef this is not the record you are looking for\r\n")
	c.half()
}

// oldVersions offers what clients refuse today.
func oldVersions(_ *authority, config *tls.Config) error {
	config.MinVersion = tls.VersionTLS10
	config.MaxVersion = tls.VersionTLS11
	return nil
}

// wantsClient asks for a client certificate of the server's own authority, in
// that version of TLS only.
func wantsClient(version uint16) func(*authority, *tls.Config) error {
	return func(a *authority, config *tls.Config) error {
		config.MinVersion, config.MaxVersion = version, version
		config.ClientAuth = tls.RequireAndVerifyClientCert
		config.ClientCAs = x509.NewCertPool()
		config.ClientCAs.AddCert(a.cert)
		return nil
	}
}

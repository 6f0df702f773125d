package wire

import (
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"slices"
	"sync"
)

// mostChains bounds what Chains keeps. More different handshakes than that in one run
// are not shared.
const mostChains = 1000

// Chains keeps what handshakes showed, so that ten thousand connections to the same few
// servers share it, and a staple is verified once. The zero value is ready; nil shares
// nothing. Safe for concurrent use.
type Chains struct {
	mu    sync.Mutex
	known map[[sha256.Size]byte]*TLSFacts
}

// of is FactsOf, shared.
func (c *Chains) of(state tls.ConnectionState, sni string, own bool) *TLSFacts {
	if c == nil {
		return FactsOf(state, sni, own)
	}
	key := fingerprint(state, sni, own)
	c.mu.Lock()
	defer c.mu.Unlock()
	if f := c.known[key]; f != nil {
		return f
	}
	f := FactsOf(state, sni, own)
	if c.known == nil {
		c.known = map[[sha256.Size]byte]*TLSFacts{}
	}
	if len(c.known) < mostChains {
		c.known[key] = f
	}
	return f
}

// fingerprint tells handshakes apart by all that FactsOf looks at.
func fingerprint(state tls.ConnectionState, sni string, own bool) [sha256.Size]byte {
	h := sha256.New()
	fmt.Fprintf(h, "%d %d %q %q %t\n", state.Version, state.CipherSuite, state.NegotiatedProtocol, sni, own)
	for _, chain := range slices.Concat(state.VerifiedChains, [][]*x509.Certificate{state.PeerCertificates}) {
		fmt.Fprintf(h, "%d\n", len(chain))
		for _, cert := range chain {
			fmt.Fprintf(h, "%d\n%s", len(cert.Raw), cert.Raw)
		}
	}
	h.Write(state.OCSPResponse) // the last: its length needs no telling
	return [sha256.Size]byte(h.Sum(nil))
}

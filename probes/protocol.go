package probes

import "perch.example/probes/wire"

// Protocol is which HTTP a probe speaks on its connections.
type Protocol string

// The protocols. The zero value is HTTP/1.1.
const (
	ProtocolHTTP1 Protocol = "http/1.1"
	ProtocolH2    Protocol = "h2"   // HTTP/2 over TLS, by ALPN; a server that does not agree fails the handshake's reason
	ProtocolH2C   Protocol = "h2c"  // HTTP/2 over plain TCP, by prior knowledge
	ProtocolAuto  Protocol = "auto" // over TLS what ALPN settles, h2 or http/1.1; plain: http/1.1
)

// Or returns p, or HTTP/1.1 where nothing is said.
func (p Protocol) Or() Protocol {
	if p == "" {
		return ProtocolHTTP1
	}
	return p
}

// Speaks returns the protocol of a probe's connections: gRPC's is HTTP/2.
func (s Spec) Speaks() Protocol {
	p := s.Protocol.Or()
	if s.GRPC == nil || p == ProtocolH2 || p == ProtocolH2C {
		return p
	}
	if s.URL != nil && s.URL.Scheme == "https" {
		return ProtocolH2
	}
	return ProtocolH2C
}

// speaks is the wire's word for it.
func (c *call) speaks() wire.Protocol {
	if c.spec.Kind == KindTLS {
		return wire.SpeakHTTP1 // nothing is said after the handshake, whatever was agreed
	}
	switch c.spec.Speaks() {
	case ProtocolH2, ProtocolH2C:
		return wire.SpeakH2
	case ProtocolAuto:
		return wire.SpeakALPN
	default:
		return wire.SpeakHTTP1
	}
}

// alpn returns what a ClientHello offers.
func alpn(p Protocol) []string {
	switch p {
	case ProtocolH2, ProtocolH2C:
		return []string{"h2"}
	case ProtocolAuto:
		return []string{"h2", "http/1.1"}
	default:
		return []string{"http/1.1"}
	}
}

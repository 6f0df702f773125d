package lab

import (
	"context"
	"net"
)

// What the loopback name server says: the RCODEs of RFC 1035, 4.1.1, or
// nothing.
const (
	answerNothing  = -1
	answerServFail = 2
	answerNXDomain = 3
)

const dnsHeader = 12 // bytes of a message before its question

// serveNames answers every question alike until packets is closed.
func serveNames(packets net.PacketConn, answer int) {
	var buffer [1500]byte
	for {
		n, from, err := packets.ReadFrom(buffer[:])
		if err != nil {
			return
		}
		if reply := nameReply(buffer[:n], answer); reply != nil {
			if _, err := packets.WriteTo(reply, from); err != nil {
				return
			}
		}
	}
}

// nameReply is the reply to a query: its header with the answer's code, and its
// question. It is nil when there is nothing to say.
func nameReply(query []byte, code int) []byte {
	end := questionEnd(query)
	if code == answerNothing || end == 0 {
		return nil
	}
	reply := append([]byte(nil), query[:end]...)
	reply[2] |= 0x80                                   // a response
	reply[3] = 0x80 | byte(code)                       // recursion available, and the code
	copy(reply[4:], []byte{0, 1})                      // one question
	copy(reply[6:dnsHeader], []byte{0, 0, 0, 0, 0, 0}) // no records
	return reply
}

// questionEnd is the offset behind the first question; 0 when there is none.
func questionEnd(query []byte) int {
	if len(query) < dnsHeader || query[2]&0x80 != 0 {
		return 0
	}
	at := dnsHeader
	for at < len(query) && query[at] != 0 {
		at += 1 + int(query[at])
	}
	at += 1 + 4 // the root label, the type and the class
	if at > len(query) {
		return 0
	}
	return at
}

// Resolver is the address of the scenario's name server; empty when it has
// none. With Go: net.Resolver{PreferGo: true, Dial: ...}, or [Server.Dialer].
func (s *Server) Resolver() string { return s.resolver }

// Dialer opens connections as any does, but asks the scenario's name server
// where it has one.
func (s *Server) Dialer() *net.Dialer {
	if s.resolver == "" {
		return &net.Dialer{}
	}
	return &net.Dialer{Resolver: &net.Resolver{
		PreferGo: true,
		Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
			var d net.Dialer
			return d.DialContext(ctx, "udp", s.resolver)
		},
	}}
}

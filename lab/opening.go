package lab

import (
	"fmt"
	"net"
)

func openingScenarios() []Scenario {
	return []Scenario{
		{Name: "dns", Reason: "dns", open: dnsNone,
			About: "A host name under .invalid, and a name server on loopback (Server.Resolver) that knows no name."},
		{Name: "dns_servfail", Reason: "dns", open: dnsFailing,
			About: "A name server on loopback that answers every question with SERVFAIL."},
		{Name: "dns_silent", Reason: "dns", open: dnsSilent,
			About: "A name server on loopback that takes questions and never answers."},
		{Name: "refused", Reason: "refused", open: refused, Linux: true,
			About: "A port on which nobody listens, kept free of others."},
		{Name: "connect_timeout", Reason: "connect_timeout", open: connectTimeout, Linux: true,
			About: "A listener whose queue is full and that accepts nobody: SYNs stay unanswered."},
		{Name: "connect_failed", Reason: "connect_failed", open: connectFailed,
			About: "An address that TCP cannot be spoken to: the kernel says so and sends nothing."},
	}
}

// refused holds a port without listening on it: every SYN is answered by RST.
func refused(s *Server) error {
	addr, held, err := deaf()
	if held != nil {
		s.closers = append(s.closers, held)
	}
	s.host = addr
	return err
}

// connectTimeout lets the kernel drop every SYN.
func connectTimeout(s *Server) error {
	addr, held, err := mute()
	s.closers = append(s.closers, held...)
	s.host = addr
	return err
}

// connectFailed needs an address to which no packet leaves, whatever the
// machine's routes: connecting to the broadcast address fails in the kernel
// (ENETUNREACH on Linux, measured: within 0.5 ms and without a packet).
// Unassigned addresses such as 240.0.0.1 will not do: where there is a default
// route they are sent there.
func connectFailed(s *Server) error {
	s.host = net.JoinHostPort(net.IPv4bcast.String(), "80")
	return nil
}

// dnsNone knows no name.
func dnsNone(s *Server) error { return s.names(answerNXDomain) }

// dnsFailing is a resolver whose own upstream is broken.
func dnsFailing(s *Server) error { return s.names(answerServFail) }

// dnsSilent is a resolver behind a wall.
func dnsSilent(s *Server) error { return s.names(answerNothing) }

// names starts the loopback name server, and gives the URL a name that exists
// nowhere, so that a client that asks its own resolver meets the same reason.
func (s *Server) names(answer int) error {
	packets, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("listening for questions: %w", err)
	}
	s.closers = append(s.closers, packets)
	s.resolver = packets.LocalAddr().String()
	s.host = "nowhere.invalid"
	s.running.Go(func() { serveNames(packets, answer) })
	return nil
}

package plan

import (
	"fmt"

	"perch.example/diagnose/clients"
	"perch.example/probes"
)

// protocolNote says where the declared client does not speak what the probe does, so
// that nothing is known of what it would meet; empty: nothing is to be said.
func protocolNote(s *probes.Spec) string {
	if s.Client == nil || s.Kind == probes.KindTLS {
		return ""
	}
	kind, p := s.Client.Kind, s.Speaks()
	speaks, known := clients.SpeaksHTTP2(kind)
	switch {
	case !known || p != probes.ProtocolH2 && p != probes.ProtocolH2C:
		return ""
	case s.GRPC != nil:
		return fmt.Sprintf("%s: %s is no gRPC client: of what the application makes of a failure nothing is known; what it declares for its connections counts", s.Target, kind)
	case !speaks.HTTP2:
		return fmt.Sprintf("%s: it speaks HTTP/2, which %s does not: nothing is said of what that client would meet", s.ID(), kind)
	case p == probes.ProtocolH2 && !speaks.Chooses:
		return fmt.Sprintf("%s: it speaks HTTP/2, which %s does only if told to (%s)", s.ID(), kind, speaks.How)
	}
	return ""
}

package main

import (
	"cmp"
	"fmt"

	"perch.example/diagnose/clients"
	"perch.example/probes"
)

// auditedOver are the protocols over which a target's client is audited, as its probes
// speak them: false is HTTP/1.1, true is HTTP/2. What the catalog knows nothing of goes
// into all.Unjudged.
func auditedOver(t probes.Target, all *probes.Audits) []bool {
	http1, http2, grpc := spokenBy(t)
	speaks, known := clients.SpeaksHTTP2(t.Client.Kind)
	name := t.Client.Kind
	if c, ok := clients.Lookup(name); ok {
		name = cmp.Or(c.Name, name)
	}
	if grpc {
		all.Unjudged = append(all.Unjudged, fmt.Sprintf("%s over gRPC: the clients of the catalog are HTTP's, and what %s does says nothing of a gRPC client", t.Name, name))
	}
	if http2 && known && !speaks.HTTP2 {
		all.Unjudged = append(all.Unjudged, fmt.Sprintf("%s over HTTP/2: %s speaks HTTP/1.1 only, say protocol: http/1.1", t.Name, name))
		http2 = false
	}
	var over []bool
	if http1 {
		over = append(over, false)
	}
	if http2 {
		over = append(over, true)
	}
	return over
}

// spokenBy is what a target's probes speak. A handshake alone says nothing of it; where
// there is no more, it is HTTP/1.1.
func spokenBy(t probes.Target) (http1, http2, grpc bool) {
	for _, s := range t.Probes {
		switch {
		case s.Kind == probes.KindTLS:
		case s.GRPC != nil:
			grpc = true
		case s.Speaks() == probes.ProtocolH2, s.Speaks() == probes.ProtocolH2C:
			http2 = true
		case s.Speaks() == probes.ProtocolAuto && s.URL != nil && s.URL.Scheme == "https":
			http1, http2 = true, true // the server chooses
		default:
			http1 = true
		}
	}
	return http1 || !http2 && !grpc, http2, grpc
}

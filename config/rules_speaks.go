package config

import (
	"perch.example/diagnose/clients"
	"perch.example/probes"
)

// doubtSpoken warns where a probe measures over another HTTP than the declared client
// speaks: what it finds holds for connections that the application has none of.
func (c *checker) doubtSpoken(s *probes.Spec, p probeSettings) {
	if s.Client == nil || s.URL == nil || s.GRPC != nil || s.Kind != probes.KindIdle && s.Kind != probes.KindHTTP {
		return
	}
	speaks := s.Speaks()
	if speaks == probes.ProtocolAuto && s.URL.Scheme == "http" {
		speaks = probes.ProtocolHTTP1
	}
	if s.Client.HTTP2Ping > 0 && s.Kind == probes.KindIdle && speaks == probes.ProtocolHTTP1 {
		c.warn(c.nearest(p.Place, "protocol"), "the client's http2_ping is of HTTP/2, and "+s.ID()+" is held over http/1.1: no PING is sent", "want protocol: h2, h2c or auto, or leave http2_ping out")
	}
	known, ok := clients.SpeaksHTTP2(s.Client.Kind)
	if ok && !known.HTTP2 && (speaks == probes.ProtocolH2 || speaks == probes.ProtocolH2C) {
		c.warn(c.nearest(p.Place, "protocol"), s.Client.Kind+" speaks no HTTP/2, and "+s.ID()+" is measured over it: servers have other timeouts there", "want protocol: http/1.1, or the client that speaks "+string(speaks))
	}
}

package config

import (
	"time"

	"perch.example/probes"
)

// byHand returns what `perch idle` has to be given to measure by hand what a probe
// measures: the URL and the flags. Empty: it has no flags for the probe's way, and
// would measure another.
func byHand(s probes.Spec) (address string, flags []string) {
	way := s.Way
	switch {
	case s.URL == nil, s.GRPC != nil, s.TLS.CertFile != "", s.TLS.ServerName != "":
		return "", nil
	case way.Socket != "", way.Source.IsValid(), way.Family != "" && way.Family != probes.IPAny, !way.Proxy.Credentials.Zero():
		return "", nil
	}
	speaks := s.Speaks()
	if speaks == probes.ProtocolAuto && s.URL.Scheme == "http" {
		speaks = probes.ProtocolHTTP1
	}
	if speaks != probes.ProtocolHTTP1 {
		flags = append(flags, "--protocol", string(speaks))
	}
	switch p := way.Proxy; {
	case p.URL != nil:
		flags = append(flags, "--proxy", p.URL.Redacted())
	case !p.Environment:
		flags = append(flags, "--proxy", "none")
	}
	if s.TLS.CAFile != "" {
		flags = append(flags, "--ca-file", s.TLS.CAFile)
	}
	if c := s.Client; c != nil {
		if c.HTTP2Ping > 0 && speaks != probes.ProtocolHTTP1 {
			return "", nil
		}
		if c.TCPKeepAlive > 0 {
			flags = append(flags, "--tcp-keep-alive", probes.Spoken(c.TCPKeepAlive.Round(time.Millisecond)))
		}
	}
	bare := *s.URL
	bare.RawQuery = "" // keys that an API takes there are nobody's business
	return bare.String(), flags
}

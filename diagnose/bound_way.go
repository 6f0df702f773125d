package diagnose

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"
	"time"

	"perch.example/probes"
)

// begun is what the last run left, as far as it was measured by the way that this
// one goes: of another way it says nothing. TCP keep-alive is the one setting that
// is compared with what was known without.
func begun(b Bound, s probes.Spec) Bound {
	way, packets := wayOf(s), packetsOf(s)
	switch {
	case b.Way != "" && b.Way != way:
		return Bound{Way: way, Packets: packets}
	case b.Packets != packets:
		return Bound{Way: way, Packets: packets, Without: withoutPackets(b, packets)}
	}
	b.Way = way
	return b
}

// wayPrint is what decides which idle limits a probe's connections meet, TCP
// keep-alive apart. It holds no secret.
type wayPrint struct {
	Scheme, Host, Path, Method, HostHeader, ServerName string
	Protocol                                           probes.Protocol
	GRPC, EnvironmentProxy                             bool
	Ping                                               time.Duration
	Proxy, Source, Socket                              string
	Addresses                                          probes.Addresses
	Family                                             probes.IPChoice
}

// wayOf is a short print of that: 16 hexadecimal digits.
func wayOf(s probes.Spec) string {
	w := wayPrint{
		Method: s.Method, ServerName: s.TLS.ServerName, Protocol: s.Speaks(), GRPC: s.GRPC != nil, EnvironmentProxy: s.Way.Proxy.Environment,
		Socket: s.Way.Socket, Addresses: cmp.Or(s.Way.Addresses, probes.AddressesOne), Family: cmp.Or(s.Way.Family, probes.IPAny),
	}
	if s.URL != nil {
		w.Scheme, w.Host, w.Path = s.URL.Scheme, s.URL.Host, s.URL.EscapedPath()
	}
	for _, h := range s.Headers {
		if strings.EqualFold(h.Name, "Host") {
			w.HostHeader = h.Value
		}
	}
	if s.Client != nil {
		w.Ping = s.Client.HTTP2Ping
	}
	if s.Way.Proxy.URL != nil {
		w.Proxy = s.Way.Proxy.URL.Scheme + "://" + s.Way.Proxy.URL.Host
	}
	if s.Way.Source.IsValid() {
		w.Source = s.Way.Source.String()
	}
	text, err := json.Marshal(w)
	if err != nil {
		return "" // strings and numbers alone: cannot be
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8])
}

// packetsOf is how often the probe's held connections carry TCP keep-alive.
func packetsOf(s probes.Spec) time.Duration {
	if s.Client == nil {
		return 0
	}
	return s.Client.TCPKeepAlive
}

// withoutPackets is what is known of the path without TCP keep-alive, once its
// interval is another; nothing where it is not sent any more.
func withoutPackets(b Bound, packets time.Duration) probes.Bracket {
	switch {
	case packets == 0:
		return probes.Bracket{}
	case b.Packets == 0:
		return b.Known
	}
	return b.Without
}

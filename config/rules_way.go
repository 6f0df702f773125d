package config

import (
	"net/netip"

	"perch.example/probes"
)

// wayRules check what the parts of a way say of each other, once all levels are
// merged.
func (c *checker) wayRules(s *probes.Spec, p probeSettings) {
	at := func(key string) place { return c.at(p.Place, key) }
	way := s.Way
	if way.Socket != "" {
		c.socketRules(way, at)
	} else if !way.Proxy.Credentials.Zero() && way.Proxy.URL == nil && !way.Proxy.Environment {
		c.wrong(at("proxy_credentials"), "is for a proxy, and there is none", "name it: proxy: http://proxy.example:3128, or leave the credentials out")
	}
	if way.Source.IsUnspecified() || way.Source.IsMulticast() || way.Source == netip.AddrFrom4([4]byte{255, 255, 255, 255}) {
		c.wrong(at("source_address"), way.Source.String()+" is no address that a connection can come from", "want one of this machine's, or leave it out")
	}
	if way.Addresses == probes.AddressesAll && way.Proxy.URL != nil {
		c.wrong(at("addresses"), "all is for what perch dials, and here the proxy chooses the host's address", "write addresses: one, or proxy: none")
	}
	if way.Addresses == probes.AddressesAll && s.Requests > 1 {
		c.wrong(at("addresses"), "all is for one request to each address, and requests sends many on one connection", "write addresses: one on this probe, or leave requests out")
	}
	c.familyRules(s, at)
	c.protocolRules(s, p)
}

// socketRules: a unix socket is dialled in place of all that the others are about.
func (c *checker) socketRules(way probes.Way, at func(string) place) {
	const fix = "leave it out, or dial the host: no unix_socket"
	if way.Proxy.URL != nil {
		c.wrong(at("unix_socket"), "is dialled by perch itself, and proxy names another way", "write proxy: none, or leave the socket out")
	}
	if !way.Proxy.Credentials.Zero() {
		c.wrong(at("proxy_credentials"), "is for a proxy, and a unix socket is behind none", fix)
	}
	if way.Addresses == probes.AddressesAll {
		c.wrong(at("addresses"), "all is for a host's addresses, and a unix socket has none", fix)
	}
	if way.Source.IsValid() {
		c.wrong(at("source_address"), "is for a host's addresses, and a unix socket has none", fix)
	}
	if way.Family != "" && way.Family != probes.IPAny {
		c.wrong(at("ip_family"), "is for a host's addresses, and a unix socket has none", fix)
	}
}

// familyRules: what is dialled, and from where, is of one family.
func (c *checker) familyRules(s *probes.Spec, at func(string) place) {
	way := s.Way
	wanted, only := map[probes.IPChoice]bool{probes.IPv4Only: true, probes.IPv6Only: false}[way.Family]
	if way.Source.IsValid() && only && way.Source.Unmap().Is4() != wanted {
		c.wrong(at("source_address"), way.Source.String()+" is "+familyOf(way.Source)+", and ip_family is "+string(way.Family), "want both of one family")
	}
	if s.URL == nil || way.Socket != "" {
		return
	}
	if _, err := netip.ParseAddr(s.URL.Hostname()); err == nil && way.Addresses == probes.AddressesAll {
		c.warn(at("addresses"), "the url's host is an address: it has no others", "leave it out, or call the host by its name")
	}
	dialled, what := s.URL, "the url's host"
	if way.Proxy.URL != nil { // the other address is the proxy's to dial
		dialled, what = way.Proxy.URL, "the proxy's host"
	}
	host, err := netip.ParseAddr(dialled.Hostname())
	if err != nil {
		return
	}
	if only && host.Unmap().Is4() != wanted {
		c.wrong(at("ip_family"), "is "+string(way.Family)+", and "+what+" is an "+familyOf(host)+" address", "leave it out")
	}
	if way.Source.IsValid() && way.Source.Unmap().Is4() != host.Unmap().Is4() {
		c.wrong(at("source_address"), way.Source.String()+" is "+familyOf(way.Source)+", and "+what+" is an "+familyOf(host)+" address", "want both of one family")
	}
}

// protocolRules: h2 is spoken over TLS, and h2c is not. gRPC of a level above is what
// the url's scheme says.
func (c *checker) protocolRules(s *probes.Spec, p probeSettings) {
	if s.URL == nil || s.GRPC != nil && !c.has(p.Place, "protocol") {
		return
	}
	at := c.nearest(p.Place, "protocol")
	switch {
	case s.Protocol == probes.ProtocolH2 && s.URL.Scheme == "http":
		c.wrong(at, "h2 is spoken over TLS, and the url of "+s.ID()+" begins with http", "want h2c, or an https url")
	case s.Protocol == probes.ProtocolH2C && s.URL.Scheme == "https":
		c.wrong(at, "h2c is spoken without TLS, and the url of "+s.ID()+" begins with https", "want h2, or an http url")
	}
}

func familyOf(a netip.Addr) string {
	if a.Unmap().Is4() {
		return "IPv4"
	}
	return "IPv6"
}

// obeyWay refuses a way that the policy does not allow, as far as the config tells:
// what the environment says is refused when it is dialled.
func (c *checker) obeyWay(s probes.Spec, at place) {
	p := c.options.Policy
	if s.Way.Socket != "" {
		c.allowed(c.at(at, "unix_socket"), p.Socket(s.Way.Socket))
		return
	}
	f, err := s.Forward(nil)
	if err != nil || f == nil {
		return // told where it is written
	}
	c.allowed(c.at(at, "proxy"), p.Host(f.Host))
	if a, err := netip.ParseAddr(f.Host); err == nil {
		c.allowed(c.at(at, "proxy"), p.Address(a))
	}
	if s.URL != nil && f.Resolves() {
		if _, err := netip.ParseAddr(s.URL.Hostname()); err != nil {
			c.allowed(c.at(at, "proxy"), p.Unseen(s.URL.Hostname()))
		}
	}
}

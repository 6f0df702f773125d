package probes

import (
	"net/netip"
	"net/url"
)

// Way is how connections reach a target. The zero value is straight to one
// address of the URL's host, as the resolver orders them.
type Way struct {
	Proxy     Proxy
	Addresses Addresses
	Family    IPChoice
	Source    netip.Addr // the local address; zero: the system's choice
	Socket    string     // path of a unix socket that is dialled in place of the host; empty: none
}

// Proxy is the forward proxy on a route. The zero value is none.
type Proxy struct {
	Environment bool     // HTTPS_PROXY, HTTP_PROXY and NO_PROXY decide, as most clients read them
	URL         *url.URL // http, https: CONNECT (plain http targets too); socks5, socks5h; nil: none
	Credentials Source   // "user:password"; zero: none
}

// Addresses says which of a host's addresses are probed.
type Addresses string

// The choices. The zero value is one.
const (
	AddressesOne Addresses = "one" // the first that answers
	AddressesAll Addresses = "all" // each one, with a step of its own
)

// IPChoice says which addresses of a host are dialled, and in which order.
type IPChoice string

// The choices. The zero value is any.
const (
	IPAny     IPChoice = "any" // in the resolver's order
	IPv4Only  IPChoice = "ipv4"
	IPv6Only  IPChoice = "ipv6"
	IPv4First IPChoice = "prefer_ipv4"
	IPv6First IPChoice = "prefer_ipv6"
)

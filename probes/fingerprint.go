package probes

import (
	"encoding/json"
	"fmt"
	"math"
	"net/netip"
	"slices"
	"time"
)

// FingerprintFormat numbers the form of the document that a Fingerprint is
// written as. Another one is not read: a field of another meaning would compare
// as equal, or as different, and be neither.
const FingerprintFormat = 1

// Fingerprint is what can be seen of the path to each target from where perch
// runs. It is written as JSON as it stands (docs/json.md). What is unknown is
// absent. It holds no secret: no user, path or query of a URL, no header.
type Fingerprint struct {
	Format  int         `json:"fingerprint"`
	Version string      `json:"version"` // of perch
	Taken   time.Time   `json:"taken_at"`
	Place   Place       `json:"place"`
	Network Network     `json:"network"`
	Paths   []PathPrint `json:"paths"` // in the order of the config
}

// Place is where a fingerprint was taken.
type Place struct {
	Node           string `json:"node,omitempty"`
	Zone           string `json:"zone,omitempty"`
	Namespace      string `json:"namespace,omitempty"`
	Host           string `json:"host,omitempty"` // in a Pod its name, with hostNetwork the node's
	Vantage        string `json:"vantage,omitempty"`
	DebugContainer bool   `json:"debug_container,omitempty"` // beside the application: its network, not its environment
}

// Network is what all paths from a place share.
type Network struct {
	Resolver *Resolver  `json:"resolver,omitempty"`      // nil: unknown
	Proxy    *ProxyEnv  `json:"proxy,omitempty"`         // nil: unknown, for the environment is not the application's
	Sidecar  string     `json:"sidecar,omitempty"`       // how a mesh's was found; empty: no port of one takes connections
	Routes   []Route    `json:"default_routes,omitzero"` // nil: unknown, or none
	Links    []Attached `json:"interfaces,omitzero"`     // without loopback; nil: unknown
}

// Attached is a network interface and what it is attached to.
type Attached struct {
	Name     string         `json:"name"`
	MTU      int            `json:"mtu,omitzero"`
	Prefixes []netip.Prefix `json:"addresses"` // each with its network's length
}

// PathPrint is what was seen of the path to one target.
type PathPrint struct {
	Target      string            `json:"target,omitempty"` // the config's name of it
	Scheme      string            `json:"scheme"`
	Host        string            `json:"host"`
	Port        string            `json:"port"`
	Via         Via               `json:"declared_via,omitempty"`   // what the config declares; empty: nothing
	Proxy       string            `json:"proxy,omitempty"`          // that the environment names for this URL; perch does not use it
	Ways        []string          `json:"probes_go_by,omitzero"`    // how the config has its probes connect, which the print does not; nil: as it does, or by Proxy
	Canonical   string            `json:"canonical_name,omitempty"` // where the name leads; empty: it is its own, or not known
	Addresses   []netip.Addr      `json:"addresses"`                // sorted
	Problem     string            `json:"problem,omitempty"`        // why nothing more is known
	Connections []ConnectionPrint `json:"connections"`              // one an address, in the order in which they are tried
}

// ConnectionPrint is what the connections to one address showed.
type ConnectionPrint struct {
	Address   netip.Addr   `json:"address"`
	Problem   string       `json:"problem,omitempty"` // why none could be opened, or not all of it
	Untried   bool         `json:"untried,omitempty"` // there was no time for it within the budget
	Source    netip.Addr   `json:"source,omitzero"`
	Subnet    netip.Prefix `json:"source_subnet,omitzero"`
	Interface string       `json:"interface,omitempty"`
	Connect   Measured     `json:"connect,omitzero"`           // TCP, as a program sees it
	RTT       Seconds      `json:"tcp_rtt_seconds,omitzero"`   // the smallest that the kernel measured
	Hello     Seconds      `json:"tls_hello_seconds,omitzero"` // the quickest that the TLS peer was heard
	Handshake Measured     `json:"tls_handshake,omitzero"`
	TCPEnds   TCPEnds      `json:"tcp_ends,omitempty"`
	MSS       int          `json:"tcp_mss,omitzero"`  // bytes of a segment
	MTU       int          `json:"path_mtu,omitzero"` // as far as this kernel knows
	TLS       *TLSPrint    `json:"tls,omitempty"`     // nil: plain, or no handshake
}

// Reached reports whether a connection stood, under TLS with its handshake.
func (c ConnectionPrint) Reached() bool { return c.Problem == "" && c.Connect.Times > 0 }

// TLSPrint is what a handshake showed.
type TLSPrint struct {
	Version      string    `json:"version"` // 1.2 or 1.3
	ALPN         string    `json:"alpn,omitempty"`
	Issuer       string    `json:"issuer"`
	Authority    string    `json:"issuer_organization,omitempty"` // or the common name, where there is none
	Subject      string    `json:"subject,omitempty"`
	NamesSHA256  string    `json:"names_sha256"` // of all names that it is for, sorted, a line each
	SHA256       string    `json:"sha256"`       // of the certificate
	NotAfter     time.Time `json:"not_after"`
	TrustedBy    string    `json:"trusted_by,omitempty"`  // "system" or "ca_file"; empty: it is not
	NotTrusted   string    `json:"not_trusted,omitempty"` // why
	Certificates int       `json:"certificates"`          // that were sent
}

// Measured is a time that was measured more than once.
type Measured struct {
	Times  int     `json:"times"`
	Least  Seconds `json:"least_seconds"`
	Median Seconds `json:"median_seconds"`
}

// measured sums up times; none is the zero value.
func measured(all []time.Duration) Measured {
	if len(all) == 0 {
		return Measured{}
	}
	sorted := slices.Sorted(slices.Values(all))
	return Measured{len(sorted), Seconds(sorted[0]), Seconds(sorted[len(sorted)/2])}
}

// Seconds is a duration that JSON has as a number of seconds, to the
// microsecond.
type Seconds time.Duration

// MarshalJSON writes the number of seconds.
func (s Seconds) MarshalJSON() ([]byte, error) {
	return json.Marshal(time.Duration(s).Round(time.Microsecond).Seconds())
}

// longestTrip bounds what is read as a time of a fingerprint.
const longestTrip = 24 * time.Hour

// UnmarshalJSON reads a number of seconds, from 0 to a day.
func (s *Seconds) UnmarshalJSON(text []byte) error {
	var f float64
	if err := json.Unmarshal(text, &f); err != nil {
		return err
	}
	if math.IsNaN(f) || f < 0 || f > longestTrip.Seconds() {
		return fmt.Errorf("%v seconds: want 0 to %v", f, longestTrip.Seconds())
	}
	*s = Seconds(math.Round(f*1e6)) * Seconds(time.Microsecond)
	return nil
}

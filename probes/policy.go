package probes

import (
	"cmp"
	"fmt"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"time"
)

// Policy is what a platform team allows, whatever a config says. Each rule that
// is left out (its zero value) allows everything, but Methods. A nil Policy
// allows all that perch can do. config.LoadPolicy makes one.
//
// Its methods are asked at the last point before bytes leave; what they refuse
// is a *Denied, which is no failure of the target.
type Policy struct {
	File  string         // its path, for messages
	Lines map[string]int // of each rule by its key

	Hosts          []string       // names in lower case without a last dot, "*.example" or addresses
	Networks       []netip.Prefix // addresses have to be in one of them
	DeniedNetworks []netip.Prefix // and in none of these
	Methods        []string       // empty: GET, HEAD and OPTIONS
	MaxShare       float64        // of a target's rate limit
	MaxRate        float64        // of a target, requests/s
	MaxDailyLimit  int
	MaxConnections int
	MinEvery       time.Duration
	MaxHold        time.Duration
	Fleet          []HostLimit
}

// HostLimit is what all configs of a fleet may ask of one host together. Zero
// values are no limit.
type HostLimit struct {
	Host           string  // as CanonicalHost writes it
	Line           int     // in the policy's file
	RateLimit      float64 // what the host allows everybody, requests/s: no config may declare more
	Share          float64 // of RateLimit
	DailyLimit     int
	MaxConnections int
}

// At is where a rule stands, for messages: "/etc/perch/policy/policy.yaml:7: max_share".
// One that is not written has no line.
func (p *Policy) At(rule string) string {
	line, written := p.Lines[rule]
	if !written {
		return p.File + ": " + rule
	}
	return fmt.Sprintf("%s:%d: %s", p.File, line, rule)
}

// deny says that a rule is broken.
func (p *Policy) deny(rule, format string, args ...any) error {
	return &Denied{Why: fmt.Sprintf("the policy does not allow "+format, args...) + " (" + p.At(rule) + ")"}
}

// CanonicalHost writes a URL's host name or address in the one way in which hosts
// are compared: in lower case, without the last dot of a whole name, an IPv4
// address in IPv6's clothes as the IPv4 address that it is.
func CanonicalHost(name string) string {
	name = strings.TrimSuffix(strings.ToLower(strings.TrimSpace(name)), ".")
	if a, err := netip.ParseAddr(strings.Trim(name, "[]")); err == nil {
		return a.Unmap().WithZone("").String()
	}
	return name
}

// Host refuses a host before its name is resolved. What is an address by itself is
// also asked of Address, when it is dialled.
func (p *Policy) Host(name string) error {
	if p == nil || len(p.Hosts) == 0 {
		return nil
	}
	host := CanonicalHost(name)
	if slices.ContainsFunc(p.Hosts, func(pattern string) bool { return matchesHost(pattern, host) }) {
		return nil
	}
	return p.deny("hosts", "the host %q", host)
}

// matchesHost: "*." stands for one label or more, so that a partner's subdomains
// can be named together; the bare domain is a name of its own.
func matchesHost(pattern, host string) bool {
	if ending, wild := strings.CutPrefix(pattern, "*"); wild {
		return len(host) > len(ending) && strings.HasSuffix(host, ending)
	}
	return pattern == host
}

// Address refuses an address right before it is dialled, wherever it came from: a
// name's record, or the URL itself.
func (p *Policy) Address(a netip.Addr) error {
	if p == nil {
		return nil
	}
	a = a.Unmap().WithZone("")
	to, what := dialledAs(a), a.String()
	if to != a {
		what += ", which is dialled as " + to.String()
	}
	if slices.ContainsFunc([]netip.Addr{a, to, behindNAT64(a)}, func(a netip.Addr) bool { return in(p.DeniedNetworks, a) }) {
		return p.deny("denied_networks", "the address %s", what)
	}
	if len(p.Networks) > 0 && !in(p.Networks, to) {
		return p.deny("networks", "the address %s", what)
	}
	return nil
}

// dialledAs is where a dial to an address arrives: systems take the unspecified
// address of a family for its loopback.
func dialledAs(a netip.Addr) netip.Addr {
	switch a {
	case netip.IPv4Unspecified():
		return netip.AddrFrom4([4]byte{127, 0, 0, 1})
	case netip.IPv6Unspecified():
		return netip.IPv6Loopback()
	}
	return a
}

func in(networks []netip.Prefix, a netip.Addr) bool {
	return slices.ContainsFunc(networks, func(n netip.Prefix) bool { return n.Contains(a) })
}

// behindNAT64 is the IPv4 address that a translator's well-known prefix
// (64:ff9b::/96, RFC 6052) leads to; the zero address where there is none.
func behindNAT64(a netip.Addr) netip.Addr {
	b := a.As16()
	if !a.Is6() || !netip.MustParsePrefix("64:ff9b::/96").Contains(a) {
		return netip.Addr{}
	}
	return netip.AddrFrom4([4]byte(b[12:]))
}

// Method refuses a request by its method.
func (p *Policy) Method(method string) error {
	if p == nil {
		return nil
	}
	method = cmp.Or(method, http.MethodGet)
	if slices.Contains(p.methods(), method) {
		return nil
	}
	return p.deny("methods", "the method %s", method)
}

func (p *Policy) methods() []string {
	if len(p.Methods) > 0 {
		return p.Methods
	}
	return []string{http.MethodGet, http.MethodHead, http.MethodOptions}
}

// Hold refuses a hold before its connection is opened.
func (p *Policy) Hold(d time.Duration) error {
	if p == nil || p.MaxHold == 0 || d <= p.MaxHold {
		return nil
	}
	return p.deny("max_hold", "a hold of %s, %s at most", Spoken(d), Spoken(p.MaxHold))
}

// Limits is the target with no larger budget than the policy allows: what the
// runner's gate holds it to, whatever the plan booked.
func (p *Policy) Limits(t Target) Target {
	if p == nil {
		return t
	}
	if host := p.HostLimit(t); host != nil && host.RateLimit > 0 {
		t.RateLimit = min(t.RateLimit, Rate(host.RateLimit))
	}
	if p.MaxShare > 0 {
		t.Share = min(t.Share, p.MaxShare)
	}
	if p.MaxRate > 0 && t.Budget() > p.MaxRate {
		t.Share = p.MaxRate / float64(t.RateLimit)
	}
	if p.MaxDailyLimit > 0 {
		t.DailyLimit = min(t.DailyLimit, p.MaxDailyLimit)
	}
	if p.MaxConnections > 0 {
		t.MaxConnections = min(t.MaxConnections, p.MaxConnections)
	}
	return t
}

// AtHost is where the limit of a host stands, for messages.
func (p *Policy) AtHost(l HostLimit) string {
	return fmt.Sprintf("%s:%d: fleet, %s", p.File, l.Line, l.Host)
}

// HostLimit is the fleet's limit of a target's host; nil: none.
func (p *Policy) HostLimit(t Target) *HostLimit {
	if p == nil || t.URL == nil {
		return nil
	}
	host := CanonicalHost(t.URL.Hostname())
	for i := range p.Fleet {
		if p.Fleet[i].Host == host {
			return &p.Fleet[i]
		}
	}
	return nil
}

// allowed asks the policy about the host that is dialled, and the name that is
// asked for in the handshake.
func (c *call) allowed() error {
	if err := c.env.Policy.Host(c.url.Hostname()); err != nil {
		return err
	}
	if name := c.spec.TLS.ServerName; name != "" {
		return c.env.Policy.Host(name)
	}
	return nil
}

// allowedTo asks the policy about one request, right before its first byte.
func (c *call) allowedTo(r *http.Request) error {
	if c.spec.GRPC == nil { // its POST is the protocol's
		if err := c.env.Policy.Method(r.Method); err != nil {
			return err
		}
	}
	return c.env.Policy.Host(r.URL.Hostname())
}

package config

import (
	"fmt"
	"net/netip"
	"strings"
	"time"

	"perch.example/probes"
)

// policyTable is a policy's whole file, for the same strict walk as a config's.
func policyTable() value {
	return mappingOf(
		field{key: "version", doc: "Format of this file.", value: version(), required: true},
		field{key: "hosts", doc: "The hosts that may be called; *.example stands for all below example. Left out: any.", value: listOf(hostPattern(), 1, 10_000)},
		field{key: "networks", doc: "What the addresses have to be in that are dialled. Left out: any.", value: listOf(network(), 1, 10_000)},
		field{key: "denied_networks", doc: "What no address may be in that is dialled.", value: listOf(network(), 1, 10_000)},
		field{key: "methods", doc: "The methods that may be sent. POST: those that a config declares read_only. gRPC's own is not meant. Left out: GET, HEAD and OPTIONS.", value: listOf(policyMethod(), 1, 4)},
		field{key: "max_share", doc: "The largest share of a rate_limit, of all targets at a host together.", value: percent()},
		field{key: "max_rate", doc: "The largest budget (rate_limit x share), of all targets at a host together.", value: rate()},
		field{key: "max_daily_limit", doc: "The largest daily_limit, of all targets at a host together.", value: count(1, 100_000_000)},
		field{key: "max_connections", doc: "The largest max_connections, of all targets at a host together.", value: count(1, 10_000)},
		field{key: "min_every", doc: "The smallest every; also for every: always and --all, by the state.", value: duration(time.Second, 168*time.Hour)},
		field{key: "max_hold", doc: "The longest hold.", value: duration(10*time.Millisecond, 24*time.Hour)},
		field{key: "fleet", doc: "What all configs together may ask of a host; perch plan sums up those that it is given.", value: listOf(hostLimit(), 1, 10_000)},
	).withRules(policyRules).like("version and rules")
}

func hostLimit() value {
	return mappingOf(
		field{key: "host", doc: "The host, as a name or an address; all its ports.", value: fleetHost(), required: true},
		field{key: "rate_limit", doc: "What the host allows everybody; no config may declare more.", value: rate()},
		field{key: "share", doc: "How much of rate_limit the budgets of all configs may be.", value: percent()},
		field{key: "daily_limit", doc: "How many requests a day all configs may plan.", value: count(1, 100_000_000)},
		field{key: "max_connections", doc: "How many connections all configs may hold open at once.", value: count(1, 100_000)},
	).withRules(hostLimitRules).withSchema(map[string]any{
		"minProperties": 2, "dependentRequired": map[string]any{"share": []string{"rate_limit"}},
	}).like("{host: ..., rate_limit: 20/s, share: 10%}")
}

// policyRules: a policy without a rule is a mistake, and so is a host with two
// limits.
func policyRules(c *checker, at place, m map[string]any) {
	ruled := false
	for _, key := range c.root.keys() {
		ruled = ruled || key != "version" && c.has(at, key)
	}
	if !ruled && len(c.mistakes) == 0 {
		c.wrong(at, "sets no rule", "want at least one of "+strings.Join(c.root.keys()[1:], ", "))
	}
	first := map[string]place{}
	for _, one := range listed[map[string]any](m, "fleet") {
		here, _ := one[positionKey].(place)
		host := of[string](one, "host")
		if earlier, twice := first[host]; twice && host != "" {
			c.wrong(c.at(here, "host"), fmt.Sprintf("%s has a limit already in line %d", host, earlier.line), "keep one")
			continue
		}
		first[host] = here
	}
}

// hostLimitRules: a share is of something.
func hostLimitRules(c *checker, at place, _ map[string]any) {
	if c.has(at, "share") && !c.has(at, "rate_limit") {
		c.wrong(c.at(at, "share"), "is of nothing", "write rate_limit: what the host allows everybody")
	}
	if c.has(at, "rate_limit") || c.has(at, "daily_limit") || c.has(at, "max_connections") {
		return
	}
	c.wrong(at, "limits nothing", "want rate_limit and share, daily_limit or max_connections")
}

// policyMethod is one that perch sends.
func policyMethod() value {
	v := word("GET", "HEAD", "OPTIONS", "POST")
	return refusing(v, "cannot be allowed: perch only reads", "want GET, HEAD, OPTIONS or POST", "PUT", "PATCH", "DELETE", "CONNECT", "TRACE")
}

// What a schema can see of a host: a name without a port, or IPv6 with its colons.
const (
	namePattern    = `[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*\.?`
	addressPattern = `\[?[0-9A-Fa-f.]*:[0-9A-Fa-f.]*:[0-9A-Fa-f:.]*\]?`
)

// hostPattern is a host, or "*." and what all of its subdomains end in.
func hostPattern() value {
	const want = "a host such as api.example, *.example for all below it, or an address"
	v := text(want)
	v.schema = map[string]any{"type": "string", "pattern": `^((\*\.)?` + namePattern + `|` + addressPattern + `)$`}
	v.parse = func(s string) (any, *trouble) {
		name, wild := strings.CutPrefix(s, "*.")
		host, t := goodHost(name, want)
		switch {
		case t != nil:
			return nil, t
		case wild && addressLike(host):
			return nil, &trouble{"has a * before an address", "write the addresses under networks: 10.0.0.0/8"}
		case wild:
			return "*." + host, nil
		}
		return host, nil
	}
	return v
}

func fleetHost() value {
	const want = "a host such as api.example, or an address"
	v := text(want)
	v.schema = map[string]any{"type": "string", "pattern": `^(` + namePattern + `|` + addressPattern + `)$`}
	v.parse = func(s string) (any, *trouble) {
		host, t := goodHost(s, want)
		if t != nil {
			return nil, t
		}
		return host, nil
	}
	return v
}

// goodHost is a host in the way in which hosts are compared.
func goodHost(s, want string) (string, *trouble) {
	host := probes.CanonicalHost(s)
	switch {
	case strings.Contains(s, "/"):
		return "", &trouble{"is no host", "want " + want + ", without http:// and a path"}
	case addressLike(host):
		return host, nil
	case strings.Contains(s, ":"):
		return "", &trouble{"has a port", "want " + want + "; all its ports are meant"}
	case strings.Contains(s, "*"):
		return "", &trouble{"has a * that stands for no whole beginning", "want " + want}
	case host == "" || len(host) > 253 || strings.IndexFunc(host, func(r rune) bool { return !hostRune(r) }) >= 0,
		strings.HasPrefix(host, ".") || strings.HasSuffix(host, ".") || strings.Contains(host, ".."):
		return "", &trouble{"", want + "; write other alphabets in punycode (xn--)"}
	}
	return host, nil
}

func addressLike(s string) bool {
	_, err := netip.ParseAddr(s)
	return err == nil
}

// network is a CIDR, or one address.
func network() value {
	const want = "a network such as 203.0.113.0/24 or 2001:db8::/32, or an address"
	v := text(want)
	v.schema = map[string]any{"type": "string", "pattern": `^[0-9A-Fa-f:.]+(/[0-9]{1,3})?$`}
	v.parse = func(s string) (any, *trouble) {
		if a, err := netip.ParseAddr(s); err == nil && a.Zone() == "" {
			a = a.Unmap()
			return netip.PrefixFrom(a, a.BitLen()), nil
		}
		p, err := netip.ParsePrefix(s)
		switch {
		case err != nil:
			return nil, &trouble{"", want}
		case p.Addr().Is4In6():
			return nil, &trouble{"is IPv4 in IPv6's clothes", "write it as IPv4: such an address is compared as one"}
		case p.Masked() != p:
			return nil, &trouble{"is an address within a network", "want " + p.Masked().String() + ", or the address alone"}
		}
		return p, nil
	}
	return v
}

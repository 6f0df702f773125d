package report

import (
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"perch.example/probes"
)

// aged is how long apart two fingerprints may be taken: names, certificates and
// routes change meanwhile.
const aged = time.Hour

// places compares where the two were taken.
func (c *comparing) places() {
	a, b := c.a.Place, c.b.Place
	c.equal(PartZone, a.Zone, b.Zone)
	c.equal(PartNamespace, a.Namespace, b.Namespace)
	switch {
	case a.Node == "" || b.Node == "":
		c.add(PartNode, Unknown, a.Node, b.Node, "")
	case a.Node == b.Node:
		c.add(PartNode, Same, a.Node, b.Node, "")
	default:
		c.add(PartNode, Noted, a.Node, b.Node, "replicas of one application differ in it as well; only a NAT or a policy of a node's own would matter")
	}
	if a.Host != "" && a.Host == b.Host {
		c.add(PartPlace, Noted, a.Host, b.Host, "both were taken in the same pod, or on the same machine: that they agree proves little")
	}
	if apart := c.a.Taken.Sub(c.b.Taken).Abs(); apart > aged {
		c.add(PartAge, Noted, c.a.Taken.UTC().Format(time.RFC3339), c.b.Taken.UTC().Format(time.RFC3339), "they were taken "+age(apart.Round(time.Minute))+" apart: names, certificates and routes may have changed between them")
	}
}

// networks compares what all targets share.
func (c *comparing) networks() {
	a, b := c.a.Network, c.b.Network
	if a.Resolver == nil || b.Resolver == nil {
		c.add(PartServers, Unknown, resolverWords(a.Resolver), resolverWords(b.Resolver), "")
	} else {
		c.lists(PartServers, Different, a.Resolver.Servers, b.Resolver.Servers)
		c.lists(PartSearch, Different, a.Resolver.Search, b.Resolver.Search)
		c.equal(PartDots, strconv.Itoa(a.Resolver.Dots), strconv.Itoa(b.Resolver.Dots))
		c.lists(PartOptions, Noted, a.Resolver.Options, b.Resolver.Options)
	}
	how := Same
	if (a.Sidecar == "") != (b.Sidecar == "") {
		how = Different
	}
	c.add(PartSidecar, how, orNone(a.Sidecar), orNone(b.Sidecar), "")
}

func resolverWords(r *probes.Resolver) string {
	if r == nil {
		return ""
	}
	return strings.Join(r.Servers, ", ")
}

// lists compares two lists in which the order counts; otherwise is how they
// compare when they are not equal.
func (c *comparing) lists(part Part, otherwise Agreement, a, b []string) {
	how := Same
	if !slices.Equal(a, b) {
		how = otherwise
	}
	c.add(part, how, orNone(strings.Join(a, ", ")), orNone(strings.Join(b, ", ")), "")
}

func orNone(s string) string {
	if s == "" {
		return "none"
	}
	return s
}

// path compares the two paths to one target.
func (c *comparing) path(a, b probes.PathPrint) {
	c.matched++
	c.target = named(a)
	c.proxies(a, b)
	c.addresses(a, b)
	stoodA, stoodB := stood(a), stood(b)
	if !c.reached(a, b, stoodA, stoodB) {
		return
	}
	c.sources(stoodA, stoodB)
	c.equal(PartTCPEnds, ends(stoodA), ends(stoodB))
	c.trips(stoodA, stoodB)
	c.segments(stoodA, stoodB)
	if a.Scheme == "https" {
		c.certificates(stoodA, stoodB)
	}
}

// stood are the addresses to which a connection stood.
func stood(p probes.PathPrint) (all []probes.ConnectionPrint) {
	for _, k := range p.Connections {
		if k.Reached() {
			all = append(all, k)
		}
	}
	return all
}

// proxies compares what the environment names for the target.
func (c *comparing) proxies(a, b probes.PathPrint) {
	if c.a.Network.Proxy == nil || c.b.Network.Proxy == nil {
		value := func(f probes.Fingerprint, p probes.PathPrint) string {
			if f.Network.Proxy == nil {
				return ""
			}
			return orNone(p.Proxy)
		}
		c.add(PartProxy, Unknown, value(c.a, a), value(c.b, b), "a debug container does not have the application's environment: look whether that sets HTTPS_PROXY, HTTP_PROXY or NO_PROXY")
		return
	}
	switch {
	case a.Proxy != b.Proxy:
		c.add(PartProxy, Different, orNone(a.Proxy), orNone(b.Proxy), "")
	case a.Proxy != "":
		c.add(PartProxy, Noted, a.Proxy, b.Proxy, "both environments name it: probes go through it (see `proxy`), and their connections end there; these prints were made without it")
	default:
		c.add(PartProxy, Same, "none", "none", "")
	}
}

// neitherReached is why two paths cannot be compared at all.
const neitherReached = "neither side reached it, so nothing of either path could be seen: mend that first, then take both again"

// reached compares whether a connection stood, and where it did not although
// both tried; false: there is nothing more to compare.
func (c *comparing) reached(a, b probes.PathPrint, stoodA, stoodB []probes.ConnectionPrint) bool {
	if len(stoodA) == 0 || len(stoodB) == 0 {
		why := ""
		if len(stoodA) == len(stoodB) {
			why = neitherReached
		}
		c.add(PartReached, Different, reachWords(a, stoodA), reachWords(b, stoodB), why)
		return false
	}
	for _, k := range a.Connections {
		i := slices.IndexFunc(b.Connections, func(o probes.ConnectionPrint) bool { return o.Address == k.Address })
		if i < 0 {
			continue
		}
		if o := b.Connections[i]; k.Reached() != o.Reached() && !k.Untried && !o.Untried {
			c.add(PartReached, Different, addressWords(k), addressWords(o), "one address is reached from one side alone")
			return true
		}
	}
	c.add(PartReached, Same, reachWords(a, stoodA), reachWords(b, stoodB), "")
	return true
}

func addressWords(k probes.ConnectionPrint) string {
	if k.Reached() {
		return k.Address.String() + " reached"
	}
	return k.Address.String() + ": " + k.Problem
}

func reachWords(p probes.PathPrint, stood []probes.ConnectionPrint) string {
	switch {
	case len(stood) > 0:
		return "reached"
	case p.Problem != "":
		return "not reached: " + p.Problem
	case len(p.Connections) > 0:
		return "not reached: " + p.Connections[0].Problem
	}
	return "not reached"
}

// oneBlock reports whether two addresses are in the same large block: /16, of IPv6
// /32. Providers answer a name with other addresses from one moment to the next,
// and take them from a block like that.
func oneBlock(a, b netip.Addr) bool {
	const block4, block6 = 16, 32
	bits := block4
	if a.Is6() {
		bits = block6
	}
	p, err := a.Prefix(bits)
	return err == nil && p.Contains(b)
}

// addresses compares what the name led to.
func (c *comparing) addresses(a, b probes.PathPrint) {
	left, right := addressList(a.Addresses), addressList(b.Addresses)
	common := slices.ContainsFunc(a.Addresses, func(x netip.Addr) bool { return slices.Contains(b.Addresses, x) })
	near := slices.ContainsFunc(a.Addresses, func(x netip.Addr) bool {
		return slices.ContainsFunc(b.Addresses, func(y netip.Addr) bool { return oneBlock(x, y) })
	})
	switch {
	case len(a.Addresses) == 0 || len(b.Addresses) == 0:
		c.add(PartAddresses, Unknown, left, right, "")
	case slices.Equal(a.Addresses, b.Addresses):
		c.add(PartAddresses, Same, left, right, "")
	case common:
		c.add(PartAddresses, Same, left, right, "not all are in both, as when a name's addresses take turns")
	case near:
		c.add(PartAddresses, Noted, left, right, "no address is in both, but they are of one block: a name's addresses take turns. Take both again, close together, to be sure")
	default:
		c.add(PartAddresses, Different, left, right, "")
	}
}

func addressList(all []netip.Addr) string {
	var out []string
	for _, a := range all {
		out = append(out, a.String())
	}
	return strings.Join(few(out), ", ")
}

package report

import (
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"perch.example/probes"
)

const (
	// further and the two floors say when a round trip is another's: more than
	// twice as long, and by more than nodes and zones of one region differ
	// (within a millisecond, and two). TCP's is the kernel's answer; what TLS
	// takes holds a signature, 1 to 4 ms of a busy server's, so it has more room.
	further    = 2
	floorTCP   = 5 * time.Millisecond
	floorHello = 10 * time.Millisecond
)

// sources compares what the connections leave through.
func (c *comparing) sources(a, b []probes.ConnectionPrint) {
	c.sets(PartFamilies, families(a), families(b))
	for i, family := range []probes.IPFamily{probes.IPv4, probes.IPv6} {
		x, okX := firstOf(a, family)
		y, okY := firstOf(b, family)
		if !okX || !okY {
			continue
		}
		left, right := sourceWords(x), sourceWords(y)
		switch {
		case x.Source == y.Source:
			c.add(PartSource, Same, left, right, "")
		case class(x.Source) != class(y.Source):
			c.add(PartSource, Different, left, right, "")
		case x.Subnet.IsValid() && !x.Subnet.IsSingleIP() && x.Subnet == y.Subnet:
			c.add(PartSource, Same, left, right, "each pod has its own, in one network")
		default:
			c.add(PartSource, Noted, left, right, "each pod has its own, and most clusters give each node a network of pods; a firewall or a NAT that goes by them can tell the two apart")
		}
		if i == 0 || !slices.ContainsFunc(c.out.Parts, func(p Compared) bool { return p.Part == PartInterface && p.Target == c.target }) {
			c.equal(PartInterface, interfaceWords(c.a.Network, x), interfaceWords(c.b.Network, y))
		}
	}
}

func firstOf(all []probes.ConnectionPrint, f probes.IPFamily) (probes.ConnectionPrint, bool) {
	i := slices.IndexFunc(all, func(k probes.ConnectionPrint) bool {
		return k.Source.IsValid() && probes.FamilyOf(k.Source) == f
	})
	if i < 0 {
		return probes.ConnectionPrint{}, false
	}
	return all[i], true
}

func sourceWords(k probes.ConnectionPrint) string {
	if k.Subnet.IsValid() && !k.Subnet.IsSingleIP() {
		return k.Source.String() + " of " + k.Subnet.String()
	}
	return k.Source.String()
}

// interfaceWords is the interface and its MTU; empty: unknown.
func interfaceWords(n probes.Network, k probes.ConnectionPrint) string {
	i := slices.IndexFunc(n.Links, func(l probes.Attached) bool { return l.Name == k.Interface })
	if i < 0 || n.Links[i].MTU == 0 {
		return k.Interface
	}
	return k.Interface + ", MTU " + strconv.Itoa(n.Links[i].MTU)
}

// class is the kind of network that an address is of. Pods and nodes of one
// cluster have addresses of one class, or the two are the point.
func class(a netip.Addr) string {
	for _, block := range []string{"10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "fc00::/7"} {
		if netip.MustParsePrefix(block).Contains(a) {
			return block
		}
	}
	switch {
	case a.IsLoopback():
		return "loopback"
	case a.IsLinkLocalUnicast():
		return "link-local"
	}
	return "public " + string(probes.FamilyOf(a))
}

func families(all []probes.ConnectionPrint) (set []string) {
	for _, k := range all {
		set = append(set, string(probes.FamilyOf(k.Address)))
	}
	return unique(set)
}

// ends is whose kernel answers: before the peer if any connection shows it.
func ends(all []probes.ConnectionPrint) string {
	peer := ""
	for _, k := range all {
		switch k.TCPEnds {
		case probes.TCPEndsBeforePeer:
			return "before the peer"
		case probes.TCPEndsPeer:
			peer = "at the peer"
		default: // unknown
		}
	}
	return peer
}

// pair returns the connections to the addresses that both have, else all: then
// one address may be nearer than another.
func pair(a, b []probes.ConnectionPrint) (x, y []probes.ConnectionPrint, common bool) {
	in := func(other []probes.ConnectionPrint) func(probes.ConnectionPrint) bool {
		return func(k probes.ConnectionPrint) bool {
			return !slices.ContainsFunc(other, func(o probes.ConnectionPrint) bool { return o.Address == k.Address })
		}
	}
	x = slices.DeleteFunc(slices.Clone(a), in(b))
	y = slices.DeleteFunc(slices.Clone(b), in(a))
	if len(x) == 0 {
		return a, b, false
	}
	return x, y, true
}

// trips compares the smallest round trips.
func (c *comparing) trips(a, b []probes.ConnectionPrint) {
	a, b, _ = pair(a, b)
	tcp := func(k probes.ConnectionPrint) probes.Seconds {
		if k.RTT > 0 {
			return k.RTT
		}
		return k.Connect.Least // without the kernel's: what a program sees
	}
	c.trip(PartConnect, least(a, tcp), least(b, tcp), floorTCP)
	hello := func(k probes.ConnectionPrint) probes.Seconds { return k.Hello }
	if x, y := least(a, hello), least(b, hello); x > 0 || y > 0 {
		c.trip(PartHello, x, y, floorHello)
	}
}

func (c *comparing) trip(part Part, a, b, floor time.Duration) {
	how := Same
	switch {
	case a == 0 || b == 0:
		how = Unknown
	case max(a, b) > further*min(a, b) && (a-b).Abs() > floor:
		how = Different
	}
	c.add(part, how, tripWords(a), tripWords(b), "")
}

func tripWords(d time.Duration) string {
	if d == 0 {
		return ""
	}
	return latency(d)
}

// least is the smallest of what is known; 0: nothing is.
func least(all []probes.ConnectionPrint, of func(probes.ConnectionPrint) probes.Seconds) time.Duration {
	var smallest time.Duration
	for _, k := range all {
		if d := time.Duration(of(k)); d > 0 && (smallest == 0 || d < smallest) {
			smallest = d
		}
	}
	return smallest
}

// segments compares the size of segments to an address that both have: another
// peer may ask for another.
func (c *comparing) segments(a, b []probes.ConnectionPrint) {
	a, b, common := pair(a, b)
	if !common {
		return
	}
	i := slices.IndexFunc(b, func(k probes.ConnectionPrint) bool { return k.Address == a[0].Address })
	words := func(k probes.ConnectionPrint) string {
		if k.MSS == 0 {
			return ""
		}
		return strconv.Itoa(k.MSS) + " bytes"
	}
	c.equal(PartMSS, words(a[0]), words(b[i]))
}

// sets compares two sorted sets.
func (c *comparing) sets(part Part, a, b []string) {
	c.equal(part, strings.Join(a, ", "), strings.Join(b, ", "))
}

func unique(all []string) []string {
	all = slices.DeleteFunc(all, func(s string) bool { return s == "" })
	slices.Sort(all)
	return slices.Compact(all)
}

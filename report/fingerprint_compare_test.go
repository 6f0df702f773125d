package report

import (
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"perch.example/probes"
)

func addresses(list ...string) func(*probes.Fingerprint) {
	return func(f *probes.Fingerprint) {
		like := f.Paths[0].Connections[0]
		f.Paths[0].Addresses, f.Paths[0].Connections = nil, nil
		for _, a := range list {
			like.Address = netip.MustParseAddr(a)
			f.Paths[0].Addresses = append(f.Paths[0].Addresses, like.Address)
			f.Paths[0].Connections = append(f.Paths[0].Connections, like)
		}
	}
}

func connections(change func(*probes.ConnectionPrint)) func(*probes.Fingerprint) {
	return func(f *probes.Fingerprint) { each(f, change) }
}

func rtt(d time.Duration) func(*probes.Fingerprint) {
	return connections(func(c *probes.ConnectionPrint) { c.RTT = probes.Seconds(d) })
}

func hello(d time.Duration) func(*probes.Fingerprint) {
	return connections(func(c *probes.ConnectionPrint) { c.Hello = probes.Seconds(d) })
}

func source(address, subnet string) func(*probes.Fingerprint) {
	return connections(func(c *probes.ConnectionPrint) {
		c.Source, c.Subnet = netip.MustParseAddr(address), netip.Prefix{}
		if subnet != "" {
			c.Subnet = netip.MustParsePrefix(subnet)
		}
	})
}

func leaf(change func(*probes.TLSPrint)) func(*probes.Fingerprint) {
	return connections(func(c *probes.ConnectionPrint) { change(c.TLS) })
}

func resolver(change func(*probes.Resolver)) func(*probes.Fingerprint) {
	return func(f *probes.Fingerprint) {
		own := *f.Network.Resolver
		f.Network.Resolver = &own
		change(f.Network.Resolver)
	}
}

// rule is one part of a comparison of two fingerprints that are alike but for a
// change to each.
type rule struct {
	name string
	part Part
	how  Agreement
	a, b func(*probes.Fingerprint)
}

func none(*probes.Fingerprint) {}

// unresolved is the one rule with which another part differs: nothing is reached.
const unresolved = "a name that cannot be resolved"

func placeRules() []rule {
	zone := func(z string) func(*probes.Fingerprint) { return func(f *probes.Fingerprint) { f.Place.Zone = z } }
	return []rule{
		{"one zone", PartZone, Same, none, none},
		{"two zones", PartZone, Different, none, zone("tokyo-1c")},
		{"a zone unknown", PartZone, Unknown, none, zone("")},
		{"both unknown", PartZone, Unknown, zone(""), zone("")},
		{"two namespaces", PartNamespace, Different, none, func(f *probes.Fingerprint) { f.Place.Namespace = "canary" }},
		{"two nodes", PartNode, Noted, none, func(f *probes.Fingerprint) { f.Place.Node = "node-b" }},
		{"a node unknown", PartNode, Unknown, none, func(f *probes.Fingerprint) { f.Place.Node = "" }},
		{"one host", PartPlace, Noted, none, none},
		{"two days", PartAge, Noted, none, func(f *probes.Fingerprint) { f.Taken = f.Taken.Add(48 * time.Hour) }},
	}
}

func networkRules() []rule {
	proxied := func(p string) func(*probes.Fingerprint) {
		return func(f *probes.Fingerprint) { f.Paths[0].Proxy = p }
	}
	return []rule{
		{"one resolver", PartServers, Same, none, none},
		{"two resolvers", PartServers, Different, none, resolver(func(r *probes.Resolver) { r.Servers = []string{"169.254.20.10"} })},
		{"a resolver unknown", PartServers, Unknown, none, func(f *probes.Fingerprint) { f.Network.Resolver = nil }},
		{"another search", PartSearch, Different, none, resolver(func(r *probes.Resolver) { r.Search = nil })},
		{"other dots", PartDots, Different, none, resolver(func(r *probes.Resolver) { r.Dots = 2 })},
		{"other options", PartOptions, Noted, none, resolver(func(r *probes.Resolver) { r.Options = []string{"edns0"} })},
		{"no sidecar", PartSidecar, Same, none, none},
		{"one sidecar", PartSidecar, Different, none, func(f *probes.Fingerprint) { f.Network.Sidecar = "by a port" }},
		{"no proxy", PartProxy, Same, none, none},
		{"one proxy", PartProxy, Different, none, proxied("http://p:1")},
		{"the same proxy, which perch does not use", PartProxy, Noted, proxied("http://p:1"), proxied("http://p:1")},
		{"a proxy unknown", PartProxy, Unknown, none, func(f *probes.Fingerprint) { f.Network.Proxy = nil }},
	}
}

func addressRules() []rule {
	return []rule{
		{"the same addresses", PartAddresses, Same, none, none},
		{"addresses that overlap", PartAddresses, Same, none, addresses("203.0.113.9", "198.51.100.1")},
		{"addresses that take turns in one block", PartAddresses, Noted, none, addresses("203.0.200.1")},
		{"addresses of other networks", PartAddresses, Different, none, addresses("10.0.0.1")},
		{"IPv6 of one block", PartAddresses, Noted, addresses("2001:db8:1::1"), addresses("2001:db8:2::1")},
		{"IPv6 of other networks", PartAddresses, Different, addresses("2001:db8:1::1"), addresses("2001:db9:2::1")},
		{unresolved, PartAddresses, Unknown, none, func(f *probes.Fingerprint) {
			f.Paths[0].Addresses, f.Paths[0].Connections, f.Paths[0].Problem = nil, nil, "no such host"
		}},
		{"another family", PartFamilies, Different, none, addresses("203.0.113.9", "2001:db8::1")},
		{"both reach it", PartReached, Same, none, none},
		{"one does not reach it", PartReached, Different, none, connections(func(c *probes.ConnectionPrint) { c.Problem = "refused" })},
		{"neither reaches it", PartReached, Different, connections(func(c *probes.ConnectionPrint) { c.Problem = "refused" }), connections(func(c *probes.ConnectionPrint) { c.Problem = "refused" })},
		{"one does not reach one address", PartReached, Different, none, func(f *probes.Fingerprint) { f.Paths[0].Connections[1].Problem = "refused" }},
		{"one had no time for one address", PartReached, Same, none, func(f *probes.Fingerprint) {
			c := &f.Paths[0].Connections[1]
			*c = probes.ConnectionPrint{Address: c.Address, Untried: true}
		}},
		{"one node's network of pods", PartSource, Same, none, source("10.244.1.99", "10.244.1.0/24")},
		{"another node's", PartSource, Noted, none, source("10.244.2.1", "10.244.2.0/24")},
		{"an address alone", PartSource, Noted, source("10.244.2.2", "10.244.2.2/32"), source("10.244.2.1", "10.244.2.1/32")},
		{"the host's network", PartSource, Different, none, source("192.168.1.1", "192.168.1.0/24")},
		{"a carrier's block", PartSource, Different, none, source("100.64.1.1", "")},
		{"a public source", PartSource, Different, none, source("203.0.113.77", "")},
		{"another interface", PartInterface, Different, none, connections(func(c *probes.ConnectionPrint) { c.Interface = "ens5" })},
		{"another MTU", PartInterface, Different, none, func(f *probes.Fingerprint) { f.Network.Links[0].MTU = 1400 }},
	}
}

func measuredRules() []rule {
	const ms = time.Millisecond
	ends := func(e probes.TCPEnds) func(*probes.Fingerprint) {
		return connections(func(c *probes.ConnectionPrint) { c.TCPEnds = e })
	}
	return []rule{
		{"TCP ends at the peer", PartTCPEnds, Same, none, none},
		{"TCP ends before the peer", PartTCPEnds, Different, none, ends(probes.TCPEndsBeforePeer)},
		{"where TCP ends is unknown", PartTCPEnds, Unknown, none, ends(probes.TCPEndsUnknown)},
		{"a millisecond more", PartConnect, Same, rtt(ms / 2), rtt(3 * ms / 2)},
		{"twice, on a long way", PartConnect, Same, rtt(60 * ms), rtt(115 * ms)},
		{"more than twice", PartConnect, Different, rtt(12 * ms), rtt(30 * ms)},
		{"nearly nothing", PartConnect, Different, rtt(12 * ms), rtt(ms / 5)},
		{"by the program's own clock", PartConnect, Same, rtt(0), none},
		{"a busy server", PartHello, Same, hello(2 * ms), hello(9 * ms)},
		{"a detour behind TCP's end", PartHello, Different, hello(9 * ms), hello(25 * ms)},
		{"a hello unknown", PartHello, Unknown, hello(0), none},
		{"other segments", PartMSS, Different, none, connections(func(c *probes.ConnectionPrint) { c.MSS = 1398 })},
		{"segments unknown", PartMSS, Unknown, none, connections(func(c *probes.ConnectionPrint) { c.MSS = 0 })},
		{"another TLS version", PartTLS, Different, none, leaf(func(l *probes.TLSPrint) { l.Version = "1.2" })},
		{"another authority", PartIssuer, Different, none, leaf(func(l *probes.TLSPrint) { l.Issuer, l.Authority = "CN=corp", "corp" })},
		{"another of one authority's", PartIssuer, Noted, none, leaf(func(l *probes.TLSPrint) { l.Issuer = "CN=R10,O=Public Trust,C=US" })},
		{"no certificate seen", PartIssuer, Unknown, none, connections(func(c *probes.ConnectionPrint) { c.TLS = nil })},
		{"a renewed certificate", PartLeaf, Noted, none, leaf(func(l *probes.TLSPrint) { l.SHA256 = "x" })},
		{"one of several certificates", PartLeaf, Same, none, func(f *probes.Fingerprint) {
			each(f, func(*probes.ConnectionPrint) {})
			f.Paths[0].Connections[0].TLS.SHA256 = "x"
		}},
		{"a certificate for others", PartLeaf, Different, none, leaf(func(l *probes.TLSPrint) { l.SHA256, l.NamesSHA256 = "x", "y" })},
		{"other roots", PartTrust, Noted, none, leaf(func(l *probes.TLSPrint) { l.TrustedBy, l.NotTrusted = "", "unknown authority" })},
	}
}

// TestEachRule: both ways round a part compares alike, and a difference says
// what it means and what to do.
func TestEachRule(t *testing.T) {
	seen := map[Part]map[Agreement]bool{}
	for _, r := range slices.Concat(placeRules(), networkRules(), addressRules(), measuredRules()) {
		for _, swapped := range []bool{false, true} {
			a, b := ofPath(r.a), ofPath(r.b)
			if swapped {
				a, b = b, a
			}
			c, err := CompareFingerprints(a, b)
			if err != nil {
				t.Fatal(err)
			}
			i := slices.IndexFunc(c.Parts, func(d Compared) bool { return d.Part == r.part })
			if i < 0 {
				t.Errorf("%s: nothing is said of %s", r.name, r.part)
				continue
			}
			if got := c.Parts[i]; got.How != r.how {
				t.Errorf("%s (swapped: %t): %s is %s, want %s: %+v", r.name, swapped, r.part, got.How, r.how, got)
			}
			if want := r.how == Different || r.name == unresolved; want != c.Differs() {
				t.Errorf("%s: differs: %t", r.name, c.Differs())
			}
			if seen[r.part] == nil {
				seen[r.part] = map[Agreement]bool{}
			}
			seen[r.part][r.how] = true
		}
	}
	for _, all := range []map[Part]partWords{placeParts(), networkParts(), pathParts(), tlsParts()} {
		for part, w := range all {
			if w.name == "" || (w.means == "") != (w.do == "") {
				t.Errorf("%s: %+v", part, w)
			}
			if seen[part] == nil || seen[part][Different] != (w.means != "") {
				t.Errorf("%s has words for a difference: %t, rules that are tested: %v", part, w.means != "", seen[part])
			}
		}
	}
}

// TestComparisonMatchesByOrigin: a config's targets with a URL's, each once.
func TestComparisonMatchesByOrigin(t *testing.T) {
	second := func(f *probes.Fingerprint) {
		more := f.Paths[0]
		more.Target, more.Host = "rates", "rates.example"
		again := f.Paths[0]
		again.Target = "stock-again"
		f.Paths = append(f.Paths, more, again)
	}
	upper := func(f *probes.Fingerprint) { f.Paths[0].Host = "API.partner.example" }
	c, err := CompareFingerprints(ofPath(second), ofApp(upper))
	if err != nil || c.Differs() {
		t.Fatalf("%v: %+v", err, c.all(Different))
	}
	if want := []string{"rates (https://rates.example:443)"}; !slices.Equal(c.Alone, want) {
		t.Errorf("in one only: %q, want %q", c.Alone, want)
	}
	n := 0
	for _, d := range c.Parts {
		if d.Part == PartAddresses {
			n++
		}
	}
	if n != 1 {
		t.Errorf("one path is compared %d times", n)
	}
	c, _ = CompareFingerprints(ofApp(upper), ofPath(second))
	if want := []string{"rates (https://rates.example:443)"}; !slices.Equal(c.Alone, want) {
		t.Errorf("the other way round: %q, want %q", c.Alone, want)
	}
}

// TestNeitherSideReached: where neither side reached anything the page says that, and
// not that the paths differ; what else differs is still said.
func TestNeitherSideReached(t *testing.T) {
	refused := func(f *probes.Fingerprint) {
		each(f, func(c *probes.ConnectionPrint) {
			*c = probes.ConnectionPrint{Address: c.Address, Problem: "connection refused"}
		})
	}
	text, document := comparedPage(t, ofApp(refused), ofPath(refused), Style{})
	if !strings.HasPrefix(text, "NOT COMPARED: neither side reached it\n") || !strings.Contains(text, "NOT COMPARED: https://api.partner.example:443\n") || strings.Contains(text, "DIFFERENT") || strings.Contains(text, "NetworkPolic") {
		t.Errorf("it says\n%s", text)
	}
	if !strings.Contains(document, `"same": false`) {
		t.Errorf("the document says\n%s", document)
	}
	text, _ = comparedPage(t, ofApp(refused, func(f *probes.Fingerprint) { f.Network.Sidecar = "by a port" }), ofPath(refused), Style{})
	if !strings.HasPrefix(text, "NOT THE SAME PATH: 1 difference\n") || !strings.Contains(text, "NOT COMPARED: https://api.partner.example:443\n") {
		t.Errorf("beside another difference it says\n%s", text)
	}
}

// TestStrangersWords: what a file says of a target cannot command a terminal.
func TestStrangersWords(t *testing.T) {
	hostile := func(f *probes.Fingerprint) {
		f.Paths[0].Host, f.Paths[0].Scheme, f.Paths[0].Port, f.Paths[0].Target = "a\x1b[2J", "ht\u202etp", "4\x9b43", "x\x07"
	}
	_, err := CompareFingerprints(ofPath(), ofApp(hostile))
	if err == nil || strings.ContainsAny(err.Error(), "\x1b\u202e\u009b\a") || !strings.Contains(err.Error(), `a\x1b[2j`) {
		t.Errorf("%q", err)
	}
}

func TestComparisonNeedsACommonTarget(t *testing.T) {
	other := func(f *probes.Fingerprint) { f.Paths[0].Port = "8443" }
	_, err := CompareFingerprints(ofPath(), ofApp(other))
	if err == nil || !strings.Contains(err.Error(), "stock-api (https://api.partner.example:443)") || !strings.Contains(err.Error(), "https://api.partner.example:8443") {
		t.Errorf("%v", err)
	}
}

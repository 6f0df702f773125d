package report

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"perch.example/probes"
)

// Agreement says how a part of two fingerprints compares.
type Agreement string

// The agreements, the worst first.
const (
	Different Agreement = "different" // the paths are not the same
	Unknown   Agreement = "unknown"   // one side does not tell, so nothing is proved
	Noted     Agreement = "noted"     // differs, as it may on the same path
	Same      Agreement = "same"
)

// Part is a part of a fingerprint that is compared.
type Part string

// The parts.
const (
	PartZone      Part = "zone"
	PartNamespace Part = "namespace"
	PartNode      Part = "node"
	PartPlace     Part = "place"
	PartAge       Part = "age"
	PartServers   Part = "resolver"
	PartSearch    Part = "search"
	PartDots      Part = "ndots"
	PartOptions   Part = "resolver_options"
	PartSidecar   Part = "sidecar"
	PartProxy     Part = "proxy"
	PartReached   Part = "reached"
	PartAddresses Part = "addresses"
	PartFamilies  Part = "families"
	PartSource    Part = "source"
	PartInterface Part = "interface"
	PartTCPEnds   Part = "tcp_ends"
	PartMSS       Part = "tcp_mss"
	PartConnect   Part = "tcp_round_trip"
	PartHello     Part = "tls_round_trip"
	PartTLS       Part = "tls"
	PartIssuer    Part = "issuer"
	PartLeaf      Part = "certificate"
	PartTrust     Part = "trust"
)

// Compared is one part of two fingerprints.
type Compared struct {
	Part   Part
	Target string // empty: of all
	How    Agreement
	A, B   string // as people read them
	Why    string // why a difference is one, or is none; empty: the usual
}

// Comparison is how two fingerprints compare.
type Comparison struct {
	Parts []Compared // in a fixed order: what all targets share, then target by target
	Alone []string   // targets that only one of the two knows
}

// Differs reports whether the paths are not the same.
func (c Comparison) Differs() bool {
	return slices.ContainsFunc(c.Parts, func(p Compared) bool { return p.How == Different })
}

// all returns the parts of one agreement.
func (c Comparison) all(how Agreement) []Compared {
	return slices.DeleteFunc(slices.Clone(c.Parts), func(p Compared) bool { return p.How != how })
}

// CompareFingerprints compares two fingerprints. The error says that they have
// no target in common.
func CompareFingerprints(a, b probes.Fingerprint) (Comparison, error) {
	c := &comparing{a: a, b: b}
	c.places()
	c.networks()
	ofB := map[string]probes.PathPrint{}
	for _, p := range b.Paths {
		ofB[origin(p)] = p
	}
	done := map[string]bool{} // two targets of one origin have one path
	for _, p := range a.Paths {
		q, both := ofB[origin(p)]
		switch {
		case done[origin(p)]:
		case both:
			c.path(p, q)
		default:
			c.out.Alone = append(c.out.Alone, named(p))
		}
		done[origin(p)] = true
	}
	if c.matched == 0 {
		return Comparison{}, errors.New(clean("no target is in both: " + listed(few(names(a))) + " in the one, " + listed(few(names(b))) + " in the other; take both for the same URL"))
	}
	for _, q := range b.Paths {
		if !done[origin(q)] {
			c.out.Alone = append(c.out.Alone, named(q))
			done[origin(q)] = true
		}
	}
	return c.out, nil
}

// comparing is a comparison on its way.
type comparing struct {
	a, b    probes.Fingerprint
	target  string
	matched int // targets that both know
	out     Comparison
}

// add adds a part. Without both values nothing can be said.
func (c *comparing) add(part Part, how Agreement, a, b, why string) {
	c.out.Parts = append(c.out.Parts, Compared{part, c.target, how, a, b, why})
}

// equal compares two values of which an empty one is unknown.
func (c *comparing) equal(part Part, a, b string) {
	switch {
	case a == "" || b == "":
		c.add(part, Unknown, a, b, "")
	case a == b:
		c.add(part, Same, a, b, "")
	default:
		c.add(part, Different, a, b, "")
	}
}

func origin(p probes.PathPrint) string {
	return p.Scheme + "://" + strings.ToLower(p.Host) + ":" + p.Port
}

// named is a target as people know it.
func named(p probes.PathPrint) string {
	host := origin(p)
	if p.Target == "" || strings.Contains(p.Target, p.Host) {
		return host
	}
	return fmt.Sprintf("%s (%s)", p.Target, host)
}

func names(f probes.Fingerprint) (all []string) {
	for _, p := range f.Paths {
		all = append(all, named(p))
	}
	return all
}

// few keeps a list short enough for a sentence.
func few(all []string) []string {
	const most = 5
	if len(all) <= most {
		return all
	}
	return append(slices.Clone(all[:most]), fmt.Sprintf("%d more", len(all)-most))
}

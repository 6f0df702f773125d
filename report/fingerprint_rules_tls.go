package report

import (
	"slices"
	"strings"

	"perch.example/probes"
)

// certificates compares what the handshakes showed.
func (c *comparing) certificates(a, b []probes.ConnectionPrint) {
	of := func(all []probes.ConnectionPrint, what func(probes.TLSPrint) string) []string {
		var set []string
		for _, k := range all {
			if k.TLS != nil {
				set = append(set, what(*k.TLS))
			}
		}
		return unique(set)
	}
	both := func(what func(probes.TLSPrint) string) (x, y []string) { return of(a, what), of(b, what) }

	spokenA, spokenB := both(func(t probes.TLSPrint) string { return strings.TrimSpace("TLS " + t.Version + " " + t.ALPN) })
	c.sets(PartTLS, spokenA, spokenB)
	by, byB := both(func(t probes.TLSPrint) string { return t.Authority })
	issuer, issuerB := both(func(t probes.TLSPrint) string { return t.Issuer })
	c.issuers(by, byB, issuer, issuerB)
	leaf, leafB := both(func(t probes.TLSPrint) string { return t.SHA256 })
	named, namedB := both(func(t probes.TLSPrint) string { return t.NamesSHA256 })
	c.leaves(leaf, leafB, named, namedB)
	trust, trustB := both(trustWords)
	how := Same
	if !slices.Equal(trust, trustB) {
		how = Noted
	}
	c.add(PartTrust, how, strings.Join(trust, ", "), strings.Join(trustB, ", "), "each side judged by the authorities that perch has there; the application's own may be others")
}

func trustWords(t probes.TLSPrint) string {
	if t.TrustedBy == "" {
		return "not trusted: " + t.NotTrusted
	}
	return "trusted by " + t.TrustedBy
}

// issuers compares who signed. An authority signs with more than one certificate
// in turn; another authority is another server, or somebody who opens TLS.
func (c *comparing) issuers(by, byB, issuer, issuerB []string) {
	left, right := strings.Join(issuer, "; "), strings.Join(issuerB, "; ")
	switch {
	case len(issuer) == 0 || len(issuerB) == 0:
		c.add(PartIssuer, Unknown, left, right, "")
	case meets(issuer, issuerB):
		c.add(PartIssuer, Same, left, right, "")
	case meets(by, byB):
		c.add(PartIssuer, Noted, left, right, "one organization, another of its certificates: authorities use several in turn")
	default:
		c.add(PartIssuer, Different, left, right, "")
	}
}

// leaves compares the certificates themselves, by what they are for.
func (c *comparing) leaves(leaf, leafB, named, namedB []string) {
	short := func(all []string) string {
		var out []string
		for _, s := range all {
			out = append(out, cut(s, 17)) // enough to be told apart
		}
		return strings.Join(few(out), ", ")
	}
	switch {
	case len(leaf) == 0 || len(leafB) == 0:
		c.add(PartLeaf, Unknown, short(leaf), short(leafB), "")
	case meets(leaf, leafB):
		c.add(PartLeaf, Same, short(leaf), short(leafB), "")
	case meets(named, namedB):
		c.add(PartLeaf, Noted, short(leaf), short(leafB), "for the same names: one was renewed, or a server of several has its own")
	default:
		c.add(PartLeaf, Different, short(leaf), short(leafB), "")
	}
}

func meets(a, b []string) bool {
	return slices.ContainsFunc(a, func(s string) bool { return slices.Contains(b, s) })
}

package config

import (
	"fmt"
	"net/http"
	"net/netip"
	"strings"

	"perch.example/probes"
)

// oauthRules check what a token request needs, and that nothing else says who
// calls, once all levels are merged.
func (c *checker) oauthRules(s *probes.Spec, p probeSettings) {
	written := p.Shared.Reach.OAuth2
	if written == nil {
		return
	}
	at := c.nearest(p.Place, "oauth2")
	if c.mistaken(at.path) || written.TokenURL == "" && c.nearest(p.Place, "oauth2.token_url").line > 0 {
		return // told, or turned off
	}
	for _, f := range []struct {
		key, fix string
		there    bool
	}{
		{"token_url", "want where tokens are asked for; an empty one turns tokens off", written.TokenURL != ""},
		{"client_id", "want the client's id", written.ClientID != ""},
		{"client_secret", "want where it is read: {from: {env: NAME}} or {from: {file: PATH}}", !probes.Source(written.ClientSecret.From).Zero()},
	} {
		there := f.there || c.nearest(p.Place, "oauth2."+f.key).line > 0 // wrongly, which was told, or to turn it off
		if at.line > 0 && !there {
			c.wrong(at, fmt.Sprintf("%q is missing", f.key), f.fix)
		}
	}
	if s.OAuth == nil {
		return
	}
	if s.Kind == probes.KindTLS { // it sends nothing that a token would be for
		s.OAuth = nil
		return
	}
	for _, h := range s.Headers {
		if http.CanonicalHeaderKey(h.Name) == "Authorization" {
			c.wrong(at, fmt.Sprintf("stands beside the header %q of %s, and both are one header", h.Name, s.ID()), `keep one: the header, with oauth2: {token_url: ""} on that probe, or oauth2`)
		}
	}
	c.tokenURLRules(s, c.nearest(p.Place, "oauth2.token_url"))
}

// tokenURLRules: what gets the client's secret is encrypted, and holds none itself.
// Only what is dialled straight at loopback stays on this machine.
func (c *checker) tokenURLRules(s *probes.Spec, at place) {
	u := s.OAuth.TokenURL
	switch {
	case u.Scheme == "https":
	case !probes.StaysHere(u):
		c.wrong(at, "would send the client's secret over plain http", "want https")
	case s.Way.Proxy.URL != nil && s.Way.Socket == "":
		c.wrong(at, "would send the client's secret over plain http to the proxy of "+s.ID()+", whose loopback it would be", "want https, or proxy: none for what asks at loopback")
	}
	if secretParameter(u.RawQuery) {
		c.exposed(at, false, "the query holds a literal that looks like a secret", "want the client's secret in client_secret, and nothing in the query")
	}
}

// obeyOAuth refuses a token endpoint that the policy does not allow.
func (c *checker) obeyOAuth(s probes.Spec, probe place) {
	if s.OAuth == nil {
		return
	}
	p, at := c.options.Policy, c.nearest(probe, "oauth2.token_url")
	c.allowed(at, p.Host(s.OAuth.TokenURL.Hostname()))
	if a, err := netip.ParseAddr(s.OAuth.TokenURL.Hostname()); err == nil {
		c.allowed(at, p.Address(a))
	}
}

// nearest is where a dotted key of a probe is written: on the probe, its target or
// in the defaults; no line: nowhere.
func (c *checker) nearest(probe place, key string) place {
	target, _, _ := strings.Cut(probe.path, ".probes[")
	for _, level := range []string{probe.path, target} {
		path := level + "." + key
		if line, there := c.lines[probe.file+"\x00"+path]; there {
			return place{probe.file, line, path}
		}
	}
	return c.where("defaults." + key)
}

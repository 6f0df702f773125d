package probes

import (
	"fmt"
	"net/netip"
	"net/url"
)

// StaysHere reports whether a URL's host is this machine's loopback, as it is written.
func StaysHere(u *url.URL) bool {
	a, err := netip.ParseAddr(u.Hostname())
	return u.Hostname() == "localhost" || err == nil && a.IsLoopback()
}

// encrypted refuses to let the client's secret off the machine in clear text,
// whatever the config's own checks let through. Behind a proxy, loopback is the
// proxy's own.
func (t *tokenTrip) encrypted() error {
	c := t.call
	if c.url.Scheme == "https" || c.forward == nil && StaysHere(&c.url) {
		return nil
	}
	why := "over plain http"
	if c.forward != nil {
		why += " through the proxy " + c.forward.String()
	}
	return &Denied{Why: fmt.Sprintf("the client's secret for %s would leave %s: want a token_url that begins with https", c.url.Hostname(), why)}
}

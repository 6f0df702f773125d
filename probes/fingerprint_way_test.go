package probes

import (
	"net/netip"
	"net/url"
	"slices"
	"testing"
)

// The ways that a config gives its probes are told where the print does not take them.
func TestWaysOfATarget(t *testing.T) {
	u := &url.URL{Scheme: "https", Host: "api.example"}
	follows := Spec{URL: u, Way: Way{Proxy: Proxy{Environment: true}}}
	none := Spec{URL: u}
	proxied := Spec{URL: u, Way: Way{Proxy: Proxy{URL: &url.URL{Scheme: "http", Host: "p.example:3128", User: url.UserPassword("me", "hunter2")}}}}
	socket := Spec{URL: u, Way: Way{Socket: "/run/api.sock"}}
	from := Spec{URL: u, Way: Way{Source: netip.MustParseAddr("10.0.0.7"), Family: IPv4Only}}
	const straight, byProxy = "straight to the host", "proxy http://p.example:3128"
	for name, c := range map[string]struct {
		probes []Spec
		named  bool
		want   []string
	}{
		"as it is":               {[]Spec{follows, none}, false, nil},
		"the environment's":      {[]Spec{follows}, true, nil},
		"proxy: none":            {[]Spec{none}, true, []string{straight + ", whatever the environment names (proxy: none)"}},
		"a proxy":                {[]Spec{proxied, proxied}, true, []string{byProxy}},
		"a proxy, and straight":  {[]Spec{none, proxied}, false, []string{byProxy, straight}},
		"a proxy, and another":   {[]Spec{follows, proxied}, true, []string{byProxy, "the environment's proxy"}},
		"a socket":               {[]Spec{socket}, true, []string{"unix socket /run/api.sock"}},
		"an address of this end": {[]Spec{from}, false, []string{straight + ", from 10.0.0.7, ipv4 alone"}},
		"no probe":               {nil, true, nil},
	} {
		if got := waysOf(Target{URL: u, Probes: c.probes}, c.named); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

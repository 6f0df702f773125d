package k8s

import (
	"net/url"
	"slices"

	"perch.example/probes"
)

// ways are the URLs that a target's probes connect to: its own, unless each of them
// goes through a proxy that the config names, and those proxies.
func (b *maker) ways(t probes.Target) []reach {
	own := len(t.Probes) == 0
	var proxies []*url.URL
	var sockets []string
	for _, s := range t.Probes {
		switch proxy := s.Way.Proxy.URL; {
		case s.Way.Socket != "":
			if !slices.Contains(sockets, s.Way.Socket) {
				sockets = append(sockets, s.Way.Socket)
				b.note("target %s: the Pod has no socket %s: mount the folder that it is in, by hand", t.Name, s.Way.Socket)
			}
		case proxy == nil:
			own = true
		case !slices.ContainsFunc(proxies, func(u *url.URL) bool { return u.Host == proxy.Host }):
			proxies = append(proxies, proxy)
		}
	}
	var all []reach
	if own {
		all = append(all, reach{"target " + t.Name, t.URL})
	}
	for _, proxy := range proxies {
		all = append(all, reach{"proxy of target " + t.Name, proxy})
	}
	return all
}

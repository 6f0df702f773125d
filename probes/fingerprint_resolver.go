package probes

import (
	"bufio"
	"bytes"
	"net/netip"
	"strconv"
	"strings"
)

// Resolver is how names are looked up: /etc/resolv.conf.
type Resolver struct {
	Servers []string `json:"servers"` // addresses, in order
	Search  []string `json:"search"`
	Dots    int      `json:"ndots"`   // a name of fewer dots is tried with each search domain first
	Options []string `json:"options"` // the others, as they stand
}

// The system's own answers where the file has none, and how many name servers
// it reads (resolv.conf(5)).
const (
	usualServer = "127.0.0.1"
	usualDots   = 1
	mostDots    = 15
	mostServers = 3
)

// ParseResolver reads a resolv.conf as the system does: what it does not know
// is left out, the last search counts.
func ParseResolver(text []byte) Resolver {
	r := Resolver{Servers: []string{}, Search: []string{}, Dots: usualDots, Options: []string{}}
	lines := bufio.NewScanner(bytes.NewReader(text))
	for lines.Scan() {
		line := lines.Text()
		if strings.HasPrefix(line, "#") || strings.HasPrefix(line, ";") {
			continue
		}
		f := strings.Fields(line)
		if len(f) < 2 {
			continue
		}
		switch f[0] {
		case "nameserver":
			if _, err := netip.ParseAddr(f[1]); err == nil && len(r.Servers) < mostServers {
				r.Servers = append(r.Servers, f[1])
			}
		case "domain", "search":
			r.Search = r.Search[:0]
			for _, domain := range f[1:] {
				r.Search = append(r.Search, strings.TrimSuffix(domain, "."))
			}
		case "options":
			r.options(f[1:])
		}
	}
	if len(r.Servers) == 0 {
		r.Servers = append(r.Servers, usualServer)
	}
	return r
}

func (r *Resolver) options(all []string) {
	for _, o := range all {
		n, ok := strings.CutPrefix(o, "ndots:")
		if !ok {
			r.Options = append(r.Options, o)
			continue
		}
		if dots, err := strconv.Atoi(n); err == nil && dots >= 0 {
			r.Dots = min(dots, mostDots)
		}
	}
}

// Namespace is the Kubernetes namespace whose names are searched first, as the
// cluster writes it into each Pod: "shop.svc.cluster.local". Empty: none is.
func (r Resolver) Namespace() string {
	if len(r.Search) == 0 {
		return ""
	}
	namespace, rest, _ := strings.Cut(r.Search[0], ".")
	if strings.HasPrefix(rest, "svc.") {
		return namespace
	}
	return ""
}

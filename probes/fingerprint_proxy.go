package probes

import (
	"cmp"
	"net"
	"net/netip"
	"net/url"
	"strings"
)

// ProxyEnv is what the environment says of proxies, without credentials. Most
// clients follow it (curl, Go, Python, Node by a setting); Java's do not.
type ProxyEnv struct {
	HTTP  string   `json:"http_proxy,omitempty"`
	HTTPS string   `json:"https_proxy,omitempty"`
	All   string   `json:"all_proxy,omitempty"`
	No    []string `json:"no_proxy,omitzero"`
}

// notShown stands for a proxy that is set to something that is no address: it
// may be a password, misplaced.
const notShown = "[set, and not an address]"

// ReadProxyEnv reads the environment. A name in capitals counts less than its
// small one, as most clients have it.
func ReadProxyEnv(env func(string) (string, bool)) ProxyEnv {
	get := func(name string) string {
		small, _ := env(name)
		large, _ := env(strings.ToUpper(name))
		return cmp.Or(small, large)
	}
	p := ProxyEnv{HTTP: bare(get("http_proxy")), HTTPS: bare(get("https_proxy")), All: bare(get("all_proxy"))}
	for entry := range strings.FieldsFuncSeq(get("no_proxy"), func(r rune) bool { return r == ',' || r == ' ' }) {
		p.No = append(p.No, entry[strings.LastIndexByte(entry, '@')+1:])
	}
	return p
}

// bare is a proxy's scheme, host and port, and nothing else of it.
func bare(raw string) string {
	raw = strings.TrimSpace(raw)
	if raw == "" {
		return ""
	}
	u, err := url.Parse(raw)
	if (err != nil || u.Host == "") && !strings.Contains(raw, "://") {
		u, err = url.Parse("http://" + raw) // "proxy:3128" is one
	}
	if err != nil || !plausibleHost(u.Hostname()) {
		return notShown
	}
	switch u.Scheme {
	case "http", "https", "socks4", "socks4a", "socks5", "socks5h":
		return u.Scheme + "://" + u.Host
	default:
		return notShown
	}
}

// plausibleHost reports whether text may be a host's name or address.
func plausibleHost(text string) bool {
	if _, err := netip.ParseAddr(text); err == nil {
		return true
	}
	return text != "" && strings.Trim(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_") == ""
}

// For returns the proxy that the environment names for a URL; empty: none. The
// rules are those that curl and Go share: loopback is never behind one, a name
// of no_proxy stands for what is below it as well.
func (p ProxyEnv) For(scheme, host, port string) string {
	proxy := p.HTTP
	if scheme == "https" {
		proxy = p.HTTPS
	}
	if proxy = cmp.Or(proxy, p.All); proxy == "" {
		return ""
	}
	to := url.URL{Scheme: scheme, Host: net.JoinHostPort(strings.TrimSuffix(strings.ToLower(host), "."), port)}
	if !forwarded(&to, strings.Join(p.No, ",")) {
		return ""
	}
	return proxy
}

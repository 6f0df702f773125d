package probes

import (
	"cmp"
	"fmt"
	"net/url"
	"strings"

	"golang.org/x/net/http/httpproxy"
)

// Forward is the forward proxy that a probe's connections go through. Its
// credentials stay inside.
type Forward struct {
	Scheme, Host, Port string
	By                 string // who names it: "configured", or a variable such as "HTTPS_PROXY"
	user               *url.Userinfo
}

// byConfig is Forward.By of a proxy that the config names.
const byConfig = "configured"

// String is the proxy's URL without credentials.
func (f *Forward) String() string {
	u := url.URL{Scheme: f.Scheme, Host: f.Host}
	if strings.Contains(f.Host, ":") {
		u.Host = "[" + f.Host + "]"
	}
	u.Host += ":" + f.Port
	return u.String()
}

// Resolves reports whether the proxy, and not perch, looks up the target's name.
func (f *Forward) Resolves() bool { return f.Scheme != "socks5" }

// Whole reports whether requests for a URL of that scheme, in that protocol, go to
// the proxy in absolute form, as clients send those of http URLs: the proxy
// answers them, and no connection behind it is perch's.
func (f *Forward) Whole(scheme string, p Protocol) bool {
	return scheme == "http" && p.Or() != ProtocolH2C && (f.Scheme == "http" || f.Scheme == "https")
}

// Forward returns the proxy of a probe's connections; nil: none. With a unix
// socket there is none. env is the environment; nil: an empty one. The error says
// which variable is wrong, and never its value.
func (s Spec) Forward(env func(string) (string, bool)) (*Forward, error) {
	way := s.Way
	switch {
	case way.Socket != "" || s.URL == nil:
		return nil, nil
	case way.Proxy.URL != nil:
		return forwardTo(way.Proxy.URL, byConfig)
	case !way.Proxy.Environment || env == nil:
		return nil, nil
	}
	name, value := namedProxy(s.URL.Scheme, env)
	if value == "" || !forwarded(s.URL, namedExceptions(env)) {
		return nil, nil
	}
	return parseForward(name, value)
}

// namedProxy returns the variable that names the proxy for a scheme, and its
// value. Of each name, the small one counts first. A CGI program's HTTP_PROXY is
// its caller's Proxy header.
func namedProxy(scheme string, env func(string) (string, bool)) (name, value string) {
	own := "http_proxy"
	if scheme == "https" {
		own = "https_proxy"
	}
	for _, name := range []string{own, strings.ToUpper(own), "all_proxy", "ALL_PROXY"} {
		if name == "HTTP_PROXY" && valueOf(env, "REQUEST_METHOD") != "" {
			continue
		}
		if value := valueOf(env, name); value != "" {
			return name, value
		}
	}
	return "", ""
}

// namedExceptions is NO_PROXY.
func namedExceptions(env func(string) (string, bool)) string {
	return cmp.Or(valueOf(env, "no_proxy"), valueOf(env, "NO_PROXY"))
}

// valueOf is a variable's value without the spaces around it; empty: it is not set.
func valueOf(env func(string) (string, bool), name string) string {
	value, set := env(name)
	if !set {
		return ""
	}
	return strings.TrimSpace(value)
}

// forwarded reports whether requests for a URL go through a proxy where one is
// named: not to loopback, and not to what no says.
func forwarded(u *url.URL, no string) bool {
	rules := httpproxy.Config{HTTPProxy: "http://proxy", HTTPSProxy: "http://proxy", NoProxy: no}
	proxy, err := rules.ProxyFunc()(u)
	return err == nil && proxy != nil
}

// parseForward reads a variable's value.
func parseForward(name, value string) (*Forward, error) {
	u, err := url.Parse(value)
	if (err != nil || u.Host == "") && !strings.Contains(value, "://") {
		u, err = url.Parse("http://" + value) // "proxy:3128" is one
	}
	if err != nil { // whose text quotes the value
		return nil, fmt.Errorf("%s in the environment is no proxy's URL: want one such as http://proxy.example:3128, or proxy: none in the config", name)
	}
	return forwardTo(u, name)
}

func forwardTo(u *url.URL, by string) (*Forward, error) {
	ports := map[string]string{"http": "80", "https": "443", "socks5": "1080", "socks5h": "1080"}
	port, known := ports[u.Scheme]
	if !known || !plausibleHost(u.Hostname()) {
		return nil, fmt.Errorf("the proxy (%s) is none that perch can go through: want a URL such as http://proxy.example:3128 (http, https, socks5 or socks5h)", by)
	}
	return &Forward{Scheme: u.Scheme, Host: u.Hostname(), Port: cmp.Or(u.Port(), port), By: by, user: u.User}, nil
}

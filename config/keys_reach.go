package config

import (
	"fmt"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"perch.example/probes"
)

// reachFields say which protocol is spoken, over which way and as whom. They may
// stand in defaults, on a target and on a probe.
func reachFields() []field {
	return []field{
		{key: "protocol", doc: "Which HTTP is spoken: h2 over TLS, h2c plain by prior knowledge, auto what ALPN settles. Kind grpc speaks h2 or h2c as the url's scheme says.",
			value: word(string(probes.ProtocolHTTP1), string(probes.ProtocolH2), string(probes.ProtocolH2C), string(probes.ProtocolAuto)), builtin: "http/1.1"},
		{key: "proxy", doc: "The forward proxy on the way: none; environment, what HTTPS_PROXY, HTTP_PROXY and NO_PROXY say; or its URL (http, https, socks5, socks5h).", value: proxy(), builtin: "environment"},
		{key: "proxy_credentials", doc: "The proxy's user:password.", value: mappingOf(field{key: "from", doc: "Where they are read.", value: source(), required: true}).like("{from: {env: NAME}}")},
		{key: "addresses", doc: "Which of the host's addresses are probed: the first that answers, or each one by itself.", value: word(string(probes.AddressesOne), string(probes.AddressesAll)), builtin: "one"},
		{key: "ip_family", doc: "Which addresses of the host are dialled, and in which order.",
			value: word(string(probes.IPAny), string(probes.IPv4Only), string(probes.IPv6Only), string(probes.IPv4First), string(probes.IPv6First)), builtin: "any"},
		{key: "source_address", doc: "The local IP address that connections come from.", value: ipAddress()},
		{key: "unix_socket", doc: "Path of a unix socket that is dialled in place of the url's host.", value: socketPath()},
		{key: "oauth2", doc: "A bearer token by OAuth2 client credentials, sent as Authorization.", value: oauth2()},
	}
}

// reachProbeFields stand on a probe alone.
func reachProbeFields() []field {
	return []field{
		{key: "unused", doc: "Kind idle: also hold, for each rung, a connection that never carried a request.", value: boolean()},
		{key: "requests", doc: "Kind http: how many requests one connection carries, one after the other, to find after how many, or at which age, the server ends it. Kind burst: how many calls one burst has, 1000 at most in all bursts.", value: count(1, 10_000)},
		{key: "gap", doc: "Kind http: the least time from one of those to the next; longer where that leaves half of the budget to others. Kind burst: for how long the pool idles between two bursts.", value: duration(0, time.Hour)},
		{key: "over", doc: "Kind burst: how long one burst lasts; its calls leave evenly over it.", value: duration(100*time.Millisecond, 6*time.Hour)},
		{key: "connections", doc: "Kind burst: how many connections the application's pool has. Kind idle, with calls: the same, for the prediction; left out, as many as the calls need.", value: count(1, mostCalls)},
		{key: "bursts", doc: "Kind burst: how many there are in a run, gap apart.", value: count(1, 100), builtin: usualBursts},
		{key: "calls", doc: "Kinds burst and idle: a file of the times at which the application calls, for the prediction; it sends nothing.", value: path()},
		{key: "read_only", doc: "Why this POST, or this gRPC method, changes nothing. A POST is sent once, on a fresh connection.", value: filled(text("a reason"))},
		{key: "body", doc: "Of a POST, as it is sent; JSON, unless a Content-Type header says what else.", value: body()},
		{key: "grpc", doc: "Kind grpc, and kind idle over gRPC: what is called; left out, the health check of the whole server.", value: mappingOf(
			field{key: "service", doc: "Whose health is asked for.", value: text("a service such as shop.Stock")},
			field{key: "method", doc: "A unary method, in place of the health check; needs read_only.", value: text("a method such as shop.Stock/List")},
			field{key: "request", doc: "Its request as JSON.", value: hidden(text("JSON"))},
			field{key: "descriptor_set", doc: "File of a FileDescriptorSet that describes it; left out, server reflection does.", value: path()},
		)},
	}
}

func oauth2() value {
	return mappingOf(
		field{key: "token_url", doc: "Where tokens are asked for.", value: webURL(true)},
		field{key: "client_id", doc: "The client's id.", value: text("a client's id")},
		field{key: "client_secret", doc: "The client's secret.", value: mappingOf(field{key: "from", doc: "Where it is read.", value: source(), required: true}).like("{from: {file: PATH}}")},
		field{key: "scopes", doc: "What is asked for.", value: listOf(filled(text("a scope")), 0, 50)},
		field{key: "audience", doc: "For whom the token is, where the server wants to know.", value: text("an audience")},
		field{key: "credentials_in", doc: "Where id and secret are sent.", value: word("header", "body"), builtin: "header"},
		field{key: "daily_limit", doc: "Token requests in a UTC day. Where each run is a process of its own, each asks once.", value: count(1, 10_000), builtin: 500},
	).like("{token_url: https://..., client_id: ..., client_secret: {from: {file: ...}}}")
}

// proxy is a word, or the URL of a forward proxy.
func proxy() value {
	const want = "none, environment, or a URL such as http://proxy.example:3128 (http, https, socks5 or socks5h)"
	v := text(want)
	v.schema = map[string]any{"type": "string", "pattern": `^(none|environment|([Hh][Tt][Tt][Pp][Ss]?|[Ss][Oo][Cc][Kk][Ss]5[Hh]?)://[^/?#@]+/?)$`}
	v.parse = func(s string) (any, *trouble) {
		if s == "none" || s == "environment" {
			return s, nil
		}
		u, err := url.Parse(s)
		if err != nil { // its text quotes the URL, which may hold a password
			return nil, &trouble{"", want}
		}
		return s, proxyTrouble(u, want)
	}
	return v
}

func proxyTrouble(u *url.URL, want string) *trouble {
	switch {
	case u.User != nil:
		return &trouble{"holds a user or password", "want proxy_credentials: {from: {env: NAME}}, which holds user:password"}
	case u.Scheme != "http" && u.Scheme != "https" && u.Scheme != "socks5" && u.Scheme != "socks5h",
		strings.Trim(u.Path, "/") != "", u.RawQuery != "" || u.ForceQuery, u.Fragment != "":
		return &trouble{"", want}
	case !resolvable(u.Hostname()):
		return &trouble{"has no host that can be resolved", "want " + want + "; write other alphabets in punycode (xn--)"}
	case !goodPort(u):
		return &trouble{"has no such port", "want 1 to 65535"}
	}
	return nil
}

// socketPath is where a unix socket is: the kernel takes 107 bytes.
func socketPath() value {
	const most = 107
	v := text("a socket's path, such as /run/api.sock")
	v.schema = map[string]any{"type": "string", "pattern": `^(/.*[^/])?$`, "maxLength": most}
	v.parse = func(s string) (any, *trouble) {
		switch {
		case s == "": // none
		case s[0] != '/' || strings.HasSuffix(s, "/"):
			return nil, &trouble{"", "a socket's path from the root, such as /run/api.sock"}
		case len(s) > most:
			return nil, &trouble{fmt.Sprintf("is %d bytes long", len(s)), fmt.Sprintf("want at most %d: the kernel takes no more", most)}
		}
		return s, nil
	}
	return v
}

func ipAddress() value {
	return matching("an IP address such as 10.0.0.7", `^[0-9A-Fa-f.:]*$`, func(s string) bool {
		_, err := netip.ParseAddr(s)
		return s == "" || err == nil
	})
}

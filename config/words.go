package config

import (
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"perch.example/probes"
)

// matching is text of a form that its function accepts.
func matching(want, pattern string, accepts func(string) bool) value {
	v := text(want)
	v.schema = map[string]any{"type": "string", "pattern": pattern}
	v.parse = func(s string) (any, *trouble) {
		if !accepts(s) {
			return nil, &trouble{"", want}
		}
		return s, nil
	}
	return v
}

const maxName = 63

// name is a label value, a file name and a command-line argument at once.
func name() value {
	const want = "a name of a-z, 0-9 and -, at most 63 long, beginning with a letter or digit"
	v := matching(want, `^[a-z0-9][a-z0-9-]{0,62}$`, goodName)
	return v
}

func goodName(s string) bool {
	return s != "" && len(s) <= maxName && s[0] != '-' && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789-") == ""
}

// clientName is a key of the client catalog, which has dots in it. names are
// those that an editor offers.
func clientName(names []string, after func(*checker, place, any)) value {
	v := matching("a client's name, such as apache-httpclient-4.5", `^[a-z0-9][a-z0-9.-]{0,62}$`, func(s string) bool {
		return goodName(strings.ReplaceAll(s, ".", "-"))
	})
	v.schema = map[string]any{"enum": names}
	v.after = after
	return v
}

// version is the format's, not perch's.
func version() value {
	v := count(1, 1)
	v.want = "1, the only version of this format"
	v.parse = func(s string) (any, *trouble) {
		if s != "1" {
			return nil, &trouble{"", v.want}
		}
		return 1, nil
	}
	return v
}

// path is a file's path. Empty: none.
func path() value { return text("a file's path") }

// listenAddress is where a server listens: a port, and before it a host or
// nothing.
func listenAddress() value {
	const want = "a port to listen on, such as :9877 or 127.0.0.1:9877"
	return matching(want, `^(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9.-]*):[0-9]{1,5}$`, func(s string) bool {
		host, port, err := net.SplitHostPort(s)
		if err != nil {
			return false
		}
		_, err = strconv.ParseUint(port, 10, 16)
		_, notIP := netip.ParseAddr(host)
		named := strings.Trim(host, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-.") == ""
		return err == nil && (named || notIP == nil)
	})
}

// hidden keeps a value's text out of every message.
func hidden(v value) value {
	v.hidden = true
	return v
}

// private keeps out of every message what is written in a value and anywhere below it,
// its unknown keys included: where a secret is near, one may stand at the wrong place.
// What is called name stays.
func private(v value) value {
	v.hidden = true
	v.fields = slices.Clone(v.fields)
	for i := range v.fields {
		if f := &v.fields[i]; f.key != "name" {
			f.value = private(f.value)
		}
	}
	if v.item != nil {
		item := private(*v.item)
		v.item = &item
	}
	return v
}

// filled refuses text of nothing, or of blanks alone.
func filled(v value) value {
	inner := v.parse
	v.parse = func(s string) (any, *trouble) {
		if strings.TrimSpace(s) == "" {
			return nil, &trouble{"", v.want}
		}
		return inner(s)
	}
	v.schema = map[string]any{"type": "string", "pattern": `\S`}
	return v
}

// kind is a probe's kind.
func kind() value {
	return word(string(probes.KindHTTP), string(probes.KindIdle), string(probes.KindBurst), string(probes.KindGRPC), string(probes.KindTLS))
}

// refusing gives some texts an answer of their own.
func refusing(v value, problem, fix string, refused ...string) value {
	inner := v.parse
	v.parse = func(s string) (any, *trouble) {
		if slices.Contains(refused, s) {
			return nil, &trouble{problem, fix}
		}
		return inner(s)
	}
	return v
}

// method is a request's method: perch only reads.
func method() value {
	v := word("GET", "HEAD", "OPTIONS", "POST")
	return refusing(v, "may change something, and perch only reads", "want GET, HEAD or OPTIONS", "PUT", "PATCH", "DELETE", "CONNECT", "TRACE", "put", "patch", "delete")
}

func envName() value {
	return matching("a variable's name, such as STOCK_TOKEN", `^[A-Za-z_][A-Za-z0-9_]*$`, func(s string) bool {
		return s != "" && (s[0] < '0' || s[0] > '9') && strings.IndexFunc(s, func(r rune) bool {
			return r != '_' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
		}) < 0
	})
}

func hostName() value {
	return matching("a host name such as api.example", `^[A-Za-z0-9._-]*$`, func(s string) bool {
		return len(s) <= 253 && strings.IndexFunc(s, func(r rune) bool { return !hostRune(r) }) < 0
	})
}

func hostRune(r rune) bool {
	return r == '.' || r == '-' || r == '_' || r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z'
}

// headerName is a header that a config may set. What decides a message's
// framing, the connection's life or perch's own identity is not the config's.
func headerName() value {
	const tokens = "!#$%&'*+-.^_`|~"
	v := matching("a header's name, such as Accept", "^[A-Za-z0-9!#$%&'*+.^_`|~-]+$", func(s string) bool {
		return s != "" && len(s) <= 256 && strings.IndexFunc(s, func(r rune) bool {
			return !strings.ContainsRune(tokens, r) && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
		}) < 0
	})
	inner := v.parse
	v.parse = func(s string) (any, *trouble) {
		if probes.OverridesMethod(s) {
			return nil, &trouble{"asks the server to take another method for the request, and perch only reads", "leave it out"}
		}
		switch strings.ToLower(s) {
		case "proxy-authorization":
			return nil, &trouble{"is the proxy's, and a header goes to the API", "want proxy_credentials: {from: {env: NAME}}, which holds user:password"}
		case "host":
			return nil, &trouble{"is set by perch from the url", "put the host into url"}
		case "user-agent", "traceparent":
			return nil, &trouble{"is set by perch, so that the API's owner can tell who calls", "leave it out"}
		case "connection", "keep-alive", "proxy-connection", "content-length", "transfer-encoding", "te", "trailer", "upgrade", "expect", "accept-encoding":
			return nil, &trouble{"is set by perch: it decides how the connection is used", "leave it out"}
		}
		return inner(s)
	}
	return v
}

// webURL is a URL without secrets. A target's carries no query: that is query's.
func webURL(query bool) value {
	v := text("a URL such as https://api.example/v1")
	const start = `[Hh][Tt][Tt][Pp][Ss]?://[^/?#@]+`
	v.schema = map[string]any{"type": "string", "pattern": `^` + start + `(/[^?#]*)?$`}
	if query {
		v.schema["pattern"] = `^(` + start + `([/?][^#]*)?)?$`
	}
	v.parse = func(s string) (any, *trouble) {
		if s == "" && query {
			return s, nil
		}
		u, err := url.Parse(s)
		if err != nil {
			return nil, &trouble{"", v.want} // its text quotes the URL, which may hold a password
		}
		return s, urlTrouble(u, query)
	}
	return v
}

func urlTrouble(u *url.URL, query bool) *trouble {
	const want = "a URL such as https://api.example/v1"
	switch {
	case u.User != nil:
		return &trouble{"holds a user or password", "send it as a header: {name: Authorization, prefix: \"Basic \", from: {file: ...}}"}
	case u.Scheme != "http" && u.Scheme != "https":
		return &trouble{"", want + ": http or https"}
	case !resolvable(u.Hostname()):
		return &trouble{"has no host that can be resolved", "want " + want + "; write other alphabets in punycode (xn--)"}
	case !goodPort(u):
		return &trouble{"has no such port", "want 1 to 65535"}
	case u.Fragment != "" || strings.HasSuffix(u.String(), "#"):
		return &trouble{"holds a fragment (#...), which is never sent", "leave it out"}
	case !query && (u.RawQuery != "" || u.ForceQuery):
		return &trouble{"holds a query", "put it under query, or on the probe's path"}
	}
	return nil
}

// resolvable reports whether a URL's host is a name or an address.
func resolvable(host string) bool {
	return host != "" && strings.IndexFunc(host, func(r rune) bool { return !hostRune(r) && r != ':' }) < 0
}

// goodPort reports whether a URL's port is one, or left out.
func goodPort(u *url.URL) bool {
	port, err := strconv.Atoi(u.Port())
	return !strings.HasSuffix(u.Host, ":") && (u.Port() == "" || err == nil && port >= 1 && port <= 65535)
}

// requestPath is a path with its literal query.
func requestPath() value {
	const want = "a path that begins with one /, such as /calendar?days=2"
	v := text(want)
	v.schema = map[string]any{"type": "string", "pattern": `^(/([^/#][^#]*)?)?$`}
	v.parse = func(s string) (any, *trouble) {
		u, err := url.Parse(s)
		switch {
		case s == "":
			return s, nil
		case err != nil || s[0] != '/' || strings.HasPrefix(s, "//"):
			return nil, &trouble{"", want}
		case strings.Contains(s, "#"):
			return nil, &trouble{"holds a fragment (#...), which is never sent", "leave it out"}
		}
		if i := strings.IndexFunc(s, func(r rune) bool { return r <= ' ' || r >= 0x7f }); i >= 0 {
			return nil, &trouble{fmt.Sprintf("holds a space or a character outside of ASCII at byte %d", i+1), "write it %-encoded"}
		}
		return s, pathTrouble(u)
	}
	return v
}

func pathTrouble(u *url.URL) *trouble {
	if _, err := url.ParseQuery(u.RawQuery); err != nil {
		return &trouble{"has a query that cannot be read", "want name=value pairs joined by &"}
	}
	return nil
}

// expression is one expectation in CEL.
func expression() value {
	v := filled(text("a CEL expression such as status == 200"))
	v.after = expressionRules
	return v
}

package probes_test

import (
	"encoding/json"
	"net/netip"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"perch.example/probes"
)

func TestParseResolver(t *testing.T) {
	pod := "# by the kubelet\nsearch shop.svc.cluster.local svc.cluster.local cluster.local.\nnameserver 10.96.0.10\noptions ndots:5 edns0\n"
	for name, tt := range map[string]struct {
		text      string
		want      probes.Resolver
		namespace string
	}{
		"a pod's": {pod, probes.Resolver{
			Servers: []string{"10.96.0.10"}, Search: []string{"shop.svc.cluster.local", "svc.cluster.local", "cluster.local"}, Dots: 5, Options: []string{"edns0"},
		}, "shop"},
		"empty": {"", probes.Resolver{Servers: []string{"127.0.0.1"}, Search: []string{}, Dots: 1, Options: []string{}}, ""},
		"the last search counts, four servers are one too many, ndots has a limit": {
			"domain a.example\nsearch b.example c.example\nnameserver 1.1.1.1\nnameserver bad\nnameserver 2.2.2.2\nnameserver ::1\nnameserver 4.4.4.4\noptions ndots:99 ndots:x\n",
			probes.Resolver{Servers: []string{"1.1.1.1", "2.2.2.2", "::1"}, Search: []string{"b.example", "c.example"}, Dots: 15, Options: []string{}}, "",
		},
	} {
		got := probes.ParseResolver([]byte(tt.text))
		if !reflect.DeepEqual(got, tt.want) || got.Namespace() != tt.namespace {
			t.Errorf("%s: %+v of namespace %q, want %+v of %q", name, got, got.Namespace(), tt.want, tt.namespace)
		}
	}
}

const (
	routes4 = `Iface	Destination	Gateway 	Flags	RefCnt	Use	Metric	Mask		MTU	Window	IRTT
eth1	00000000	0101FEA9	0003	0	0	200	00000000	0	0	0
eth0	00000000	0100F40A	0003	0	0	0	00000000	0	0	0
eth0	0000F40A	00000000	0001	0	0	0	0000FFFF	0	0	0
`
	routes6 = `00000000000000000000000000000000 00 00000000000000000000000000000000 00 fd000000000000000000000000000001 00000400 00000001 00000000 00000003     eth0
00000000000000000000000000000000 00 00000000000000000000000000000000 00 00000000000000000000000000000000 ffffffff 00000001 00000000 00200200       lo
`
)

func TestParseRoutes(t *testing.T) {
	got := probes.ParseRoutes([]byte(routes4), []byte(routes6))
	if len(got) != 2 || got[0].Interface != "eth0" || got[0].Gateway != netip.MustParseAddr("10.244.0.1") ||
		got[1].Family != probes.IPv6 || got[1].Gateway != netip.MustParseAddr("fd00::1") {
		t.Errorf("%+v, want eth0 by 10.244.0.1 and by fd00::1", got)
	}
	if got := probes.ParseRoutes(nil, []byte("garbage\n")); got != nil {
		t.Errorf("of nothing: %+v", got)
	}
}

func environment(pairs ...string) func(string) (string, bool) {
	return func(name string) (string, bool) {
		for i := 0; i < len(pairs); i += 2 {
			if pairs[i] == name {
				return pairs[i+1], true
			}
		}
		return "", false
	}
}

func TestProxyForURL(t *testing.T) {
	env := probes.ReadProxyEnv(environment(
		"HTTPS_PROXY", "http://user:s3cret@proxy.corp:3128/x?y", "http_proxy", "plain:3129",
		"NO_PROXY", "cluster.local, .internal,10.0.0.0/8,192.0.2.7,special.example:8443,*.star.example",
	))
	for _, tt := range []struct{ scheme, host, port, want string }{
		{"https", "api.example", "443", "http://proxy.corp:3128"},
		{"http", "api.example", "80", "http://plain:3129"},
		{"https", "a.svc.cluster.local", "443", ""},
		{"https", "cluster.local.", "443", ""},
		{"https", "notcluster.local", "443", "http://proxy.corp:3128"},
		{"https", "a.INTERNAL", "443", ""},
		{"https", "10.1.2.3", "443", ""},
		{"https", "11.1.2.3", "443", "http://proxy.corp:3128"},
		{"https", "192.0.2.7", "443", ""},
		{"https", "special.example", "8443", ""},
		{"https", "special.example", "443", "http://proxy.corp:3128"},
		{"https", "a.star.example", "443", ""},
		{"https", "localhost", "443", ""},
		{"https", "::1", "443", ""},
	} {
		if got := env.For(tt.scheme, tt.host, tt.port); got != tt.want {
			t.Errorf("%s://%s:%s: %q, want %q", tt.scheme, tt.host, tt.port, got, tt.want)
		}
	}
	if got := (probes.ProxyEnv{All: "socks5://s:1"}).For("https", "a", "443"); got != "socks5://s:1" {
		t.Errorf("all_proxy: %q", got)
	}
	if got := (probes.ProxyEnv{All: "socks5://s:1", No: []string{"*"}}).For("https", "a", "443"); got != "" {
		t.Errorf("no_proxy *: %q", got)
	}
}

// secretParts are forms in which a proxy's credentials are written, right and
// wrong.
func secretParts(secret string) []string {
	return []string{
		"http://user:" + secret + "@proxy:3128", "user:" + secret + "@proxy:3128", "http://" + secret + "@proxy", "http://proxy:3128/" + secret + "?" + secret,
		"http://user:" + secret + "%zz@proxy:3128", "http://user:" + secret + "@", secret + "://proxy", "http://user:p@" + secret + "@proxy:1", "http://pro xy/" + secret,
	}
}

func TestProxyCredentialsAreDropped(t *testing.T) {
	const secret = "s3cr3tpw"
	for _, value := range secretParts(secret) {
		e := probes.ReadProxyEnv(environment("https_proxy", value, "http_proxy", value, "all_proxy", value, "no_proxy", value))
		e.No = nil // host names: below
		out, err := json.Marshal(e)
		if err != nil || strings.Contains(string(out), secret) {
			t.Errorf("%q is kept as %s (%v)", value, out, err)
		}
	}
	e := probes.ReadProxyEnv(environment("NO_PROXY", "u:"+secret+"@host,other"))
	if !slices.Equal(e.No, []string{"host", "other"}) {
		t.Errorf("no_proxy: %q", e.No)
	}
}

func TestSecondsInJSON(t *testing.T) {
	for text, want := range map[string]time.Duration{"0.000015": 15 * time.Microsecond, "1.5": 1500 * time.Millisecond, "0": 0} {
		var s probes.Seconds
		if err := json.Unmarshal([]byte(text), &s); err != nil || time.Duration(s) != want {
			t.Errorf("%s: %v, %v, want %v", text, time.Duration(s), err, want)
		}
	}
	for _, text := range []string{"-1", "1e9", `"1"`, "1e400"} {
		var s probes.Seconds
		if err := json.Unmarshal([]byte(text), &s); err == nil {
			t.Errorf("%s is read as %v", text, time.Duration(s))
		}
	}
}

// TestProxyThatIsNoURL: a scheme is no host, and a password is nowhere.
func TestProxyThatIsNoURL(t *testing.T) {
	for value, want := range map[string]string{
		"http://u:p@[bad": "[set, and not an address]", "http://u:p@proxy:bad": "[set, and not an address]", "http://": "[set, and not an address]",
		"u:p@proxy:3128": "http://proxy:3128", "proxy": "http://proxy", "http://u:p@[::1]:3128": "http://[::1]:3128",
	} {
		if got := probes.ReadProxyEnv(environment("http_proxy", value)).HTTP; got != want {
			t.Errorf("%q: %q, want %q", value, got, want)
		}
	}
}

func FuzzParseResolver(f *testing.F) {
	f.Add([]byte("search a b\nnameserver 1.1.1.1\noptions ndots:5\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		r := probes.ParseResolver(text)
		if len(r.Servers) == 0 || len(r.Servers) > 3 || r.Dots < 0 || r.Dots > 15 {
			t.Errorf("%+v", r)
		}
		_ = r.Namespace()
	})
}

func FuzzParseRoutes(f *testing.F) {
	f.Add([]byte(routes4), []byte(routes6))
	f.Fuzz(func(t *testing.T, v4, v6 []byte) {
		if got := probes.ParseRoutes(v4, v6); len(got) > 2 {
			t.Errorf("%d default routes", len(got))
		}
	})
}

// FuzzProxyEnv: whatever stands before an @ is never kept.
func FuzzProxyEnv(f *testing.F) {
	for _, value := range secretParts("pw") {
		f.Add(value, "example.com")
	}
	f.Fuzz(func(t *testing.T, proxy, host string) {
		e := probes.ReadProxyEnv(environment("https_proxy", proxy, "no_proxy", proxy))
		if got := e.For("https", host, "443"); strings.ContainsAny(got, "@?#") || strings.Count(got, "/") > 2 && got != "[set, and not an address]" {
			t.Errorf("%q is kept as %q", proxy, got)
		}
	})
}

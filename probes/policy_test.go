package probes

import (
	"errors"
	"math/rand/v2"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"testing"
	"time"
)

// TestNoPolicyAllowsAll: nil is what perch can do by itself.
func TestNoPolicyAllowsAll(t *testing.T) {
	for _, p := range []*Policy{nil, {}} {
		if err := errors.Join(p.Host("any.example"), p.Address(netip.MustParseAddr("10.0.0.1")), p.Method("GET"), p.Method(""), p.Method("OPTIONS"), p.Hold(time.Hour)); err != nil {
			t.Errorf("%v refuses: %v", p, err)
		}
		target := Target{RateLimit: 20, Share: 1, DailyLimit: 5, MaxConnections: 5, URL: &url.URL{Host: "any.example"}}
		if got := p.Limits(target); got.Budget() != 20 || got.DailyLimit != 5 || got.MaxConnections != 5 {
			t.Errorf("%v limits to %+v", p, got)
		}
	}
	if (&Policy{}).Method("POST") == nil {
		t.Error("a policy without a word about methods allows POST")
	}
}

// TestHostsAreComparedAsOne: case, a last dot, and IPv6's clothes make no other
// host.
func TestHostsAreComparedAsOne(t *testing.T) {
	for name, want := range map[string]string{
		"API.Example": "api.example", "api.example.": "api.example", "192.0.2.1": "192.0.2.1", "::ffff:192.0.2.1": "192.0.2.1",
		"[2001:DB8::1]": "2001:db8::1", "2001:db8:0::1": "2001:db8::1", "fe80::1%eth0": "fe80::1", "192.0.2.01": "192.0.2.01",
	} {
		if got := CanonicalHost(name); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
	p := &Policy{Hosts: []string{"api.example", "*.pay.example"}}
	for host, allowed := range map[string]bool{
		"api.example": true, "a.pay.example": true, "A.B.Pay.Example.": true, "pay.example": false, "xpay.example": false,
		"api.example.evil": false, "evil-api.example": false, "*.pay.example.evil": false, ".pay.example": false, "": false,
	} {
		if err := p.Host(host); (err == nil) != allowed {
			t.Errorf("%q: %v, want allowed: %v", host, err, allowed)
		}
	}
}

// TestAddressesInAnyClothes: of any address and any networks, IPv4 written as IPv6
// is judged as IPv4; what is denied is denied although it is allowed elsewhere; and
// what lies in no network of those that are allowed is refused.
func TestAddressesInAnyClothes(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	address := func() netip.Addr {
		var b [16]byte
		for i := range b {
			b[i] = byte(rng.IntN(4)) // few, so that networks are met
		}
		if rng.IntN(2) == 0 {
			return netip.AddrFrom4([4]byte(b[:4]))
		}
		return netip.AddrFrom16(b)
	}
	networks := func() []netip.Prefix {
		var all []netip.Prefix
		for range 1 + rng.IntN(4) {
			a := address()
			all = append(all, netip.PrefixFrom(a, rng.IntN(a.BitLen()+1)).Masked())
		}
		return all
	}
	refused := 0
	for range 5000 {
		p := &Policy{Networks: networks(), DeniedNetworks: networks()}
		a := address()
		err := p.Address(a)
		if a.IsUnspecified() {
			continue // TestUnspecifiedIsLoopback
		}
		inside, denied := false, false
		for _, n := range p.Networks {
			inside = inside || n.Contains(a)
		}
		for _, n := range p.DeniedNetworks {
			denied = denied || n.Contains(a)
		}
		if want := inside && !denied; (err == nil) != want {
			t.Fatalf("%s with %v and without %v: %v", a, p.Networks, p.DeniedNetworks, err)
		}
		if a.Is4() && (p.Address(netip.AddrFrom16(a.As16())) == nil) != (err == nil) {
			t.Fatalf("%s is judged in another way as IPv6", a)
		}
		if err != nil {
			refused++
		}
	}
	if refused < 1000 || refused > 4900 {
		t.Errorf("%d of 5000 were refused: the networks test nothing", refused)
	}
}

// TestUnspecifiedIsLoopback: 0.0.0.0 and ::, in any clothes, are dialled as
// loopback, so they are judged as that.
func TestUnspecifiedIsLoopback(t *testing.T) {
	networks := func(text ...string) []netip.Prefix {
		var all []netip.Prefix
		for _, s := range text {
			all = append(all, netip.MustParsePrefix(s))
		}
		return all
	}
	for _, c := range []struct {
		policy  Policy
		address string
		says    string // empty: allowed
	}{
		{Policy{DeniedNetworks: networks("127.0.0.0/8")}, "0.0.0.0", "the address 0.0.0.0, which is dialled as 127.0.0.1"},
		{Policy{DeniedNetworks: networks("127.0.0.0/8")}, "::ffff:0.0.0.0", "the address 0.0.0.0, which is dialled as 127.0.0.1"},
		{Policy{DeniedNetworks: networks("::1/128")}, "::", "the address ::, which is dialled as ::1"},
		{Policy{DeniedNetworks: networks("::1/128")}, "::%eth0", "the address ::, which is dialled as ::1"},
		{Policy{DeniedNetworks: networks("0.0.0.0/32")}, "0.0.0.0", "the address 0.0.0.0"},
		{Policy{DeniedNetworks: networks("0.0.0.0/32")}, "127.0.0.1", ""},
		{Policy{DeniedNetworks: networks("10.0.0.0/8")}, "0.0.0.0", ""},
		{Policy{Networks: networks("0.0.0.0/32", "::/128")}, "0.0.0.0", "the address 0.0.0.0"},
		{Policy{Networks: networks("0.0.0.0/32", "::/128")}, "::", "the address ::"},
		{Policy{Networks: networks("127.0.0.0/8")}, "0.0.0.0", ""},
		{Policy{Networks: networks("::1/128")}, "::", ""},
	} {
		err := c.policy.Address(netip.MustParseAddr(c.address))
		if c.says == "" && err != nil || c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says)) {
			t.Errorf("%s with %v and without %v: %v, want %q", c.address, c.policy.Networks, c.policy.DeniedNetworks, err, c.says)
		}
	}
}

// TestLimits: no budget grows, whatever is asked, and none is beyond a rule.
func TestLimits(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 2000 {
		p := &Policy{MaxShare: rng.Float64(), MaxRate: 5 * rng.Float64(), MaxDailyLimit: rng.IntN(100), MaxConnections: rng.IntN(10),
			Fleet: []HostLimit{{Host: "api.example", RateLimit: 30 * rng.Float64()}}}
		asked := Target{URL: &url.URL{Host: "API.example.:443"}, RateLimit: Rate(0.1 + 50*rng.Float64()), Share: 0.01 + 0.99*rng.Float64(), DailyLimit: 1 + rng.IntN(200), MaxConnections: 1 + rng.IntN(20)}
		got := p.Limits(asked)
		const rounding = 1 + 1e-9
		if got.Budget() > asked.Budget()*rounding || got.Budget() <= 0 || got.DailyLimit > asked.DailyLimit || got.MaxConnections > asked.MaxConnections || got.DailyLimit < 1 || got.MaxConnections < 1 {
			t.Fatalf("%+v became %+v", asked, got)
		}
		if got.Budget() > p.MaxRate*rounding || got.Budget() > p.MaxShare*p.Fleet[0].RateLimit*rounding || p.MaxDailyLimit > 0 && got.DailyLimit > p.MaxDailyLimit || p.MaxConnections > 0 && got.MaxConnections > p.MaxConnections {
			t.Fatalf("%+v is beyond %+v", got, p)
		}
	}
}

// TestEachRequestIsAsked: the gate of a single request asks about its own method
// and host, so that nothing which leads elsewhere passes on an open connection.
func TestEachRequestIsAsked(t *testing.T) {
	c := &call{spec: &Spec{}, env: Env{Policy: &Policy{File: "p.yaml", Hosts: []string{"api.example"}, Methods: []string{http.MethodGet}}}}
	for _, r := range []struct {
		method, url, says string
	}{
		{"GET", "http://api.example/", ""}, {"GET", "http://API.EXAMPLE.:8080/", ""}, {"GET", "http://evil.example/", `the host "evil.example"`},
		{"HEAD", "http://api.example/", "the method HEAD"}, {"POST", "http://api.example/", "the method POST"},
	} {
		u, err := url.Parse(r.url)
		if err != nil {
			t.Fatal(err)
		}
		err = c.allowedTo(&http.Request{Method: r.method, URL: u})
		var d *Denied
		if r.says == "" && err != nil || r.says != "" && (!errors.As(err, &d) || !strings.Contains(d.Why, r.says)) {
			t.Errorf("%s %s: %v, want %q", r.method, r.url, err, r.says)
		}
	}
}

package config

import (
	"errors"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestBadPolicies: one file a rule, and its message beside it. Nothing of a policy
// that is wrong somewhere is used.
func TestBadPolicies(t *testing.T) {
	for _, name := range glob(t, "testdata/policy/bad/*.yaml") {
		t.Run(filepath.Base(name), func(t *testing.T) {
			data, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			p, err := ParsePolicy(File{Name: filepath.Base(name), Data: data})
			var mistakes *Errors
			if !errors.As(err, &mistakes) || p != nil {
				t.Fatalf("got %v, %v, want *Errors alone", p, err)
			}
			compare(t, name, err.Error()+"\n")
		})
	}
}

func TestGoodPolicies(t *testing.T) {
	for _, name := range glob(t, "testdata/policy/good/*.yaml") {
		if _, err := LoadPolicy(name); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	p, err := LoadPolicy("testdata/policy/good/all.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if p.MaxShare != 0.1 || p.MaxRate != 2 || p.MaxDailyLimit != 5000 || p.MaxConnections != 16 || p.MinEvery != time.Minute || p.MaxHold != 10*time.Minute ||
		len(p.Hosts) != 4 || len(p.Networks) != 3 || p.Networks[2] != netip.MustParsePrefix("198.51.100.7/32") || len(p.DeniedNetworks) != 2 || len(p.Methods) != 2 ||
		len(p.Fleet) != 2 || p.Fleet[0].RateLimit != 20 || p.Fleet[0].Share != 0.1 || p.Fleet[0].Line != 14 {
		t.Errorf("got %+v", p)
	}
	if at := p.At("max_hold"); at != "testdata/policy/good/all.yaml:12: max_hold" {
		t.Errorf("max_hold is at %s", at)
	}
}

// TestUnreadablePolicies: what cannot be read is refused, and waits for nobody.
func TestUnreadablePolicies(t *testing.T) {
	dir := t.TempDir()
	large := filepath.Join(dir, "large.yaml")
	if err := os.WriteFile(large, make([]byte, maxFile+1), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, says := range map[string]string{dir: "is no file", filepath.Join(dir, "none.yaml"): "reading the policy: ", large: "larger than 4 MiB", os.DevNull: "is no file"} {
		if p, err := LoadPolicy(name); err == nil || p != nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, %v, want %q", name, p, err, says)
		}
	}
}

// TestPolicySchema holds the schema against a validator that knows nothing of
// perch, as TestSchema does.
func TestPolicySchema(t *testing.T) {
	text, err := PolicySchema()
	if err != nil {
		t.Fatal(err)
	}
	seesWhatLoadSees(t, text, glob(t, "testdata/policy/good/*.yaml"), glob(t, "testdata/policy/bad/*.yaml"))
}

// strict is a policy with all rules that a config can break.
const strict = `
version: 1
hosts: [api.example, "*.svc", 192.0.2.1, 192.0.2.9]
networks: [192.0.2.0/29]
methods: [GET]
max_share: 10%
max_rate: 1/s
max_daily_limit: 1000
max_connections: 4
min_every: 5m
max_hold: 2m
fleet: [{host: api.example, rate_limit: 10/s}]
`

// TestBeyondThePolicy: a config that asks for more is refused where it says so,
// with the policy's line and what would be right.
func TestBeyondThePolicy(t *testing.T) {
	policy, err := ParsePolicy(File{Name: "policy.yaml", Data: []byte(strict)})
	if err != nil {
		t.Fatal(err)
	}
	const within = `version: 1
targets:
  - name: api
    url: https://API.example.:8443
    rate_limit: 10/s
    share: 10%
    daily_limit: 1000
    max_connections: 4
    probes:
      - {name: a, kind: http, every: 5m}
      - {name: b, kind: http, every: always}
      - {name: c, kind: idle, every: 1h, holds: [1s, 2m]}
`
	parse := func(text string) error {
		o := catalog()
		o.Policy = policy
		_, err := Parse(o, File{Name: "perch.yaml", Data: []byte(text)})
		return err
	}
	if err := parse(within); err != nil {
		t.Fatalf("what keeps the policy is refused: %v", err)
	}
	for _, c := range []struct{ old, with, says string }{
		{"API.example.:8443", "other.example", `perch.yaml:4: targets[0].url: the policy does not allow the host "other.example" (policy.yaml:3: hosts)`},
		{"API.example.:8443", "svc", `the host "svc"`},
		{"API.example.:8443", "a.svc.evil.example", `the host "a.svc.evil.example"`},
		{"API.example.:8443", "192.0.2.9", `perch.yaml:4: targets[0].url: the policy does not allow the address 192.0.2.9 (policy.yaml:4: networks)`},
		{"API.example.:8443", "[::ffff:192.0.2.9]", `the address 192.0.2.9`},
		{"rate_limit: 10/s", "rate_limit: 11/s", `perch.yaml:5: targets[0].rate_limit: rate_limit is 11/s, and the host allows everybody less (policy.yaml:12: fleet, api.example); want 10/s or less`},
		{"share: 10%", "share: 11%", `perch.yaml:6: targets[0].share: share is 11%, which is beyond the policy (policy.yaml:6: max_share); want 10% or less`},
		{"    share: 10%\n", "", ``},
		{"https://API.example.:8443\n    rate_limit: 10/s", "http://x.svc\n    rate_limit: 11/s", `perch.yaml:5: targets[0].rate_limit: rate_limit x share is 1.1/s, which is beyond the policy (policy.yaml:7: max_rate); want 1/s or less`},
		{"daily_limit: 1000", "daily_limit: 1001", `perch.yaml:7: targets[0].daily_limit: daily_limit is 1001, which is beyond the policy (policy.yaml:8: max_daily_limit); want 1000 or less`},
		{"    daily_limit: 1000\n", "", `perch.yaml:3: targets[0].daily_limit: daily_limit is 5000`},
		{"max_connections: 4", "max_connections: 5", `perch.yaml:8: targets[0].max_connections: max_connections is 5, which is beyond the policy (policy.yaml:9: max_connections); want 4 or less`},
		{"every: 5m", "every: 4m", `perch.yaml:10: targets[0].probes[0].every: every is 4m, which is beyond the policy (policy.yaml:10: min_every); want 5m or more, or always`},
		{"every: 5m", "every: 5m, method: HEAD", `perch.yaml:10: targets[0].probes[0].method: the policy does not allow the method HEAD (policy.yaml:5: methods)`},
		{"every: 5m", "every: 5m, tls: {server_name: other.example}", `perch.yaml:10: targets[0].probes[0].tls: the policy does not allow the host "other.example"`},
		{"every: 5m", `every: 5m, proxy: "http://other.example:3128"`, `perch.yaml:10: targets[0].probes[0].proxy: the policy does not allow the host "other.example"`},
		{"every: 5m", `every: 5m, proxy: "http://192.0.2.9:3128"`, `proxy: the policy does not allow the address 192.0.2.9`},
		{"every: 5m", `every: 5m, proxy: "http://192.0.2.1:3128"`, `proxy: the policy does not allow the host "api.example" through a proxy that looks up its address: perch cannot check that; socks5:// lets perch look it up (policy.yaml:4: networks)`},
		{"every: 5m", `every: 5m, proxy: "socks5://192.0.2.1:3128"`, ``},
		{"every: 5m", `every: 5m, unix_socket: /run/api.sock`, `perch.yaml:10: targets[0].probes[0].unix_socket: the policy does not allow the socket "/run/api.sock": it has no address (policy.yaml:4: networks)`},
		{"1s, 2m", "1s, 3m", `perch.yaml:12: targets[0].probes[2].holds: the policy does not allow a hold of 3m, 2m at most (policy.yaml:11: max_hold)`},
	} {
		text := strings.Replace(within, c.old, c.with, 1)
		if text == within {
			t.Fatalf("%q is not in the config", c.old)
		}
		err := parse(text)
		if c.says == "" {
			if err != nil {
				t.Errorf("%q: %v", c.with, err)
			}
			continue
		}
		if !strings.Contains(fmt.Sprint(err), c.says) {
			t.Errorf("%q:\n got %v\nwant %s", c.with, err, c.says)
		}
	}
}

// TestTargetsOfOneHost: a budget that is cut into many targets is no smaller.
func TestTargetsOfOneHost(t *testing.T) {
	const twice = `version: 1
defaults: {rate_limit: 10/s, share: 6%, daily_limit: 100, max_connections: 4}
targets:
  - {name: a, url: "https://api.example", probes: [{name: a, kind: http}]}
  - {name: b, url: "http://API.example.:8080", probes: [{name: a, kind: http}]}
  - {name: c, url: "https://other.example", probes: [{name: a, kind: http}]}
`
	for rule, says := range map[string]string{
		"max_rate: 1.2/s\nmax_share: 12%\nmax_daily_limit: 200\nmax_connections: 8": "",
		"max_rate: 1/s":        "p.yaml:5: targets[1]: a, b at api.example may send 1.2/s together, which is beyond the policy (policy.yaml:2: max_rate); want 1/s or less",
		"max_share: 10%":       "a, b at api.example have a share of 12% together",
		"max_daily_limit: 199": "a, b at api.example may send 200 requests a day together",
		"max_connections: 7":   "a, b at api.example may open 8 connections together",
	} {
		policy, err := ParsePolicy(File{Name: "policy.yaml", Data: []byte("version: 1\n" + rule + "\n")})
		if err != nil {
			t.Fatal(err)
		}
		o := catalog()
		o.Policy = policy
		_, err = Parse(o, File{Name: "p.yaml", Data: []byte(twice)})
		if said := fmt.Sprint(err); says == "" && err != nil || !strings.Contains(said, says) {
			t.Errorf("%s: %v, want %q", rule, err, says)
		}
	}
}

// FuzzParsePolicy: no bytes make it panic, what is refused says why, and what is
// taken has a rule and allows what it names.
func FuzzParsePolicy(f *testing.F) {
	for _, pattern := range []string{"testdata/policy/good/*.yaml", "testdata/policy/bad/*.yaml"} {
		for _, name := range glob(f, pattern) {
			data, err := os.ReadFile(filepath.Clean(name))
			if err != nil {
				f.Fatal(err)
			}
			f.Add(data)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := ParsePolicy(File{Name: "f.yaml", Data: data})
		var mistakes *Errors
		if err != nil {
			if !errors.As(err, &mistakes) || len(mistakes.List) == 0 || p != nil {
				t.Fatalf("refused without a mistake: %v, %v", p, err)
			}
			return
		}
		if len(p.Lines) < 2 || p.MaxShare < 0 || p.MaxShare > 1 || p.MaxRate < 0 || p.MaxDailyLimit < 0 || p.MaxConnections < 0 || p.MinEvery < 0 || p.MaxHold < 0 {
			t.Errorf("rules %+v", p)
		}
		for _, host := range p.Hosts {
			if err := p.Host(strings.ToUpper(strings.Replace(host, "*", "a.b", 1)) + "."); err != nil && netipOf(host) == "" {
				t.Errorf("%q names no host that it allows: %v", host, err)
			}
			if p.Host(host+".evil.example") == nil && !strings.HasSuffix("evil.example", strings.TrimLeft(host, "*.")) && !covered(p.Hosts) {
				t.Errorf("%q allows what begins like it", host)
			}
		}
		for _, n := range p.DeniedNetworks {
			if p.Address(n.Addr()) == nil {
				t.Errorf("an address of the denied %s is allowed", n)
			}
			if n.Addr().Is4() && p.Address(netip.AddrFrom16(n.Addr().As16())) == nil {
				t.Errorf("an address of the denied %s is allowed in IPv6's clothes", n)
			}
		}
		for _, method := range []string{"POST", "PUT", "DELETE", "PATCH", "CONNECT"} {
			if p.Method(method) == nil {
				t.Errorf("%s is allowed", method)
			}
		}
	})
}

func netipOf(host string) string {
	if a, err := netip.ParseAddr(host); err == nil {
		return a.String()
	}
	return ""
}

// covered reports whether a pattern takes in the whole of .example.
func covered(hosts []string) bool {
	for _, h := range hosts {
		if strings.HasPrefix(h, "*.") && strings.HasSuffix(".evil.example", h[1:]) {
			return true
		}
	}
	return false
}

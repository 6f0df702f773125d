package runner_test

import (
	"context"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"perch.example/config"
	"perch.example/plan"
	"perch.example/probes"
	"perch.example/runner"
)

// border writes down what would leave: each question to the resolver, and each
// address that is dialled.
type border struct {
	site *site
	// resolves are the answers to the resolver's questions in turn, the last one
	// again and again.
	resolves [][]netip.Addr

	mu     sync.Mutex
	asked  []string
	dialed []string
}

func (b *border) resolve(_ context.Context, host string) ([]netip.Addr, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	answer := b.resolves[min(len(b.asked), len(b.resolves)-1)]
	b.asked = append(b.asked, host)
	return answer, nil
}

func (b *border) dial(ctx context.Context, network, address string) (net.Conn, error) {
	b.mu.Lock()
	b.dialed = append(b.dialed, address)
	b.mu.Unlock()
	return b.site.dial(ctx, network, address)
}

func addrs(all ...string) []netip.Addr {
	out := make([]netip.Addr, 0, len(all))
	for _, a := range all {
		out = append(out, netip.MustParseAddr(a))
	}
	return out
}

// crossed is what came of one plan.
type crossed struct {
	border *border
	hits   []hit
	seen   []probes.Observation
	result runner.Result
}

// playUnder plays a target that no plan refused, since none was asked about the
// policy: what stops it is the last point before bytes leave.
func playUnder(t *testing.T, policy *probes.Policy, target probes.Target, b *border) crossed {
	t.Helper()
	p, err := plan.New(config.Config{Name: "test", Targets: []probes.Target{target}}, plan.Options{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	out := crossed{border: b}
	out.result = runner.Run(t.Context(), p, runner.Options{
		Targets: []probes.Target{target}, Policy: policy, UserAgent: "perch/test", Dial: b.dial, Resolve: b.resolve,
	}, func(o probes.Observation) { out.seen = append(out.seen, o) })
	out.hits = b.site.seen()
	return out
}

// at is a target of one GET at a host.
func at(host string, spec probes.Spec) probes.Target {
	target := newTarget("api", 1, 20, spec)
	u := &url.URL{Scheme: "http", Host: host, Path: "/"}
	target.URL = u
	for i := range target.Probes {
		target.Probes[i].URL = u
	}
	return target
}

// TestNothingLeavesForWhatIsDenied: neither a question to a resolver for a host
// that may not be called, nor a packet to an address that may not be dialled,
// whichever way perch came to it; it is a skipped step, and no outage.
func TestNothingLeavesForWhatIsDenied(t *testing.T) {
	inside := []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24"), netip.MustParsePrefix("2001:db8::/32")}
	metadata := []netip.Prefix{netip.MustParsePrefix("169.254.0.0/16"), netip.MustParsePrefix("fe80::/10")}
	hosts := []string{"api.example", "*.svc"}
	idle, get := newProbe(probes.KindIdle, time.Second), newProbe(probes.KindHTTP)
	post := get
	post.Method = http.MethodPost
	fronted := get
	fronted.TLS.ServerName = "evil.example"
	for name, c := range map[string]struct {
		policy   probes.Policy
		host     string
		spec     probes.Spec
		resolves [][]netip.Addr
		asked    int // questions to the resolver
		says     string
	}{
		"another host":             {probes.Policy{Hosts: hosts}, "evil.example", get, nil, 0, `the host "evil.example"`},
		"a host that begins alike": {probes.Policy{Hosts: hosts}, "api.example.evil.example", get, nil, 0, "the host"},
		"a host that ends alike":   {probes.Policy{Hosts: hosts}, "evilapi.example", get, nil, 0, "the host"},
		"the bare domain":          {probes.Policy{Hosts: hosts}, "svc", get, nil, 0, "the host"},
		"an address for a host":    {probes.Policy{Hosts: hosts}, "192.0.2.1", get, nil, 0, "the host"},
		"another name in TLS":      {probes.Policy{Hosts: hosts}, "api.example", fronted, nil, 0, `the host "evil.example"`},
		"a hold":                   {probes.Policy{Hosts: hosts}, "evil.example", idle, nil, 0, "the host"},
		"outside":                  {probes.Policy{Networks: inside}, "api.example", get, [][]netip.Addr{addrs("198.51.100.1", "2001:db9::1")}, 1, "the address 198.51.100.1"},
		"outside, held":            {probes.Policy{Networks: inside}, "api.example", idle, [][]netip.Addr{addrs("198.51.100.1")}, 1, "the address 198.51.100.1"},
		"outside, in disguise":     {probes.Policy{Networks: inside}, "api.example", get, [][]netip.Addr{addrs("::ffff:198.51.100.1")}, 1, "the address 198.51.100.1"},
		"a literal outside":        {probes.Policy{Networks: inside}, "198.51.100.1", get, nil, 0, "the address 198.51.100.1"},
		"a disguised literal":      {probes.Policy{DeniedNetworks: metadata}, "[::ffff:169.254.169.254]", get, nil, 0, "the address 169.254.169.254"},
		"the metadata service":     {probes.Policy{DeniedNetworks: metadata}, "api.example", get, [][]netip.Addr{addrs("169.254.169.254")}, 1, "the address 169.254.169.254"},
		"behind a translator":      {probes.Policy{DeniedNetworks: metadata}, "api.example", get, [][]netip.Addr{addrs("64:ff9b::a9fe:a9fe")}, 1, "the address 64:ff9b::a9fe:a9fe"},
		"of a zone":                {probes.Policy{DeniedNetworks: metadata}, "api.example", get, [][]netip.Addr{addrs("fe80::1%eth0")}, 1, "the address fe80::1"},
		"inside, but denied":       {probes.Policy{Networks: inside, DeniedNetworks: inside[:1]}, "api.example", get, [][]netip.Addr{addrs("192.0.2.1")}, 1, "the address 192.0.2.1"},
		"too long a hold":          {probes.Policy{MaxHold: time.Second - 1}, "api.example", idle, [][]netip.Addr{addrs("192.0.2.1")}, 0, "a hold of 1s"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c.policy.File, c.policy.Lines = "policy.yaml", map[string]int{"hosts": 2, "networks": 3, "denied_networks": 4, "max_hold": 5}
				b := &border{site: newSite(t, status(http.StatusOK)), resolves: c.resolves}
				got := playUnder(t, &c.policy, at(c.host, c.spec), b)
				if len(b.dialed) > 0 || len(got.hits) > 0 || len(b.asked) != c.asked {
					t.Errorf("dialled %q, %d requests arrived, asked for %q; want nothing and %d questions", b.dialed, len(got.hits), b.asked, c.asked)
				}
				if len(got.seen) != 1 || got.seen[0].Cut != probes.CutSkipped || len(got.seen[0].Attempts) != 0 || got.seen[0].Problem != "" ||
					!strings.Contains(got.seen[0].CutDetail, "the policy does not allow "+c.says) || !strings.Contains(got.seen[0].CutDetail, "(policy.yaml:") {
					t.Errorf("seen as %+v, want it skipped for %q", got.seen, c.says)
				}
				if got.result.CutShort != "" {
					t.Errorf("the run was cut short: %s", got.result.CutShort)
				}
			})
		})
	}
	t.Run("a method", func(t *testing.T) { // no bytes of a request: the connection is open by then
		synctest.Test(t, func(t *testing.T) {
			b := &border{site: newSite(t, status(http.StatusOK)), resolves: [][]netip.Addr{addrs("192.0.2.1")}}
			got := playUnder(t, &probes.Policy{File: "policy.yaml"}, at("api.example", post), b)
			if len(got.hits) != 0 || got.seen[0].Cut != probes.CutSkipped || !strings.Contains(got.seen[0].CutDetail, "the method POST (policy.yaml: methods)") {
				t.Errorf("%d requests arrived, seen as %+v", len(got.hits), got.seen)
			}
		})
	})
}

// TestWhatIsAllowedLeaves: the same rules let through what they name.
func TestWhatIsAllowedLeaves(t *testing.T) {
	policy := &probes.Policy{
		Hosts: []string{"api.example", "*.svc", "192.0.2.1"}, Networks: []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24"), netip.MustParsePrefix("2001:db8::/32")},
		Methods: []string{http.MethodGet}, MaxHold: time.Second, MaxRate: 20, MaxShare: 1,
	}
	for _, host := range []string{"api.example", "API.Example.", "a.b.svc", "192.0.2.1", "api.example:8443"} {
		for _, spec := range []probes.Spec{newProbe(probes.KindHTTP), newProbe(probes.KindIdle, time.Second)} {
			synctest.Test(t, func(t *testing.T) {
				// The first address may not be dialled, and is passed over.
				b := &border{site: newSite(t, status(http.StatusOK)), resolves: [][]netip.Addr{addrs("198.51.100.1", "::ffff:192.0.2.7")}}
				got := playUnder(t, policy, at(host, spec), b)
				if len(got.seen) != 1 || got.seen[0].Cut != "" || len(got.hits) == 0 {
					t.Errorf("%s: %d requests arrived, seen as %+v", host, len(got.hits), got.seen)
				}
				if slices.ContainsFunc(b.dialed, func(a string) bool { return strings.HasPrefix(a, "198.51.100.1") }) {
					t.Errorf("%s: dialled %q", host, b.dialed)
				}
			})
		}
	}
}

// TestRebinding: a name that meant an allowed address a moment ago, and now another
// one, is judged by what is dialled: the control after a lost hold does not
// leave, and what was seen stands.
func TestRebinding(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		policy := &probes.Policy{File: "policy.yaml", DeniedNetworks: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}}
		site := newSite(t, func(n int, _ hit, w http.ResponseWriter) {
			if n == 1 { // the reuse
				w.WriteHeader(http.StatusBadGateway)
			}
		})
		b := &border{site: site, resolves: [][]netip.Addr{addrs("192.0.2.1"), addrs("10.0.0.1")}}
		got := playUnder(t, policy, at("api.example", newProbe(probes.KindIdle, time.Second)), b)
		if len(b.dialed) != 1 || len(b.asked) != 2 || len(got.hits) != 2 {
			t.Fatalf("dialled %q after %q, %d requests arrived", b.dialed, b.asked, len(got.hits))
		}
		o := got.seen[0]
		if o.Cut != "" || len(o.Attempts) != 2 || !strings.Contains(o.Attempts[1].Detail, "no control: the policy does not allow the address 10.0.0.1") {
			t.Errorf("seen as %+v", o)
		}
	})
}

// TestRedirectsStayInside: a redirect leads nowhere that the policy does not
// allow, and neither does what it resolves to.
func TestRedirectsStayInside(t *testing.T) {
	for _, location := range []string{"http://evil.example/", "//evil.example/", "http://10.0.0.1/", "/next"} {
		synctest.Test(t, func(t *testing.T) {
			policy := &probes.Policy{Hosts: []string{"api.example"}, DeniedNetworks: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}}
			b := &border{
				site:     newSite(t, status(http.StatusFound, "Location", location, "Connection", "close")),
				resolves: [][]netip.Addr{addrs("192.0.2.1"), addrs("10.0.0.1")},
			}
			spec := newProbe(probes.KindHTTP)
			spec.Redirects = 3
			playUnder(t, policy, at("api.example", spec), b)
			if len(b.dialed) != 1 || b.dialed[0] != "192.0.2.1:80" || slices.Contains(b.asked, "evil.example") {
				t.Errorf("to %s: dialled %q, asked for %q", location, b.dialed, b.asked)
			}
		})
	}
}

// TestTheGateKeepsThePolicy: of a target whose plan booked more than the policy
// allows, no more leaves, in any window and in all.
func TestTheGateKeepsThePolicy(t *testing.T) {
	var many []probes.Spec
	for range 12 {
		many = append(many, newProbe(probes.KindHTTP))
	}
	for name, c := range map[string]struct {
		policy probes.Policy
		rate   float64
		most   int
	}{
		"rate":  {probes.Policy{MaxRate: 2}, 2, 12},
		"share": {probes.Policy{MaxShare: 0.1}, 2, 12},
		"host":  {probes.Policy{Fleet: []probes.HostLimit{{Host: "192.0.2.1", RateLimit: 2}}}, 2, 12},
		"day":   {probes.Policy{MaxDailyLimit: 5}, 20, 5},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := &border{site: newSite(t, status(http.StatusOK))}
				got := playUnder(t, &c.policy, newTarget("api", 1, 20, many...), b)
				cal := plan.NewCalendar(c.rate)
				if n := busiest(times(got.hits), cal.Window()); n > cal.Allowed() || len(got.hits) > c.most || len(got.hits) == 0 {
					t.Errorf("%d requests, %d of them within %s; want at most %d and %d", len(got.hits), n, cal.Window(), c.most, cal.Allowed())
				}
			})
		})
	}
	t.Run("connections", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			site := newSite(t, status(http.StatusOK))
			b := &border{site: site}
			idle := newProbe(probes.KindIdle, 10*time.Second, 11*time.Second, 12*time.Second, 13*time.Second)
			playUnder(t, &probes.Policy{MaxConnections: 2}, newTarget("api", 1, 20, idle), b)
			if site.peak > 2 {
				t.Errorf("%d connections were open at once, want 2 at most", site.peak)
			}
		})
	})
}

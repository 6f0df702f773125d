//go:build peers

package peers

import (
	"context"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"perch.example/lab"
	"perch.example/probes"
)

// labPlay is one scenario as it is played.
type labPlay struct {
	lab.Scenario
	secure bool // over TLS, where the scenario leaves the choice
}

// plays are all scenarios as they are by themselves, and those of GOAWAY on a
// held connection over TLS too: there GOAWAY, alert and FIN come in one piece.
func plays() []labPlay {
	var all []labPlay
	for _, s := range lab.Scenarios() {
		all = append(all, labPlay{Scenario: s})
		if s.Held && strings.Contains(s.Reason, "goaway") {
			all = append(all, labPlay{Scenario: s, secure: true})
		}
	}
	return all
}

func (p labPlay) String() string {
	if p.secure {
		return p.Name + "/tls"
	}
	return p.Name
}

// waits reports whether playing takes patience more than work.
func (p labPlay) waits() bool { return p.IdleFor > 0 || endsByTimeout(p.Scenario) }

// shakes reports whether connections begin with a handshake, which is work.
func (p labPlay) shakes() bool { return p.TLS || p.secure || p.Proxy != "" }

// rests reports whether nearly all of the playing is waiting.
func (p labPlay) rests() bool { return p.waits() && !p.shakes() }

// batch is how many are played at the same time.
func (p labPlay) batch() int {
	switch {
	case p.waits():
		return times
	case p.shakes():
		return atOnce / 2
	default:
		return atOnce
	}
}

// paced lets connections be opened one by one. A lab that ends what was idle
// must not meet two hundred handshakes at once: the first ones would be idle for
// too long before they have asked anything.
type paced struct {
	free
	every time.Duration
	mu    *sync.Mutex
}

func (p paced) Dial(ctx context.Context, r probes.Role) (func(), error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case <-time.After(p.every):
	case <-ctx.Done():
	}
	return p.free.Dial(ctx, r)
}

func (p labPlay) play(t *testing.T) {
	t.Helper()
	server, err := lab.Start(t.Context(), p.Name, lab.Options{IdleTimeout: labIdle, Delay: time.Second, TLS: p.secure})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = server.Close() }()
	spec := p.spec(t, server)
	patience := 20 * time.Second
	if endsByTimeout(p.Scenario) {
		patience = 4 * time.Second
	}
	spec.Timeouts = probes.Timeouts{DNS: patience, Connect: patience, TLS: patience, Response: patience}
	env := newEnv()
	env.Resolve = asks(server.Resolver())
	if p.IdleFor > 0 && p.shakes() {
		env.Slots = paced{every: 20 * time.Millisecond, mu: &sync.Mutex{}}
	}
	got := map[probes.Reason]int{}
	var example probes.Attempt
	for n := 0; n < times; n += p.batch() {
		for _, o := range playOnce(t.Context(), spec, env, p.batch(), server.Scenario()) {
			a := decided(o)
			got[a.Reason]++
			if string(a.Reason) != p.Reason {
				example = a
			}
		}
	}
	if got[probes.Reason(p.Reason)] != times {
		t.Errorf("reasons %v, want %s %d times; one that was not: %+v", got, p.Reason, times, example)
	}
}

// spec is a probe of the scenario.
func (p labPlay) spec(t *testing.T, server *lab.Server) *probes.Spec {
	t.Helper()
	origin := server
	if p.Proxy != "" {
		origin = behindProxy(t)
	}
	spec := newSpec(t, probes.KindHTTP, origin.URL()+"/calendar?days=2", expectationsOf(p.Scenario)...)
	if p.Proxy != "" {
		spec.Way.Proxy.URL = parsed(t, server.URL())
	}
	if origin.CA() != nil {
		file, err := origin.WriteCA(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		spec.TLS.CAFile = file
	}
	switch {
	case p.H2 && origin.CA() != nil:
		spec.Protocol = probes.ProtocolH2
	case p.H2:
		spec.Protocol = probes.ProtocolH2C
	}
	return spec
}

// behindProxy is a good server. It speaks TLS: of plain requests clients ask a
// proxy for the answer, not for a tunnel.
func behindProxy(t *testing.T) *lab.Server {
	t.Helper()
	origin, err := lab.Start(t.Context(), "healthy", lab.Options{TLS: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = origin.Close() })
	return origin
}

func parsed(t *testing.T, address string) *url.URL {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// expectationsOf asks for just what the scenario gets wrong.
func expectationsOf(s lab.Scenario) []string {
	switch probes.Reason(s.Reason) {
	case probes.ReasonSlow:
		return []string{`latency < duration("500ms")`}
	case probes.ReasonExpectation:
		return []string{"size(json.days) == 2"}
	default:
		return nil
	}
}

// playOnce plays the scenario n times at the same time.
func playOnce(ctx context.Context, spec *probes.Spec, env probes.Env, n int, s lab.Scenario) []probes.Observation {
	if s.Held || probes.Reason(s.Reason) == probes.ReasonNoKeepAlive {
		held := *spec
		held.Kind = probes.KindIdle
		return holdMany(ctx, &held, env, slices.Repeat([]time.Duration{holdFor(s)}, n))
	}
	seen := make(chan probes.Observation, n)
	for range n {
		go func() { seen <- probes.RunHTTP(ctx, spec, env) }()
	}
	all := make([]probes.Observation, n)
	for i := range all {
		all[i] = <-seen
	}
	return all
}

// holdFor is long enough for what follows idleness; what shows itself on the
// second request needs no more than that.
func holdFor(s lab.Scenario) time.Duration {
	if s.IdleFor == 0 {
		return time.Millisecond
	}
	return s.IdleFor + late
}

//go:build peers

package peers

import (
	"context"
	"net"
	"net/netip"
	"net/url"
	"os"
	"testing"
	"time"

	"perch.example/probes"
	"perch.example/probes/expect"
	"perch.example/probes/wire"
)

// free is a budget without limits: these tests ask what perch sees, not how
// often it may look.
type free struct{}

func (free) Send(ctx context.Context, _ probes.Role) error { return ctx.Err() }
func (free) HoldUntil(time.Time) bool                      { return true }
func (free) Together(ctx context.Context) error            { return ctx.Err() }
func (free) Dial(ctx context.Context, _ probes.Role) (func(), error) {
	return func() {}, ctx.Err()
}

func newEnv() probes.Env {
	return probes.Env{
		UserAgent: "perch/test", IDs: probes.NewIDs(1), Slots: free{}, ReadFile: os.ReadFile,
		Log: discard(),
	}
}

// newSpec is a probe of that URL with patience for a busy machine.
func newSpec(t *testing.T, kind probes.Kind, address string, expectations ...string) *probes.Spec {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	set, err := expect.Compile(expectations)
	if err != nil {
		t.Fatal(err)
	}
	return &probes.Spec{
		Target: "peer", Probe: string(kind), Kind: kind, Method: "GET", URL: u, MaxBody: 64 << 10, Expect: set,
		Timeouts: probes.Timeouts{DNS: 10 * time.Second, Connect: 10 * time.Second, TLS: 10 * time.Second, Response: 10 * time.Second},
	}
}

// asks is a resolver that knows only that name server; empty: the system's.
func asks(server string) wire.ResolveFunc {
	if server == "" {
		return nil
	}
	r := &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, network, server)
	}}
	return func(ctx context.Context, host string) ([]netip.Addr, error) {
		return r.LookupNetIP(ctx, "ip", host)
	}
}

// holdMany plays n rungs at once and returns their observations.
func holdMany(ctx context.Context, s *probes.Spec, env probes.Env, holds []time.Duration) []probes.Observation {
	seen := make(chan probes.Observation, len(holds))
	for _, h := range holds {
		probes.StartIdle(ctx, s, h, env, func(o probes.Observation) { seen <- o })
	}
	all := make([]probes.Observation, 0, len(holds))
	for range holds {
		all = append(all, <-seen)
	}
	return all
}

// decided is the reason of the attempt that decides an observation without a
// control: the reuse's, else the first one's.
func decided(o probes.Observation) probes.Attempt {
	if a := o.Attempt(probes.ConnectionReused); a != nil {
		return *a
	}
	if len(o.Attempts) == 0 {
		return probes.Attempt{Reason: probes.ReasonInternal, Detail: o.CutDetail}
	}
	return o.Attempts[0]
}

//go:build peers

package peers

import (
	"context"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"perch.example/lab"
	"perch.example/probes"
)

func discard() *slog.Logger { return slog.New(slog.DiscardHandler) }

const (
	times  = 200 // how often each scenario must give its reason
	atOnce = 100
	// labIdle is long enough for a connection to be opened and used before the
	// lab ends it as idle, and late is how much longer than needed a hold lasts:
	// on loaded cores, under the race detector, everybody is late.
	labIdle = 1500 * time.Millisecond
	late    = 1500 * time.Millisecond
)

// ends reports whether the scenario shows itself by a timeout. Then timeouts
// are short and all are played at once; else they are patient.
func endsByTimeout(s lab.Scenario) bool {
	for _, part := range []string{"stall", "drip", "no_response", "blackhole", "timeout", "silent"} {
		if strings.Contains(s.Name, part) {
			return true
		}
	}
	return false
}

// keepBusy loads both cores from outside of this process for the length of the
// test: what a neighbour does to a Pod.
func keepBusy(t *testing.T) {
	t.Helper()
	for range 2 {
		cmd := exec.Command("sh", "-c", "while :; do :; done")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			_ = cmd.Process.Kill()
			_ = cmd.Wait() // killed
		})
	}
}

// TestEveryReasonIsRightEveryTime: each lab scenario gives its reason 200 times
// of 200, with both cores loaded. CI runs it under the race detector.
func TestEveryReasonIsRightEveryTime(t *testing.T) {
	keepBusy(t)
	reached := map[probes.Reason]bool{}
	for _, s := range lab.Scenarios() {
		reached[probes.Reason(s.Reason)] = true
	}
	t.Run("scenarios", func(t *testing.T) {
		for _, s := range lab.Scenarios() {
			t.Run(s.Name, func(t *testing.T) { playScenario(t, s) })
		}
	})
	for _, r := range probes.Reasons() {
		if !reached[r] && !slices.Contains(elsewhere(), r) {
			t.Errorf("no scenario produces %s", r)
		}
	}
}

// elsewhere are the reasons that no HTTP/1.1 server can produce: perch's own,
// HTTP/2's, and a forward proxy's.
func elsewhere() []probes.Reason {
	return []probes.Reason{
		probes.ReasonCanceled, probes.ReasonSkipped, probes.ReasonInternal, probes.ReasonProxy, probes.ReasonIdleGoaway,
		probes.ReasonGoawayUnprocessed, probes.ReasonGoawayProcessed, probes.ReasonRefusedStream, probes.ReasonStreamReset,
	}
}

func playScenario(t *testing.T, s lab.Scenario) {
	t.Helper()
	server, err := lab.Start(t.Context(), s.Name, lab.Options{IdleTimeout: labIdle, Delay: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = server.Close() }()
	spec := newSpec(t, probes.KindHTTP, server.URL()+"/calendar?days=2", expectationsOf(s)...)
	if ca := server.CA(); ca != nil {
		spec.TLS.CAFile = filepath.Join(t.TempDir(), "ca.pem")
		if err := os.WriteFile(spec.TLS.CAFile, ca, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	batch := atOnce
	if server.CA() != nil {
		batch = atOnce / 2 // handshakes are what costs
	}
	patience := 20 * time.Second
	if endsByTimeout(s) {
		batch, patience = times, 4*time.Second
	}
	spec.Timeouts = probes.Timeouts{DNS: patience, Connect: patience, TLS: patience, Response: patience}
	env := newEnv()
	env.Resolve = asks(server.Resolver())
	got := map[probes.Reason]int{}
	var example probes.Attempt
	for n := 0; n < times; n += batch {
		for _, o := range playOnce(t.Context(), spec, env, batch, server.Scenario()) {
			a := decided(o)
			got[a.Reason]++
			if string(a.Reason) != s.Reason {
				example = a
			}
		}
	}
	if got[probes.Reason(s.Reason)] != times {
		t.Errorf("reasons %v, want %s %d times; one that was not: %+v", got, s.Reason, times, example)
	}
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

package plan

import (
	"strings"
	"testing"
	"time"

	"perch.example/probes"
)

// TestLaddersKeepThePolicy: of a ladder that perch makes, what is longer than the
// policy allows is left out and said; what the ladder is for is refused.
func TestLaddersKeepThePolicy(t *testing.T) {
	for _, c := range []struct {
		most    time.Duration
		longest time.Duration
		says    string
	}{
		{0, 2 * time.Minute, ""},
		{2 * time.Minute, 2 * time.Minute, ""},
		{90 * time.Second, 61 * time.Second, "no rung of 2m (twice keep_alive 1m): the policy (policy.yaml:7: max_hold) leaves room for 1m30s"},
		{61 * time.Second, 61 * time.Second, "no rung of 2m"},
		{60 * time.Second, 0, "a hold of 1m1s (just above keep_alive 1m) is longer than the policy allows (policy.yaml:7: max_hold): holds up to 1m would fit"},
	} {
		made := shop()
		probe := probes.Spec{Probe: "idle", Kind: probes.KindIdle, KeepAlive: time.Minute, Every: time.Hour}
		made.Targets = made.Targets[:1]
		made.Targets[0] = target("api", probe)
		made.Policy = &probes.Policy{File: "policy.yaml", Lines: map[string]int{"max_hold": 7}, MaxHold: c.most}
		p, err := New(made, Options{Seed: 1})
		switch {
		case c.longest == 0:
			if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%s: %v, want %q", c.most, err, c.says)
			}
		case err != nil:
			t.Errorf("%s: %v", c.most, err)
		case p.LongestHold != c.longest || !strings.Contains(strings.Join(p.Notes, "\n"), c.says):
			t.Errorf("%s: holds up to %s, want %s; notes %q, want %q", c.most, p.LongestHold, c.longest, p.Notes, c.says)
		}
	}
}

// TestSumsOfManyConfigs name the largest.
func TestSumsOfManyConfigs(t *testing.T) {
	h := HostCost{Host: "api.example", Rate: 300}
	for n := range 30 {
		h.Parts = append(h.Parts, HostPart{Config: "c" + number(float64(n)), Targets: []string{"a", "b"}, Rate: float64(n)})
	}
	over := OverPolicy([]HostCost{h}, &probes.Policy{File: "p.yaml", Fleet: []probes.HostLimit{{Host: "api.example", Line: 3, RateLimit: 20}}})
	if len(over) != 1 || !strings.Contains(over[0], "c29 29/s (a, b); c28") || !strings.HasSuffix(over[0], "; and 20 more (p.yaml:3: fleet, api.example)") || strings.Contains(over[0], "c19 ") {
		t.Errorf("%q", over)
	}
}

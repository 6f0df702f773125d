package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"perch.example/config"
	"perch.example/plan"
	"perch.example/probes"
)

// mountedPolicy is where a Pod has what the platform team allows.
const mountedPolicy = "/etc/perch/policy/policy.yaml"

// bindPolicy adds --policy to every command.
func bindPolicy(root *cobra.Command, sys *system) {
	root.PersistentFlags().String("policy", "", "what the platform team allows: a `FILE` (default: "+mountedPolicy+", where there is one)")
	sys.policy = root.PersistentFlags().Lookup("policy")
}

// loadPolicy reads what the platform team allows; nil: there is no policy. An
// error means that nothing may be sent: a policy that cannot be read allows
// nothing.
func loadPolicy(sys system) (*probes.Policy, error) {
	given := ""
	if sys.policy != nil {
		given = sys.policy.Value.String()
		if given == "" && sys.policy.Changed {
			return nil, errors.New("--policy (or PERCH_POLICY) is empty: name a file, or leave it out")
		}
	}
	there, err := isMounted(sys.mounted)
	switch {
	case err != nil:
		return nil, err
	case there && given != "" && filepath.Clean(given) != filepath.Clean(sys.mounted):
		return nil, fmt.Errorf("--policy %s: the platform team's policy is mounted as %s, which nothing takes the place of; leave --policy out", given, sys.mounted)
	case there:
		given = sys.mounted
	case given == "":
		return nil, nil
	}
	return config.LoadPolicy(given)
}

// isMounted reports whether there is a policy in its place. A folder there that
// holds something else is a ConfigMap with another key: that nobody meant.
func isMounted(path string) (bool, error) {
	if path == "" {
		return false, nil
	}
	_, err := os.Stat(path)
	if err == nil {
		return true, nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return false, fmt.Errorf("reading the policy: %w", err)
	}
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, fmt.Errorf("reading the policy: %w", err)
	}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), ".") { // a mount keeps its versions in such
			return false, fmt.Errorf("reading the policy: %s holds %s and no %s: name the ConfigMap's key so", filepath.Dir(path), e.Name(), filepath.Base(path))
		}
	}
	return false, nil
}

// keepsPolicy refuses a config that by itself asks more of a host than the policy
// allows the whole fleet: all of it, for its shards are one perch, and what --only
// leaves out now runs beside it or later.
func keepsPolicy(cfg config.Config, o plan.Options) error {
	if cfg.Policy == nil || len(cfg.Policy.Fleet) == 0 {
		return nil
	}
	if !cfg.Shard.Whole() {
		cfg.Targets = cfg.AllTargets
	}
	whole, err := plan.New(cfg, plan.Options{Seed: o.Seed, Ends: o.Ends})
	if err != nil {
		return err
	}
	if over := plan.OverPolicy(plan.Hosts([]*plan.Plan{whole}), cfg.Policy); len(over) > 0 {
		return errors.New(strings.Join(over, "\n"))
	}
	return nil
}

// leastEvery is how often a probe may run by the policy, at most; 0: no rule says.
func leastEvery(p *probes.Policy) time.Duration {
	if p == nil {
		return 0
	}
	return p.MinEvery
}

// byHand is the policy for a command that somebody starts by hand, for one URL: no
// share of a rate limit and no day is known there. All else holds.
func byHand(p *probes.Policy) *probes.Policy {
	if p == nil {
		return nil
	}
	own := *p
	own.MaxShare, own.MaxDailyLimit, own.MinEvery = 0, 0, 0
	return &own
}

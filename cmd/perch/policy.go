package main

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
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
// holds anything else is a ConfigMap with another key, or a mount that is broken:
// that nobody meant.
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
	dir, name := filepath.Dir(path), filepath.Base(path)
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, fmt.Errorf("reading the policy: %w", err)
	}
	for _, e := range entries {
		switch {
		case e.Name() == name:
			return false, fmt.Errorf("reading the policy: %s is a link that leads nowhere: mount the ConfigMap anew", path)
		case !strings.HasPrefix(e.Name(), "."):
			return false, fmt.Errorf("reading the policy: %s holds %s and no %s: name the ConfigMap's key so", dir, e.Name(), name)
		case !isEmptyDir(filepath.Join(dir, e.Name())):
			return false, fmt.Errorf("reading the policy: %s holds %s, which is not empty, and no %s: name the ConfigMap's key so, and mount it as a whole", dir, e.Name(), name)
		}
	}
	return false, nil
}

// isEmptyDir: such are in a mount of a ConfigMap that is optional and not there,
// where the kubelet keeps its versions.
func isEmptyDir(path string) bool {
	entries, err := os.ReadDir(path)
	return err == nil && len(entries) == 0
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

// sayForgotten warns of what the policy limits and nobody remembers.
func sayForgotten(log *slog.Logger, cfg config.Config) {
	if cfg.Policy == nil || cfg.State.Kept() {
		return
	}
	if cfg.Policy.MinEvery > 0 {
		log.Warn("without a state each run is the first: how often probes run, which the policy limits, is not known", "policy", cfg.Policy.At("min_every"))
	}
	if cfg.Policy.MaxDailyLimit > 0 {
		log.Warn("without a state each run is the day's first: how much was sent today, which the policy limits, is not known", "policy", cfg.Policy.At("max_daily_limit"))
	}
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

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"perch.example/config"
	"perch.example/plan"
	"perch.example/state"
)

func newPlan(sys system) *cobra.Command {
	var flags runFlags
	var check bool
	cmd := &cobra.Command{
		Use: "plan [FILE|DIR...]", Short: "Show what a run would send, without network",
		Long: `Shows what a run would do, without network: each step, what its hold follows from, requests, peak and daily
requests per target against its limit, open connections, the longest hold, wall time and time series. Fails
where a run would for its config, its limits, or a state that is another config's. A secret that cannot be read
here, or a state that has no place here, is a warning: neither need be where a plan is made. What the last run
measured is read from the state, if there is one: from a ConfigMap only in a Pod or where KUBECONFIG is set,
and nothing else is asked of the network. --check does without that, and without the warnings.

With several configs, a perch's each, it also sums up the requests per host across them. A folder with *.yaml
in it is one config; one without stands for all configs in the folders below. With --policy it fails where
together they ask more of a host than the policy allows a fleet.`,
	}
	flags.bind(cmd)
	cmd.Flags().BoolVar(&check, "check", false, "print only problems (for CI)")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := flags.complete(); err != nil {
			return usage(err)
		}
		log, err := logger(cmd, sys)
		if err != nil {
			return usage(err)
		}
		if len(args) == 0 {
			args = []string{flags.config}
		}
		policy, err := loadPolicy(sys) // once: not a mistake for each config
		if err != nil {
			return usage(err)
		}
		var plans []*plan.Plan
		var problems []error
		for _, path := range configsIn(args) {
			p, err := planOfFile(cmd.Context(), sys, path, planFlags{flags, check}, log)
			if err != nil {
				problems = append(problems, err)
			}
			if p != nil { // else there is none to show
				plans = append(plans, p)
			}
		}
		hosts := plan.Hosts(plans)
		for _, over := range plan.OverPolicy(hosts, policy) {
			problems = append(problems, errors.New(over))
		}
		if !check {
			if err := printPlans(sys, plans, hosts); err != nil {
				return own(err)
			}
		}
		if err := errors.Join(problems...); err != nil {
			return usage(err)
		}
		return nil
	}
	return cmd
}

// planFlags are a plan's.
type planFlags struct {
	runFlags
	check bool
}

// configsIn are the configs that arguments name. Each is a perch's: a file, a
// folder whose files are merged, or a folder of such folders, for a fleet's.
func configsIn(args []string) []string {
	var all []string
	for _, arg := range args {
		below, err := config.Below(arg)
		if err != nil || len(below) == 0 {
			below = []string{arg} // loading it says what is wrong
		}
		all = append(all, below...)
	}
	return all
}

// planOfFile plans one perch's config.
func planOfFile(ctx context.Context, sys system, path string, flags planFlags, log *slog.Logger) (*plan.Plan, error) {
	cfg, err := loadConfig(sys, path, log)
	if err != nil {
		return nil, err
	}
	if !flags.check {
		warnOfHere(sys, cfg, log)
	}
	var seen state.Document
	var refused error
	if !flags.check || cfg.State.ConfigMap == "" { // a check in CI has no cluster
		seen, refused = lastSeen(ctx, sys, cfg, log)
	}
	p, err := planOf(cfg, flags.runFlags, seen, sys.env)
	if err != nil {
		return nil, placed(path, err)
	}
	p.From = path
	if p.Name == "" {
		p.Name = path
	}
	if !cfg.Shard.Whole() {
		p.Name += fmt.Sprintf(", %s with %s", cfg.Shard, count(len(cfg.Targets), "target", "targets"))
	}
	p.Told, p.State = whoIsTold(cfg), "none: each run is the first"
	if cfg.State.Kept() {
		p.State = plannedState(sys, cfg)
	}
	if cfg.Policy != nil {
		p.Policy = cfg.Policy.File
	}
	if refused != nil {
		refused = placed(path, refused)
	}
	return p, errors.Join(refused, checkCalls(p, cfg.Places))
}

// placed says of each problem which config it is of, where it does not say so
// itself.
func placed(path string, err error) error {
	var refused *plan.Refusal
	if !errors.As(err, &refused) {
		return fmt.Errorf("%s: %w", path, err)
	}
	for i, p := range refused.Problems {
		refused.Problems[i].Where = cmp.Or(p.Where, path)
	}
	return refused
}

// whoIsTold says where notices go, and whether they get there.
func whoIsTold(cfg config.Config) string {
	to := strings.Join(destinations(cfg), ", ")
	if cfg.Slack.Channel != "" {
		to = strings.Replace(to, toSlack, toSlack+" ("+cfg.Slack.Channel+")", 1)
	}
	switch {
	case to == "":
		return "to nobody: the config names no destination"
	case cfg.Alerts.Mode == config.ModeReport:
		return "alerts.mode is report: shown in the report, and never sent to " + to
	case !cfg.State.Kept():
		return "never sent to " + to + ": without a state every run would tell all of it anew"
	}
	return "to " + to
}

func planOf(cfg config.Config, flags runFlags, seen state.Document, env func(string) (string, bool)) (*plan.Plan, error) {
	if err := checkSeries(cfg); err != nil {
		return nil, err
	}
	o := plan.Options{Seed: flags.seed, Deadline: flags.deadline, Only: flags.only, Ends: ends(seen, cfg), Brackets: brackets(seen), Env: env}
	p, err := plan.New(cfg, o)
	if err != nil {
		return nil, err
	}
	if len(flags.only) > 0 || !cfg.Shard.Whole() { // else the plan is summed up with the others
		if err := keepsPolicy(cfg, o); err != nil {
			return nil, err
		}
	}
	p.Series, p.MaxSeries = series(cfg), cfg.Metrics.MaxSeries
	return p, nil
}

// lookWithin bounds a look at the state in a cluster.
const lookWithin = 5 * time.Second

// clusterMeant reports whether a state in a ConfigMap may be looked for: what
// ~/.kube/config happens to lead to may be any namespace of any cluster.
func clusterMeant(sys system) bool {
	config, _ := sys.env("KUBECONFIG")
	_, inPod := sys.env("KUBERNETES_SERVICE_HOST")
	return config != "" || inPod
}

// plannedState is whichState, without a namespace that nobody named.
func plannedState(sys system, cfg config.Config) string {
	if cfg.State.ConfigMap != "" && !clusterMeant(sys) {
		return "configmap " + cfg.State.ConfigMap
	}
	return whichState(sys, cfg)
}

// lastSeen is what the state says of the last run, where there is one: a run
// would look where that one saw the application fail. It is only looked at, so a
// plan can be made beside a run; without it a plan is still one. Its error is that the state is
// another config's, for which a run is refused.
func lastSeen(ctx context.Context, sys system, cfg config.Config, log *slog.Logger) (state.Document, error) {
	if !cfg.State.Kept() {
		return state.Document{}, nil
	}
	const first = "plan: without a state: a first run's plan"
	if cfg.State.ConfigMap != "" && !clusterMeant(sys) {
		log.Info(first, "why", "KUBECONFIG names no cluster to look for it in", "state", plannedState(sys, cfg))
		return state.Document{}, nil
	}
	ctx, cancel := context.WithTimeout(ctx, lookWithin)
	defer cancel()
	doc, err := readState(ctx, sys, cfg)
	var absent *state.AbsentError
	if errors.As(err, &absent) {
		log.Info(first, "why", "there is none", "state", plannedState(sys, cfg))
		log.Debug("plan", "error", err)
		return state.Document{}, nil
	}
	if err != nil {
		log.Warn("plan: without what the last run saw", "error", err)
		return state.Document{}, nil
	}
	if err := checkOwner(sys, cfg, doc); err != nil {
		return state.Document{}, err
	}
	return doc, nil
}

func printPlans(sys system, plans []*plan.Plan, hosts []plan.HostCost) error {
	for i, p := range plans {
		if i > 0 {
			fmt.Fprintln(sys.stdout)
		}
		if err := p.Text(sys.stdout); err != nil {
			return err
		}
	}
	if len(plans) < 2 {
		return nil
	}
	fmt.Fprintln(sys.stdout)
	return plan.HostsText(sys.stdout, hosts)
}

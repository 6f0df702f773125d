package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"runtime/debug"
	"slices"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"perch.example/config"
	"perch.example/plan"
	"perch.example/probes"
)

// withoutEvery is how often a probe runs in serve that says `every: always`:
// there is no schedule but this one, and it is what a config says by itself. The
// platform team's policy may ask for less.
const withoutEvery = 5 * time.Minute

// servesAt is when serve collects garbage, in place of collectAt: at 50 that was a
// sixth of the processor time of 200 probes a second, for 11 of 77 MiB. In a Pod
// GOMEMLIMIT keeps it within the memory that the manifest asks for.
const servesAt = 100

func newServe(sys system) *cobra.Command {
	var flags runFlags
	var out outputFlags
	var beside sidecar
	var elect bool
	cmd := &cobra.Command{
		Use: "serve", Short: "Each probe on its every, for long: alerts, and answers /, /metrics, /healthz, /readyz", Args: noArgs,
		Long: `The Deployment's command: runs each probe on its every, alerts as it goes, and answers /metrics, /healthz,
/readyz and, for people, a status page at / on metrics.listen (it has no login: docs/status-page.md).

Takes in a changed config, a mounted ConfigMap's and the platform team's policy included, within seconds, and at
SIGHUP at once; a bad one is refused as a whole, and the one before it stays.

Ends at SIGTERM, with status 0 when all is saved, 4 when perch could not do its own part. docs/serve.md has the
rest.`,
	}
	flags.bindConfig(cmd)
	beside.bind(cmd)
	cmd.Flags().BoolVar(&flags.adopt, "adopt-state", false, "take over a state that a config of another name kept: once, after a config was renamed")
	cmd.Flags().BoolVar(&elect, "elect", false, "one of several replicas: by the Lease of state.configmap one probes, and the others stand by")
	cmd.Flags().StringVar(&out.format, "output", "none", "none, text or json: the report of each run, of what was over at one time, to stdout")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if _, set := sys.env("GOGC"); !set {
			debug.SetGCPercent(servesAt)
		}
		if !slices.Contains([]string{"none", "text", "json"}, out.format) {
			return usage(fmt.Errorf("--output %q: want none, text or json", out.format))
		}
		if err := flags.complete(); err != nil {
			return usage(err)
		}
		lines := &spool{to: sys.stderr}
		sys.stderr = lines
		log, err := logger(cmd, sys)
		if err := errors.Join(err, beside.check()); err != nil {
			return usage(err)
		}
		defer beside.end(cmd.Context(), log)
		return endsInTime(cmd.Context(), func() error {
			defer lines.flush(linesWithin)
			return beginning{sys, flags, out, &beside, elect, log, lines}.serve(cmd.Context())
		})
	}
	return cmd
}

// beginning is what perch serve begins with.
type beginning struct {
	sys    system
	flags  runFlags
	out    outputFlags
	beside *sidecar
	elect  bool
	log    *slog.Logger
	lines  *spool // of the log
}

// serve reads the config, and serves until ctx ends.
func (b beginning) serve(ctx context.Context) error {
	files := newFiles(b.sys, b.flags.config) // before it is read
	cfg, err := loadConfig(b.sys, b.flags.config, b.log)
	if err != nil {
		return usage(err)
	}
	if err := b.beside.ready(ctx, b.log); err != nil && ctx.Err() == nil {
		return own(err) // the kubelet starts it again
	}
	sayUnused(cfg, b.log)
	s := newService(b.sys, cfg, b.flags, b.out, b.log)
	hangup := make(chan os.Signal, 1)
	signal.Notify(hangup, syscall.SIGHUP)
	defer signal.Stop(hangup)
	s.files, s.hangup, s.lines = files, hangup, b.lines
	if b.elect {
		if err := s.elects(); err != nil {
			return usage(err)
		}
	}
	return s.serve(ctx)
}

// served is the config as serve takes it: everything has its `every`, and
// nothing is pushed.
func served(cfg config.Config) config.Config {
	cfg.Metrics.PushURL, cfg.Metrics.Textfile = "", ""
	always := max(withoutEvery, leastEvery(cfg.Policy))
	cfg.Targets, cfg.AllTargets = withEvery(cfg.Targets, always), withEvery(cfg.AllTargets, always)
	return cfg
}

// withEvery are targets of which what says `every: always` has an every.
func withEvery(targets []probes.Target, always time.Duration) []probes.Target {
	targets = slices.Clone(targets)
	for i := range targets {
		targets[i].Probes = slices.Clone(targets[i].Probes)
		for k := range targets[i].Probes {
			if s := &targets[i].Probes[k]; s.Every == 0 {
				s.Every = always
			}
		}
	}
	return targets
}

// fit is a config that serve may run: it was planned as a whole, and each of its
// probes by itself.
type fit struct {
	cfg    config.Config
	probes map[string]*fitProbe // by target/probe: those that run here, as --only says
}

// fitProbe is what is known of a probe before it runs.
type fitProbe struct {
	spec  *probes.Spec
	near  *config.Config // narrowed to its target; nothing of it is changed
	most  int            // requests of a wave
	lasts time.Duration  // of a wave, when every timeout is used up
	notes *plan.Plan
}

// fits refuses what no wave could be made of.
func (s *service) fits(cfg config.Config) (*fit, error) {
	if cfg.Name == "" || cfg.Vantage == "" {
		return nil, errors.New("perch serve needs a name and a vantage, which every series carries: write name: and vantage: at the top of the config, or set PERCH_VANTAGE")
	}
	if err := checkSeries(cfg); err != nil {
		return nil, err
	}
	o := plan.Options{Seed: s.flags.seed, Only: s.flags.only, Env: s.sys.env}
	whole, err := plan.New(cfg, o)
	if err != nil {
		return nil, err
	}
	if err := keepsPolicy(cfg, o); err != nil {
		return nil, err
	}
	f := &fit{cfg: cfg, probes: map[string]*fitProbe{}}
	runs := playedBy(whole)
	for _, t := range cfg.Targets {
		near := narrowed(cfg, t, runs)
		for i := range near.Targets[0].Probes {
			if err := f.add(&near, &near.Targets[0].Probes[i], o); err != nil {
				return nil, err
			}
		}
	}
	return f, nil
}

// add plans one probe by itself.
func (f *fit) add(near *config.Config, spec *probes.Spec, o plan.Options) error {
	id := spec.ID()
	o.Only, o.Due = nil, func(other probes.Spec) bool { return other.ID() == id }
	p, err := plan.New(*near, o)
	if err != nil {
		return err
	}
	f.probes[id] = &fitProbe{spec: spec, near: near, most: mostOf(p), lasts: p.LongestWall, notes: p}
	return nil
}

// playedBy are the target/probe that a plan has steps of.
func playedBy(p *plan.Plan) map[string]bool {
	all := map[string]bool{}
	for _, step := range p.Steps {
		all[step.Spec.ID()] = true
	}
	return all
}

package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"perch.example/config"
	"perch.example/plan"
	"perch.example/probes"
	"perch.example/state"
)

// withoutEvery is how often a probe runs in serve that says `every: always`:
// there is no schedule but this one, and it is what a config says by itself. The
// platform team's policy may ask for less.
const withoutEvery = 5 * time.Minute

func newServe(sys system) *cobra.Command {
	var flags runFlags
	var out outputFlags
	var beside sidecar
	cmd := &cobra.Command{
		Use: "serve", Short: "Each probe on its every, for long: alerts, and answers /, /metrics, /healthz, /readyz", Args: noArgs,
		Long: `The Deployment's command: runs each probe on its every, alerts as it goes, and answers /metrics, /healthz,
/readyz and, for people, a status page at / on metrics.listen (it has no login: docs/status-page.md). Ends at SIGTERM, with status 0 when all is saved, 4 when perch could not do
its own part. docs/serve.md has the rest.`,
	}
	flags.bindConfig(cmd)
	beside.bind(cmd)
	cmd.Flags().BoolVar(&flags.adopt, "adopt-state", false, "take over a state that a config of another name kept: once, after a config was renamed")
	cmd.Flags().StringVar(&out.format, "output", "none", "none, text or json: each wave's report to stdout")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if !slices.Contains([]string{"none", "text", "json"}, out.format) {
			return usage(fmt.Errorf("--output %q: want none, text or json", out.format))
		}
		if err := flags.complete(); err != nil {
			return usage(err)
		}
		log, err := logger(cmd, sys)
		if err := errors.Join(err, beside.check()); err != nil {
			return usage(err)
		}
		defer beside.end(cmd.Context(), log)
		cfg, err := loadConfig(sys, flags.config, log)
		if err != nil {
			return usage(err)
		}
		if err := beside.ready(cmd.Context(), log); err != nil && cmd.Context().Err() == nil {
			return own(err) // the kubelet starts it again
		}
		sayUnused(cfg, log)
		return newService(sys, cfg, flags, out, log).serve(cmd.Context())
	}
	return cmd
}

// service is perch serve.
type service struct {
	sys    system
	cfg    config.Config
	flags  runFlags
	out    outputFlags
	log    *slog.Logger
	loops  []*loop
	health *health
	board  *board
	end    context.CancelCauseFunc      // ends all loops
	scrape atomic.Pointer[http.Handler] // nil: there are no metrics yet

	turn     turn // of what follows: one wave at a time
	kept     *kept
	seeds    *rand.Rand
	last     probes.Run // the newest that was taken in
	untold   bool       // it was not told, nor saved
	notes    map[string]bool
	beside   string            // how a command is run beside it
	standing map[string]string // where each incident stood, as it was last said
}

func newService(sys system, cfg config.Config, flags runFlags, out outputFlags, log *slog.Logger) *service {
	host, _ := os.Hostname() // unknown stays empty
	cfg = served(cfg)
	return &service{
		sys: sys, cfg: cfg, flags: flags, out: out, log: log, health: newHealth(), board: newBoard(cfg),
		kept: &kept{}, turn: make(turn, 1), beside: besideServe(sys.env, host), seeds: rand.New(rand.NewPCG(flags.seed, 0)), notes: map[string]bool{}, standing: map[string]string{},
	}
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

// serve answers until ctx ends. Its order: what is wrong with the config ends it
// before anything is opened, and a port that is taken before anything is sent.
func (s *service) serve(ctx context.Context) error {
	if err := s.check(); err != nil {
		return usage(err)
	}
	ctx, s.end = context.WithCancelCause(ctx)
	defer s.end(nil)
	stopping := s.health.whenDone(ctx)
	web, err := s.listen()
	if err != nil {
		return own(err)
	}
	defer web.close()
	if err := s.open(ctx); err != nil || ctx.Err() != nil {
		return errors.Join(err, ownCause(ctx))
	}
	s.health.setReady()
	s.log.Info("serving", "address", web.address(), "loops", len(s.loops))
	var all sync.WaitGroup
	for _, l := range s.loops {
		all.Go(func() { s.loop(ctx, l) })
	}
	all.Wait()
	return s.stop(ctx, stopping)
}

// check refuses what no wave could be made of, and makes the loops.
func (s *service) check() error {
	if s.cfg.Name == "" || s.cfg.Vantage == "" {
		return errors.New("perch serve needs a name and a vantage, which every series carries: write name: and vantage: at the top of the config, or set PERCH_VANTAGE")
	}
	if err := checkSeries(s.cfg); err != nil {
		return err
	}
	o := plan.Options{Seed: s.flags.seed, Only: s.flags.only, Env: s.sys.env}
	whole, err := plan.New(s.cfg, o)
	if err != nil {
		return err
	}
	if err := keepsPolicy(s.cfg, o); err != nil {
		return err
	}
	sayForgotten(s.log, s.cfg)
	for _, every := range everies(s.cfg) {
		p, err := plan.New(s.cfg, plan.Options{Seed: s.flags.seed, Only: s.flags.only, Due: of(every), Env: s.sys.env})
		if err != nil {
			return err
		}
		if len(p.Steps) > 0 { // else --only leaves it out
			s.loops = append(s.loops, &loop{every: every, probes: playedBy(p), patience: 2*whole.LongestWall + slowest})
			s.sayNotes(p)
		}
	}
	return nil
}

// everies are the different ones of a config, the shortest first.
func everies(cfg config.Config) []time.Duration {
	var all []time.Duration
	for _, t := range cfg.Targets {
		for _, s := range t.Probes {
			all = append(all, s.Every)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// playedBy are the target/probe that a plan has steps of.
func playedBy(p *plan.Plan) map[string]bool {
	all := map[string]bool{}
	for _, step := range p.Steps {
		all[step.Spec.ID()] = true
	}
	return all
}

func of(every time.Duration) func(probes.Spec) bool {
	return func(s probes.Spec) bool { return s.Every == every }
}

// newWave is a pass of the process's, with a seed of its own. The turn is taken.
func (s *service) newWave() *pass {
	flags := s.flags
	flags.seed = s.seeds.Uint64()>>12 | 1
	return &pass{kept: s.kept, sys: s.sys, cfg: s.cfg, flags: flags, out: s.out, log: s.log, beside: s.beside, showMetrics: true}
}

// lostError says that another perch took the state.
type lostError struct{ err error }

func (e *lostError) Error() string {
	return "another perch has taken the state, and two would probe at once: " + e.err.Error()
}

func (e *lostError) Unwrap() error { return e.err }

// taken returns why perch must not go on after a save; nil: it may.
func taken(unsaved error) error {
	var lost *state.LostError
	if errors.As(unsaved, &lost) && lost.Err == nil {
		return &lostError{unsaved}
	}
	return nil
}

// ownCause returns why perch ended itself; nil: it was told to.
func ownCause(ctx context.Context) error {
	var lost *lostError
	var web *webError
	cause := context.Cause(ctx)
	if errors.As(cause, &lost) || errors.As(cause, &web) {
		return own(cause)
	}
	return nil
}

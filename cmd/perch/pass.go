package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"runtime"
	"slices"
	"time"

	"perch.example/alert"
	"perch.example/config"
	"perch.example/diagnose/clients"
	"perch.example/metrics"
	"perch.example/plan"
	"perch.example/probes"
	"perch.example/report"
	"perch.example/runner"
	"perch.example/state"
)

// pass is one pass over a config, on its way through the stages.
type pass struct {
	sys   system
	cfg   config.Config
	flags runFlags
	out   outputFlags
	log   *slog.Logger

	*kept
	plan         *plan.Plan
	observed     bool          // the metrics hold this run: problems are counted one by one from then on
	pushing      chan struct{} // closed when the first push has ended; nil: there is none
	hurry        *hurry        // of finish; nil before
	problems     []probes.Problem
	predictsFor  *probes.Client                                  // whose pool predictions are for, where it is not the target's: of perch idle
	idlePath     clients.Path                                    // of the last idle probe: perch idle has but one
	turn         forTurn                                         // how it waits for the state
	fence        func() error                                    // why nothing may leave any more; nil: it may
	gather       bool                                            // of perch serve: what opens is told with others that may follow
	beside       string                                          // of perch serve: how a command is run beside it
	serves       bool                                            // this is perch serve
	showMetrics  bool                                            // print them, as the demo does
	unsent       []alert.Notice                                  // what would have been sent, where nobody is told
	noticesApart bool                                            // they are shown by themselves, not below the text
	notices      string                                          // what would have been sent, where nobody is told
	text         func(io.Writer, probes.Run, report.Style) error // nil: report.Text
}

// kept is what outlasts a pass: the waves of perch serve share one, one at a
// time.
type kept struct {
	store    keeper // nil: nothing is remembered
	doc      state.Document
	memory   alert.Memory
	silenced silences                    // the state's; nil: they could not be read
	past     time.Time                   // what ended before it is over for good: surelyPast
	reserved map[*pass]state.Reservation // what those under way may still send
	unsaved  error                       // why the last save failed; nil: it did not
	unkept   error                       // why the last reservation failed; nil: it did not
	metrics  *metrics.Metrics
	callLogs callLogs
	otlp     *exporting // nil: nothing is exported
	runner   *runner.Runner
	// answered is of perch serve: when each target last gave a whole answer, in the waves before.
	answered map[string]time.Time
}

func (p *pass) problem(part probes.Part, err error) {
	p.log.Error(couldNot, "part", part, "error", err)
	p.countProblem(part, err)
}

// couldNot is how the log begins what perch itself could not do.
const couldNot = "perch could not do its own part"

// countProblem is problem without a line in the log.
func (p *pass) countProblem(part probes.Part, err error) {
	said := probes.Problem{Part: part, Text: err.Error()}
	if slices.Contains(p.problems, said) {
		return // a run that saves twice fails twice
	}
	p.problems = append(p.problems, said)
	if p.observed {
		p.metrics.Problem(part)
	}
}

// open checks what a run needs before it sends anything: secrets that can be
// read, and the state, which only one perch may hold.
func (p *pass) open(ctx context.Context) error {
	if err := checkSecrets(p.cfg, p.secrets()); err != nil {
		return usage(&secretsError{err})
	}
	return p.load(ctx)
}

// secretsError says which secrets cannot be read.
type secretsError struct{ err error }

func (e *secretsError) Error() string { return e.err.Error() }

func (e *secretsError) Unwrap() error { return e.err }

func (p *pass) secrets() probes.ReadSecret {
	return config.ReadSecret(p.sys.env, p.sys.readFile)
}

// checkSecrets reads every source once, so that a missing one stops the run
// before it starts rather than in its middle. Its error says what each is for.
func checkSecrets(cfg config.Config, read probes.ReadSecret) error {
	return readable(cfg.Sources(), func(s probes.Source) (probes.Secret, error) {
		secret, err := read(s)
		if use := cfg.UserOf(s); err != nil && use != "" {
			err = fmt.Errorf("%w (%s)", err, use)
		}
		return secret, err
	})
}

// readable returns what keeps sources from being read, a problem each.
func readable(sources []probes.Source, read probes.ReadSecret) error {
	var problems []error
	for _, s := range sources {
		if _, err := read(s); err != nil {
			problems = append(problems, err)
		}
	}
	return errors.Join(problems...)
}

func (p *pass) makePlan() error {
	if err := checkSeries(p.cfg); err != nil {
		return usage(err)
	}
	sayForgotten(p.log, p.cfg)
	now := p.sys.clock()
	o := plan.Options{
		Seed: p.flags.seed, Deadline: p.flags.deadline, Only: p.flags.only,
		Due: p.due(now), Sent: p.sentBefore(now), // what the day's limit still allows is the runner's: it skips
		Ends: ends(p.doc, p.cfg), Brackets: brackets(p.doc), Env: p.sys.env,
	}
	var err error
	if p.plan, err = plan.New(p.cfg, o); err != nil {
		return usage(err)
	}
	if err := keepsPolicy(p.cfg, o); err != nil {
		return usage(err)
	}
	if policy := p.cfg.Policy; policy != nil {
		p.log.Info("the platform team's policy holds", "policy", policy.File)
	}
	if shard := p.cfg.Shard; !shard.Whole() {
		p.log.Info("this is a part of the config", "shard", shard.String(), "targets", len(p.cfg.Targets))
	}
	for _, note := range p.plan.Notes {
		p.log.Info("plan", "note", note)
	}
	return nil
}

// due is nil (everything is) without a state, or with --all and no policy. What the
// policy says of how often a probe may run holds with --all, and with every:
// always.
func (p *pass) due(now time.Time) func(probes.Spec) bool {
	least := leastEvery(p.cfg.Policy)
	switch {
	case p.store == nil:
		return nil
	case p.flags.all && least == 0:
		return nil
	}
	return func(s probes.Spec) bool {
		every := max(s.Every, least)
		if p.flags.all {
			every = least
		}
		return p.doc.IsDue(s.ID(), every, now)
	}
}

// series returns how many time series a config makes at most.
func series(cfg config.Config) int {
	return metrics.Series(metrics.Options{
		Targets: plan.WithRungs(cfg), Destinations: destinations(cfg), BlackboxNames: cfg.Metrics.BlackboxNames,
	})
}

// checkSeries refuses a config that would create more time series than it
// allows itself.
func checkSeries(cfg config.Config) error {
	if n := series(cfg); n > cfg.Metrics.MaxSeries {
		return fmt.Errorf("metrics.max_series: this config creates %d time series, %d are allowed; fewer probes or rungs, or a larger max_series", n, cfg.Metrics.MaxSeries)
	}
	return nil
}

// begin makes the run and its metrics, and what has to stand somewhere before
// the first request leaves.
func (p *pass) begin(ctx context.Context) probes.Run {
	run := p.newRun()
	p.metrics = p.newMetrics()
	p.beginExport()
	if p.store != nil {
		p.showMemory()
	}
	p.reserve(ctx, run.Started)
	p.pushFirst(ctx)
	return run
}

func (p *pass) newRun() probes.Run {
	v, _ := build()
	run := probes.Run{
		Version: v, Name: p.cfg.Name, Vantage: p.cfg.Vantage, Seed: p.flags.seed,
		Started: p.sys.clock(), NotDue: lastVerdicts(p.plan.NotDue, p.doc),
	}
	run.RunID = runID(run.Started, run.Seed, p.cfg.Shard)
	return run
}

// probe runs the plan and judges what it observed.
func (p *pass) probe(ctx context.Context, run *probes.Run) {
	live := p.live()
	p.runner = p.newRunner(run.Started, p.plan.Settle, live.watch)
	seen := p.play(ctx, run)
	live.stop()
	p.judge(run, seen)
}

// newRunner knows what earlier runs sent. What it sends itself it knows alone.
func (p *pass) newRunner(now time.Time, settle time.Duration, watch func(probes.Event)) *runner.Runner {
	o := p.runnerOptions(now, watch)
	o.Settle, o.TokensSent = settle, p.tokensSent(now)
	return runner.New(o)
}

func (p *pass) runnerOptions(now time.Time, watch func(probes.Event)) runner.Options {
	v, _ := build()
	return runner.Options{
		Targets: p.cfg.Targets, Policy: p.cfg.Policy, UserAgent: userAgent(v, p.cfg.Vantage), Dial: p.sys.dial, Resolve: p.sys.resolve,
		Secrets: p.secrets(), ReadFile: p.sys.readFile, Getenv: p.sys.env, Watch: watch, Log: p.log,
		Daily: p.dailyLeft(now), Sent: p.sentBefore(now), LeaveAlone: p.doc.LeaveAlone, Fence: p.fence,
	}
}

// play plays the plan, and puts into the run what is not for judging.
func (p *pass) play(ctx context.Context, run *probes.Run) []probes.Observation {
	var seen []probes.Observation
	res := p.runner.Play(ctx, p.plan, func(o probes.Observation) { seen = append(seen, o) })
	run.Finished, run.CutShort, run.Budget, run.Delays = p.sys.clock(), res.CutShort, res.Budget, res.Delays
	run.Settled, run.Tokens = res.Settled, res.Tokens
	return seen
}

func userAgent(version, vantage string) string {
	if vantage == "" {
		return "perch/" + version
	}
	return "perch/" + version + " (" + vantage + ")"
}

// newMetrics makes the series of the config's targets where somebody will read
// them: with 200 targets they are most of a run's memory.
func (p *pass) newMetrics() *metrics.Metrics {
	o := p.metricsOptions()
	if !p.measures() {
		return metrics.New(o)
	}
	o.Targets = plan.WithRungs(p.cfg)
	m := metrics.New(o)
	if err := m.Restore(p.doc.Sections[sectionMetrics]); err != nil {
		p.problem(probes.PartState, fmt.Errorf("%w; what stood there is kept as section %q", err, p.setAside(sectionMetrics)))
	}
	return m
}

// metricsOptions are those without targets.
func (p *pass) metricsOptions() metrics.Options {
	version, revision := build()
	return metrics.Options{
		Name: p.cfg.Name, Vantage: p.cfg.Vantage, Shard: p.cfg.Shard.Name(), Version: version, GoVersion: runtime.Version(), Revision: revision,
		Destinations: destinations(p.cfg), BlackboxNames: p.cfg.Metrics.BlackboxNames, Serves: p.serves,
	}
}

// measures reports whether anybody will read the metrics.
func (p *pass) measures() bool {
	return p.showMetrics || p.cfg.Metrics.Textfile != "" || p.cfg.Metrics.PushURL != "" || p.cfg.OTLP.Endpoint != "" && p.cfg.OTLP.Metrics
}

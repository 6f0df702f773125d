package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"perch.example/probes"
	"perch.example/state"
)

func newRun(sys system) *cobra.Command {
	var flags runFlags
	var out outputFlags
	var beside sidecar
	cmd := &cobra.Command{
		Use: "run", Short: "One pass over the config: probe what is due, record, alert, report", Args: noArgs,
		Long: `One pass over the config: the CronJob's command. Probes what is due, writes metrics, alerts, prints the
report and exits: 0 nothing found, 1 something at or above --fail-on, 2 the command line or the config is
wrong, 3 the run was cut short, 4 perch could not do its own part.`,
	}
	flags.bind(cmd)
	out.bind(cmd)
	beside.bind(cmd)
	cmd.Flags().BoolVar(&flags.adopt, "adopt-state", false, "take over a state that a config of another name kept: once, after a config was renamed")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		log, err := logger(cmd, sys)
		if err := errors.Join(err, beside.check()); err != nil {
			return usage(err)
		}
		defer beside.end(cmd.Context(), log) // last, and after errors, too
		if err := errors.Join(flags.complete(), out.check()); err != nil {
			return usage(err)
		}
		cfg, err := loadConfig(sys, flags.config, log)
		if err != nil {
			return usage(err)
		}
		p := &pass{kept: &kept{}, sys: sys, cfg: cfg, flags: flags, out: out, log: log}
		if err := p.await(cmd.Context(), beside); err != nil {
			return p.notBegun(err)
		}
		return runConfig(cmd.Context(), p)
	}
	return cmd
}

// await waits for the sidecar, and takes that from the run's deadline: a Job has an
// end that does not wait.
func (p *pass) await(ctx context.Context, beside sidecar) error {
	began := time.Now()
	ctx, cancel := withDeadline(ctx, p.flags.deadline, 0)
	defer cancel()
	if err := beside.ready(ctx, p.log); err != nil {
		return err
	}
	if p.flags.deadline > 0 && beside.waitFor != "" {
		p.flags.waited = min(time.Since(began), p.flags.deadline-1) // 0 would be no deadline
		p.flags.deadline -= p.flags.waited
	}
	return nil
}

// runConfig takes a pass through every stage; finish.go says in which order and
// why.
func runConfig(ctx context.Context, p *pass) error {
	if err := p.open(ctx); err != nil {
		return besideAnother(err)
	}
	defer p.close(ctx)
	if err := p.makePlan(); err != nil {
		return err
	}
	runCtx, cancel := withDeadline(ctx, p.flags.deadline, p.flags.waited)
	defer cancel()
	run := p.begin(runCtx)
	p.probe(runCtx, &run)
	p.finish(ctx, &run)
	if err := p.report(run); err != nil {
		return own(err)
	}
	if code := p.out.exitCode(run); code != exitOK {
		return &exitError{code: code}
	}
	return nil
}

// besideAnother says what to do where another perch has the state.
func besideAnother(err error) error {
	var locked *state.LockedError
	if !errors.As(err, &locked) {
		return err
	}
	return fmt.Errorf("%w: stop that one, or wait until it is done (perch serve has it for as long as it runs), or give this one another state; "+
		"perch idle, perch path and perch plan need none", err)
}

// notBegun reports a run that sent nothing, and says why. The state and the
// metrics stay as the last run left them: what they are reached by is not there
// either.
func (p *pass) notBegun(why error) error {
	p.log.Error("nothing was sent", "error", why)
	v, _ := build()
	now := p.sys.clock()
	run := probes.Run{
		Version: v, Name: p.cfg.Name, Vantage: p.cfg.Vantage, Seed: p.flags.seed,
		RunID: runID(now, p.flags.seed, p.cfg.Shard), Started: now, Finished: now, CutShort: why.Error(),
	}
	if err := p.report(run); err != nil {
		return own(err)
	}
	return &exitError{code: exitIncomplete}
}

// withDeadline ends the context after d, saying so; 0 means never. before is what
// of the deadline, as it was asked for, is over.
func withDeadline(ctx context.Context, d, before time.Duration) (context.Context, context.CancelFunc) {
	if d == 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeoutCause(ctx, d, fmt.Errorf("the deadline of %s", before+d))
}

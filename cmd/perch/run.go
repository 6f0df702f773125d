package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"
)

func newRun(sys system) *cobra.Command {
	var flags runFlags
	var out outputFlags
	cmd := &cobra.Command{
		Use: "run", Short: "One pass over the config: probe what is due, record, alert, report", Args: noArgs,
		Long: `One pass over the config: the CronJob's command. Probes what is due, writes metrics, alerts, prints the
report and exits: 0 nothing found, 1 something at or above --fail-on, 2 the command line or the config is
wrong, 3 the run was cut short, 4 perch could not do its own part.`,
	}
	flags.bind(cmd)
	out.bind(cmd)
	cmd.Flags().BoolVar(&flags.adopt, "adopt-state", false, "take over a state that a config of another name kept: once, after a config was renamed")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if err := errors.Join(flags.complete(), out.check()); err != nil {
			return usage(err)
		}
		log, err := logger(cmd, sys)
		if err != nil {
			return usage(err)
		}
		cfg, err := loadConfig(sys, flags.config, log)
		if err != nil {
			return usage(err)
		}
		return runConfig(cmd.Context(), &pass{kept: &kept{}, sys: sys, cfg: cfg, flags: flags, out: out, log: log})
	}
	return cmd
}

// runConfig takes a pass through every stage; finish.go says in which order and
// why.
func runConfig(ctx context.Context, p *pass) error {
	if err := p.open(ctx); err != nil {
		return err
	}
	defer p.close(ctx)
	if err := p.makePlan(); err != nil {
		return err
	}
	runCtx, cancel := withDeadline(ctx, p.flags.deadline)
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

// withDeadline ends the context after d, saying so; 0 means never.
func withDeadline(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	if d == 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeoutCause(ctx, d, fmt.Errorf("the deadline of %s", d))
}

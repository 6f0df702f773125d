package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"perch.example/alert"
	"perch.example/config"
	"perch.example/probes"
)

// testWithin bounds the test of one destination.
const testWithin = 30 * time.Second

func newAlert(sys system) *cobra.Command {
	cmd := &cobra.Command{
		Use: "alert", Short: "Try where notices go",
		Args: cobra.ArbitraryArgs, RunE: helpOrUnknown, SuggestionsMinimumDistance: 2,
	}
	cmd.AddCommand(newAlertTest(sys))
	return cmd
}

func newAlertTest(sys system) *cobra.Command {
	var configPath string
	var only []string
	cmd := &cobra.Command{
		Use: "test", Short: "Send one notice, marked as a test, to each configured destination", Args: noArgs,
		Long: `Sends one notice, clearly marked as a test, to each destination of the config, and says for each how it went.
It probes nothing, and reads and writes no state. With a bot's token it also says the channel's id.

Exit status 4: a destination could not be told; nothing is sent again. 2: the config names none, or a secret
cannot be read.`,
	}
	cmd.Flags().StringVar(&configPath, "config", "perch.yaml", "config `FILE|DIR`")
	cmd.Flags().StringSliceVar(&only, "only", nil, "only this `destination`: slack, webhook or alertmanager (repeatable)")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		log, err := logger(cmd, sys)
		if err != nil {
			return usage(err)
		}
		cfg, err := loadAnywhere(sys, configPath, log)
		if err != nil {
			return usage(err)
		}
		if err := checkOnly(cfg, only, configPath); err != nil {
			return usage(fmt.Errorf("alert test: %w", err))
		}
		return testDestinations(cmd.Context(), sys, cfg, only)
	}
	return cmd
}

// checkOnly refuses what would test nothing.
func checkOnly(cfg config.Config, only []string, path string) error {
	have := destinations(cfg)
	if len(have) == 0 {
		return fmt.Errorf("%s names no destination; add `slack: {webhook: {from: {env: SLACK_WEBHOOK_URL}}}`, a webhook or an alertmanager", path)
	}
	for _, name := range only {
		if !slices.Contains(have, name) {
			return fmt.Errorf("--only %s: the config has no such destination; it has: %s", name, strings.Join(have, ", "))
		}
	}
	return nil
}

// testDestinations tests each, also where the secret of another one is missing:
// one test is to show all that is wrong.
func testDestinations(ctx context.Context, sys system, cfg config.Config, only []string) error {
	now := sys.clock()
	run := probes.Run{Name: cfg.Name, Vantage: cfg.Vantage, Started: now, RunID: runID(now, uint64(now.UnixNano()), cfg.Shard)}
	notice := alert.Test(alert.Options{Now: now, DashboardURL: cfg.Slack.DashboardURL}, run)
	read := config.ReadSecret(sys.env, sys.readFile)
	code := exitOK
	for _, name := range destinations(cfg) {
		if len(only) > 0 && !slices.Contains(only, name) {
			continue
		}
		if err := readable(secretsOf(name, cfg), read); err != nil {
			code = exitUsage
			fmt.Fprintf(sys.stdout, "%s: nothing was sent: %v\n", name, err)
			continue
		}
		sender, err := senderTo(name, cfg, read, &http.Client{Transport: sys.web})
		if err != nil { // it was readable just now
			return own(fmt.Errorf("alert test: %s: %w", name, err))
		}
		text, ok := testOne(ctx, alert.Destination{Name: name, Sender: sender}, notice)
		if !ok && code == exitOK {
			code = exitOwn
		}
		fmt.Fprintf(sys.stdout, "%s: %s\n", name, text)
	}
	if code != exitOK {
		return &exitError{code: code}
	}
	return nil
}

// testOne sends the test to one destination and says how it went.
func testOne(ctx context.Context, d alert.Destination, notice alert.Notice) (said string, ok bool) {
	ctx, cancel := context.WithTimeout(ctx, testWithin)
	defer cancel()
	if d.Name == toAlertmanager {
		// It knows alerts alone, which are about something.
		notice.About = []alert.About{{
			Name: "test", Target: "perch-alert-test", Family: "test", Severity: "info",
			State: alert.StateFiring, Since: notice.Decided, Every: time.Minute,
		}}
	}
	so, err := d.Sender.Send(ctx, notice, alert.Receipt{})
	if err = errors.Join(append(so.Problems, err)...); err != nil {
		return err.Error(), false
	}
	said = "ok: a notice marked TEST was delivered"
	if d.Name == toAlertmanager {
		said = "ok: an alert of the target perch-alert-test, severity info, was delivered; it ends by itself"
	}
	if so.Thread.Channel != "" {
		said += " to channel " + so.Thread.Channel
	}
	return said, true
}

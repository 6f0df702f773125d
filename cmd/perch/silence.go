package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"perch.example/alert"
	"perch.example/config"
	"perch.example/state"
)

func newSilence(sys system) *cobra.Command {
	cmd := &cobra.Command{
		Use: "silence", Short: "Mute notices of a target or probe for a time, with a reason",
		Long: `Mutes the notices of a target or probe for a time, with a reason. Probing and resolving go on. Silences of
this kind are kept in the state, which the config has to name; those of the config itself stand in
alerts.silences. A run that is under way does not see them yet, and keeps them for the next one.`,
		Args: cobra.ArbitraryArgs, RunE: helpOrUnknown, SuggestionsMinimumDistance: 2,
	}
	cmd.AddCommand(newSilenceAdd(sys), newSilenceList(sys), newSilenceExpire(sys))
	return cmd
}

func newSilenceAdd(sys system) *cobra.Command {
	var configPath, reason, by string
	var when silenceWhen
	cmd := &cobra.Command{
		Use: "add MATCH", Short: "Add a silence and print its id", Args: wantMatch,
		Long: `Mutes what MATCH means: a target ("stock-api"), a probe ("stock-api/calendar"), or a pattern with * and ?
("stock-api/*", "*/calendar"). It has to match a probe of the config.`,
		Example: `  perch silence add stock-api --for 2h --reason "partner maintenance"
  perch silence add '*/calendar' --from 2026-12-31T15:00Z --until 2027-01-01T03:00Z --reason "year's end"`,
	}
	cmd.Flags().StringVar(&configPath, "config", "perch.yaml", "config `FILE|DIR`")
	cmd.Flags().StringVar(&when.during, "for", "", "how long, from its begin on: a `DURATION` such as 90m, 2h or 3d")
	cmd.Flags().StringVar(&when.from, "from", "", "when it begins: a `TIME` such as 2026-12-31T15:00Z, or a day (default: now)")
	cmd.Flags().StringVar(&when.until, "until", "", "when it ends: a `TIME`, or a day, to its end in UTC")
	cmd.Flags().StringVar(&reason, "reason", "", "why, for those who wonder")
	cmd.Flags().StringVar(&by, "by", "", "who adds it (default: the user's name)")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		cfg, err := silenceConfig(cmd, sys, configPath)
		if err != nil {
			return err
		}
		now := sys.clock()
		s, err := newOne(args[0], reason, when, cfg, now)
		if err := errors.Join(err, oneLine("--by", by)); err != nil {
			return usage(fmt.Errorf("silence add: %w", err))
		}
		s.By = who(sys, by)
		made, err := editSilences(cmd.Context(), sys, cfg, func(all silences) error {
			all[s.ID] = s
			return nil
		})
		if err != nil {
			return unlessOther(err)
		}
		fmt.Fprintf(sys.stdout, "%s mutes %s from %s until %s, in the state %s\n",
			s.ID, strings.Join(matched(s.Match, cfg), ", "), stamp(s.From), stamp(s.Until), whichState(sys, cfg))
		if made {
			fmt.Fprintf(sys.stderr, "perch: silence add: there was no state in %s: a new one was made, and nothing is muted unless perch runs with this very state; if it keeps its state elsewhere (a path in a config is relative to where perch is started), add the silence there\n",
				whichState(sys, cfg))
		}
		return nil
	}
	return cmd
}

// newOne makes a silence of what the command line says.
func newOne(match, reason string, when silenceWhen, cfg config.Config, now time.Time) (silence, error) {
	from, until, err := when.times(now)
	if err != nil {
		return silence{}, err
	}
	if strings.TrimSpace(reason) == "" {
		return silence{}, errors.New("want --reason TEXT: somebody will wonder why nothing is told")
	}
	if err := errors.Join(oneLine("MATCH", match), oneLine("--reason", reason)); err != nil {
		return silence{}, err
	}
	if len(matched(match, cfg)) == 0 {
		return silence{}, fmt.Errorf("%q matches no probe of the config; there are: %s", match, strings.Join(probesOf(cfg), ", "))
	}
	id := fmt.Sprintf("%08x", rand.Uint32())
	return silence{Silence: alert.Silence{ID: id, Match: match, From: from, Until: until, Reason: reason}}, nil
}

func newSilenceList(sys system) *cobra.Command {
	var configPath, output string
	cmd := &cobra.Command{
		Use: "list", Short: "Show the silences of the config and of the state", Args: noArgs,
		Long: `Shows the silences of the config and of the state: active, pending, and what is over for less than a week.`,
	}
	cmd.Flags().StringVar(&configPath, "config", "perch.yaml", "config `FILE|DIR`")
	cmd.Flags().StringVar(&output, "output", "text", "text or json")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if output != "text" && output != "json" {
			return usage(fmt.Errorf("--output %q: want text or json", output))
		}
		cfg, err := silenceConfig(cmd, sys, configPath)
		if err != nil {
			return err
		}
		doc, err := readState(cmd.Context(), sys, cfg)
		if err == nil {
			err = checkOwner(sys, cfg, doc)
		}
		if err != nil {
			return unlessOther(err)
		}
		all, err := silencesOf(doc)
		if all == nil {
			return own(err)
		}
		sayWhich(sys, cfg, doc.Empty())
		if err := writeSilences(sys.stdout, allSilences(cfg, all.inOrder(), sys.clock()), output); err != nil {
			return own(err)
		}
		if err != nil {
			return own(err)
		}
		return nil
	}
	return cmd
}

func newSilenceExpire(sys system) *cobra.Command {
	var configPath string
	cmd := &cobra.Command{
		Use: "expire ID...", Short: "End silences now", Args: wantIDs,
		Long: `Ends silences now. An ID is that of perch silence list, or its first characters.`,
	}
	cmd.Flags().StringVar(&configPath, "config", "perch.yaml", "config `FILE|DIR`")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		cfg, err := silenceConfig(cmd, sys, configPath)
		if err != nil {
			return err
		}
		var ended []silence
		unknown := errors.New("")
		_, err = editSilences(cmd.Context(), sys, cfg, func(all silences) error {
			ended, unknown = all.expire(args, sys.clock())
			return unknown
		})
		switch {
		case err != nil && unknown != nil && errors.Is(err, unknown):
			return usage(fmt.Errorf("silence expire: in the state %s: %w", whichState(sys, cfg), unknown))
		case err != nil:
			return unlessOther(err)
		}
		for _, s := range ended {
			fmt.Fprintf(sys.stdout, "%s (%s) ended at %s, in the state %s\n", inLine(s.ID), orDash(inLine(s.Match)), stamp(s.Until), whichState(sys, cfg))
		}
		return nil
	}
	return cmd
}

// silenceConfig reads a config whose state keeps silences.
func silenceConfig(cmd *cobra.Command, sys system, path string) (config.Config, error) {
	log, err := logger(cmd, sys)
	if err != nil {
		return config.Config{}, usage(err)
	}
	cfg, err := loadAnywhere(sys, path, log)
	if err != nil {
		return config.Config{}, usage(err)
	}
	if !cfg.State.Kept() {
		return config.Config{}, usage(fmt.Errorf("silence: %s names no state, which keeps silences; add "+
			"`state: {file: /var/lib/perch/state}` (or in a cluster `state: {configmap: perch-state}`), or write the silence into alerts.silences", path))
	}
	return cfg, nil
}

// editSilences changes the state's silences, beside a run if one is under way.
// It reports whether there was no state before.
func editSilences(ctx context.Context, sys system, cfg config.Config, change func(silences) error) (made bool, err error) {
	err = editState(ctx, sys, cfg, func(d *state.Document) error {
		if err := checkOwner(sys, cfg, *d); err != nil {
			return err
		}
		made, d.Name = d.Empty(), cfg.Name
		all, err := silencesOf(*d)
		if all == nil {
			return err
		}
		if err := change(all); err != nil {
			return err
		}
		return all.put(d, surelyPast(*d, sys.clock()))
	})
	return made, err
}

// unlessOther is own, but for a state that is another config's: the command
// line names the wrong one.
func unlessOther(err error) error {
	var other *otherStateError
	if errors.As(err, &other) {
		return usage(fmt.Errorf("silence: %w", other))
	}
	return own(err)
}

// sayWhich says on stderr, so that a list stays one, which state was looked
// into.
func sayWhich(sys system, cfg config.Config, none bool) {
	if none {
		fmt.Fprintf(sys.stderr, "perch: silence list: there is no state in %s (a path in a config is relative to where perch is started)\n", whichState(sys, cfg))
		return
	}
	fmt.Fprintf(sys.stderr, "perch: silence list: the state is %s\n", whichState(sys, cfg))
}

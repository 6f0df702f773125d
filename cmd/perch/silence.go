package main

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"perch.example/alert"
	"perch.example/config"
)

func newSilence(sys system) *cobra.Command {
	cmd := &cobra.Command{
		Use: "silence", Short: "Mute notices of a target or probe for a time, with a reason",
		Long: `Mutes the notices of a target or probe for a time, with a reason. Probing and resolving go on. Silences of
this kind are kept in the state, which the config has to name; those of the config itself stand in
alerts.silences. A run that is under way does not see them yet, and keeps them for the next one. A perch in
shards (an Indexed Job) keeps a state for each: --shards says how many, and each gets the silence.`,
		Args: cobra.ArbitraryArgs, RunE: helpOrUnknown, SuggestionsMinimumDistance: 2,
	}
	cmd.AddCommand(newSilenceAdd(sys), newSilenceList(sys), newSilenceExpire(sys))
	return cmd
}

func newSilenceAdd(sys system) *cobra.Command {
	var configPath, shards, reason, by string
	var when silenceWhen
	cmd := &cobra.Command{
		Use: "add MATCH", Short: "Add a silence and print its id", Args: wantMatch,
		Long: `Mutes what MATCH means: a target ("stock-api"), a probe ("stock-api/calendar"), or a pattern with * and ?
("stock-api/*", "*/calendar"). It has to match a probe of the config.`,
		Example: `  perch silence add stock-api --for 2h --reason "partner maintenance"
  perch silence add '*/calendar' --from 2026-12-31T15:00Z --until 2027-01-01T03:00Z --reason "year's end"`,
	}
	cmd.Flags().StringVar(&configPath, "config", "perch.yaml", "config `FILE|DIR`")
	bindShards(cmd, &shards)
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
		states, err := shardsOf(sys, cfg, shards)
		if err != nil {
			return usage(fmt.Errorf("silence add: %w", err))
		}
		return eachState(states, func(cfg config.Config) error { return addTo(cmd.Context(), sys, cfg, s) })
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
	var configPath, shards, output string
	cmd := &cobra.Command{
		Use: "list", Short: "Show the silences of the config and of the state", Args: noArgs,
		Long: `Shows the silences of the config and of the state: active, pending, and what is over for less than a week.`,
	}
	cmd.Flags().StringVar(&configPath, "config", "perch.yaml", "config `FILE|DIR`")
	bindShards(cmd, &shards)
	cmd.Flags().StringVar(&output, "output", "text", "text or json")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if output != "text" && output != "json" {
			return usage(fmt.Errorf("--output %q: want text or json", output))
		}
		cfg, err := silenceConfig(cmd, sys, configPath)
		if err != nil {
			return err
		}
		states, err := shardsOf(sys, cfg, shards)
		if err != nil {
			return usage(fmt.Errorf("silence list: %w", err))
		}
		kept, problem := silencesIn(cmd.Context(), sys, states)
		all := silences{}
		for i, in := range kept {
			if in.read {
				sayWhich(sys, states[i], in.none)
				maps.Copy(all, in.silences) // one that is in several is the same in all
			}
		}
		if problem != nil && len(all) == 0 {
			return problem
		}
		if err := writeSilences(sys.stdout, allSilences(cfg, all.inOrder(), sys.clock()), output); err != nil {
			return own(err)
		}
		return problem
	}
	return cmd
}

func newSilenceExpire(sys system) *cobra.Command {
	var configPath, shards string
	cmd := &cobra.Command{
		Use: "expire ID...", Short: "End silences now", Args: wantIDs,
		Long: `Ends silences now. An ID is that of perch silence list, or its first characters.`,
	}
	cmd.Flags().StringVar(&configPath, "config", "perch.yaml", "config `FILE|DIR`")
	bindShards(cmd, &shards)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		cfg, err := silenceConfig(cmd, sys, configPath)
		if err != nil {
			return err
		}
		states, err := shardsOf(sys, cfg, shards)
		if err != nil {
			return usage(fmt.Errorf("silence expire: %w", err))
		}
		return expireAll(cmd.Context(), sys, states, args)
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

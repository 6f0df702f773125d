package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"

	"github.com/spf13/cobra"

	"perch.example/config"
	"perch.example/state"
)

// A perch in shards keeps a state for each. A silence goes into all of them, also
// where it matches nothing: a target that is added later may be in any.

func bindShards(cmd *cobra.Command, shards *string) {
	cmd.Flags().StringVar(shards, "shards", "", "how many shards perch runs in: the `COMPLETIONS` of an Indexed Job (default: none, or what "+envShardCount+" says)")
}

// eachState does something to each state, and goes on where one fails: the others
// are to be as they should.
func eachState(states []config.Config, do func(config.Config) error) error {
	var problems []error
	for _, cfg := range states {
		if err := do(cfg); err != nil {
			problems = append(problems, unlessOther(err))
		}
	}
	if len(problems) == 1 {
		return problems[0]
	}
	return errors.Join(problems...)
}

// keptSilences are one state's.
type keptSilences struct {
	silences
	read bool // they could be read, perhaps some of them only
	none bool // there is no state
}

// silencesIn reads the silences of each state. Beside an error stands what could
// be read.
func silencesIn(ctx context.Context, sys system, states []config.Config) ([]keptSilences, error) {
	var all []keptSilences
	err := eachState(states, func(cfg config.Config) error {
		doc, err := readState(ctx, sys, cfg)
		if err == nil {
			err = checkOwner(sys, cfg, doc)
		}
		var kept silences
		if err == nil {
			kept, err = silencesOf(doc)
		}
		all = append(all, keptSilences{kept, kept != nil, doc.Empty()})
		return err
	})
	return all, err
}

// addTo adds a silence to one state, and says so.
func addTo(ctx context.Context, sys system, cfg config.Config, s silence) error {
	made, err := editSilences(ctx, sys, cfg, func(all silences) error {
		all[s.ID] = s
		return nil
	})
	if err != nil {
		return err
	}
	what := strings.Join(matched(s.Match, cfg), ", ")
	if what == "" { // of the others only, as yet
		what = "nothing"
	}
	fmt.Fprintf(sys.stdout, "%s mutes %s from %s until %s, in the state %s\n", s.ID, what, stamp(s.From), stamp(s.Until), whichState(sys, cfg))
	if made {
		fmt.Fprintf(sys.stderr, "perch: silence add: there was no state in %s: a new one was made, and nothing is muted unless perch runs with this very state; "+
			"if it keeps its state elsewhere (a path in a config is relative to where perch is started; one in shards has a state each: --shards), add the silence there\n",
			whichState(sys, cfg))
	}
	return nil
}

// expireAll ends silences in each of the states. In several an id is looked for in
// all of them: one that was added before there were as many is not in each.
func expireAll(ctx context.Context, sys system, states []config.Config, ids []string) error {
	if len(states) == 1 {
		return eachState(states, func(cfg config.Config) error { return expireIn(ctx, sys, cfg, ids) })
	}
	kept, err := silencesIn(ctx, sys, states)
	if err != nil {
		return err
	}
	all := silences{}
	for _, in := range kept {
		maps.Copy(all, in.silences)
	}
	ended, err := all.expire(ids, sys.clock())
	if err != nil {
		return usage(fmt.Errorf("silence expire: %w", err))
	}
	var problems []error
	for i, cfg := range states {
		var here []string
		for _, s := range ended {
			if _, there := kept[i].silences[s.ID]; there {
				here = append(here, s.ID)
			}
		}
		if len(here) > 0 {
			problems = append(problems, eachState([]config.Config{cfg}, func(cfg config.Config) error { return expireIn(ctx, sys, cfg, here) }))
		}
	}
	return errors.Join(problems...)
}

// expireIn ends silences in one state, and says so.
func expireIn(ctx context.Context, sys system, cfg config.Config, ids []string) error {
	var ended []silence
	unknown := errors.New("")
	_, err := editSilences(ctx, sys, cfg, func(all silences) error {
		ended, unknown = all.expire(ids, sys.clock())
		return unknown
	})
	switch {
	case err != nil && unknown != nil && errors.Is(err, unknown):
		return usage(fmt.Errorf("silence expire: in the state %s: %w", whichState(sys, cfg), unknown))
	case err != nil:
		return err
	}
	for _, s := range ended {
		fmt.Fprintf(sys.stdout, "%s (%s) ended at %s, in the state %s\n", inLine(s.ID), orDash(inLine(s.Match)), stamp(s.Until), whichState(sys, cfg))
	}
	return nil
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
	var said *exitError
	if errors.As(err, &said) {
		return err
	}
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

package main

import (
	"context"
	"encoding/json"
	"slices"

	"perch.example/alert"
	"perch.example/config"
	"perch.example/metrics"
	"perch.example/state"
)

// stateOptions say how what two perches made of the state is joined. Silences
// need no word: they are joined by id.
func stateOptions() state.Options {
	return state.Options{Merge: map[string]state.Merge{sectionAlert: joinMemories, sectionMetrics: metrics.Merge}}
}

// joinMemories keeps this run's incidents, whose numbers follow each other, and
// adds what another one decided meanwhile and did not tell: it is told all the
// same. Runs take turns, so this is for a turn that was lost on the way.
func joinMemories(base, mine, theirs json.RawMessage) (json.RawMessage, error) {
	var b, m, t alert.Memory
	for raw, into := range map[*json.RawMessage]*alert.Memory{&base: &b, &mine: &m, &theirs: &t} {
		if len(*raw) == 0 {
			continue
		}
		if err := json.Unmarshal(*raw, into); err != nil {
			return nil, err
		}
	}
	for _, n := range t.Outbox {
		same := func(have alert.Notice) bool { return have.ID == n.ID }
		if !slices.ContainsFunc(b.Outbox, same) && !slices.ContainsFunc(m.Outbox, same) {
			m.Outbox = append(m.Outbox, n)
		}
	}
	return json.Marshal(m)
}

// openState opens the config's state for a run: by its lock, or when it is its
// turn.
func openState(ctx context.Context, sys system, cfg config.Config) (keeper, error) {
	if cfg.State.ConfigMap == "" {
		file, err := state.OpenFile(cfg.State.File, stateOptions())
		if err != nil {
			return nil, err // and not a keeper that holds a nil file
		}
		return file, nil
	}
	cluster, err := state.Cluster(cfg.State.ConfigMap, sys.env)
	if err != nil {
		return nil, err
	}
	object, err := state.OpenConfigMap(ctx, cluster, stateOptions())
	if err != nil {
		return nil, err
	}
	return object, nil
}

// readState is for those who only look.
func readState(ctx context.Context, sys system, cfg config.Config) (state.Document, error) {
	if cfg.State.ConfigMap == "" {
		return state.ReadFile(cfg.State.File)
	}
	cluster, err := state.Cluster(cfg.State.ConfigMap, sys.env)
	if err != nil {
		return state.Document{}, err
	}
	return state.ReadConfigMap(ctx, cluster)
}

// editState changes the state beside a run that may be under way. edit may be
// called again.
func editState(ctx context.Context, sys system, cfg config.Config, edit func(*state.Document) error) error {
	if cfg.State.ConfigMap == "" {
		return state.EditFile(ctx, cfg.State.File, stateOptions(), edit)
	}
	cluster, err := state.Cluster(cfg.State.ConfigMap, sys.env)
	if err != nil {
		return err
	}
	return state.EditConfigMap(ctx, cluster, stateOptions(), edit)
}

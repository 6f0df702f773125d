package main

import (
	"context"

	"perch.example/config"
	"perch.example/metrics"
	"perch.example/state"
)

// stateOptions say how what two perches made of the state is joined. Silences
// need no word: they are joined by id.
func stateOptions() state.Options {
	return state.Options{Merge: map[string]state.Merge{sectionAlert: joinMemories, sectionMetrics: metrics.Merge}}
}

// forTurn is how somebody waits for a state that is another's.
type forTurn struct {
	waiting  func(*state.LockedError) // told who has it; nil: nobody is
	election *state.Election          // of replicas, of a ConfigMap's; nil: this is none
}

// openState opens the config's state for a run: by its lock, or when it is its
// turn.
func openState(ctx context.Context, sys system, cfg config.Config, turn forTurn) (keeper, error) {
	if cfg.State.ConfigMap == "" {
		file, err := state.OpenFile(cfg.State.File, stateOptions())
		if err != nil {
			return nil, err // and not a keeper that holds a nil file
		}
		return file, nil
	}
	cluster, err := sys.clusterOf(cfg.State.ConfigMap)
	if err != nil {
		return nil, err
	}
	cluster.Waiting, cluster.Election = turn.waiting, turn.election
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
	cluster, err := sys.clusterOf(cfg.State.ConfigMap)
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
	cluster, err := sys.clusterOf(cfg.State.ConfigMap)
	if err != nil {
		return err
	}
	return state.EditConfigMap(ctx, cluster, stateOptions(), edit)
}

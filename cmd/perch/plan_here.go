package main

import (
	"log/slog"

	"perch.example/config"
	"perch.example/state"
)

// warnOfHere says what would keep a run from starting where the plan is made: a
// secret that cannot be read, a state that has no place. It is no error: a plan is
// made in CI and on laptops too, where neither need be.
func warnOfHere(sys system, cfg config.Config, log *slog.Logger) {
	if err := checkSecrets(cfg, config.ReadSecret(sys.env, sys.readFile)); err != nil {
		log.Warn("plan: here a run would be refused (status 2): a secret cannot be read", "error", err)
	}
	if cfg.State.File == "" {
		return
	}
	if err := state.CheckPlace(cfg.State.File); err != nil {
		log.Warn("plan: here a run would not start (status 4): its state has no place", "error", err)
	}
}

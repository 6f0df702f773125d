package main

import (
	"log/slog"
	"time"

	"perch.example/config"
	"perch.example/diagnose/clients"
)

// loadConfig reads a config and logs what it warns about.
func loadConfig(sys system, path string, log *slog.Logger) (config.Config, error) {
	cfg, err := config.Load(path, configOptions(sys))
	if err != nil {
		return config.Config{}, err
	}
	for _, w := range cfg.Warnings {
		log.Warn("config", "warning", w)
	}
	return cfg, nil
}

func configOptions(sys system) config.Options {
	return config.Options{Env: sys.env, Now: time.Now(), ClientKinds: clients.Kinds(), ClientWrappers: clients.Wrappers()}
}

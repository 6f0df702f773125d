package main

import (
	"log/slog"
	"time"

	"perch.example/config"
	"perch.example/diagnose/clients"
)

// loadConfig reads a config and logs what it warns about. It keeps the platform
// team's policy, or is refused. In a Pod of an Indexed Job it is the Pod's shard.
func loadConfig(sys system, path string, log *slog.Logger) (config.Config, error) {
	shard, err := shardHere(sys.env)
	if err != nil {
		return config.Config{}, err
	}
	options := configOptions(sys)
	if options.Policy, err = loadPolicy(sys); err != nil {
		return config.Config{}, err
	}
	cfg, err := warned(log)(config.Load(path, options))
	if err != nil {
		return config.Config{}, err
	}
	return cfg.InShard(shard), nil
}

// loadAnywhere is loadConfig for a command that sends nothing to a target: no
// policy keeps anybody from muting.
func loadAnywhere(sys system, path string, log *slog.Logger) (config.Config, error) {
	return warned(log)(configAnywhere(sys, path, configOptions(sys)))
}

// loadForAll is loadAnywhere for what becomes a ConfigMap, which whoever may look
// around in the namespace reads.
func loadForAll(sys system, path string, log *slog.Logger) (config.Config, error) {
	options := configOptions(sys)
	options.NoCredentials = true
	return warned(log)(configAnywhere(sys, path, options))
}

// configAnywhere reads a config that may name no vantage: a Pod's environment
// says it, and a reviewer's or an operator's does not. It stays empty then.
func configAnywhere(sys system, path string, options config.Options) (config.Config, error) {
	cfg, err := config.Load(path, options)
	if v, _ := sys.env("PERCH_VANTAGE"); err == nil || v != "" {
		return cfg, err
	}
	options.Env = func(name string) (string, bool) {
		if name == "PERCH_VANTAGE" {
			return "anywhere", true
		}
		return sys.env(name)
	}
	cfg, err = config.Load(path, options)
	cfg.Vantage = "" // the config's would have done above
	return cfg, err
}

// warned logs what a config that was read warns about.
func warned(log *slog.Logger) func(config.Config, error) (config.Config, error) {
	return func(cfg config.Config, err error) (config.Config, error) {
		if err != nil {
			return config.Config{}, err
		}
		for _, w := range cfg.Warnings {
			log.Warn("config", "warning", w)
		}
		return cfg, nil
	}
}

func configOptions(sys system) config.Options {
	return config.Options{Env: sys.env, Now: time.Now(), ClientKinds: clients.Kinds(), ClientWrappers: clients.Wrappers()}
}

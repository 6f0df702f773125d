package config

import (
	"errors"
	"fmt"
	"strings"

	"perch.example/probes"
)

// maxSecret is far above any token and far below what a wrong path may hold.
const maxSecret = 64 << 10

// Sources lists every secret that the config refers to, each once, in the order
// in which they are written. Load reads none of them.
func (c Config) Sources() []probes.Source {
	var out []probes.Source
	seen := map[probes.Source]bool{{}: true}
	add := func(s probes.Source) {
		if !seen[s] {
			seen[s] = true
			out = append(out, s)
		}
	}
	addAll := func(fields []probes.Field) {
		for _, f := range fields {
			add(f.From)
		}
	}
	for _, t := range c.Targets {
		for _, p := range t.Probes {
			addAll(p.Headers)
			addAll(p.Query)
			add(p.Way.Proxy.Credentials)
			if p.OAuth != nil {
				add(p.OAuth.Secret)
			}
		}
	}
	add(c.Slack.Webhook)
	add(c.Slack.BotToken)
	add(c.Webhook.From)
	addAll(c.Webhook.Headers)
	addAll(c.Alertmanager.Headers)
	addAll(c.Metrics.PushHeaders)
	addAll(c.OTLP.Headers)
	return out
}

// ReadSecret returns a reader of secrets that looks anew each time. A final
// newline, which editors and kubectl leave, is not part of a secret. Its errors
// name the source and never what it holds.
func ReadSecret(env func(string) (string, bool), readFile func(string) ([]byte, error)) probes.ReadSecret {
	return func(s probes.Source) (probes.Secret, error) {
		text, err := readSource(s, env, readFile)
		if err != nil {
			return probes.Secret{}, fmt.Errorf("reading %s: %w", s, err)
		}
		text = strings.TrimSuffix(strings.TrimSuffix(text, "\n"), "\r")
		switch {
		case text == "":
			return probes.Secret{}, fmt.Errorf("reading %s: it is empty", s)
		case len(text) > maxSecret:
			return probes.Secret{}, fmt.Errorf("reading %s: %d bytes, want at most %d", s, len(text), maxSecret)
		case strings.ContainsFunc(text, isControl):
			return probes.Secret{}, fmt.Errorf("reading %s: it holds a control character, want one line", s)
		}
		return probes.NewSecret(text), nil
	}
}

func readSource(s probes.Source, env func(string) (string, bool), readFile func(string) ([]byte, error)) (string, error) {
	switch {
	case s.Env != "" && s.File == "":
		text, set := env(s.Env)
		if !set {
			return "", errors.New("it is not set")
		}
		return text, nil
	case s.File != "" && s.Env == "":
		data, err := readFile(s.File)
		return string(data), err
	}
	return "", errors.New("the source names nothing, want an environment variable or a file")
}

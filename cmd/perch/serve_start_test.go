package main

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A port that is taken ends it before anything is sent.
func TestServePortInUse(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = taken.Close() }()
	path := configFile(t, "", strings.Replace(serving, "metrics: {", `metrics: {listen: "`+taken.Addr().String()+`", `, 1))
	r := perch(t.Context(), map[string]string{"HOOK": "http://slack.example"}, "serve", "--config", path)
	if r.code != exitOwn {
		t.Errorf("exit status %d, want 4", r.code)
	}
	want(t, "stderr", r.stderr, "perch.yaml:19: listening on metrics.listen: ", taken.Addr().String(), "in use: choose another port there")
	want(t, "what it does not use", r.stderr, "not used by perch serve", "key=metrics.push", "key=metrics.textfile")
	if files, err := filepath.Glob(filepath.Join(filepath.Dir(path), "*")); err != nil || len(files) != 1 {
		t.Errorf("left %v, %v", files, err)
	}
}

// What no wave could be made of ends it at once.
func TestServeRefuses(t *testing.T) {
	t.Parallel()
	env := map[string]string{"HOOK": "http://slack.example"}
	for name, c := range map[string]struct {
		change []string
		args   []string
		env    map[string]string
		says   string
	}{
		"no name":        {change: []string{"name: shop\n", "", "state:", "#", "metrics:", "#"}, env: env, says: "needs a name and a vantage"},
		"no vantage":     {change: []string{"vantage: test\n", "", "state:", "#", "metrics:", "#"}, env: env, says: "PERCH_VANTAGE"},
		"too many":       {change: []string{"every: 1m", "every: 1s", "daily_limit: 200000", "daily_limit: 1000"}, env: env, says: "daily_limit"},
		"a long ladder":  {change: []string{"every: 10m, holds: [4m", "every: 10m, holds: [20m"}, env: env, says: "every"},
		"no such probe":  {args: []string{"--only", "none"}, env: env, says: "matches nothing"},
		"no such output": {args: []string{"--output", "junit"}, env: env, says: "none, text or json"},
		"no secret":      {change: []string{"metrics: {", `metrics: {listen: "127.0.0.1:0", `}, says: "HOOK"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := configFile(t, "", strings.NewReplacer(c.change...).Replace(serving))
			r := perch(t.Context(), c.env, append([]string{"serve", "--config", path}, c.args...)...)
			if r.code != exitUsage {
				t.Errorf("exit status %d, want 2", r.code)
			}
			want(t, "stderr", r.stderr, c.says)
			if _, err := os.Stat(filepath.Join(filepath.Dir(path), "state")); err == nil {
				t.Error("it made a state")
			}
		})
	}
}

func TestHealth(t *testing.T) {
	now := time.Now()
	h := newHealth()
	if h.unready() == "" || h.stuck(now) != "" {
		t.Error("a perch that has not begun is ready, or stuck")
	}
	h.setReady()
	h.expect("api/seldom", now.Add(time.Minute))
	h.expect("api/often", now)
	if h.unready() != "" || h.stuck(now) != "" {
		t.Errorf("%q, %q", h.unready(), h.stuck(now))
	}
	if said := h.stuck(now.Add(time.Second)); !strings.Contains(said, "api/often is stuck") {
		t.Errorf("a second later: %q", said)
	}
	h.forget("api/often")
	if said := h.stuck(now.Add(time.Second)); said != "" {
		t.Errorf("of a probe that is gone: %q", said)
	}
	h.setState(errBroken)
	if said := h.unready(); !strings.Contains(said, "the disk is broken") {
		t.Errorf("%q", said)
	}
	h.setState(nil)
	if said := h.unready(); said != "" {
		t.Errorf("%q", said)
	}
}

// The config as serve takes it leaves the one that was read alone.
func TestServedConfig(t *testing.T) {
	p, _ := newPass(t, strings.Replace(noted, "path: /}", "path: /, every: always}", 1), &diary{})
	got := served(p.cfg)
	if got.Metrics.PushURL != "" || got.Targets[0].Probes[0].Every != withoutEvery {
		t.Errorf("%+v", got.Metrics)
	}
	if p.cfg.Metrics.PushURL == "" || p.cfg.Targets[0].Probes[0].Every != 0 {
		t.Error("the config that was read has changed")
	}
}

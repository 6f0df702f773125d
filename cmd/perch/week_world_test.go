//go:build peers

package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"perch.example/config"
	"perch.example/probes"
)

// weekRuns are the runs of a week, one a minute.
const weekRuns = 7 * 24 * 60

// weekConfig has servers that tick each second, every 5 s and every 10 s, probes
// that are due in each run and each 5 minutes, a client that is safe, and a
// ladder of one rung, to which a reload looks like an early close.
const weekConfig = `
version: 1
name: week
vantage: bench
defaults: {every: always, rate_limit: 50/s, share: 50%, daily_limit: 1000000, max_connections: 20}
targets:
  - name: stock-api
    url: https://stock.example
    owner: team-stock
    client: {kind: apache-httpclient-4.5, max_idle: 3s}
    probes:
      - {name: get, kind: http, path: /}
      - {name: idle, kind: idle, path: /, keep_alive: 5s}
  - name: price-api
    url: https://price.example
    probes:
      - {name: get, kind: http, path: /}
      - {name: idle, kind: idle, path: /, keep_alive: 10s, every: 5m}
  - name: map-api
    url: https://map.example
    probes:
      - {name: get, kind: http, path: /, every: 5m}
      - {name: idle, kind: idle, path: /, keep_alive: 20s}
      - {name: one-hold, kind: idle, path: /, keep_alive: 20s, holds: [15s], every: 5m}
  - name: order-api
    url: https://order.example
    probes:
      - {name: get, kind: http, path: /}
  - name: mail-api
    url: https://mail.example
    probes:
      - {name: get, kind: http, path: /, every: 2m}
alerts: {fire_after: 2, resolve_after: 2, remind_every: 24h}
`

// world is a week: servers, a config, and what perch is run with.
type world struct {
	t       *testing.T
	dice    *rand.Rand
	span    window
	cfg     config.Config
	env     map[string]string
	servers map[string]*server
	web     http.RoundTripper
}

// newWorld begins a week now, which is the bubble's now.
func newWorld(t *testing.T, seed uint64, text string, env map[string]string) *world {
	t.Helper()
	path := filepath.Join(t.TempDir(), "perch.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, dice: rand.New(rand.NewPCG(seed, 5)), env: env, servers: map[string]*server{}}
	w.span = window{time.Now(), time.Now().Add(weekRuns * time.Minute)}
	var err error
	if w.cfg, err = loadConfig(w.system(), path, slog.New(slog.DiscardHandler)); err != nil {
		t.Fatal(err)
	}
	for _, s := range []struct {
		target        string
		timeout, tick time.Duration
	}{
		{"stock-api", 5 * time.Second, time.Second}, {"price-api", 10 * time.Second, 5 * time.Second}, {"map-api", 20 * time.Second, 10 * time.Second},
		{"order-api", 60 * time.Second, time.Second}, {"mail-api", 60 * time.Second, 10 * time.Second},
	} {
		w.servers[s.target] = newServer(w.dice, s.timeout, s.tick, w.span)
	}
	return w
}

func (w *world) system() system {
	return system{
		stdout: io.Discard, stderr: io.Discard, readFile: os.ReadFile, web: w.web,
		env: func(name string) (string, bool) { v, ok := w.env[name]; return v, ok },
	}
}

// pass is one run of perch, from the state to the state, in which the servers'
// model stands for the wire. It ends when its last step does.
func (w *world) pass(ctx context.Context, store keeper, meanwhile func()) (run probes.Run, err error) {
	p := &pass{
		kept: &kept{store: store}, sys: w.system(), cfg: w.cfg, flags: runFlags{config: "perch.yaml", seed: w.dice.Uint64()},
		log: slog.New(slog.DiscardHandler),
	}
	if err := p.open(ctx); err != nil {
		return run, err
	}
	if err := p.makePlan(); err != nil {
		return run, err
	}
	run = p.begin(ctx)
	var seen []probes.Observation
	ended := run.Started
	for _, step := range p.plan.Steps {
		o := w.servers[step.Spec.Target].play(step, run.Started)
		seen = append(seen, o)
		if o.Ended.After(ended) {
			ended = o.Ended
		}
	}
	meanwhile()
	time.Sleep(time.Until(ended))
	run.Finished = time.Now()
	for _, t := range w.cfg.Targets {
		run.Budget = append(run.Budget, probes.BudgetUse{Target: t.Name, LimitPerSecond: t.Budget(), Requests: len(seen)})
	}
	p.judge(&run, seen)
	p.finish(ctx, &run)
	p.close(ctx)
	return run, nil
}

// nextMinute sleeps until the CronJob starts the next run.
func (w *world) nextMinute() {
	now := time.Now()
	time.Sleep(now.Truncate(time.Minute).Add(time.Minute).Sub(now))
}

// say is a problem of one run, with what it takes to see it again.
func (w *world) say(n int, format string, args ...any) {
	w.t.Helper()
	w.t.Errorf("run %d, %s: %s", n, time.Now().UTC().Format("Mon 15:04:05"), fmt.Sprintf(format, args...))
}

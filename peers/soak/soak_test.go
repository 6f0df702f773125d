//go:build soak

package soak

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"perch.example/internal/freeport"
	"perch.example/internal/slackfake"
)

const (
	steady  = 170                   // targets, each probed each second, of which nobody ever changes anything
	churned = 20                    // targets that come and go
	onTime  = 50 * time.Millisecond // the 99th percentile
)

// world is all that the soaked perch meets.
type world struct {
	plain    *plainServer
	lab      []misbehaving
	bursts   bursts
	services map[string]*flaky
	slack    *slackfake.Fake
	otlp     *accepting // and what else takes anything
	changed  int        // how often a good config was put there
	state    string     // the folder of its state, on a small file system of its own
	listen   string
	stood    *stalls
}

// TestSoak lets perch serve make 200 probes a second, with reloads, among targets that
// misbehave in every way the lab knows, destinations that hang, fail and come back, a
// disk that is full at times, and a wall clock that is set. Nothing may grow, no
// schedule slip, no reason be wrong.
func TestSoak(t *testing.T) {
	t.Parallel() // with those that are killed, which take little
	dice, w := rolled(t), newWorld(t)
	config := mount(t, w.config(nil))
	told := control(t.TempDir())
	binary, err := controlled()
	if err != nil {
		t.Fatal(err)
	}
	perch := serving(t, startWith(t, []string{controlEnv + "=" + string(told), "SOAK_SLACK=" + w.services["slack"].url + "/services/T/B/secret"},
		binary, "serve", "--config", config.path()))

	ctx, cancel := context.WithTimeout(t.Context(), *soakFor)
	defer cancel()
	began := time.Now()
	var all sync.WaitGroup
	run := func(what func(*rand.Rand)) {
		own := rand.New(rand.NewPCG(dice.Uint64(), 1))
		all.Go(func() { what(own) })
	}
	var calms []sample
	run(func(d *rand.Rand) {
		calm := func() { calms = append(calms, takeCalm(t, perch.pid(), told, w.otlp)) }
		troubleAndCalm(ctx, t, d, calm, w.services["slack"], w.services["webhook"], w.services["alertmanager"], w.services["otlp"])
	})
	run(func(d *rand.Rand) { w.reload(ctx, t, d, &reloaded{perch, config}) })
	run(func(d *rand.Rand) { w.fill(ctx, t, d) })
	run(func(d *rand.Rand) { w.setClock(ctx, t, d, told) })
	run(func(*rand.Rand) { w.look(ctx, t, perch) })
	samples := takeSamples(ctx, t, perch.pid(), told)
	all.Wait()
	awaitReady(t, perch.address)
	w.checkReloads(t, perch)
	last := scrape(t, perch.address)
	if code := perch.stop(t, syscall.SIGTERM); code != 0 {
		t.Errorf("exit status %d, want 0\n%s", code, perch.log.tail())
	}
	ended := time.Now()

	warm := began.Add(min(*soakFor/3, 3*time.Minute))
	always := counts()
	if *soakFor >= 10*time.Minute { // in less, what waits for a receiver that is away hides the rest
		always = append(always, memory()...)
	}
	checkGrowth(t, samples, warm, always)
	checkGrowth(t, calms, warm, memory())
	w.checkSchedules(t, began, ended)
	w.checkReasons(t, last)
	w.checkBudgets(t)
	perch.checkLog(t)
}

func newWorld(t *testing.T) *world {
	t.Helper()
	slack := slackfake.New(slackfake.Config{
		Channels: []slackfake.Channel{{ID: "C0123456789", Name: "soak", Member: true}},
		Hooks:    []slackfake.Hook{{Path: "/services/T/B/secret", Channel: "C0123456789"}},
	})
	w := &world{
		plain: startPlain(t), lab: misbehave(t), bursts: startBursts(t), services: map[string]*flaky{}, slack: slack,
		otlp: &accepting{}, state: smallDisk(t), stood: watchStalls(t),
	}
	w.listen = fmt.Sprintf("127.0.0.1:%d", freeport.Loopback(t))
	w.services["slack"] = startFlaky(t, "Slack", slack)
	for _, name := range []string{"webhook", "alertmanager", "otlp"} {
		w.services[name] = startFlaky(t, name, w.otlp)
	}
	return w
}

// config is the config with some of the targets that come and go.
func (w *world) config(coming []int) string {
	var text strings.Builder
	fmt.Fprintf(&text, "version: 1\nname: soak\nvantage: here\nmetrics: {listen: %q, max_series: 200000}\nstate: {file: %q}\n", w.listen, filepath.Join(w.state, "state"))
	fmt.Fprintf(&text, "alerts: {settle: none}\nslack: {webhook: {from: {env: SOAK_SLACK}}}\nwebhook: {url: %q}\nalertmanager: {url: %q}\notlp: {endpoint: %q, timeout: 2s}\n",
		w.services["webhook"].url, w.services["alertmanager"].url, w.services["otlp"].url)
	text.WriteString("defaults: {rate_limit: 4/s, share: 50%, daily_limit: 1000000, every: 1s}\ntargets:\n")
	for i := range steady {
		fmt.Fprintf(&text, "  - {name: steady-%d, url: %q, probes: [{name: get, kind: http, path: %s}]}\n", i, w.plain.url(i, ""), steadyPath(i))
	}
	for _, i := range coming {
		fmt.Fprintf(&text, "  - {name: churned-%d, url: %q, probes: [{name: get, kind: http, path: /churned}]}\n", i, w.plain.url(i, ""))
	}
	for i := range 10 {
		fmt.Fprintf(&text, "  - {name: idle-%d, url: %q, rate_limit: 20/s, probes: [{name: hold, kind: idle, path: /idle, every: 4s, holds: [300ms, 1s]}]}\n", i, w.plain.url(i, ""))
	}
	fmt.Fprintf(&text, "  - {name: changing, url: %q, probes: [{name: get, kind: http, path: %s}]}\n", w.plain.url(0, ""), changingPath(w.changed))
	text.WriteString(w.bursts.config())
	for _, m := range w.lab {
		text.WriteString(m.yaml)
	}
	return text.String()
}

func steadyPath(i int) string { return fmt.Sprintf("%s%d", recorded, i) }

// smallDisk is a file system of a few megabytes, which only root can have.
func smallDisk(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := syscall.Mount("perch-soak", dir, "tmpfs", 0, "size=16m"); err != nil {
		t.Fatalf("mounting a small file system (the suite needs root): %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Errorf("unmounting: %v", err)
		}
	})
	return dir
}

// fill lets the disk of the state be full for some seconds, again and again.
func (w *world) fill(ctx context.Context, t *testing.T, dice *rand.Rand) {
	path := filepath.Join(w.state, "filler")
	for pause(ctx, time.Duration(15+dice.IntN(15))*time.Second) {
		t.Logf("%s: the disk is full", clockTime())
		f, err := os.Create(path)
		if err != nil {
			t.Errorf("filling the disk: %v", err)
			return
		}
		for err == nil {
			_, err = f.Write(make([]byte, 4096)) // until there is no room
		}
		_ = f.Close()
		pause(ctx, time.Duration(3+dice.IntN(6))*time.Second)
		if err := os.Remove(path); err != nil {
			t.Errorf("emptying the disk: %v", err)
		}
		t.Logf("%s: the disk has room", clockTime())
	}
}

// setClock sets perch's wall clock, forward and back, by up to half an hour.
func (w *world) setClock(ctx context.Context, t *testing.T, dice *rand.Rand, told control) {
	for pause(ctx, time.Duration(20+dice.IntN(20))*time.Second) {
		by := time.Duration(dice.IntN(3600)-1800) * time.Second
		t.Logf("%s: the clock is wrong by %s", clockTime(), by)
		told.step(t, by)
	}
	told.step(t, 0)
}

// look scrapes as a Prometheus does, and asks as the kubelet does.
func (w *world) look(ctx context.Context, t *testing.T, perch *listening) {
	for pause(ctx, 5*time.Second) {
		scrape(t, perch.address)
		awaitAnswer(t, "http://"+perch.address+"/healthz")
	}
}

//go:build soak

package soak

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"perch.example/internal/freeport"
	"perch.example/lab"
)

const (
	// pushedFor is for how long runs begin at most, however long the others soak.
	pushedFor = 20 * time.Second
	// A run without trouble takes a second, on a busy machine some; a push that
	// hangs 10 s more (docs/metrics.md).
	runsWithin  = 10 * time.Second
	hangsWithin = 10 * time.Second
)

// TestPushedAmongFailures runs perch again and again, as a CronJob does, while the
// Pushgateway works, fails, hangs, resets the connection, or does so once it has stored
// all. A run ends in time, says with its status whether its last push failed, and no
// counter that the gateway holds ever goes back or misses anything.
func TestPushedAmongFailures(t *testing.T) {
	t.Parallel()
	dice, g := rolled(t), startGateway(t)
	api, err := lab.Start(t.Context(), "healthy", lab.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = api.Close() })
	dir := t.TempDir()
	config := write(t, filepath.Join(dir, "perch.yaml"), fmt.Sprintf(`version: 1
name: pushed
vantage: soak
metrics: {push: {url: %q}}
state: {file: %q}
targets:
  - name: api
    url: %q
    rate_limit: 100/s
    share: 50%%
    daily_limit: 1000000
    every: always
    probes: [{name: get, kind: http, path: /calendar}, {name: hold, kind: idle, path: /calendar, holds: [100ms]}]
`, g.url, filepath.Join(dir, "state"), api.URL()))

	runs, failed := 0, 0
	next := func(first, last mode) {
		runs++
		if last != working {
			failed++
		}
		g.run(t, config, first, last)
	}
	modes := []mode{working, failing, hanging, cutting, losing}
	var dealt []int
	end := time.Now().Add(min(*soakFor, pushedFor))
	for runs < len(modes) || time.Now().Before(end) { // each of them once, wherever time ends
		if len(dealt) == 0 {
			dealt = dice.Perm(len(modes))
		}
		first, last := modes[dice.IntN(2)], modes[dealt[0]]
		if dice.IntN(2) == 0 {
			first, last = last, first
		}
		dealt = dealt[1:]
		next(first, last)
	}
	next(working, working)

	now := g.counters(t)
	for name, want := range map[string]int{
		"perch_runs_total{":     runs,
		"perch_requests_total{": len(api.Requests()),
		"perch_problems_total{": failed,
	} {
		if got := sumOf(now, name); got != float64(want) {
			t.Errorf("the gateway holds %v of %s...}, want %d", got, name, want)
		}
	}
	t.Logf("%d runs, of which %d ended with status 4; the gateway was sent %d pushes, and has all of %d requests, in %d counters",
		runs, failed, g.pushes, len(api.Requests()), len(now))
}

// gateway is a real Pushgateway, behind what is not always there.
type gateway struct {
	url     string
	address string // its own

	mu     sync.Mutex
	due    []mode // how it behaves to the pushes that come
	pushes int
	held   series // after the last push that it stored
}

func startGateway(t *testing.T) *gateway {
	t.Helper()
	g := &gateway{address: fmt.Sprintf("127.0.0.1:%d", freeport.Loopback(t))}
	startProcess(t, "prometheus-pushgateway", "--web.listen-address="+g.address, "--persistence.file=")
	awaitAnswer(t, "http://"+g.address+"/-/ready")
	store := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: g.address})
	before := &flaky{name: "the Pushgateway", next: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		store.ServeHTTP(w, r)
		g.check(t)
	})}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		before.set(g.take())
		before.ServeHTTP(w, r)
	}))
	t.Cleanup(func() { server.CloseClientConnections(); server.Close() })
	g.url = server.URL
	return g
}

// take says how the gateway behaves to a push that comes: a run makes one at a time.
func (g *gateway) take() mode {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.pushes++
	if len(g.due) == 0 {
		return working // of a run that pushed more often than it may: run says so
	}
	m := g.due[0]
	g.due = g.due[1:]
	return m
}

// run runs perch once, and holds how it ends against how its pushes went.
func (g *gateway) run(t *testing.T, config string, first, last mode) {
	t.Helper()
	g.mu.Lock()
	g.due = []mode{first, last}
	before := g.pushes
	g.mu.Unlock()
	within, want := runsWithin, 0
	for _, m := range []mode{first, last} {
		if m == hanging {
			within += hangsWithin
		}
	}
	if last != working {
		want = 4
	}
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	cmd := exec.CommandContext(ctx, built.perch, "run", "--config", config)
	out, _ := cmd.CombinedOutput() // the status is looked at
	if ctx.Err() != nil {
		t.Fatalf("a run whose first push %s and whose last %s was not over after %s\n%s", first, last, within, out)
	}
	if got := cmd.ProcessState.ExitCode(); got != want {
		t.Errorf("a run whose first push %s and whose last %s ended with status %d, want %d\n%s", first, last, got, want, out)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if n := g.pushes - before; n != 2 {
		t.Errorf("a run pushed %d times, want 2\n%s", n, out)
	}
}

// check: no counter that the gateway holds went back, or is gone.
func (g *gateway) check(t *testing.T) {
	now := g.counters(t)
	g.mu.Lock()
	defer g.mu.Unlock()
	var worse []string
	for name, before := range g.held {
		if after, there := now[name]; !there || after < before {
			worse = append(worse, fmt.Sprintf("%s from %v to %v", name, before, after))
		}
	}
	if len(worse) > 0 {
		t.Errorf("a push took %d counters back: %s", len(worse), slices.Min(worse))
	}
	g.held = now
}

// counters are those of perch's that the gateway holds.
func (g *gateway) counters(t *testing.T) series {
	all := series{}
	for written, value := range scrape(t, g.address) {
		name, _, _ := strings.Cut(written, "{")
		counts := strings.HasSuffix(name, "_total") || strings.HasSuffix(name, "_bucket") || strings.HasSuffix(name, "_count")
		if counts && strings.HasPrefix(name, "perch_") {
			all[written] = value
		}
	}
	return all
}

// sumOf adds up the series whose written form begins so.
func sumOf(all series, prefix string) float64 {
	sum := 0.0
	for name, value := range all {
		if strings.HasPrefix(name, prefix) {
			sum += value
		}
	}
	return sum
}

package main

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

const thrifty = `
version: 1
name: thrifty
vantage: test
targets:
  - name: api
    url: ${URL}
    share: 10%
    daily_limit: 3
    probes:
      - {name: a, kind: http, path: /a, every: 24h}
      - {name: b, kind: http, path: /b, every: 24h}
state: {file: STATE}
`

// counter is a server that writes down when requests came.
type counter struct {
	mu     sync.Mutex
	at     []time.Time
	answer func(http.ResponseWriter)
}

func (c *counter) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = append(c.at, time.Now())
	if c.answer != nil {
		c.answer(w)
	}
}

func thriftyConfig(t *testing.T, c *counter, replace ...string) (config, state string) {
	t.Helper()
	server := httptest.NewServer(c)
	t.Cleanup(server.Close)
	state = filepath.Join(t.TempDir(), "state")
	return configFile(t, server.URL, strings.NewReplacer(append(replace, "STATE", state)...).Replace(thrifty)), state
}

// TestARunWaitsForTheOneBefore: a run that follows another at once waits for
// what is left of the window.
func TestARunWaitsForTheOneBefore(t *testing.T) {
	t.Parallel()
	c := &counter{}
	config, _ := thriftyConfig(t, c, "daily_limit: 3", "daily_limit: 99")
	p := &platform{}
	for range 2 {
		if r := p.perch(t, nil, "run", "--all", "--config", config); r.code != exitOK {
			t.Fatalf("exit status %d\n%s%s", r.code, r.stdout, r.stderr)
		}
	}
	if len(c.at) != 4 || len(p.at) != 4 {
		t.Fatalf("%d requests on %d connections, want 4 on 4", len(c.at), len(p.at))
	}
	// 2/s: two in any second. One that came late may have left any time before; that it
	// left after its connection was begun is sure.
	for i := range 2 {
		if apart := c.at[i+2].Sub(p.at[i]); apart < time.Second {
			t.Errorf("requests %d to %d left within %s, want at most 2 in 1 s", i+1, i+3, apart)
		}
	}
}

// TestRetryAfterHoldsAcrossRuns: what a target asked for is not forgotten with
// the process that was asked.
func TestRetryAfterHoldsAcrossRuns(t *testing.T) {
	t.Parallel()
	c := &counter{answer: func(w http.ResponseWriter) {
		w.Header().Set("Retry-After", "3600")
		w.WriteHeader(http.StatusTooManyRequests)
	}}
	config, _ := thriftyConfig(t, c, "daily_limit: 3", "rate_limit: 1000/s")
	perch(t.Context(), nil, "run", "--all", "--config", config)
	told := len(c.at) // on a busy machine the second probe may leave before the first one's answer is read
	for range 2 {
		r := perch(t.Context(), nil, "run", "--all", "--config", config)
		want(t, "a later run", r.stdout, "Retry-After", "skipped")
	}
	if len(c.at) != told || told == 0 {
		t.Errorf("%d requests after the run that was told to send none for an hour, which sent %d", len(c.at)-told, told)
	}
}

// TestKilledRunKeepsTheDailyLimit: what a run may have sent stands in the
// state before the first request leaves.
func TestKilledRunKeepsTheDailyLimit(t *testing.T) {
	t.Parallel()
	c := &counter{}
	var config, state string
	var during []byte
	c.answer = func(http.ResponseWriter) {
		if during == nil {
			during, _ = os.ReadFile(state) // fails below
		}
	}
	config, state = thriftyConfig(t, c)
	p := &platform{}
	p.perch(t, nil, "run", "--config", config)
	if len(c.at) != 2 {
		t.Fatalf("%d requests, want 2", len(c.at))
	}
	// What a kill -9 in mid-run leaves behind.
	if err := os.WriteFile(state, during, 0o600); err != nil {
		t.Fatal(err)
	}
	perch(t.Context(), nil, "run", "--config", config)
	if len(c.at) != 3 {
		t.Errorf("%d requests on a day that allows 3, after a run that was killed", len(c.at))
	}
	if apart := c.at[2].Sub(p.at[1]); apart < time.Second { // each left after its connection was begun
		t.Errorf("the run after a killed one sent %s after it, at 2/s", apart)
	}
}

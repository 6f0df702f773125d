//go:build peers

package peers

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"perch.example/lab"
	"perch.example/state"
)

const servedConfig = `
version: 1
name: shop
vantage: peers
defaults: {rate_limit: 50/s, share: 50%%, daily_limit: 1000000}
targets:
  - name: stock-api
    url: %q
    probes:
      - {name: get, kind: http, path: /, every: 1s}
      - {name: idle, kind: idle, path: /, every: 3s, keep_alive: 1s, holds: [300ms, 500ms]}
      - {name: long, kind: idle, path: /, every: 1h, holds: [10m]}
alerts: {settle: none}
metrics: {listen: "127.0.0.1:0"}
state: {file: %q}
`

// serving is a perch serve of its own process.
type serving struct {
	cmd     *exec.Cmd
	log     locked
	address string
}

func startServing(t *testing.T, config string) *serving {
	t.Helper()
	path, err := buildPerch()
	if err != nil {
		t.Fatal(err)
	}
	s := &serving{cmd: exec.Command(path, "serve", "--config", config)}
	s.cmd.Stderr = &s.log
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.cmd.Process.Kill() }) // where it has not ended by itself
	address := regexp.MustCompile(`msg=serving address=(\S+)`)
	await(t, "perch to serve", func() error {
		found := address.FindStringSubmatch(s.log.String())
		if found == nil {
			return errors.New(s.log.String())
		}
		s.address = found[1]
		return nil
	})
	return s
}

// stop signals it, and returns its exit status.
func (s *serving) stop(t *testing.T, signal os.Signal) int {
	t.Helper()
	began := time.Now()
	if err := s.cmd.Process.Signal(signal); err != nil {
		t.Fatal(err)
	}
	_ = s.cmd.Wait() // the status is looked at
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("it ended %s after the signal, want within 5 s", took)
	}
	return s.cmd.ProcessState.ExitCode()
}

// TestServeUnderPrometheus: a real process, scraped by a real Prometheus that
// takes native histograms, until SIGTERM comes in the middle of a hold; what it
// counted is what the server received, in the scrapes and in the state. Another
// process goes on from there.
func TestServeUnderPrometheus(t *testing.T) {
	t.Parallel()
	server, err := lab.Start(t.Context(), "healthy", lab.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Close() })
	dir := t.TempDir()
	config, kept := filepath.Join(dir, "perch.yaml"), filepath.Join(dir, "state")
	write(t, config, fmt.Sprintf(servedConfig, server.URL(), kept))

	s := startServing(t, config)
	p := startPrometheus(t, s.address, "--enable-feature=native-histograms")
	await(t, "three ladders in Prometheus", func() error { return grown(p, `perch_holds_total{hold_seconds="0.3",result="survived"}`, 3) })
	await(t, "native histograms", func() error {
		all, err := p.ask("perch_attempt_duration_seconds")
		for _, one := range all {
			if one.native != nil && one.native.count > 0 {
				return nil
			}
		}
		return errors.Join(errors.New("none yet"), err)
	})
	for path, says := range map[string]string{"/readyz": "ok\n", "/healthz": "ok\n"} {
		if got := get(t, "http://"+s.address+path); got != says {
			t.Errorf("%s: %q", path, got)
		}
	}
	if code := s.stop(t, syscall.SIGTERM); code != 0 {
		t.Errorf("exit status %d, want 0\n%s", code, s.log.String())
	}
	sent := len(server.Requests())
	d, err := state.ReadFile(kept)
	if err != nil || d.RequestsToday("stock-api", time.Now()) != sent || sent < 12 {
		t.Errorf("the state says %d requests, the server received %d; %v", d.RequestsToday("stock-api", time.Now()), sent, err)
	}
	if d.Due["stock-api/get"].IsZero() || d.Due["stock-api/idle"].IsZero() || !d.Due["stock-api/long"].IsZero() {
		t.Errorf("due: %v; the hold that was cut short is due again", d.Due)
	}

	again := startServing(t, config)
	await(t, "the counters to go on", func() error {
		body := get(t, "http://"+again.address+"/metrics")
		for line := range strings.Lines(body) {
			var n int
			if _, err := fmt.Sscanf(line, `perch_requests_total{perch="shop",target="stock-api",vantage="peers"} %d`, &n); err == nil && n > sent {
				return nil
			}
		}
		return errors.New("not yet")
	})
	if code := again.stop(t, syscall.SIGKILL); code != -1 {
		t.Errorf("exit status %d of a process that was killed", code)
	}
	if d, err := state.ReadFile(kept); err != nil || d.RequestsToday("stock-api", time.Now()) < len(server.Requests()) {
		t.Errorf("after the kill the state says %d requests, the server received %d; %v", d.RequestsToday("stock-api", time.Now()), len(server.Requests()), err)
	}
	if resp, err := http.Get("http://" + again.address + "/healthz"); err == nil {
		_ = resp.Body.Close()
		t.Error("it answers although it was killed")
	}
}

// grown reports whether a counter has reached n in Prometheus.
func grown(p prometheus, query string, n float64) error {
	all, err := p.ask(query)
	for _, one := range all {
		if one.value >= n {
			return nil
		}
	}
	return errors.Join(fmt.Errorf("%s: %v", query, all), err)
}

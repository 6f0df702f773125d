//go:build unix

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"perch.example/lab"
	"perch.example/state"
)

// A config that became a FIFO is no reason to lose what is known: perch ends at once, and
// saves it.
func TestServeEndsBesideAConfigThatCannotBeRead(t *testing.T) {
	t.Parallel()
	api := startLab(t, "healthy", lab.Options{})
	dir := t.TempDir()
	path := filepath.Join(dir, "perch.yaml")
	writeFile(t, path, fmt.Sprintf("version: 1\nname: shop\nvantage: test\ntargets: [{name: api, url: %q, daily_limit: 100000, probes: [{name: get, kind: http, path: /, every: 1s}]}]\nstate: {file: %q}\nmetrics: {listen: \"127.0.0.1:0\"}\n", api.URL(), filepath.Join(dir, "state")))
	var log logged
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	result := make(chan int, 1)
	go func() {
		result <- execute(ctx, system{
			args: []string{"serve", "--config", path}, stdout: io.Discard, stderr: &log, readFile: os.ReadFile,
			env: func(string) (string, bool) { return "", false },
		})
	}()
	awaitLog(t, &log, "msg=run")
	fifo := filepath.Join(dir, "fifo")
	if err := errors.Join(syscall.Mkfifo(fifo, 0o600), os.Rename(fifo, path)); err != nil {
		t.Fatal(err)
	}
	// Whoever opens it to write waits for a reader: perch is in its reading from then on.
	w, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = w.Close() }()
	began := time.Now()
	cancel()
	if code := <-result; code != exitOK || time.Since(began) > 5*time.Second {
		t.Errorf("exit status %d after %s:\n%s", code, time.Since(began), log.String())
	}
	want(t, "the log", log.String(), "saved=true")
	if d, err := state.ReadFile(filepath.Join(dir, "state")); err != nil || d.Due["api/get"].IsZero() {
		t.Errorf("%v, and when it ran: %v", err, d.Due)
	}
}

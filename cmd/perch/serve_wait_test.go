package main

import (
	"bufio"
	"context"
	"io"
	"log/slog"
	"strings"
	"testing"
	"time"
)

// A state in a ConfigMap that another perch holds: who holds it is said at once,
// though the Lease is waited for a minute.
func TestServeSaysAtOnceWhoHoldsTheState(t *testing.T) {
	t.Parallel()
	_, env := cluster(t)
	path := configFile(t, "http://192.0.2.1", strings.Replace(remembering, "STATE", "{configmap: perch-state}", 1))
	sys := system{env: func(name string) (string, bool) { return env[name], env[name] != "" }}
	cfg, err := loadConfig(sys, path, nil)
	if err != nil {
		t.Fatal(err)
	}
	held, err := openState(t.Context(), sys, cfg, forTurn{})
	if err != nil {
		t.Fatal(err)
	}
	lines, log := io.Pipe()
	s := newService(sys, cfg, runFlags{seed: 1}, outputFlags{format: "none"}, slog.New(slog.NewTextHandler(log, nil)))
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second) // the Lease is waited for longer
	defer cancel()
	ended := make(chan error, 1)
	go func() {
		_, err := s.open(ctx, nil)
		ended <- err
		_ = log.Close() // a pipe's never fails
	}()
	said := bufio.NewScanner(lines)
	said.Scan()
	want(t, "the log", said.Text(), "another perch holds the state: waiting for it to end", "seen at")
	want(t, "/readyz", s.health.unready(), "another perch holds the state", "perch-state")
	if ctx.Err() != nil {
		t.Error("it was said when the waiting was over")
	}
	cancel()
	if _, err := io.Copy(io.Discard, lines); err != nil {
		t.Error(err)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if err := held.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

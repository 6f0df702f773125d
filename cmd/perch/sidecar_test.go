package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"perch.example/lab"
)

// asked answers as a sidecar, without a network.
type asked func(*http.Request) (int, error)

func (a asked) RoundTrip(r *http.Request) (*http.Response, error) {
	status, err := a(r)
	if err != nil {
		return nil, err
	}
	return &http.Response{StatusCode: status, Body: io.NopCloser(strings.NewReader("ok"))}, nil
}

func TestOnlyLoopbackIsASidecar(t *testing.T) {
	for _, good := range []string{"", "http://127.0.0.1:15021/healthz/ready", "http://localhost:4191/ready", "http://[::1]:4191/ready", "http://127.9.9.9:1/"} {
		if err := onLoopback("--wait-for", good); err != nil {
			t.Errorf("%q: %v", good, err)
		}
	}
	for _, bad := range []string{
		"http://10.0.0.1:15020/quitquitquit", "http://istiod.istio-system:15020/", "https://127.0.0.1:1/", "127.0.0.1:4191", "http://127.0.0.1/",
		"http://me:secret@127.0.0.1:1/", "http://127.0.0.1.example.com:1/", "http://0.0.0.0:1/", "http://[::]:1/", "\x00", "file:///etc/passwd",
		"http://127.0.0.1:99999/", "http://127.0.0.1:65536/", "http://127.0.0.1:0/", "http://127.0.0.1:00000000000000000000/",
	} {
		err := onLoopback("--quit", bad)
		if err == nil || !strings.HasPrefix(err.Error(), "--quit: ") || strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: %v: want a refusal that shows no password", bad, err)
		}
	}
}

// TestNothingButLoopbackIsDialed: whatever a name resolves to. The address is
// this machine's own, so that a dial would succeed.
func TestNothingButLoopbackIsDialed(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer server.Close()
	s := sidecar{}
	if err := s.ask(t.Context(), http.MethodGet, server.URL); err != nil {
		t.Fatalf("on loopback: %v", err)
	}
	for _, address := range []string{"192.0.2.1:80", "[2001:db8::1]:80", "0.0.0.0:80"} {
		err := s.ask(t.Context(), http.MethodGet, "http://"+address+"/")
		if err == nil || !strings.Contains(err.Error(), "not on loopback") {
			t.Errorf("%s: %v: want a refusal at the dial", address, err)
		}
	}
}

// TestWaitingEndsAfterThirtySeconds: and at once when the sidecar is ready, or
// perch is told to end.
func TestWaitingEndsAfterThirtySeconds(t *testing.T) {
	for _, c := range []struct {
		name   string
		ready  time.Duration // since the start; 0: never
		hangs  bool
		cancel time.Duration
		took   [2]time.Duration
		says   string
	}{
		{"ready at once", time.Nanosecond, false, 0, [2]time.Duration{0, time.Second}, ""},
		{"ready after 7 s", 7 * time.Second, false, 0, [2]time.Duration{7 * time.Second, 8 * time.Second}, ""},
		{"never ready", 0, false, 0, [2]time.Duration{29 * time.Second, 30 * time.Second}, "not ready within 30s"},
		{"never answers", 0, true, 0, [2]time.Duration{27 * time.Second, 32 * time.Second}, "not ready within 30s"},
		{"told to end", 0, true, 5 * time.Second, [2]time.Duration{5 * time.Second, 5 * time.Second}, "a signal"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				ctx, cancel := context.WithCancelCause(t.Context())
				defer cancel(nil)
				if c.cancel > 0 {
					time.AfterFunc(c.cancel, func() { cancel(errors.New("a signal")) })
				}
				s := sidecar{waitFor: "http://127.0.0.1:15021/healthz/ready", web: asked(func(r *http.Request) (int, error) {
					if c.hangs {
						<-r.Context().Done()
						return 0, r.Context().Err()
					}
					if c.ready > 0 && time.Since(began) >= c.ready-1 {
						return 200, nil
					}
					return 503, nil
				})}
				err := s.ready(ctx, slog.New(slog.DiscardHandler))
				if took := time.Since(began); took < c.took[0] || took > c.took[1] {
					t.Errorf("took %s, want %s to %s", took, c.took[0], c.took[1])
				}
				if (err == nil) != (c.says == "") || (err != nil && !strings.Contains(err.Error(), c.says)) {
					t.Errorf("error %v, want %q", err, c.says)
				}
			})
		})
	}
}

// TestTheWaitIsOfTheDeadline: the Job's end does not wait for a sidecar. What is
// left is said as it was asked for.
func TestTheWaitIsOfTheDeadline(t *testing.T) {
	for _, c := range []struct {
		deadline, ready, left time.Duration // left 0 of a deadline: it was not ready in time
	}{
		{6 * time.Second, 4 * time.Second, 2 * time.Second},
		{6 * time.Second, 9 * time.Second, 0},
		{0, 9 * time.Second, 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			began := time.Now()
			beside := sidecar{waitFor: "http://127.0.0.1:15021/healthz/ready", web: asked(func(*http.Request) (int, error) {
				if time.Since(began) >= c.ready {
					return 200, nil
				}
				return 503, nil
			})}
			p := &pass{flags: runFlags{deadline: c.deadline}, log: slog.New(slog.DiscardHandler)}
			err := p.await(t.Context(), beside)
			if c.deadline > 0 && c.left == 0 {
				if took := time.Since(began); took != c.deadline || err == nil || !strings.Contains(err.Error(), "waiting for the sidecar: the deadline of 6s") {
					t.Errorf("%+v: %v after %s", c, err, took)
				}
				return
			}
			if err != nil || p.flags.deadline != c.left {
				t.Errorf("%+v: %v, %s left", c, err, p.flags.deadline)
			}
			ctx, cancel := withDeadline(t.Context(), p.flags.deadline, p.flags.waited)
			defer cancel()
			time.Sleep(c.left)
			synctest.Wait()
			if got := fmt.Sprint(context.Cause(ctx)); c.left > 0 && got != "the deadline of 6s" {
				t.Errorf("%+v: it ends by %q", c, got)
			}
		})
	}
}

// TestTheQuitComesLastAndIsBounded: after a cancel, too; a sidecar that hangs
// holds perch up for 2 s.
func TestTheQuitComesLastAndIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		began := time.Now()
		var log bytes.Buffer
		s := sidecar{quit: "http://127.0.0.1:15020/quitquitquit", web: asked(func(r *http.Request) (int, error) {
			if r.Method != http.MethodPost {
				t.Errorf("%s, want POST", r.Method)
			}
			<-r.Context().Done()
			return 0, r.Context().Err()
		})}
		s.end(ctx, slog.New(slog.NewTextHandler(&log, nil)))
		if took := time.Since(began); took != sidecarWithin {
			t.Errorf("took %s, want %s", took, sidecarWithin)
		}
		want(t, "the log", log.String(), "level=WARN", "the sidecar does not end")
	})
}

// mesh is a sidecar on loopback that is ready or not, and counts what it is told.
type mesh struct {
	*httptest.Server
	ready, quits atomic.Int32
	refused      chan struct{} // one that waits heard that it is not ready
}

func startMesh(t *testing.T, ready bool) *mesh {
	t.Helper()
	m := &mesh{refused: make(chan struct{}, 1)}
	if ready {
		m.ready.Store(1)
	}
	m.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/ready" && m.ready.Load() == 0:
			w.WriteHeader(http.StatusServiceUnavailable)
			select {
			case m.refused <- struct{}{}:
			default:
			}
		case r.URL.Path == "/quit" && r.Method == http.MethodPost:
			m.quits.Add(1)
		}
	}))
	t.Cleanup(m.Close)
	return m
}

const besideSidecar = `
version: 1
name: beside
vantage: test
targets: [{name: api, url: "${URL}", probes: [{name: get, kind: http, path: /, every: always}]}]
`

func TestARunBesideASidecar(t *testing.T) {
	t.Parallel()
	server := startLab(t, "healthy", lab.Options{})
	path := configFile(t, server.URL(), besideSidecar)
	for _, c := range []struct {
		name string
		args []string
		code int
	}{
		{"it passes", []string{"--config", path}, exitOK},
		{"the config is wrong", []string{"--config", path + ".not"}, exitUsage},
		{"a flag is wrong", []string{"--config", path, "--fail-on", "sometimes"}, exitUsage},
	} {
		m := startMesh(t, true)
		r := perch(t.Context(), nil, append([]string{"run", "--wait-for", m.URL + "/ready", "--quit", m.URL + "/quit"}, c.args...)...)
		if r.code != c.code || m.quits.Load() != 1 {
			t.Errorf("%s: status %d, want %d; told to end %d times, want once\n%s", c.name, r.code, c.code, m.quits.Load(), r.stderr)
		}
	}
	if r := perch(t.Context(), nil, "run", "--config", path, "--quit", "http://192.0.2.1:1/"); r.code != exitUsage {
		t.Errorf("a quit elsewhere: status %d, want %d", r.code, exitUsage)
	}
}

// TestNothingIsSentWithoutTheSidecar: the run is incomplete, the report says why,
// and the sidecar is told to end all the same.
func TestNothingIsSentWithoutTheSidecar(t *testing.T) {
	t.Parallel()
	var sent atomic.Int32
	api := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { sent.Add(1) }))
	defer api.Close()
	m := startMesh(t, false)
	ctx, cancel := context.WithCancelCause(t.Context())
	go func() {
		<-m.refused
		cancel(errors.New("the test does not wait for 30 s"))
	}()
	r := perch(ctx, nil, "run", "--config", configFile(t, api.URL, besideSidecar), "--output", "json",
		"--wait-for", m.URL+"/ready", "--quit", m.URL+"/quit")
	var doc struct {
		Verdict  string
		Outcomes []any
	}
	if err := json.Unmarshal([]byte(r.stdout), &doc); err != nil {
		t.Fatalf("%v\n%s", err, r.stdout)
	}
	if r.code != exitIncomplete || doc.Verdict != "incomplete" || len(doc.Outcomes) > 0 || sent.Load() > 0 || m.quits.Load() != 1 {
		t.Errorf("status %d, verdict %q, %d outcomes, %d requests, %d quits\n%s", r.code, doc.Verdict, len(doc.Outcomes), sent.Load(), m.quits.Load(), r.stderr)
	}
	want(t, "stderr", r.stderr, "nothing was sent")
}

// TestServeBesideASidecar: it waits for it, and ends it when it is told to end.
func TestServeBesideASidecar(t *testing.T) {
	t.Parallel()
	server := startLab(t, "healthy", lab.Options{})
	m := startMesh(t, true)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	serving := &awaited{all: []string{"the sidecar is ready", "msg=serving"}, then: cancel}
	r := perchLogging(ctx, serving, nil, "serve", "--config", configFile(t, server.URL(), besideSidecar+"metrics: {listen: \"127.0.0.1:0\"}\n"),
		"--wait-for", m.URL+"/ready", "--quit", m.URL+"/quit")
	if r.code != exitOK || m.quits.Load() != 1 {
		t.Errorf("status %d, told to end %d times, want %d and once\n%s", r.code, m.quits.Load(), exitOK, serving.log.String())
	}
	if r := perch(t.Context(), nil, "serve", "--wait-for", "http://192.0.2.1:1/ready"); r.code != exitUsage {
		t.Errorf("a sidecar elsewhere: status %d, want %d", r.code, exitUsage)
	}
}

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"perch.example/lab"
)

const longHold = `
version: 1
name: cut
vantage: test
targets:
  - name: api
    url: ${URL}
    probes:
      - {name: hold, kind: idle, path: /, holds: [2m], every: 1h}
  - {name: other, url: GETURL, probes: [{name: get, kind: http, path: /, every: 1h}]}
alerts: {fire_after: 1}
slack: {webhook: {from: {env: HOOK}}}
metrics: {textfile: ${DIR}/perch.prom}
state: {file: ${DIR}/state}
`

// TestSignalCutsTheRunShort: within 5 s the holds end, what is whole is judged,
// every sink is flushed, and the status is 3. A Slack that hangs makes it 4 and
// does not take the other sinks' time.
func TestSignalCutsTheRunShort(t *testing.T) {
	t.Parallel()
	t.Run("nothing to tell", func(t *testing.T) {
		t.Parallel()
		cutRun(t, "healthy", "pass/ok", exitIncomplete)
	})
	t.Run("Slack hangs", func(t *testing.T) {
		t.Parallel()
		cutRun(t, "status", "fail/status", exitOwn)
	})
}

// cutRun signals a run as soon as its http probe has ended and its idle probe
// holds.
func cutRun(t *testing.T, scenario, get string, code int) {
	t.Helper()
	hang := make(chan struct{})
	slack := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-hang }))
	defer slack.Close()
	defer close(hang)
	server := startLab(t, "healthy", lab.Options{})
	text := strings.Replace(longHold, "GETURL", startLab(t, scenario, lab.Options{}).URL(), 1)
	path := configFile(t, server.URL(), text)
	ctx, cancel := context.WithCancelCause(t.Context())
	var cut time.Time
	holding := &awaited{all: []string{`msg="step ended" target=other probe=get`, `msg=holding target=api probe=hold`}, then: func() {
		cut = time.Now()
		cancel(errors.New("signal"))
	}}
	r := perchLogging(ctx, holding, map[string]string{"HOOK": slack.URL}, "run", "--config", path, "--output", "json", "--log-level", "debug")
	if took := time.Since(cut); took > 5*time.Second {
		t.Errorf("ended %s after the signal, want within 5 s", took)
	}
	if r.code != code {
		t.Errorf("exit status %d, want %d\n%s", r.code, code, holding.log.String())
	}
	var doc struct {
		Verdict  string
		Outcomes []struct{ Probe, Verdict, Reason string }
	}
	if err := json.Unmarshal([]byte(r.stdout), &doc); err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, o := range doc.Outcomes {
		got[o.Probe] = o.Verdict + "/" + o.Reason
	}
	if doc.Verdict != "incomplete" || got["get"] != get || got["hold"] != "incomplete/canceled" {
		t.Errorf("run %s, outcomes %v; want incomplete, get %s, hold incomplete/canceled", doc.Verdict, got, get)
	}
	want(t, "the text file", read(t, textfileOf(t, path)), `perch_runs_total{perch="cut",vantage="test",verdict="incomplete"} 1`)
}

// awaited is a log that acts once it holds all of some texts.
type awaited struct {
	all  []string
	then func()
	log  bytes.Buffer
}

func (a *awaited) Write(b []byte) (int, error) {
	a.log.Write(b)
	for _, s := range a.all {
		if !bytes.Contains(a.log.Bytes(), []byte(s)) {
			return len(b), nil
		}
	}
	a.then()
	a.then = func() {}
	return len(b), nil
}

func textfileOf(t *testing.T, config string) string {
	t.Helper()
	cfg, err := loadConfig(system{env: func(string) (string, bool) { return "", false }}, config, nil)
	if err != nil {
		t.Fatal(err)
	}
	return cfg.Metrics.Textfile
}

// TestDeadlineIsRefusedByThePlanOrCutsTheRun: what cannot end in time is not
// begun; what takes longer than it should is cut.
func TestDeadlineIsRefusedByThePlanOrCutsTheRun(t *testing.T) {
	t.Parallel()
	url := startLab(t, "healthy", lab.Options{}).URL()
	path := configFile(t, url, strings.Replace(longHold, "GETURL", url, 1))
	r := perch(t.Context(), map[string]string{"HOOK": "http://127.0.0.1:1"}, "run", "--config", path, "--deadline", "2s")
	if r.code != exitUsage {
		t.Errorf("exit status %d, want 2: the plan sees that a hold of 2m cannot end in 2s", r.code)
	}
	slow := configFile(t, startLab(t, "no_response", lab.Options{}).URL(), oneProbe+"alerts: {settle: none}\n")
	start := time.Now()
	r = perch(t.Context(), nil, "run", "--config", slow, "--deadline", "1500ms")
	if r.code != exitIncomplete || time.Since(start) > 4*time.Second {
		t.Errorf("exit status %d after %s, want 3 soon after 1.5 s\n%s%s", r.code, time.Since(start), r.stdout, r.stderr)
	}
}

package main

import (
	"net/http/httptest"
	"strings"
	"testing"

	"perch.example/lab"
)

const remembered = `
version: 1
name: memory
vantage: test
targets:
  - name: api
    url: ${URL}
    rate_limit: 1000/s
    probes:
      - {name: get, kind: http, path: /, every: 1h}
alerts: {fire_after: 2, resolve_after: 2}
slack: {webhook: {from: {env: HOOK}}}
state: {file: ${DIR}/state}
`

// TestIncidentIsToldOnceAndResolvedOnce plays separate runs, as a CronJob does.
func TestIncidentIsToldOnceAndResolvedOnce(t *testing.T) {
	t.Parallel()
	slack := &collector{status: 200}
	hook := httptest.NewServer(slack)
	defer hook.Close()
	env := map[string]string{"HOOK": hook.URL + "/x"}
	bad, good := startLab(t, "status", lab.Options{}), startLab(t, "healthy", lab.Options{})
	path := configFile(t, bad.URL(), remembered)
	sick := read(t, path)
	well := strings.ReplaceAll(sick, bad.URL(), good.URL())

	for i, step := range []struct {
		config     string
		code, told int
	}{
		{sick, exitFindings, 0}, {sick, exitFindings, 1}, {sick, exitFindings, 1},
		{well, exitOK, 1}, {well, exitOK, 2}, {well, exitOK, 2},
	} {
		writeFile(t, path, step.config)
		if r := perch(t.Context(), env, "run", "--config", path, "--all"); r.code != step.code {
			t.Fatalf("run %d: exit status %d, want %d\n%s%s", i+1, r.code, step.code, r.stdout, r.stderr)
		}
		if n := strings.Count(slack.text(), "POST /x"); n != step.told {
			t.Errorf("after run %d Slack was told %d times, want %d", i+1, n, step.told)
		}
	}
}

// TestRunSkipsWhatIsNotDue: without --all the second run sends nothing.
func TestRunSkipsWhatIsNotDue(t *testing.T) {
	t.Parallel()
	server := startLab(t, "healthy", lab.Options{})
	path := configFile(t, server.URL(), remembered)
	env := map[string]string{"HOOK": "http://127.0.0.1:1"}
	for i := range 2 {
		if r := perch(t.Context(), env, "run", "--config", path); r.code != exitOK {
			t.Fatalf("run %d: exit status %d\n%s%s", i+1, r.code, r.stdout, r.stderr)
		}
	}
	if n := len(server.Requests()); n != 1 {
		t.Errorf("%d requests in two runs within an hour, want 1", n)
	}
}

// TestUndeliveredNoticeGoesOutFirstInTheNextRun.
func TestUndeliveredNoticeGoesOutFirstInTheNextRun(t *testing.T) {
	t.Parallel()
	slack := &collector{status: 500}
	hook := httptest.NewServer(slack)
	defer hook.Close()
	path := configFile(t, startLab(t, "status", lab.Options{}).URL(), strings.Replace(remembered, "fire_after: 2", "fire_after: 1", 1))
	env := map[string]string{"HOOK": hook.URL + "/x"}
	if r := perch(t.Context(), env, "run", "--config", path, "--all"); r.code != exitOwn {
		t.Fatalf("exit status %d, want 4: Slack answered 500\n%s", r.code, r.stderr)
	}
	slack.mu.Lock()
	slack.status = 200
	slack.mu.Unlock()
	if r := perch(t.Context(), env, "run", "--config", path, "--all"); r.code != exitFindings {
		t.Fatalf("exit status %d, want 1\n%s", r.code, r.stderr)
	}
	if n := strings.Count(slack.text(), "POST /x"); n != 2 {
		t.Errorf("Slack was told %d times, want 2: once refused, once again", n)
	}
	want(t, "the repeat", slack.text(), "repeat")
}

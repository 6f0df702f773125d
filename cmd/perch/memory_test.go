package main

import (
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"perch.example/internal/kubefake"
	"perch.example/lab"
)

// perchWith is perch with another way to where notices and pushes go.
func perchWith(ctx context.Context, web http.RoundTripper, env map[string]string, args ...string) ran {
	var out, errs bytes.Buffer
	code := execute(ctx, system{
		args: args, stdout: &out, stderr: &errs, readFile: os.ReadFile, web: web,
		env: func(name string) (string, bool) { v, ok := env[name]; return v, ok },
	})
	return ran{code: code, stdout: out.String(), stderr: errs.String()}
}

// cluster starts an API server and returns the environment that leads to it.
func cluster(t *testing.T) (*kubefake.Server, map[string]string) {
	t.Helper()
	fake := kubefake.New("shop", "perch-state")
	server := httptest.NewServer(fake)
	t.Cleanup(server.Close)
	path := filepath.Join(t.TempDir(), "kubeconfig")
	writeFile(t, path, string(fake.Kubeconfig(server.URL)))
	return fake, map[string]string{"KUBECONFIG": path}
}

// remembering is a config that keeps what it sees in STATE.
const remembering = `
version: 1
name: memory
vantage: test
targets:
  - name: api
    url: ${URL}
    rate_limit: 1000/s
    probes:
      - {name: get, kind: http, path: /}
alerts: {fire_after: 1, settle: none}
metrics: {textfile: ${DIR}/perch.prom}
state: STATE
`

// stores are the two that a config can name, each empty.
func stores(t *testing.T) map[string]struct {
	state string
	env   map[string]string
} {
	_, env := cluster(t)
	return map[string]struct {
		state string
		env   map[string]string
	}{
		"file":      {"{file: ${DIR}/state}", nil},
		"configmap": {"{configmap: perch-state}", env},
	}
}

// TestCountersGoOn: what one run counted, the next one adds to.
func TestCountersGoOn(t *testing.T) {
	t.Parallel()
	for name, store := range stores(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := configFile(t, startLab(t, "healthy", lab.Options{}).URL(), strings.Replace(remembering, "STATE", store.state, 1))
			for n, line := range []string{
				`perch_attempts_total{connection="fresh",perch="memory",probe="get",reason="ok",target="api",vantage="test"} 1`,
				`perch_attempts_total{connection="fresh",perch="memory",probe="get",reason="ok",target="api",vantage="test"} 2`,
			} {
				if r := perch(t.Context(), store.env, "run", "--config", path, "--all"); r.code != exitOK {
					t.Fatalf("run %d: exit status %d\n%s", n+1, r.code, r.stderr)
				}
				metrics := read(t, textfileOf(t, path))
				want(t, "the metrics", metrics, line+"\n", `perch_runs_total{perch="memory",vantage="test",verdict="pass"} `+line[len(line)-1:])
			}
		})
	}
}

// TestOneWriteARun: and one more before something is told; that is what the API
// server of many perches has to bear.
func TestOneWriteARun(t *testing.T) {
	t.Parallel()
	fake, env := cluster(t)
	hook := httptest.NewServer(&collector{status: http.StatusOK})
	defer hook.Close()
	env["HOOK"] = hook.URL
	text := strings.Replace(remembering, "STATE", "{configmap: perch-state}\nslack: {webhook: {from: {env: HOOK}}}", 1)
	healthy := configFile(t, startLab(t, "healthy", lab.Options{}).URL(), text)
	failing := configFile(t, startLab(t, "status", lab.Options{}).URL(), text)
	for _, run := range []struct {
		path         string
		code, writes int
	}{{healthy, exitOK, 1}, {failing, exitFindings, 2}, {failing, exitFindings, 1}} {
		before := fake.Calls()
		if r := perch(t.Context(), env, "run", "--config", run.path, "--all"); r.code != run.code {
			t.Fatalf("exit status %d, want %d\n%s%s", r.code, run.code, r.stdout, r.stderr)
		}
		const update, get = kubefake.UpdateConfigMap, kubefake.GetConfigMap
		if n := fake.Calls()[update] - before[update]; n != run.writes {
			t.Errorf("%d writes, want %d", n, run.writes)
		}
		if n := fake.Calls()[get] - before[get]; n != 1 {
			t.Errorf("%d reads, want 1", n)
		}
	}
}

// TestNotDueSaysTheLastVerdict, and plan looks into the same state.
func TestNotDueSaysTheLastVerdict(t *testing.T) {
	t.Parallel()
	_, env := cluster(t)
	text := strings.Replace(remembering, "STATE", "{configmap: perch-state}", 1)
	path := configFile(t, startLab(t, "healthy", lab.Options{}).URL(), strings.Replace(text, "path: /", "path: /, every: 1h", 1))
	for range 2 {
		if r := perch(t.Context(), env, "plan", "--config", path); r.code != exitOK || strings.Contains(r.stderr, "without what") {
			t.Fatalf("plan: exit status %d\n%s", r.code, r.stderr)
		}
		r := perch(t.Context(), env, "run", "--config", path)
		if r.code != exitOK {
			t.Fatalf("exit status %d\n%s", r.code, r.stderr)
		}
		if strings.Contains(r.stdout, "api/get (pass at 20") {
			return
		}
	}
	t.Error("the second run does not say what came of the first")
}

// TestAnotherPerchIsSaid: who holds the state, and status 4.
func TestAnotherPerchIsSaid(t *testing.T) {
	t.Parallel()
	path := configFile(t, startLab(t, "healthy", lab.Options{}).URL(), strings.Replace(remembering, "STATE", "{file: ${DIR}/state}", 1))
	sys := system{env: func(string) (string, bool) { return "", false }, readFile: os.ReadFile}
	cfg, err := loadConfig(sys, path, nil)
	if err != nil {
		t.Fatal(err)
	}
	held, err := openState(t.Context(), sys, cfg, forTurn{})
	if err != nil {
		t.Fatal(err)
	}
	r := perch(t.Context(), nil, "run", "--config", path)
	if r.code != exitOwn {
		t.Errorf("exit status %d, want 4", r.code)
	}
	want(t, "stderr", r.stderr, "another perch uses it", "pid ", "stop that one, or wait until it is done", "another state", "perch idle")
	if err := held.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

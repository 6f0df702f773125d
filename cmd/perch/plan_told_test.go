package main

import (
	"regexp"
	"strings"
	"testing"
)

// TestPlanSaysWhoIsTold, in which mode, and where the state is; a destination
// without a state is told nothing, and the plan says so.
func TestPlanSaysWhoIsTold(t *testing.T) {
	t.Parallel()
	kept := told + "state: {file: '${DIR}/state'}\n"
	_, env := cluster(t)
	for _, c := range []struct{ name, text, notices, state string }{
		{"all of it", kept, `to slack \(#stock\), webhook, alertmanager`, `/.*/state`},
		{"a ConfigMap", told + "state: {configmap: perch-state}\n", `to slack \(#stock\), webhook, alertmanager`, `configmap shop/perch-state`},
		{"no state", told, `never sent to slack \(#stock\), webhook, alertmanager: without a state every run would tell all of it anew`, `none: each run is the first`},
		{"report mode", kept + "alerts: {mode: report}\n", `alerts\.mode is report: shown in the report, and never sent to slack \(#stock\), webhook, alertmanager`, `/.*/state`},
		{"nobody", oneProbe, `to nobody: the config names no destination`, `none: each run is the first`},
	} {
		r := perch(t.Context(), env, "plan", "--config", configFile(t, "http://127.0.0.1:1", c.text))
		if r.code != exitOK {
			t.Fatalf("%s: exit status %d\n%s", c.name, r.code, r.stderr)
		}
		for _, line := range []string{`notices +` + c.notices, `state +` + c.state} {
			if !regexp.MustCompile(`(?m)^ *` + line + `$`).MatchString(r.stdout) {
				t.Errorf("%s: the plan does not say %q:\n%s", c.name, line, r.stdout)
			}
		}
	}
}

// TestPlanSaysWhereItIsWrong: what only the plan can find wrong has its place in
// the config, each line of it.
func TestPlanSaysWhereItIsWrong(t *testing.T) {
	t.Parallel()
	path := configFile(t, "", `version: 1
targets:
  - name: api
    url: http://192.0.2.1
    daily_limit: 100
    probes:
      - {name: often, kind: http, path: /often, every: 1m}
      - {name: hold, kind: idle, path: /hold, every: 1m, holds: [4m, 30s]}
`)
	for _, args := range [][]string{{"plan", "--config", path}, {"plan", "--check", path}, {"run", "--config", path}} {
		r := perch(t.Context(), nil, args...)
		if r.code != exitUsage {
			t.Errorf("%v: exit status %d, want 2", args, r.code)
		}
		want(t, "stderr", r.stderr, path+":3: api: its probes send", "\n"+path+":8: api/hold: its rungs take 4m2s")
	}
	r := perch(t.Context(), nil, "plan", "--config", path, "--only", "none", "--only", "neither")
	want(t, "stderr", r.stderr, path+": --only none: matches nothing", "\n"+path+": --only neither: matches nothing")
}

// TestPlanWarnsOfWhatIsNotHere: of a secret and of a state's folder that a run would
// be refused for here, a plan warns and is made; a check in CI, where neither is, has
// nothing to say.
func TestPlanWarnsOfWhatIsNotHere(t *testing.T) {
	t.Parallel()
	path := configFile(t, "http://127.0.0.1:1", oneProbe+"vantage: here\nstate: {file: '${DIR}/nowhere/state'}\nslack: {webhook: {from: {env: SLACK_URL}}}\n")
	env := map[string]string{}
	if r := perch(t.Context(), env, "run", "--config", path); r.code != exitUsage || !strings.Contains(r.stderr, "SLACK_URL") {
		t.Fatalf("run without its secret: exit status %d\n%s", r.code, r.stderr)
	}
	r := perch(t.Context(), env, "plan", "--config", path)
	if r.code != exitOK {
		t.Fatalf("exit status %d\n%s", r.code, r.stderr)
	}
	want(t, "plan", r.stderr, "level=WARN", "(status 2): a secret cannot be read", "SLACK_URL", "(status 4): its state has no place", "nowhere", "does not exist")
	if r := perch(t.Context(), env, "plan", "--check", path); r.code != exitOK || strings.Contains(r.stderr, "WARN") {
		t.Errorf("a check: exit status %d\n%s", r.code, r.stderr)
	}
	env["SLACK_URL"] = "https://hooks.example/T0/B0/x"
	if r := perch(t.Context(), env, "plan", "--config", path); strings.Contains(r.stderr, "secret") || strings.Contains(r.stdout+r.stderr, "hooks.example") {
		t.Errorf("with the secret:\n%s%s", r.stdout, r.stderr)
	}
	if r := perch(t.Context(), env, "run", "--config", path); r.code != exitOwn {
		t.Errorf("run without its folder: exit status %d\n%s", r.code, r.stderr)
	}
}

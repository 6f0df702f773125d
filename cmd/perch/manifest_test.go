package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// needsPod is a config of which a Pod has the secrets and the vantage, and a
// laptop has neither.
const needsPod = `# A comment.
version: 1
name: shop
targets:
  - name: api
    url: https://api.example
    headers: [{name: Authorization, from: {file: /etc/perch/secrets/token}}]
    probes:
      - {name: get, kind: http, path: /, every: 5m}
slack: {webhook: {from: {env: SLACK_WEBHOOK_URL}}}
state: {configmap: perch-state}
`

func TestManifest(t *testing.T) {
	path := filepath.Join(t.TempDir(), "perch.yaml")
	writeFile(t, path, needsPod)
	env := map[string]string{"PERCH_VANTAGE": "tokyo", "PERCH_NAME": "renamed", "PERCH_NAMESPACE": "shop"}
	r := perch(t.Context(), env, "manifest", "--config", path, "--image", "registry.example/perch:1")
	if r.code != exitOK {
		t.Fatalf("status %d: %s", r.code, r.stderr)
	}
	for _, want := range []string{
		"#   perch manifest --config " + path + " --image registry.example/perch:1\n",
		"    # A comment.\n    version: 1\n", "kind: CronJob\n", "image: registry.example/perch:1\n", "namespace: shop\n",
		"- name: PERCH_VANTAGE\n              value: tokyo\n", "- name: PERCH_NAME\n              value: renamed\n", "  name: perch-state\n",
		"/5 * * * *\n",
	} {
		if !strings.Contains(r.stdout, want) {
			t.Errorf("stdout lacks %q:\n%s", want, r.stdout)
		}
	}
	const note = "note: the Secret perch is yours to make: kubectl create secret generic perch -n shop --from-file=slack-webhook-url --from-file=token\n"
	if r.stderr != note {
		t.Errorf("stderr %q, want %q", r.stderr, note)
	}
	if again := perch(t.Context(), env, "manifest", "--config", path, "--image", "registry.example/perch:1"); again.stdout != r.stdout {
		t.Error("the same command prints something else")
	}
}

// TestManifestOfAFolder keeps its files apart, and each kind is asked for by name.
func TestManifestOfAFolder(t *testing.T) {
	for kind, want := range map[string]string{"cronjob": "kind: CronJob\n", "deployment": "kind: Deployment\n", "indexed-job": "completionMode: Indexed\n"} {
		args := []string{"manifest", "--config", "../../examples/folder", "--kind", kind}
		if kind == "indexed-job" {
			args = append(args, "--shards", "2")
		}
		r := perch(t.Context(), map[string]string{"PERCH_VANTAGE": "tokyo"}, args...)
		if r.code != exitOK || !strings.Contains(r.stdout, want) {
			t.Fatalf("%s: status %d: %s", kind, r.code, r.stderr)
		}
		entries, err := os.ReadDir("../../examples/folder")
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			if !strings.Contains(r.stdout, "\n  "+e.Name()+": |\n") {
				t.Errorf("%s: no key %s", kind, e.Name())
			}
		}
		if !strings.Contains(r.stderr, "note: the image is perch:") {
			t.Errorf("%s: the image is not spoken of: %s", kind, r.stderr)
		}
	}
}

// TestManifestOfThisCluster: what only the cluster's people know is said by flags,
// or by their variables.
func TestManifestOfThisCluster(t *testing.T) {
	path := filepath.Join(t.TempDir(), "perch.yaml")
	writeFile(t, path, needsPod)
	by := map[string]string{"PERCH_VANTAGE": "tokyo", "PERCH_API_SERVER": "10.0.0.1,10.2.0.0/28", "PERCH_MONITOR_LABEL": "release=prometheus,team=a"}
	flags := []string{"--api-server=10.0.0.1", "--api-server=10.2.0.0/28", "--monitor-label=release=prometheus", "--monitor-label=team=a"}
	for name, r := range map[string]ran{
		"flags":     perch(t.Context(), map[string]string{"PERCH_VANTAGE": "tokyo"}, append([]string{"manifest", "--config", path, "--kind=deployment"}, flags...)...),
		"variables": perch(t.Context(), by, "manifest", "--config", path, "--kind=deployment"),
	} {
		want(t, name, r.stdout, "cidr: 10.0.0.1/32", "cidr: 10.2.0.0/28", "    release: prometheus\n    team: a\n")
	}
}

func TestManifestRefuses(t *testing.T) {
	dir := t.TempDir()
	good := filepath.Join(dir, "good.yaml")
	writeFile(t, good, needsPod)
	bad := filepath.Join(dir, "bad.yaml")
	writeFile(t, bad, "version: 1\ntargets: []\n")
	slow := filepath.Join(dir, "slow.yaml")
	writeFile(t, slow, strings.Replace(needsPod, "{name: get, kind: http, path: /, every: 5m}", "{name: hold, kind: idle, path: /, every: 5m, holds: [290s]}", 1))
	long := filepath.Join(dir, "long.yaml")
	writeFile(t, long, strings.Replace(needsPod, "{name: get, kind: http, path: /, every: 5m}", "{name: hold, kind: idle, path: /, every: always, holds: [310s]}", 1))
	for _, c := range []struct {
		says string
		env  map[string]string
		args []string
	}{
		{says: "no such file", args: []string{"--config", filepath.Join(dir, "none.yaml")}},
		{says: "bad.yaml:2", args: []string{"--config", bad}},
		{says: "PERCH_VANTAGE=... perch manifest", args: []string{"--config", good}},
		{says: "--kind \"pod\"", args: []string{"--config", good, "--kind", "pod"}},
		{says: "release must be formatted as key=value", args: []string{"--config", good, "--kind", "deployment", "--monitor-label", "release"}},
		{says: "--api-server \"api.example\": want an address", env: map[string]string{"PERCH_VANTAGE": "v"}, args: []string{"--config", good, "--api-server", "10.0.0.1,api.example"}},
		{says: "that is the state of a perch called perch", env: map[string]string{"PERCH_VANTAGE": "v"}, args: []string{"--config", good, "--name", "perch-eu"}},
		{says: "--shards", args: []string{"--config", good, "--shards", "many"}},
		{says: "takes no arguments", args: []string{"--config", good, "--shards", "2", "extra"}},
		{says: "cron's five fields", env: map[string]string{"PERCH_VANTAGE": "v"}, args: []string{"--config", good, "--schedule", "* * *"}},
		{says: "api/hold: its rungs take", env: map[string]string{"PERCH_VANTAGE": "v"}, args: []string{"--config", long, "--kind", "deployment"}},
		{says: "that is more than the schedule's 5m: want every: 6m, --schedule 6m or --kind deployment", env: map[string]string{"PERCH_VANTAGE": "v"}, args: []string{"--config", slow}},
	} {
		r := perch(t.Context(), c.env, append([]string{"manifest"}, c.args...)...)
		if r.code != exitUsage || r.stdout != "" || !strings.Contains(r.stderr, c.says) {
			t.Errorf("%v: status %d, stdout %q, stderr %s; want %q", c.args, r.code, r.stdout, r.stderr, c.says)
		}
	}
}

func TestImageTag(t *testing.T) {
	for version, want := range map[string]string{"0.1.0": "0.1.0", "v0.0.0-2026+dirty": "v0.0.0-2026-dirty", "dev": "dev", "a b/c": "a-b-c"} {
		if got := imageTag(version); got != want {
			t.Errorf("%q: %q, want %q", version, got, want)
		}
	}
}

// TestShellLine: a shell reads what was given.
func TestShellLine(t *testing.T) {
	if got := shellLine([]string{"manifest", "--schedule=*/5 * * * *", "", "it's", "--config=a.yaml"}); got != `manifest '--schedule=*/5 * * * *' '' 'it'\''s' --config=a.yaml` {
		t.Error(got)
	}
}

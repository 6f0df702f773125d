package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"perch.example/lab"
)

// declaring is the head of a config, and declared a client's target of which each
// key can be changed. Its retry list covers the wrapped error, which the layer
// around the wrapper sees.
const (
	declaring = `
version: 1
name: declared
targets:
`
	declared = `
  - name: api
    url: ${URL}
    share: 100%
    daily_limit: 100000
    client:
      kind: apache-httpclient-4.5
      wrapped_by: spring-resttemplate
      max_idle: none
      validate_after: 2s
      tcp_keep_alive: none
      automatic_retries: none
      retry:
        layer: around
        attempts: 3
        errors: [org.springframework.web.client.ResourceAccessException]
    probes:
      - {name: idle, kind: idle, path: /, keep_alive: 60s, every: 15mHOLDS}
`
)

// TestEachKeyOfAClientChangesWhatPerchSays: a key that changed nothing would be
// a promise that is not kept. A run is one hold of 1 s on a path that closes
// after 0.4 s, inside the client's danger band.
func TestEachKeyOfAClientChangesWhatPerchSays(t *testing.T) {
	t.Parallel()
	url := startLab(t, "idle_fin", lab.Options{IdleTimeout: 400 * time.Millisecond}).URL()
	keys := []struct {
		name, from, to   string
		plan, audit, run bool // where the change shows
	}{
		{"kind", "kind: apache-httpclient-4.5", "kind: apache-httpclient-5.2", false, true, true},
		{"wrapped_by", "      wrapped_by: spring-resttemplate\n", "", false, true, true},
		{"max_idle", "max_idle: none", "max_idle: 700ms", true, false, true},
		{"validate_after", "validate_after: 2s", "validate_after: 700ms", true, true, true},
		{"tcp_keep_alive", "tcp_keep_alive: none", "tcp_keep_alive: 5m", true, false, false}, // it prevents silence, and changes nothing once a connection has ended
		{"automatic_retries", "      automatic_retries: none\n", "", false, true, true},
		{"retry.layer", "layer: around", "layer: inside", false, true, true},
		{"retry.attempts", "attempts: 3", "attempts: 1", false, true, true},
		{"retry.errors", "errors: [org.springframework.web.client.ResourceAccessException]", "errors: []", false, true, true},
	}
	targets := []string{declared}
	for _, key := range keys {
		changed := strings.Replace(declared, key.from, key.to, 1)
		if changed == declared {
			t.Fatalf("%q is not in the config", key.from)
		}
		targets = append(targets, changed)
	}
	plan, audit := foretold(t, url, declared)
	for i, key := range keys {
		changedPlan, changedAudit := foretold(t, url, targets[i+1])
		for _, problem := range []string{
			changes(key.name, "plan", plan, changedPlan, key.plan), changes(key.name, "audit", audit, changedAudit, key.audit),
		} {
			if problem != "" {
				t.Error(problem)
			}
		}
	}
	calmly(t, func() (problem string) {
		runs := lived(t, url, targets)
		for i, key := range keys {
			problem = cmp.Or(problem, changes(key.name, "run", runs[0], runs[i+1], key.run))
		}
		return problem
	})
}

// changes says whether what a command says with a changed key is not as it should be.
func changes(key, command, before, after string, should bool) (problem string) {
	if (before != after) == should {
		return ""
	}
	return fmt.Sprintf("%s: perch %s differs: %v, want %v\nbefore:\n%s\nafter:\n%s", key, command, before != after, should, before, after)
}

// foretold plans the client's ladder, and audits it.
func foretold(t *testing.T, url, target string) (plan, audit string) {
	t.Helper()
	path := configFile(t, url, declaring+strings.Replace(target, "HOLDS", "", 1))
	for _, step := range strings.Split(perch(t.Context(), nil, "plan", "--config", path, "--seed", "1").stdout, "\n") {
		if _, from, made := strings.Cut(step, "2 to 3  "); made {
			plan += from + "\n"
		}
	}
	audit = perch(t.Context(), nil, "audit", "--config", path).stdout
	if plan == "" || audit == "" {
		t.Fatalf("nothing was planned or audited: %q, %q", plan, audit)
	}
	return plan, audit
}

// lived runs one hold of each target, all in one run, and returns what its client
// makes of it.
func lived(t *testing.T, url string, targets []string) []string {
	t.Helper()
	text := declaring
	for i, target := range targets {
		text += strings.NewReplacer("name: api", fmt.Sprintf("name: api-%d", i), "HOLDS", ", holds: [1s]").Replace(target)
	}
	r := perch(t.Context(), nil, "run", "--config", configFile(t, url, text), "--output", "json")
	var doc struct {
		Outcomes []struct {
			Target  string
			Verdict string
			Retry   struct{ Application string }
			Client  struct{ Experiences string }
		}
	}
	if err := json.Unmarshal([]byte(r.stdout), &doc); err != nil || len(doc.Outcomes) != len(targets) {
		t.Fatalf("%v: %s%s", err, r.stdout, r.stderr)
	}
	var all []string
	for i, o := range doc.Outcomes {
		if o.Target != fmt.Sprintf("api-%d", i) {
			t.Fatalf("outcome %d is of %s", i, o.Target)
		}
		o.Target = ""
		all = append(all, fmt.Sprintf("%+v", o))
	}
	return all
}

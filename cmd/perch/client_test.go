package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"perch.example/lab"
)

// declared is a client of which each key can be changed. Its retry list covers
// the wrapped error, which the layer around the wrapper sees.
const declared = `
version: 1
name: declared
targets:
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

// seenOf is what the three commands make of a declared client.
type seenOf struct{ plan, audit, run string }

// TestEachKeyOfAClientChangesWhatPerchSays: a key that changed nothing would be
// a promise that is not kept. A run is one hold of 1.5 s on a path that closes
// after 1 s, inside the client's danger band.
func TestEachKeyOfAClientChangesWhatPerchSays(t *testing.T) {
	t.Parallel()
	url := startLab(t, "idle_fin", lab.Options{}).URL()
	base := look(t, configFile(t, url, declared))
	for _, key := range []struct {
		name, from, to   string
		plan, audit, run bool // where the change shows
	}{
		{"kind", "kind: apache-httpclient-4.5", "kind: apache-httpclient-5.2", false, true, true},
		{"wrapped_by", "      wrapped_by: spring-resttemplate\n", "", false, true, true},
		{"max_idle", "max_idle: none", "max_idle: 1200ms", true, false, true},
		{"validate_after", "validate_after: 2s", "validate_after: 1200ms", true, true, true},
		{"tcp_keep_alive", "tcp_keep_alive: none", "tcp_keep_alive: 5m", true, false, false}, // it prevents silence, and changes nothing once a connection has ended
		{"automatic_retries", "      automatic_retries: none\n", "", false, true, true},
		{"retry.layer", "layer: around", "layer: inside", false, true, true},
		{"retry.attempts", "attempts: 3", "attempts: 1", false, true, true},
		{"retry.errors", "errors: [org.springframework.web.client.ResourceAccessException]", "errors: []", false, true, true},
	} {
		t.Run(key.name, func(t *testing.T) {
			t.Parallel()
			changed := strings.Replace(declared, key.from, key.to, 1)
			if changed == declared {
				t.Fatalf("%q is not in the config", key.from)
			}
			got := look(t, configFile(t, url, changed))
			for _, c := range []struct {
				command, before, after string
				differs                bool
			}{{"plan", base.plan, got.plan, key.plan}, {"audit", base.audit, got.audit, key.audit}, {"run", base.run, got.run, key.run}} {
				if (c.before != c.after) != c.differs {
					t.Errorf("perch %s differs: %v, want %v\nbefore:\n%s\nafter:\n%s", c.command, c.before != c.after, c.differs, c.before, c.after)
				}
			}
		})
	}
}

// look plans the client's ladder, audits it, and runs one hold.
func look(t *testing.T, path string) seenOf {
	t.Helper()
	text := read(t, path)
	writeFile(t, path, strings.Replace(text, "HOLDS", "", 1))
	var s seenOf
	for _, step := range strings.Split(perch(t.Context(), nil, "plan", "--config", path, "--seed", "1").stdout, "\n") {
		if _, from, made := strings.Cut(step, "2 to 3  "); made {
			s.plan += from + "\n"
		}
	}
	s.audit = perch(t.Context(), nil, "audit", "--config", path).stdout
	writeFile(t, path, strings.Replace(text, "HOLDS", ", holds: [1500ms]", 1))
	r := perch(t.Context(), nil, "run", "--config", path, "--output", "json")
	var doc struct {
		Outcomes []struct {
			Verdict string
			Retry   struct{ Application string }
			Client  struct{ Experiences string }
		}
	}
	if err := json.Unmarshal([]byte(r.stdout), &doc); err != nil || len(doc.Outcomes) != 1 {
		t.Fatalf("%v: %s%s", err, r.stdout, r.stderr)
	}
	s.run = fmt.Sprintf("%+v", doc.Outcomes[0])
	if s.plan == "" || s.audit == "" {
		t.Fatalf("nothing was planned or audited: %+v", s)
	}
	return s
}

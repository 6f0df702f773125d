package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"perch.example/state"
)

// Whoever waited for its turn begins with the config and the policy as they are by then:
// nothing leaves that they do not allow any more, and what was added meanwhile is known.
func TestServeBeginsWithTheConfigOfItsTurn(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, policy  string
		old, new      string // in the config
		asked, silent string // paths
		refused       bool
	}{
		{"another path", "", "path: /often", "path: /changed", "/changed", "/often", false},
		{"a stricter policy", "version: 1\nhosts: [192.0.2.2]\n", "", "", "/other", "/often", true},
		{"a bad config", "", "kind: http", "kind: htp", "/often", "/changed", true},
		{"a config of another state", "", "{file:", "{configmap: other, file:", "/often", "/changed", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				path := filepath.Join(t.TempDir(), "state")
				text := strings.ReplaceAll(reloading, "${DIR}/state", path)
				held, err := state.OpenFile(path, state.Options{})
				if err != nil {
					t.Fatal(err)
				}
				s, m := reloaded(t, text, nil)
				policy := filepath.Join(t.TempDir(), "policy.yaml")
				s.service.sys.mounted = policy
				s.service.files = newFiles(s.service.sys, m.dir)
				s.begin()
				time.Sleep(10 * time.Minute)
				if c.policy != "" {
					m.must(os.WriteFile(policy, []byte(c.policy), 0o600))
				}
				m.swap(strings.Replace(text, c.old, c.new, 1))
				m.must(held.Close(t.Context()))
				time.Sleep(time.Minute)
				if len(s.asked(c.asked)) == 0 || len(s.asked(c.silent)) > 0 {
					t.Errorf("%s was asked %d times, and %s %d times", c.asked, len(s.asked(c.asked)), c.silent, len(s.asked(c.silent)))
				}
				successful := `perch_config_last_reload_successful{perch="shop",vantage="test"} `
				if c.refused {
					s.wants("/metrics", 200, successful+"0")
					want(t, "the log", s.log.String(), "the changed config is refused")
				} else {
					s.wants("/metrics", 200, successful+"1")
				}
				if err := s.stop(); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

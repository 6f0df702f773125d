package main

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestReadmeIsTrue: its config loads and can be planned, its commands exist,
// its links lead somewhere.
func TestReadmeIsTrue(t *testing.T) {
	t.Parallel()
	text := read(t, "../../README.md")
	_, rest, _ := strings.Cut(text, "```yaml\n")
	example, _, found := strings.Cut(rest, "```")
	if !found {
		t.Fatal("no config in the README")
	}
	path := configFile(t, "", example)
	if r := perch(t.Context(), nil, "plan", "--config", path); r.code != exitOK || r.stderr != "" {
		t.Errorf("the README's config: exit status %d\n%s", r.code, r.stderr)
	}
	for _, m := range regexp.MustCompile("(?m)(?:`perch |go run ./cmd/perch )([a-z]+)").FindAllStringSubmatch(text, -1) {
		if r := perch(t.Context(), nil, m[1], "--help"); r.code != exitOK || !strings.Contains(r.stdout, "perch "+m[1]) {
			// What is not there yet is named as such, at the end.
			if !strings.Contains(text, "What it does not do yet") || m[1] != "serve" {
				t.Errorf("the README names `perch %s`: exit status %d\n%s", m[1], r.code, r.stderr)
			}
		}
	}
	for _, m := range regexp.MustCompile(`\]\(([^)#]+)\)`).FindAllStringSubmatch(text, -1) {
		if _, err := os.Stat("../../" + m[1]); err != nil {
			t.Errorf("the README links to %s: %v", m[1], err)
		}
	}
}

// TestExamplesCanBePlanned plans every example, as a newcomer would.
func TestExamplesCanBePlanned(t *testing.T) {
	t.Parallel()
	entries, err := os.ReadDir("../../examples")
	if err != nil {
		t.Fatal(err)
	}
	planned := 0
	for _, e := range entries {
		if e.Name() == "README.md" {
			continue
		}
		planned++
		if r := perch(t.Context(), nil, "plan", "--check", "../../examples/"+e.Name()); r.code != exitOK {
			t.Errorf("%s: exit status %d\n%s", e.Name(), r.code, r.stderr)
		}
	}
	if planned < 4 {
		t.Errorf("only %d examples", planned)
	}
}

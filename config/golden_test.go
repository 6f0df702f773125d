package config

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// catalog stands in for the client catalog, on a day on which nothing that the
// files hold is over.
func catalog() Options {
	return Options{
		Now:            time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC),
		ClientKinds:    []string{"apache-httpclient-4.5", "go-net-http", "node-http"},
		ClientWrappers: []string{"spring-resttemplate"},
	}
}

func updating() bool { return flag.Lookup("update").Value.String() == "true" }

func TestMain(m *testing.M) {
	flag.Bool("update", false, "write the .want files anew")
	flag.Parse()
	os.Exit(m.Run())
}

func glob(t testing.TB, pattern string) []string {
	t.Helper()
	names, err := filepath.Glob(pattern)
	if err != nil || len(names) == 0 {
		t.Fatalf("%s: %v, %d files", pattern, err, len(names))
	}
	return names
}

func parseFile(t testing.TB, name string) (Config, error) {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return Parse(catalog(), File{Name: filepath.Base(name), Data: data})
}

// compare holds got against the .want file beside name.
func compare(t *testing.T, name, got string) {
	t.Helper()
	wantFile := strings.TrimSuffix(name, ".yaml") + ".want"
	if updating() {
		if err := os.WriteFile(wantFile, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(wantFile)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s:\n got %s\nwant %s", name, got, want)
	}
}

// TestBad: one file a rule, and its message beside it. Run with -update to
// write the messages, then read them.
func TestBad(t *testing.T) {
	for _, name := range glob(t, "testdata/bad/*.yaml") {
		t.Run(filepath.Base(name), func(t *testing.T) {
			_, err := parseFile(t, name)
			var mistakes *Errors
			if !errors.As(err, &mistakes) {
				t.Fatalf("got %v, want *Errors", err)
			}
			for _, m := range mistakes.List {
				if m.Line == 0 && !strings.Contains(m.Problem, "is missing") && !strings.Contains(m.Problem, "is empty") {
					t.Errorf("no line: %s", m)
				}
			}
			if leak := regexp.MustCompile(`hunter2`).FindString(err.Error()); leak != "" {
				t.Errorf("a secret is shown: %v", err)
			}
			compare(t, name, err.Error()+"\n")
		})
	}
}

func TestGood(t *testing.T) {
	for _, name := range glob(t, "testdata/good/*.yaml") {
		t.Run(filepath.Base(name), func(t *testing.T) {
			c, err := parseFile(t, name)
			if err != nil {
				t.Fatal(err)
			}
			warnings := strings.Join(c.Warnings, "\n")
			if strings.Contains(warnings, "hunter2") {
				t.Errorf("a secret is shown: %s", warnings)
			}
			if filepath.Base(name) == "warnings.yaml" {
				compare(t, name, warnings+"\n")
			} else if warnings != "" {
				t.Errorf("warnings: %s", warnings)
			}
		})
	}
}

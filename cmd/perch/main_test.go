package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"perch.example/lab"
)

// ran is what one command line left behind.
type ran struct {
	code           int
	stdout, stderr string
}

// perch runs one command line in this process, with that environment and
// nothing of the machine's.
func perch(ctx context.Context, env map[string]string, args ...string) ran {
	var errs bytes.Buffer
	r := perchLogging(ctx, &errs, env, args...)
	r.stderr = errs.String()
	return r
}

// perchLogging is perch with its stderr going to log as it comes.
func perchLogging(ctx context.Context, log io.Writer, env map[string]string, args ...string) ran {
	var out bytes.Buffer
	code := execute(ctx, system{
		args: args, stdout: &out, stderr: log, readFile: os.ReadFile,
		env: func(name string) (string, bool) { v, ok := env[name]; return v, ok },
	})
	return ran{code: code, stdout: out.String()}
}

// configFile writes a config; ${URL} stands for the server's address.
func configFile(t *testing.T, url, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "perch.yaml")
	text = strings.ReplaceAll(text, "${URL}", url)
	text = strings.ReplaceAll(text, "${DIR}", t.TempDir())
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func startLab(t *testing.T, scenario string, o lab.Options) *lab.Server {
	t.Helper()
	s, err := lab.Start(t.Context(), scenario, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("closing the lab: %v", err)
		}
	})
	return s
}

func want(t *testing.T, name, text string, parts ...string) {
	t.Helper()
	for _, p := range parts {
		if !strings.Contains(text, p) {
			t.Errorf("%s does not say %q:\n%s", name, p, text)
		}
	}
}

package main

import (
	"strings"
	"testing"
)

// TestIdleRefusesInItsOwnWords: what a flag cannot be is told of the flag, and
// not of the config that is made of it.
func TestIdleRefusesInItsOwnWords(t *testing.T) {
	t.Parallel()
	for flags, want := range map[string]string{
		"--max 999ms":      "--max 999ms: want 1s to 24h",
		"--max 24h0m1s":    "--max 24h0m1s: want 1s to 24h",
		"--max 2540400h":   "--max 2540400h0m0s: want 1s to 24h",
		"--max -1s":        "--max -1s: want 1s to 24h",
		"--connections 21": "--connections 21: want 1 to 20",
	} {
		r := perch(t.Context(), nil, append([]string{"idle", "http://127.0.0.1:1"}, strings.Fields(flags)...)...)
		if r.code != exitUsage || !strings.Contains(r.stderr, want) || strings.Contains(r.stderr, "targets[") {
			t.Errorf("%s: exit status %d, %q, want 2 and %q", flags, r.code, r.stderr, want)
		}
	}
}

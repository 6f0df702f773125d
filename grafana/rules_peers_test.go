//go:build peers

package grafana

import (
	"os/exec"
	"path/filepath"
	"testing"
)

// TestPromtool: the rules are valid, and each fires and keeps silent as
// rules/tests says.
func TestPromtool(t *testing.T) {
	files, err := filepath.Glob("rules/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	cases, err := filepath.Glob("rules/tests/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if len(files) != 2 || len(cases) == 0 {
		t.Fatalf("%d files of rules, %d of tests", len(files), len(cases))
	}
	promtool(t, append([]string{"check", "rules"}, files...)...)
	for _, c := range cases {
		t.Run(filepath.Base(c), func(t *testing.T) {
			t.Parallel()
			promtool(t, "test", "rules", c)
		})
	}
}

func promtool(t *testing.T, args ...string) {
	t.Helper()
	if out, err := exec.Command("promtool", args...).CombinedOutput(); err != nil {
		t.Errorf("promtool %v: %v\n%s", args, err, out)
	}
}

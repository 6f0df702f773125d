//go:build soak

package soak

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// binaries are what all tests use, built once.
type binaries struct{ perch string }

func (b *binaries) build(dir string) error {
	b.perch = filepath.Join(dir, "perch")
	// As the Dockerfile does.
	out, err := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", b.perch, "perch.example/cmd/perch").CombinedOutput()
	if err != nil {
		return fmt.Errorf("building perch: %w\n%s", err, out)
	}
	return nil
}

var built binaries //nolint:gochecknoglobals // built once for all tests

// TestMain is also the plain server's process, where the environment says so: what
// it costs is then neither perch's nor the test's.
func TestMain(m *testing.M) {
	if os.Getenv(plainEnv) != "" {
		os.Exit(servePlain())
	}
	os.Exit(run(m))
}

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "perch-soak")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() { _ = os.RemoveAll(dir) }()
	if err := built.build(dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

//go:build soak

package soak

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

var (
	soakFor = flag.Duration("soak.for", 2*time.Minute, "how long perch serve runs among what fails; by hand half an hour") //nolint:gochecknoglobals // a test's flag
	seed    = flag.Uint64("soak.seed", 0, "which faults come when; 0: another one each time")                              //nolint:gochecknoglobals // a test's flag
	raced   = flag.Bool("soak.race", false, "perch is built with the race detector")                                       //nolint:gochecknoglobals // a test's flag
)

// rolled gives the dice of a test, and says with which seed.
func rolled(t *testing.T) *rand.Rand {
	t.Helper()
	of := *seed
	if of == 0 {
		of = rand.Uint64() >> 32
	}
	t.Logf("-soak.seed %d", of)
	return rand.New(rand.NewPCG(of, 0))
}

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
	flag.Parse()
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

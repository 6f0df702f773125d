//go:build unix

package state

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// everyWay is a run, an edit and a look at a state, as far as each gets.
func everyWay(ctx context.Context, path string) map[string]error {
	_, looked := ReadFile(path)
	return map[string]error{
		"run": aRun(ctx, site{open: func(context.Context, Options) (store, error) {
			f, err := OpenFile(path, Options{})
			if err != nil {
				return nil, err
			}
			return f, nil
		}}),
		"edit": EditFile(ctx, path, Options{}, func(*Document) error { return nil }),
		"look": looked,
	}
}

// within fails a test that hangs: a named pipe waits for its other end for ever.
func within(t *testing.T, limit time.Duration, do func()) {
	t.Helper()
	done := make(chan struct{})
	go func() { defer close(done); do() }()
	select {
	case <-done:
	case <-time.After(limit):
		t.Fatalf("it hangs: not done after %s", limit)
	}
}

func TestANamedPipeIsNeverOpened(t *testing.T) {
	for name, wants := range map[string]map[string]string{
		"state":       {"run": "regular file", "edit": "regular file", "look": "a named pipe"},
		"state.lock":  {"run": "a named pipe", "edit": "", "look": ""},
		"state.write": {"run": "a named pipe", "edit": "a named pipe", "look": ""},
		"state.tmp":   {"run": "", "edit": "", "look": ""}, // it is perch's to remove
	} {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			must(t, syscall.Mkfifo(filepath.Join(folder, name), 0o600))
			within(t, 10*time.Second, func() {
				for way, err := range everyWay(t.Context(), filepath.Join(folder, "state")) {
					if want := wants[way]; (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
						t.Errorf("%s: %v, want an error with %q; none if empty", way, err, want)
					}
				}
			})
		})
	}
}

// The lock of systems without flock looks who holds it.
func TestANamedPipeForALockByExistence(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state")
	must(t, syscall.Mkfifo(path+".lock", 0o600))
	within(t, 10*time.Second, func() {
		if _, err := lockByExistence(path, path+".lock"); err == nil {
			t.Error("a named pipe was taken for a lock")
		}
	})
}

// Root works in another user's folder: a link that is put there leads nothing
// of perch's anywhere else.
func TestPlantedLinksAreNotWrittenThrough(t *testing.T) {
	for _, name := range []string{"state.lock", "state.write", "state.tmp"} {
		t.Run(name, func(t *testing.T) {
			folder, victim := t.TempDir(), filepath.Join(t.TempDir(), "victim")
			must(t, os.WriteFile(victim, []byte("precious"), 0o600))
			must(t, os.Symlink(victim, filepath.Join(folder, name)))
			ways := everyWay(t.Context(), filepath.Join(folder, "state"))
			if content, err := os.ReadFile(victim); err != nil || string(content) != "precious" {
				t.Errorf("the victim holds %q, %v", content, err)
			}
			if name != "state.tmp" {
				if err := ways["run"]; err == nil || !strings.Contains(err.Error(), "a symbolic link") || !strings.Contains(err.Error(), name) {
					t.Errorf("a run: %v, want an error that names the link", err)
				}
				return
			}
			if info, err := os.Lstat(filepath.Join(folder, "state")); err != nil || !info.Mode().IsRegular() || ways["run"] != nil {
				t.Errorf("the state is %v, %v, after %v", info, err, ways["run"])
			}
		})
	}
}

// Put there between the look and the opening: still not followed.
func TestOpeningFollowsNoLink(t *testing.T) {
	victim := filepath.Join(t.TempDir(), "victim")
	must(t, os.WriteFile(victim, nil, 0o600))
	link := filepath.Join(t.TempDir(), "link")
	must(t, os.Symlink(victim, link))
	if file, err := os.OpenFile(link, os.O_RDWR|os.O_CREATE|wary, 0o600); err == nil {
		t.Error("the link was followed", file.Close())
	}
}

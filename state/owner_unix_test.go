//go:build unix

package state

import (
	"context"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// Root edits the state of a perch that runs as another user: that one can still
// use every file. Who is not root leaves its own.
func TestRootLeavesNothingOfItsOwn(t *testing.T) {
	folder := t.TempDir()
	path, want := filepath.Join(folder, "state"), os.Geteuid()
	if want == 0 {
		want = 65532
		must(t, os.Chown(folder, want, want))
	}
	check := func(when string) {
		t.Helper()
		for _, name := range files(t, folder) {
			info, err := os.Stat(filepath.Join(folder, name))
			must(t, err)
			if uid := info.Sys().(*syscall.Stat_t).Uid; int(uid) != want {
				t.Errorf("%s: %s belongs to %d, want %d", when, name, uid, want)
			}
		}
	}
	must(t, EditFile(t.Context(), path, Options{}, func(*Document) error { return nil }))
	check("edited")
	must(t, aRun(t.Context(), site{open: func(context.Context, Options) (store, error) { return OpenFile(path, Options{}) }}))
	check("run")
	if got := len(files(t, folder)); got != 3 {
		t.Errorf("%v are there, want the state and two locks", files(t, folder))
	}
}

//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package state

import (
	"path/filepath"
	"syscall"
	"testing"
)

// TestAReleasedLockIsFree also while a child that was just forked still has the
// lock's descriptor: until it starts its own program it has all of its parent's.
func TestAReleasedLockIsFree(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state")
	held, err := takeLock(path, path+".lock")
	must(t, err)
	childs, err := syscall.Dup(int(held.file.Fd()))
	must(t, err)
	t.Cleanup(func() { _ = syscall.Close(childs) })
	must(t, held.release())
	again, err := takeLock(path, path+".lock")
	must(t, err)
	must(t, again.release())
}

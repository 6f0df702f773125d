//go:build peers

package cluster

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// MeshPorts holds the ports of meshes' sidecars on this machine until the test's
// end: for one that listens there alone, for those that need them free together.
// Packages are tested side by side, and the ports are the machine's. It waits for
// whoever holds them.
func MeshPorts(t *testing.T, listens bool) {
	t.Helper()
	file, err := os.OpenFile(filepath.Join(os.TempDir(), "perch-mesh-ports.lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	how := syscall.LOCK_SH
	if listens {
		how = syscall.LOCK_EX
	}
	if err := syscall.Flock(int(file.Fd()), how); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = syscall.Flock(int(file.Fd()), syscall.LOCK_UN) // before the close: a child of ours may have the file
		_ = file.Close()
	})
}

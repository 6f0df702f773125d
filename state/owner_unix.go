//go:build unix

package state

import (
	"os"
	"path/filepath"
	"syscall"
)

// giveToOwner makes file belong to whoever the state in path belongs to, or its
// folder while there is none. Only root can, and only root needs to: what it
// writes by hand (perch silence on a host) would lock out the user that runs
// perch.
func giveToOwner(path string, file *os.File) error {
	if os.Geteuid() != 0 {
		return nil
	}
	info, err := os.Stat(path)
	if err != nil {
		if info, err = os.Stat(filepath.Dir(path)); err != nil {
			return err
		}
	}
	owner, known := info.Sys().(*syscall.Stat_t)
	if !known {
		return nil
	}
	// The open file, not its name: the folder is another user's, who may have put
	// something else there since.
	return file.Chown(int(owner.Uid), int(owner.Gid))
}

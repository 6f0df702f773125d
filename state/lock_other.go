//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package state

import "os"

// takeLock holds a lock of the state in path by the existence of the file name:
// this system has no flock.
func takeLock(path, name string) (*lock, error) { return lockByExistence(path, name) }

// unlock has nothing to give back: such a lock goes with its file.
func unlock(*os.File) error { return nil }

//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package state

// takeLock holds path.lock by its existence: this system has no flock.
func takeLock(path string) (*lock, error) { return lockByExistence(path) }

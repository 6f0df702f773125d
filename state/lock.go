package state

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
)

// lock is a held lock file. It stands beside the state, not in it: each Save
// replaces the state's file, and a lock on the old one would hold nothing.
type lock struct {
	file   *os.File
	remove bool // the file's existence is the lock (lockByExistence)
}

// sign writes into the lock file who holds it, for the one who finds it taken.
// That is only for people: a disk that is full must not keep a run from probing.
func (l *lock) sign() {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	text := fmt.Sprintf("pid %d on host %s, since %s\n", os.Getpid(), host, time.Now().UTC().Format(time.RFC3339))
	if err := l.file.Truncate(0); err == nil {
		_, _ = l.file.WriteAt([]byte(text), 0)
	}
}

// release empties the lock file, so that it names nobody, and lets go.
func (l *lock) release() error {
	if l.remove {
		// The other order would remove the lock of whoever came in between.
		return errors.Join(l.file.Close(), os.Remove(l.file.Name()))
	}
	// Closing is not enough: a child that was forked meanwhile, and has not
	// started its own program yet, holds the same open file, and with it the lock.
	return errors.Join(l.file.Truncate(0), unlock(l.file), l.file.Close())
}

// holder reads who holds a lock; empty when that is not known (yet).
func holder(path string) string {
	file, err := openRegular(path, os.O_RDONLY)
	if err != nil {
		return ""
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, 512))
	if err != nil {
		return ""
	}
	line, _, _ := strings.Cut(string(text), "\n")
	return strings.TrimSpace(line)
}

// lockByExistence takes a lock where the system has no flock: the file can be
// created by one process only. Nothing takes it back when that process is
// killed, so the error says how to go on.
func lockByExistence(path, name string) (*lock, error) {
	file, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600) // follows no link
	if errors.Is(err, os.ErrExist) {
		return nil, &LockedError{
			Path: path, Lock: name, Holder: holder(name),
			Hint: fmt.Sprintf("if that process is gone, remove %q", name),
		}
	}
	if err != nil {
		return nil, fmt.Errorf("locking state %q: %w", path, err)
	}
	held := &lock{file: file, remove: true}
	held.sign()
	return held, nil
}

//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package state

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// takeLock holds a lock of the state in path by flock on the file name: the
// kernel gives it back when the process dies, however it dies. The file itself
// stays: removing it would let a third process lock a new file while a second
// one waits on the old.
func takeLock(path, name string) (*lock, error) {
	file, err := openRegular(name, os.O_RDWR|os.O_CREATE)
	if err != nil {
		return nil, fmt.Errorf("locking state %q: %w", path, err)
	}
	err = flock(file, syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return nil, errors.Join(&LockedError{Path: path, Lock: name, Holder: holder(name)}, file.Close())
	}
	if err == nil {
		err = giveToOwner(path, file)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("locking state %q: %w", path, err), file.Close())
	}
	held := &lock{file: file}
	held.sign()
	return held, nil
}

// unlock gives the lock back for every descriptor of the open file.
func unlock(file *os.File) error { return flock(file, syscall.LOCK_UN) }

func flock(file *os.File, how int) error {
	for {
		if err := syscall.Flock(int(file.Fd()), how); !errors.Is(err, syscall.EINTR) {
			return err
		}
	}
}

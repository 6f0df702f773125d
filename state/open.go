package state

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// openRegular opens a file that is one, or makes it where flag says so. What
// else may stand there hangs (a named pipe waits for its other end), or leads
// away: a link that another user put there would make root write where that
// user may not. Nothing but a regular file is opened, and no link is followed.
func openRegular(name string, flag int) (*os.File, error) {
	info, err := os.Lstat(name)
	switch {
	case err == nil && !info.Mode().IsRegular():
		return nil, notRegular(name, info)
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return nil, err
	}
	// Whatever came there since is not followed, and not waited for.
	file, err := os.OpenFile(name, flag|wary, 0o600)
	if err != nil {
		return nil, err
	}
	if info, err = file.Stat(); err == nil && !info.Mode().IsRegular() {
		err = notRegular(name, info)
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}

func notRegular(name string, info fs.FileInfo) error {
	kind := "it is not a regular file"
	switch mode := info.Mode(); {
	case mode.IsDir():
		kind = "it is a folder"
	case mode&fs.ModeSymlink != 0:
		kind = "it is a symbolic link"
	case mode&fs.ModeNamedPipe != 0:
		kind = "it is a named pipe"
	}
	return fmt.Errorf("%q cannot be used: %s, and only a regular file can stand there: remove it, or give the state another path", name, kind)
}

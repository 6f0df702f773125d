package state

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"time"
)

// File keeps one Document in a file that this process alone may use. It is
// not for use by several goroutines at once.
type File struct {
	path   string
	lock   *lock
	loaded bool // what stands in the file is known, or was kept aside
}

// AsideError says that the file could not be used, was kept under a new name,
// and that the run goes on with an empty document.
type AsideError struct {
	Path  string // the file that was expected
	Aside string // where its content is now
	Newer bool   // a later version of perch wrote it; else it is corrupt
	Err   error  // what is wrong with it
}

func (e *AsideError) Error() string {
	return fmt.Sprintf("reading state %q: %v; it is kept as %q, and this run starts with nothing remembered: "+
		"no open incidents, no due times, no requests counted today", e.Path, e.Err, e.Aside)
}

func (e *AsideError) Unwrap() error { return e.Err }

// LockedError says that another perch uses the state.
type LockedError struct {
	Path   string // the state's file
	Lock   string // the lock's file
	Holder string // "pid 12 on host a, since 2026-01-02T03:04:05Z"; empty: not known
	Hint   string // what to do beyond waiting; empty: nothing
}

func (e *LockedError) Error() string {
	holder := e.Holder
	if holder == "" {
		holder = "its process is not known"
	}
	text := fmt.Sprintf("locking state %q: another perch uses it (%s)", e.Path, holder)
	if e.Hint != "" {
		text += "; " + e.Hint
	}
	return text
}

// OpenFile takes the lock of the state in path, beside which it needs room for
// three more files: path.lock, path.tmp and, when the state cannot be read, a
// copy that is kept. The folder must exist. A second perch gets a *LockedError,
// a file of somebody else's a *ForeignError. A symbolic link is followed once, here.
func OpenFile(path string) (*File, error) {
	path, err := followed(path)
	if err != nil {
		return nil, err
	}
	folder := filepath.Dir(path)
	info, err := os.Stat(folder)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("opening state %q: the folder %q does not exist: create it (mkdir -p), or mount a volume that outlives the run there", path, folder)
	case err != nil:
		return nil, fmt.Errorf("opening state %q: %w", path, err)
	case !info.IsDir():
		return nil, fmt.Errorf("opening state %q: %q is not a folder", path, folder)
	}
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return nil, fmt.Errorf("opening state %q: it is not a regular file; give the path of a file", path)
	}
	if err := refuseForeign(path); err != nil {
		return nil, err
	}
	held, err := takeLock(path)
	if errors.Is(err, fs.ErrPermission) {
		return nil, fmt.Errorf("opening state %q: the user that perch runs as (uid %d) may not write in %q; in Kubernetes set fsGroup: %w", path, os.Getuid(), folder, err)
	}
	if err != nil {
		return nil, err
	}
	return &File{path: path, lock: held}, nil
}

// followed returns what a symbolic link leads to: a rename in its place would
// cut it, and leave the state where the next run may not look. Both names then
// share one lock, too.
func followed(path string) (string, error) {
	info, err := os.Lstat(path)
	if err != nil || info.Mode()&fs.ModeSymlink == 0 {
		return path, nil // what is wrong otherwise is said where it matters
	}
	target, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "", fmt.Errorf("opening state %q: following the link: %w", path, err)
	}
	return target, nil
}

// Load reads the document. No file is an empty document. A corrupt file, or
// one of a later version, is moved to a new name and said through *AsideError,
// together with an empty document that can be used. One that is not perch's
// gives a *ForeignError and stays. After any error but the first
// nothing is known of the file, and Save refuses to replace it.
func (f *File) Load(context.Context) (Document, error) {
	content, err := os.Open(f.path)
	if errors.Is(err, fs.ErrNotExist) {
		f.loaded = true
		return Document{Version: version}, nil
	}
	if err != nil {
		return Document{}, fmt.Errorf("reading state %q: %w", f.path, err)
	}
	defer content.Close()
	if err := refuseForeign(f.path); err != nil {
		return Document{}, err
	}

	d, err := decode(content)
	var ioErr *fs.PathError
	if errors.As(err, &ioErr) {
		// The disk failed, not the content: it may be whole.
		return Document{}, fmt.Errorf("reading state %q: %w", f.path, err)
	}
	if err != nil {
		return f.keepAside(err)
	}
	f.loaded = true
	return d, nil
}

// keepAside moves the file to a name that nothing has, and never over another.
func (f *File) keepAside(reason error) (Document, error) {
	var newer newerError
	kind := "corrupt"
	if errors.As(reason, &newer) {
		kind = "newer"
	}
	stamp := time.Now().UTC().Format("20060102T150405Z")
	aside := fmt.Sprintf("%s.%s-%s", f.path, kind, stamp)
	for n := 2; ; n++ {
		_, err := os.Lstat(aside)
		if errors.Is(err, fs.ErrNotExist) {
			break
		}
		if err != nil {
			return Document{}, fmt.Errorf("keeping state %q aside: %w", f.path, err)
		}
		aside = fmt.Sprintf("%s.%s-%s-%d", f.path, kind, stamp, n)
	}
	if err := os.Rename(f.path, aside); err != nil {
		return Document{}, fmt.Errorf("keeping state %q aside (%w): %w", f.path, reason, err)
	}
	f.loaded = true
	return Document{Version: version}, &AsideError{Path: f.path, Aside: aside, Newer: kind == "newer", Err: reason}
}

// Save replaces the document at once and for good: whoever reads the file,
// after a kill or a power cut at any moment, finds the old document or the new
// one, whole. It refuses a document beyond the bound (8 MiB of JSON) and a file
// whose content Load has not dealt with; the old file then stays.
func (f *File) Save(_ context.Context, d Document) error {
	if f.lock == nil {
		return fmt.Errorf("saving state %q: it is closed", f.path)
	}
	if !f.loaded {
		return fmt.Errorf("saving state %q: what stands there was not loaded, so it is not replaced", f.path)
	}
	packed, err := encode(d)
	if err != nil {
		return fmt.Errorf("saving state %q: %w", f.path, err)
	}
	temporary := f.path + ".tmp" // one name: the lock is ours, and a kill leaves at most one behind
	if err := writeSynced(temporary, packed); err != nil {
		// On a full disk the half that was written would only be in the way.
		return errors.Join(fmt.Errorf("saving state %q: %w", f.path, err), os.Remove(temporary))
	}
	if err := os.Rename(temporary, f.path); err != nil {
		return fmt.Errorf("saving state %q: %w", f.path, err)
	}
	if err := syncFolder(filepath.Dir(f.path)); err != nil {
		return fmt.Errorf("saving state %q: %w", f.path, err)
	}
	return nil
}

// writeSynced writes a file and waits until it is on the disk.
func writeSynced(path string, content []byte) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = bytes.NewReader(content).WriteTo(file)
	if err == nil {
		err = file.Sync()
	}
	return errors.Join(err, file.Close())
}

// syncFolder makes a rename last. Windows cannot sync a folder and orders its
// own metadata.
func syncFolder(path string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	folder, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}

// Close gives the lock back. The document stays.
func (f *File) Close(context.Context) error {
	if f.lock == nil {
		return nil
	}
	held := f.lock
	f.lock = nil
	if err := held.release(); err != nil {
		return fmt.Errorf("unlocking state %q: %w", f.path, err)
	}
	return nil
}

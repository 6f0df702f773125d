package state

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// File keeps one Document in a file. One run at a time holds it, for as long
// as the run lasts; an edit (EditFile) may come in between. It is not for use
// by several goroutines at once.
type File struct {
	path    string
	options Options
	lock    *lock
	loaded  bool     // what stands in the file is known, or was kept aside
	base    Document // what the caller's document was made from
	warning string
}

// OpenFile takes the run's lock of the state in path, beside which it needs
// room for four more files: path.lock, path.write, path.tmp and, when the state
// cannot be read, a copy that is kept. The folder must exist. A second perch
// gets a *LockedError, a file of somebody else's a *ForeignError. A symbolic
// link is followed once, here.
func OpenFile(path string, o Options) (*File, error) {
	path, err := place(path)
	if err != nil {
		return nil, err
	}
	held, err := takeLock(path, path+".lock")
	if err != nil {
		return nil, mayNotWrite(path, err)
	}
	return &File{path: path, options: o, lock: held}, nil
}

// CheckPlace says what keeps a state from being opened in path before its lock is
// asked for, such as a folder that does not exist. It makes nothing.
func CheckPlace(path string) error {
	_, err := place(path)
	return err
}

// place checks that a state can be kept in path, and returns where that leads.
func place(path string) (string, error) {
	path, err := followed(path)
	if err != nil {
		return "", err
	}
	folder := filepath.Dir(path)
	info, err := os.Stat(folder)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", fmt.Errorf("opening state %q: the folder %q does not exist: create it (mkdir -p), or mount a volume that outlives the run there", path, folder)
	case err != nil:
		return "", fmt.Errorf("opening state %q: %w", path, err)
	case !info.IsDir():
		return "", fmt.Errorf("opening state %q: %q is not a folder", path, folder)
	}
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return "", fmt.Errorf("opening state %q: it is not a regular file; give the path of a file", path)
	}
	return path, refuseForeign(path)
}

// mayNotWrite says what to do about a folder that is another user's.
func mayNotWrite(path string, err error) error {
	if !errors.Is(err, fs.ErrPermission) {
		return err
	}
	return fmt.Errorf("opening state %q: the user that perch runs as (uid %d) may not write in %q; in Kubernetes set fsGroup: %w", path, os.Getuid(), filepath.Dir(path), err)
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
	if errors.Is(err, fs.ErrNotExist) {
		// Not made here: as root, perch would make files wherever a link says.
		leads, _ := os.Readlink(path)
		return "", fmt.Errorf("opening state %q: it is a symbolic link to %q, which does not exist: create it empty, once (touch), or remove the link", path, leads)
	}
	if err != nil {
		return "", fmt.Errorf("opening state %q: following the link: %w", path, err)
	}
	return target, nil
}

// Load reads the document. No file, or an empty one, is an empty document. A corrupt file, or
// one of a later version, is moved to a new name and said through *AsideError,
// together with an empty document that can be used. One that is not perch's
// gives a *ForeignError and stays. After any error but the first
// nothing is known of the file, and Save refuses to replace it.
func (f *File) Load(ctx context.Context) (Document, error) {
	f.loaded = false
	if f.lock == nil {
		return Document{}, fmt.Errorf("reading state %q: it is closed", f.path)
	}
	writing, err := takeWriteLock(ctx, f.path)
	if err != nil {
		return Document{}, err
	}
	d, _, err := readStanding(f.path)
	var unusable *contentError
	if errors.As(err, &unusable) {
		err = keepAside(f.path, unusable.err)
	}
	err = errors.Join(err, writing.release())
	var aside *AsideError
	if err != nil && !errors.As(err, &aside) {
		return Document{}, err
	}
	f.loaded, f.base = true, d.clone()
	return d, err
}

// Reserve writes the document as it has to stand while the run is under way:
// Document.Reserved says how. Save takes it back.
func (f *File) Reserve(ctx context.Context, r Reservation) error {
	return f.Save(ctx, f.base.Reserved(r))
}

// Save replaces the document at once and for good: whoever reads the file,
// after a kill or a power cut at any moment, finds the old document or the new
// one, whole. What an edit changed meanwhile is kept. It refuses a document
// beyond the bound (8 MiB of JSON; *TooLargeError) and a file whose content
// Load has not dealt with; the old file then stays. When the file was damaged
// meanwhile, the document is saved, and an *AsideError says so.
func (f *File) Save(ctx context.Context, d Document) (err error) {
	if f.lock == nil {
		return fmt.Errorf("saving state %q: it is closed", f.path)
	}
	if !f.loaded {
		return fmt.Errorf("saving state %q: what stands there was not loaded, so it is not replaced", f.path)
	}
	writing, err := takeWriteLock(ctx, f.path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, writing.release()) }()
	standing, there, err := readStanding(f.path)
	var unusable *contentError
	var aside error
	switch {
	case errors.As(err, &unusable):
		aside = keepAside(f.path, unusable.err)
		var kept *AsideError
		if !errors.As(aside, &kept) {
			return aside
		}
	case err != nil:
		return err
	}
	if !there {
		standing = f.base // nobody changed it: whoever takes the file away in the middle of a run gets the run's
	}
	merged, err := merge(f.base, d, standing, f.options)
	if err != nil {
		return fmt.Errorf("saving state %q: %w", f.path, err)
	}
	if err := f.replace(merged); err != nil {
		return errors.Join(err, aside)
	}
	f.base = d.clone()
	return aside
}

func (f *File) replace(d Document) error {
	size, err := writeDocument(f.path, d)
	if err != nil {
		return err
	}
	f.warning = ""
	if size > maxPlain/2 {
		f.warning = fmt.Sprintf("state %q: %d bytes, and more than %d are refused; the largest part is %s", f.path, size, maxPlain, largest(d))
	}
	return nil
}

// Warning says, after a Save, what will need care soon; empty: nothing.
func (f *File) Warning() string { return f.warning }

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

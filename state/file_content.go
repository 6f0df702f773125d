package state

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"time"
)

// contentError says that what stands in a store is no document of this
// perch's. The store itself works.
type contentError struct{ err error }

func (e *contentError) Error() string { return e.err.Error() }
func (e *contentError) Unwrap() error { return e.err }

// readStanding returns what stands in the file, and whether it is there: no
// file is an empty document, and so is an empty file, which somebody has made
// for perch to fill: no Save leaves one, whenever the power is cut. Content that cannot be used gives a *contentError.
func readStanding(path string) (d Document, there bool, err error) {
	content, err := openRegular(path, os.O_RDONLY)
	if errors.Is(err, fs.ErrNotExist) {
		return Document{Version: version}, false, nil
	}
	if err != nil {
		return Document{}, false, fmt.Errorf("reading state %q: %w", path, err)
	}
	defer content.Close()
	if info, err := content.Stat(); err == nil && info.Size() == 0 {
		return Document{Version: version}, false, nil
	}
	if err := refuseForeign(path); err != nil {
		return Document{}, false, err
	}
	d, err = decode(content)
	var disk *fs.PathError
	if errors.As(err, &disk) {
		// The disk failed, not the content: it may be whole.
		return Document{}, false, fmt.Errorf("reading state %q: %w", path, err)
	}
	if err != nil {
		return Document{Version: version}, false, &contentError{err}
	}
	return d, true, nil
}

// keepAside moves the file to a name that nothing has, and never over another.
// It returns an *AsideError when that worked.
func keepAside(path string, reason error) error {
	kind := kindOf(reason)
	stamp := time.Now().UTC().Format(stampFormat)
	aside := fmt.Sprintf("%s.%s-%s", path, kind, stamp)
	for n := 2; ; n++ {
		_, err := os.Lstat(aside)
		if errors.Is(err, fs.ErrNotExist) {
			break
		}
		if err != nil {
			return fmt.Errorf("keeping state %q aside: %w", path, err)
		}
		aside = fmt.Sprintf("%s.%s-%s-%d", path, kind, stamp, n)
	}
	if err := os.Rename(path, aside); err != nil {
		return fmt.Errorf("keeping state %q aside (%w): %w", path, reason, err)
	}
	return &AsideError{Path: path, Aside: aside, Newer: kind == kindNewer, Err: reason}
}

const (
	kindNewer, kindCorrupt = "newer", "corrupt"
	stampFormat            = "20060102T150405Z"
)

// kindOf says why content was kept aside, for its name.
func kindOf(reason error) string {
	var newer newerError
	if errors.As(reason, &newer) {
		return kindNewer
	}
	return kindCorrupt
}

// writeDocument replaces the file and returns the document's size as JSON. The
// write lock must be held.
func writeDocument(path string, d Document) (int, error) {
	packed, size, err := encode(d)
	if err != nil {
		return 0, fmt.Errorf("saving state %q: %w", path, err)
	}
	temporary := path + ".tmp" // one name: the lock is ours, and a kill leaves at most one behind
	// What a killed writer left there, or somebody planted: never written through.
	if err := os.Remove(temporary); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return 0, fmt.Errorf("saving state %q: %w", path, err)
	}
	if err := writeSynced(path, temporary, packed); err != nil {
		// On a full disk the half that was written would only be in the way.
		return 0, errors.Join(fmt.Errorf("saving state %q: %w", path, err), os.Remove(temporary))
	}
	if err := os.Rename(temporary, path); err != nil {
		return 0, fmt.Errorf("saving state %q: %w", path, err)
	}
	if err := syncFolder(filepath.Dir(path)); err != nil {
		return 0, fmt.Errorf("saving state %q: %w", path, err)
	}
	return size, nil
}

// writeSynced writes the new content of path to a temporary file and waits until
// it is on the disk.
func writeSynced(path, temporary string, content []byte) error {
	file, err := openRegular(temporary, os.O_WRONLY|os.O_CREATE|os.O_EXCL)
	if err != nil {
		return err
	}
	_, err = bytes.NewReader(content).WriteTo(file)
	if err == nil {
		err = giveToOwner(path, file)
	}
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

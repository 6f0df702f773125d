package state

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
)

// ForeignError says that what was given for the state is somebody else's. It
// stays as it is, under its own name: a mistake must not cost anybody a file.
type ForeignError struct {
	Path  string // the file, or "configmap shop/perch-state"
	Holds string // the keys of a ConfigMap; empty for a file
}

func (e *ForeignError) Error() string {
	if e.Holds != "" {
		return fmt.Sprintf("opening state %q: it holds other things (%s) and no state of perch's, and is left as it is; give state.configmap a ConfigMap of its own", e.Path, e.Holds)
	}
	return fmt.Sprintf("opening state %q: it is not a perch state file, and is left as it is; give state.file a path of its own", e.Path)
}

// refuseForeign returns a *ForeignError when the file cannot be what is left of
// a state. A file that does not exist, or cannot be read, is for Load to judge.
func refuseForeign(path string) error {
	file, err := openRegular(path, os.O_RDONLY)
	if err != nil {
		return nil
	}
	defer func() { _ = file.Close() }()
	head := make([]byte, 512)
	n, err := io.ReadFull(file, head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil
	}
	if !ours(head[:n]) {
		return &ForeignError{Path: path}
	}
	return nil
}

// ours reports whether a file that begins so may be a state, if a damaged one:
// gzip, or nothing, or the zeros that some file systems leave after a power cut.
func ours(head []byte) bool {
	magic := []byte{0x1f, 0x8b}
	return bytes.HasPrefix(head, magic[:min(len(head), len(magic))]) || len(bytes.Trim(head, "\x00")) == 0
}

package state

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// Read returns the document in path for somebody who only looks: it takes no
// lock and moves nothing aside. A run that saves meanwhile is seen before or
// after, since Save renames. No file is an empty document.
func Read(path string) (Document, error) {
	content, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return Document{Version: version}, nil
	}
	if err != nil {
		return Document{}, fmt.Errorf("reading state: %w", err)
	}
	defer content.Close()
	d, err := decode(content)
	if err != nil {
		return Document{}, fmt.Errorf("reading state %q: %w", path, err)
	}
	return d, nil
}

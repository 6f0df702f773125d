package state

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"
)

const (
	// version is written, and the only one that is read so far. A field that an
	// older perch may drop without harm needs no new version; anything else does.
	version = 1
	// maxPlain bounds the document as JSON, when written and when read: a year of
	// 2,000 probes stays far below, and a hostile file cannot fill the memory.
	maxPlain = 8 << 20
	// maxPacked bounds the file: gzip makes what it cannot pack slightly longer.
	maxPacked = maxPlain + 64<<10
)

var errTooLarge = errors.New("larger than any state that perch writes")

// newerError says that a later perch wrote the file.
type newerError struct{ version int }

func (e newerError) Error() string {
	return fmt.Sprintf("it has version %d, and this perch reads up to %d", e.version, version)
}

// encode packs a document: gzip around JSON.
func encode(d Document) ([]byte, error) {
	d.Version = version
	plain, err := json.Marshal(d)
	if err != nil {
		return nil, err
	}
	if len(plain) > maxPlain {
		return nil, fmt.Errorf("%d bytes are more than the %d allowed; the largest part is %s", len(plain), maxPlain, largest(d))
	}
	var packed bytes.Buffer
	zip := gzip.NewWriter(&packed)
	if _, err := zip.Write(plain); err != nil {
		return nil, err
	}
	if err := zip.Close(); err != nil {
		return nil, err
	}
	return packed.Bytes(), nil
}

// largest names the part of a document that takes the most room.
func largest(d Document) string {
	name, size := "due times", len(d.Due)*64
	for id, closes := range d.EarlyCloses {
		if n := len(closes) * 32; n > size {
			name, size = fmt.Sprintf("the early closes of %q", id), n
		}
	}
	for section, content := range d.Sections {
		if len(content) > size {
			name, size = fmt.Sprintf("section %q", section), len(content)
		}
	}
	return name
}

// decode unpacks a document and refuses everything that encode cannot have
// written. It never panics and never holds more than the bounds.
func decode(r io.Reader) (Document, error) {
	packed, err := readUpTo(r, maxPacked)
	if err != nil {
		return Document{}, err
	}
	zip, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return Document{}, fmt.Errorf("unpacking: %w", err)
	}
	plain, err := readUpTo(zip, maxPlain)
	if err != nil {
		return Document{}, fmt.Errorf("unpacking: %w", err)
	}
	// The version first, and alone: a later perch may have changed any other field.
	var head struct {
		Version *int `json:"version"`
	}
	if err := json.Unmarshal(plain, &head); err != nil {
		return Document{}, fmt.Errorf("decoding: %w", err)
	}
	switch {
	case head.Version == nil || *head.Version < 1:
		return Document{}, errors.New("decoding: it has no version")
	case *head.Version > version:
		return Document{}, newerError{*head.Version}
	}
	var d Document
	if err := json.Unmarshal(plain, &d); err != nil {
		return Document{}, fmt.Errorf("decoding: %w", err)
	}
	return d, d.check()
}

// check refuses values that would quietly switch a limit off.
func (d Document) check() error {
	for target, have := range d.Daily {
		if have.Requests < 0 {
			return fmt.Errorf("checking: %d requests to %q", have.Requests, target)
		}
		if _, err := time.Parse(dayFormat, have.Day); err != nil {
			return fmt.Errorf("checking: %q is not the day of %q", have.Day, target)
		}
	}
	return d.checkBudget()
}

// readUpTo reads all of r, and fails when that is more than limit bytes.
func readUpTo(r io.Reader, limit int64) ([]byte, error) {
	content, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err != nil {
		return nil, err
	}
	if int64(len(content)) > limit {
		return nil, errTooLarge
	}
	return slices.Clip(content), nil
}

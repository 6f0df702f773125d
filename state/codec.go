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
	// version is written; it and the ones before it are read. A field that an
	// older perch may drop without harm needs no new version; anything else does.
	// Version 2 added brackets, last verdicts and sections that hold incidents
	// and notices: a perch of version 1 would not deliver those.
	version = 2
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

// encode packs a document, gzip around JSON, and returns the JSON's size too.
// One beyond the bound gives a *TooLargeError.
func encode(d Document) (packed []byte, size int, err error) {
	d.Version = version
	plain, err := json.Marshal(d)
	if err != nil {
		return nil, 0, err
	}
	if len(plain) > maxPlain {
		return nil, 0, &TooLargeError{Size: len(plain), Limit: maxPlain, Largest: largest(d)}
	}
	var out bytes.Buffer
	zip := gzip.NewWriter(&out)
	if _, err := zip.Write(plain); err != nil {
		return nil, 0, err
	}
	if err := zip.Close(); err != nil {
		return nil, 0, err
	}
	return out.Bytes(), len(plain), nil
}

// largest names the part of a document that takes the most room.
func largest(d Document) string {
	name, size := "", -1
	weigh := func(part string, content any) {
		if text, err := json.Marshal(content); err == nil && len(text) > size {
			name, size = part, len(text)
		}
	}
	weigh("due times", d.Due)
	weigh("daily counts", []map[string]Daily{d.Daily, d.DailyBefore})
	weigh("early closes", d.EarlyCloses)
	weigh("mass closes", d.MassCloses)
	weigh("what was sent last", d.Sent)
	weigh("targets left alone", d.LeaveAlone)
	weigh("brackets of idle timeouts", d.Brackets)
	weigh("last verdicts", d.Verdicts)
	for section, content := range d.Sections {
		weigh(fmt.Sprintf("section %q", section), content)
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
	d.Version = version // an older one has the same fields, fewer of them
	return d, d.check()
}

// check refuses values that would quietly switch a limit off.
func (d Document) check() error {
	for _, counts := range []map[string]Daily{d.Daily, d.DailyBefore} {
		for target, have := range counts {
			if have.Requests < 0 {
				return fmt.Errorf("checking: %d requests to %q", have.Requests, target)
			}
			if _, err := time.Parse(dayFormat, have.Day); err != nil {
				return fmt.Errorf("checking: %q is not the day of %q", have.Day, target)
			}
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

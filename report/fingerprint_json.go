package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"perch.example/probes"
)

// FingerprintJSON writes a fingerprint as one JSON document. The error is w's.
func FingerprintJSON(w io.Writer, f probes.Fingerprint) error {
	if err := indented(w, f); err != nil {
		return fmt.Errorf("writing the fingerprint: %w", err)
	}
	return nil
}

// indented writes a document that people may read, too.
func indented(w io.Writer, document any) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(document); err != nil {
		return err
	}
	_, err := w.Write(escaped(b.Bytes()))
	return err
}

// ReadFingerprint reads what FingerprintJSON wrote. Its errors say what would be
// right; they show no more of a file than an error message that stands in it.
func ReadFingerprint(data []byte) (probes.Fingerprint, error) {
	var head struct {
		Format  *int   `json:"fingerprint"`
		Version string `json:"version"`
	}
	if err := json.Unmarshal(data, &head); err != nil {
		return probes.Fingerprint{}, notJSON(data, err)
	}
	switch {
	case head.Format == nil:
		return probes.Fingerprint{}, errors.New("no fingerprint: the key \"fingerprint\" is missing; want what `perch path --output json` prints")
	case *head.Format != probes.FingerprintFormat:
		return probes.Fingerprint{}, fmt.Errorf("a fingerprint of form %d, written by perch %s; this perch reads form %d: take both with the same version", *head.Format, printable(head.Version), probes.FingerprintFormat)
	}
	var f probes.Fingerprint
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&f); err != nil {
		return probes.Fingerprint{}, fmt.Errorf("no whole fingerprint of this version: %w; it was written by perch %s: take both with the same version", err, printable(head.Version))
	}
	for i, p := range f.Paths {
		if p.Host == "" || p.Port == "" || p.Scheme == "" {
			return probes.Fingerprint{}, fmt.Errorf("paths[%d]: want scheme, host and port", i)
		}
	}
	if len(f.Paths) == 0 {
		return probes.Fingerprint{}, errors.New("a fingerprint of no path at all: nothing can be compared")
	}
	return f, nil
}

// notJSON says what stands in place of a document. A container's log holds the
// error that the command in it ended with, and that tells more than any syntax.
func notJSON(data []byte, err error) error {
	first, _, _ := strings.Cut(strings.TrimSpace(string(data[:min(len(data), 300)])), "\n")
	for _, message := range []string{"perch: ", "error: ", "Error from server", "Error: "} {
		if strings.HasPrefix(first, message) {
			return fmt.Errorf("no fingerprint, but an error: %s", printable(first))
		}
	}
	if len(bytes.TrimSpace(data)) == 0 {
		return errors.New("no fingerprint: it is empty; the command that was to write it has not ended, or failed")
	}
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		line := 1 + bytes.Count(data[:min(int64(len(data)), syntax.Offset)], []byte("\n"))
		return fmt.Errorf("no JSON: line %d: %w; want what `perch path --output json` prints, and nothing else", line, err)
	}
	return fmt.Errorf("no fingerprint: %w; want what `perch path --output json` prints", err)
}

// printable is text of a file as part of an error.
func printable(s string) string {
	const most = 200
	return cut(clean(s), most)
}

package k8s

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"

	"sigs.k8s.io/yaml"
)

// Write writes the objects as YAML documents, in order, under a comment with the
// lines of Head. Its error is the writer's.
func (m *Manifest) Write(w io.Writer) error {
	var b bytes.Buffer
	for _, text := range m.Head {
		for line := range strings.SplitSeq(text, "\n") {
			fmt.Fprintf(&b, "# %s\n", printable(line))
		}
	}
	for i, object := range m.Objects {
		if i > 0 {
			b.WriteString("---\n")
		}
		text, err := document(object)
		if err != nil {
			return err
		}
		b.Write(text)
	}
	_, err := w.Write(b.Bytes())
	return err
}

// printable is a line as a comment may hold it: to YAML more than \n ends one, and a
// file's name, which may hold anything, must not become a key.
func printable(line string) string {
	return strings.Map(func(r rune) rune {
		if r == '\t' || unicode.IsPrint(r) {
			return r
		}
		return utf8.RuneError
	}, line)
}

// document is an object as a person would write it: without a status, and without
// what is empty only since Go's types have it.
func document(object Object) ([]byte, error) {
	raw, err := json.Marshal(object)
	if err != nil {
		return nil, fmt.Errorf("writing %s: %w", object.GetName(), err)
	}
	var fields map[string]any
	if err := json.Unmarshal(raw, &fields); err != nil {
		return nil, fmt.Errorf("writing %s: %w", object.GetName(), err)
	}
	delete(fields, "status")
	withoutNull(fields)
	text, err := yaml.Marshal(fields)
	if err != nil {
		return nil, fmt.Errorf("writing %s: %w", object.GetName(), err)
	}
	return text, nil
}

// withoutNull removes nulls, such as an unset creationTimestamp.
func withoutNull(value any) {
	switch value := value.(type) {
	case map[string]any:
		for key, inner := range value {
			if inner == nil {
				delete(value, key)
			}
			withoutNull(inner)
		}
	case []any:
		for _, inner := range value {
			withoutNull(inner)
		}
	}
}

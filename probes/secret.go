package probes

import (
	"fmt"
	"io"
	"log/slog"
)

// Secret is a value that cannot be printed, logged or marshalled: every way
// out but Reveal gives "[secret]". It holds a pointer, because fmt prints the
// unexported fields of a struct around it without asking.
type Secret struct{ value *string }

const redacted = "[secret]"

// NewSecret wraps a value.
func NewSecret(value string) Secret { return Secret{&value} }

// Reveal returns the value. Call it only where bytes are about to leave.
func (s Secret) Reveal() string {
	if s.value == nil {
		return ""
	}
	return *s.value
}

// Format hides the value from every verb of fmt: one that does not suit a
// string, such as %d, would print the fields without asking String.
func (Secret) Format(w fmt.State, _ rune) {
	_, _ = io.WriteString(w, redacted) // fmt keeps its own errors
}

// String hides the value.
func (Secret) String() string { return redacted }

// MarshalText hides the value from JSON, YAML and every other encoding.
func (Secret) MarshalText() ([]byte, error) { return []byte(redacted), nil }

// LogValue hides the value from slog.
func (Secret) LogValue() slog.Value { return slog.StringValue(redacted) }

// Source names where a secret is read: exactly one field is set.
type Source struct{ Env, File string }

// Zero reports whether the source names nothing.
func (s Source) Zero() bool { return s == Source{} }

// String names the source, never its content.
func (s Source) String() string {
	if s.Env != "" {
		return "env " + s.Env
	}
	return "file " + s.File
}

// ReadSecret reads a source anew. cmd gives the real one; tests their own.
type ReadSecret func(Source) (Secret, error)

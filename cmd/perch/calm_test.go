package main

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"perch.example/internal/stood"
)

// stoodFrom is what counts as standing still: from there on perch's own report warns
// of a delay, too.
const stoodFrom = 50 * time.Millisecond

// calmly measures, and once more where a wrong thing came out of a time in which the
// machine stood still; empty: nothing is wrong.
func calmly(t *testing.T, measure func() (problem string)) {
	t.Helper()
	stood.Again(t, stoodFrom, func() []string {
		if problem := measure(); problem != "" {
			return []string{problem}
		}
		return nil
	})
}

// lacks says what of a text is missing; empty: nothing.
func lacks(name, text string, parts ...string) string {
	for _, p := range parts {
		if !strings.Contains(text, p) {
			return fmt.Sprintf("%s does not say %q:\n%s", name, p, text)
		}
	}
	return ""
}

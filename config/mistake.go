package config

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// maxShown bounds a message about a file that is no config at all.
const maxShown = 200

// Mistake is one thing that is wrong in a config or, as a warning, doubtful.
type Mistake struct {
	File    string // as it was named; "env PERCH_NAME" or "flag state.file" for what came from there
	Line    int    // 1-based; 0: none, or unknown
	Path    string // targets[0].probes[1].holds[2], counted within its file; empty: the whole file
	Problem string // what is wrong; never a secret
	Fix     string // what would be right; empty: nothing to add
}

// String is one line: `perch.yaml:14: targets[0].probes[1].holds[2]: what is
// wrong; what would be right`.
func (m Mistake) String() string {
	var b strings.Builder
	b.WriteString(m.File)
	if m.Line > 0 {
		fmt.Fprintf(&b, ":%d", m.Line)
	}
	b.WriteString(": ")
	if m.Path != "" {
		b.WriteString(m.Path + ": ")
	}
	b.WriteString(m.Problem)
	if m.Fix != "" {
		b.WriteString("; " + m.Fix)
	}
	return b.String()
}

// Errors is every mistake of a config, by file and line. It is what Load and
// Parse return as their error.
type Errors struct{ List []Mistake }

// Error is one line a mistake; of a flood it shows the first 200.
func (e *Errors) Error() string {
	lines := make([]string, 0, min(len(e.List), maxShown)+1)
	for i, m := range e.List {
		if i == maxShown {
			lines = append(lines, fmt.Sprintf("and %d more", len(e.List)-maxShown))
			break
		}
		lines = append(lines, m.String())
	}
	return strings.Join(lines, "\n")
}

// ordered sorts mistakes for reading and drops repetitions: a value inherited
// by ten probes is wrong once.
func ordered(list []Mistake) []Mistake {
	slices.SortStableFunc(list, func(a, b Mistake) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line))
	})
	seen := make(map[Mistake]bool, len(list))
	return slices.DeleteFunc(list, func(m Mistake) bool {
		if seen[m] {
			return true
		}
		seen[m] = true
		return false
	})
}

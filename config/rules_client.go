package config

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"perch.example/diagnose/clients"
	"perch.example/probes"
)

// fits refuses a layer that cannot stand around the client: a Java library
// around Go's client is a slip of the pen, and would be judged as nonsense.
func (c *checker) fits(decl *probes.Client, at place) {
	if _, known := clients.Lookup(decl.Kind); !known || !slices.Contains(clients.Wrappers(), decl.WrappedBy) || clients.Wraps(decl.WrappedBy, decl.Kind) {
		return
	}
	var right []string
	for _, kind := range clients.Kinds() {
		if clients.Wraps(decl.WrappedBy, kind) {
			right = append(right, kind)
		}
	}
	c.wrong(c.origin(at, "wrapped_by"), fmt.Sprintf("%s does not wrap %s", decl.WrappedBy, decl.Kind), "leave it out, or want kind "+oneOf(right))
}

// doubtErrors warns about a retry entry that is nearly an error that the client
// or its wrapper gives: misspelt, it covers nothing, and no compiler looks at a
// name in a list. What is not near one is the application's own.
func (c *checker) doubtErrors(decl *probes.Client, at place) {
	names := clients.Names(*decl)
	for i, entry := range decl.Retry.Errors {
		near := nearError(entry, names)
		if near == "" {
			continue
		}
		where := c.origin(at, fmt.Sprintf("errors[%d]", i))
		c.warn(where, fmt.Sprintf("%s gives no error called %s, so that this entry covers nothing", strings.Join(named(*decl), " or "), show(entry, false)), fmt.Sprintf("did you mean %q?", near))
	}
}

// origin is the place of a key below p, or the defaults' that it came from.
func (c *checker) origin(p place, key string) place {
	_, below, _ := strings.Cut(p.path, ".")
	if d := c.where("defaults." + below + "." + key); !c.has(p, key) && d.line > 0 {
		return d
	}
	return c.at(p, key)
}

func named(decl probes.Client) []string {
	if decl.WrappedBy == "" {
		return []string{decl.Kind}
	}
	return []string{decl.Kind, decl.WrappedBy}
}

// nearError returns the name that an entry was probably meant to be; empty when
// it is one of them, or none is near. A class may be written by its last part.
func nearError(entry string, names []string) string {
	best := ""
	for _, name := range names {
		last := lastPart(name)
		if clients.Means(entry, name) {
			return ""
		}
		switch {
		case misspelt(entry, name):
			best = cmp.Or(best, name)
		case misspelt(entry, last):
			best = cmp.Or(best, last)
		}
	}
	return best
}

func lastPart(name string) string { return name[strings.LastIndexAny(name, ".$")+1:] }

// misspelt reports whether a name is another but for its case, or for one or
// two letters. Short names differ by little and mean something else (EOF and
// IO), so that a letter counts for eight of the class's own name.
func misspelt(entry, name string) bool {
	a, b := fold(entry), fold(name)
	return a == b || edits(a, b)*8 <= min(len(lastPart(entry)), len(lastPart(name))) && edits(a, b) <= 2
}

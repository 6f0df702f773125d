package probes

import (
	"errors"
	"net/http"
	"slices"
	"strings"
)

// errOverride refuses what makes another method of the one that perch sends.
var errOverride = errors.New("it asks the server to take another method for it (a method override)")

// OverridesMethod reports whether servers take a header of this name, or a parameter,
// for the method that is meant: a POST with it may be carried out as a DELETE. Hyphens
// and underscores are one to servers that know headers as variables.
func OverridesMethod(name string) bool {
	switch folded(name) {
	case "xhttpmethod", "xhttpmethodoverride", "xmethodoverride", "httpmethodoverride":
		return true
	}
	return false
}

// overridesMethod looks for one among a request's headers.
func overridesMethod(header http.Header) error {
	for name := range header {
		if OverridesMethod(name) {
			return errOverride
		}
	}
	return nil
}

// overriding reports whether a parameter, or a JSON member, of this name is one: the
// names of headers, and _method. PHP reads a dot as an underscore, Rack brackets as
// nothing, many cut a name at a NUL.
func overriding(name string) bool {
	name, _, _ = strings.Cut(name, "\x00")
	name = strings.TrimLeft(name, " \t\r\n[]")
	if i := strings.IndexAny(name, "[]"); i >= 0 {
		name = name[:i]
	}
	spelled := strings.TrimSpace(strings.ToLower(strings.ReplaceAll(name, ".", "_")))
	return spelled == "_method" || OverridesMethod(name)
}

// folded is a name's letters and digits in small letters.
func folded(name string) string {
	return strings.Join(words(name), "")
}

// words are a name's parts between whatever is no letter and no digit of ASCII.
func words(name string) []string {
	return slices.Collect(strings.FieldsFuncSeq(strings.ToLower(name), func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9')
	}))
}

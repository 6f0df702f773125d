package clients

import "slices"

// wrapper is a layer between the client and the application that turns the
// client's errors into its own.
type wrapper struct {
	kind        string // the key in a config: client.wrapped_by
	name        string // as people call it
	network     string // what an I/O error becomes
	body        string // what an I/O error inside the answer's body becomes
	clients     []string
	statuses    map[int]string // what it throws for an answer
	clientError string         // for any other 4xx
	serverError string         // for any other 5xx
	hierarchy   map[string][]string
}

// status is what the wrapper throws for an answer; empty: it hands it over.
func (w wrapper) status(status int) string {
	switch {
	case w.statuses[status] != "":
		return w.statuses[status]
	case status >= 400 && status < 500:
		return w.clientError
	case status >= 500:
		return w.serverError
	}
	return ""
}

// errors is the wrapper's error hierarchy: a name -> what it also is.
func (w wrapper) errors() map[string][]string { return w.hierarchy }

// around is what the wrapper makes of a client's error.
func (w wrapper) around(e Event) string {
	if e == PartialBody {
		return w.body
	}
	return w.network
}

// Wrappers returns the keys of the layers that are known to wrap errors.
func Wrappers() []string { return slices.Clone(catalog().layers) }

// Wraps reports whether the layer can stand around a client of that kind.
func Wraps(wrapperKind, clientKind string) bool {
	w := lookupWrapper(wrapperKind)
	return w != nil && slices.Contains(w.clients, clientKind)
}

func lookupWrapper(kind string) *wrapper {
	if kind == "" {
		return nil
	}
	for _, w := range catalog().wrappers() {
		if w.kind == kind {
			return &w
		}
	}
	return nil
}

package clients

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"perch.example/probes"
)

// Names returns every name by which a retry list can mean what comes out of the
// declared client or of its declared wrapper, sorted: errors, codes, all that
// they also are, and statuses (503, 5xx). Both layers are in it, whichever of
// them the policy says that it sees. nil: the client is not known.
func Names(decl probes.Client) []string {
	client, known := Lookup(decl.Kind)
	if !known {
		return nil
	}
	found := map[string]bool{}
	addErrors(found, client.Errors)
	addErrors(found, client.Aliases)
	w := lookupWrapper(decl.WrappedBy)
	if w != nil {
		addErrors(found, w.errors())
	}
	for event := range client.Facts {
		status := event.status()
		if status == 0 {
			continue
		}
		found[fmt.Sprint(status)], found[statusClass(status)] = true, true
	}
	return slices.Sorted(maps.Keys(found))
}

// Hierarchy returns what each error of the declared client and of its declared
// wrapper also is: its nearest kinds, of which a language with several parents
// may have more than one.
func Hierarchy(decl probes.Client) map[string][]string {
	client, _ := Lookup(decl.Kind)
	all := maps.Clone(client.Errors)
	if w := lookupWrapper(decl.WrappedBy); w != nil && all != nil {
		maps.Copy(all, w.errors())
	}
	return all
}

// Means reports whether an entry of a retry list means the error of that name:
// whole, or by its class alone, as applications import classes. A class inside
// another is known with it, as in a class file or in source, and without it; a
// pointer of Go's with its star and without.
func Means(entry, name string) bool {
	class := name[strings.LastIndexByte(name, '.')+1:]
	return strings.EqualFold(entry, name) || strings.EqualFold(entry, strings.TrimPrefix(name, "*")) ||
		entry == class || entry == strings.ReplaceAll(class, "$", ".") || entry == lastPart(name)
}

func lastPart(name string) string {
	return name[max(strings.LastIndexByte(name, '.'), strings.LastIndexByte(name, '$'))+1:]
}

func addErrors(found map[string]bool, errors map[string][]string) {
	for name, also := range errors {
		found[name] = true
		for _, parent := range also {
			found[parent] = true
		}
	}
}

// statusClass is how retry lists write a hundred of statuses.
func statusClass(status int) string { return fmt.Sprintf("%dxx", status/100) }

// WrapperName is the layer of that kind as people call it: "RestTemplate".
// Empty: there is none, or it is not known.
func WrapperName(kind string) string {
	if w := lookupWrapper(kind); w != nil {
		return w.name
	}
	return ""
}

package clients

import (
	"fmt"
	"slices"
	"strings"

	"perch.example/probes"
)

// useless are entries that are right names but never reach the layer that is
// declared: the wrapper's classes inside of it, the client's own around it.
// Misspelt ones are the config's to find, which knows their lines.
func useless(decl probes.Client) []string {
	if decl.Retry == nil || decl.WrappedBy == "" {
		return nil
	}
	here, there := layerNames(decl, decl.Retry.Layer), layerNames(decl, otherLayer(decl.Retry.Layer))
	var out []string
	for _, entry := range decl.Retry.Errors {
		if !isStatus(entry) && !names(entry, here) && names(entry, there) {
			out = append(out, entry)
		}
	}
	return out
}

// layerDoubts say why the useless entries are.
func layerDoubts(decl probes.Client) []string {
	var doubts []string
	for _, entry := range useless(decl) {
		doubts = append(doubts, fmt.Sprintf("%s covers nothing with `layer: %s`: %s", entry, decl.Retry.Layer, whyNotHere(decl, entry)))
	}
	return doubts
}

func whyNotHere(decl probes.Client, entry string) string {
	client, _ := Lookup(decl.Kind)
	w := lookupWrapper(decl.WrappedBy)
	if decl.Retry.Layer == probes.LayerAround {
		return fmt.Sprintf("around it the layer sees what %s makes of the errors of %s", w.name, client.Name)
	}
	for _, event := range []Event{Unavailable, RateLimited, BytesIdle} {
		class := w.status(event.status())
		if slices.ContainsFunc(kindsOf(w.errors(), class), func(name string) bool { return names(entry, []string{name}) }) && !names(entry, kindsOf(w.errors(), w.network)) {
			return fmt.Sprintf("%s throws it around the layer; inside, an answer is no error: write its status, such as 429 or 503", w.name)
		}
	}
	return fmt.Sprintf("%s throws it around the layer, which sees the errors of %s themselves", w.name, client.Name)
}

func otherLayer(layer probes.RetryLayer) probes.RetryLayer {
	if layer == probes.LayerAround {
		return probes.LayerInside
	}
	return probes.LayerAround
}

// layerNames is every error that a layer can see, with all that it also is.
func layerNames(decl probes.Client, layer probes.RetryLayer) []string {
	found := map[string]bool{}
	addErrors(found, errorTree(onLayer(decl, layer)))
	var all []string
	for name := range found {
		all = append(all, name)
	}
	return all
}

// names reports whether an entry of a list means one of these errors.
func names(entry string, of []string) bool {
	return slices.ContainsFunc(of, func(name string) bool { return listed([]string{entry}, name) })
}

// strangers are entries of the list that the catalog knows nothing about.
func strangers(decl probes.Client) []string {
	if decl.Retry == nil {
		return nil
	}
	known := Names(decl)
	var out []string
	for _, entry := range decl.Retry.Errors {
		if !isStatus(entry) && !names(entry, known) {
			out = append(out, entry)
		}
	}
	return out
}

// isStatus reports whether an entry is a status, 503, or a hundred of them, 5xx.
func isStatus(entry string) bool {
	if len(entry) != 3 || entry[0] < '1' || entry[0] > '5' {
		return false
	}
	rest := entry[1:]
	return strings.EqualFold(rest, "xx") || strings.Trim(rest, "0123456789") == ""
}

package alert

import "slices"

// Name is the incident's, for good, as notices and links have it:
// "stock-api/connection#3".
func (i Incident) Name() string { return i.name() }

// Untold reports whether a notice about the incident waits to be told, or is still to
// be gathered.
func (m Memory) Untold(i Incident) bool {
	return i.Gathering || slices.ContainsFunc(m.Outbox, func(n Notice) bool {
		return slices.ContainsFunc(n.About, func(a About) bool { return a.Name == i.name() })
	})
}

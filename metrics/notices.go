package metrics

import (
	"slices"
	"time"

	"perch.example/probes"
)

// Notices counts one try to deliver a notice to a destination ("slack").
func (m *Metrics) Notices(destination string, delivered bool) {
	result := noticeFailed
	if delivered {
		result = noticeDelivered
	}
	m.vectors.notices.add(1, destination, result)
}

// Pending says how many notices wait for a destination, and since when the
// oldest does. With none the oldest is absent.
func (m *Metrics) Pending(destination string, waiting int, oldest time.Time) {
	m.vectors.noticesPending.set(float64(waiting), destination)
	if waiting == 0 || oldest.IsZero() {
		m.vectors.noticeOldest.drop(destination)
		return
	}
	m.vectors.noticeOldest.set(seconds(oldest), destination)
}

// IncidentsKnown says that the memory of incidents was read: none of the
// configured targets has one open, until SetIncident says so. Without a memory
// incidents are unknown, and so absent.
func (m *Metrics) IncidentsKnown() {
	for _, t := range m.targets {
		for _, f := range families(t) {
			m.vectors.incidentOpen.set(0, t.Name, string(f))
		}
	}
}

// SetIncident says whether a target's incident of a family is open. A family
// that is none is ignored.
func (m *Metrics) SetIncident(target string, family probes.Family, open bool) {
	if slices.Contains(probes.Families(), family) {
		m.vectors.incidentOpen.set(bit(open), target, string(family))
	}
}

// Problem counts something that perch itself could not do. Observe counts
// those of the run; this is for what comes after it, such as a failed push.
func (m *Metrics) Problem(part probes.Part) {
	if !slices.Contains(probes.Parts(), part) {
		part = probes.PartInternal
	}
	m.vectors.problems.add(1, string(part))
}

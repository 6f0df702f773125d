// Package alert decides what people are told, and tells it to Slack. The
// decision is pure: what the last runs left in a Memory and what this run
// found give the next Memory and the notices that are to be sent.
package alert

import (
	"slices"
	"time"

	"perch.example/probes"
)

// Memory is what alerting must remember between runs. It is kept as JSON in
// the state. The zero value remembers nothing.
type Memory struct {
	// Count numbers the incidents, so that each has a name of its own for good.
	Count     int        `json:"count,omitempty"`
	Incidents []Incident `json:"incidents,omitempty"` // oldest first; at most one of a (target, family) is not resolved
	Outbox    []Notice   `json:"outbox,omitempty"`    // decided and not told yet, in order
	// Threads hold where the messages of an incident (or of several that were told
	// in one) stand, by "destination thread".
	Threads map[string]Thread `json:"threads,omitempty"`
}

// Incident is one trouble of one target: a (target, family). Diagnoses may
// sharpen while it lasts without opening another.
type Incident struct {
	Number  int           `json:"number"`
	Target  string        `json:"target"`
	Family  probes.Family `json:"family"`
	State   State         `json:"state"`
	Probes  []string      `json:"probes"` // "target/probe" of those whose failures make it up
	Since   time.Time     `json:"since"`  // start of the first failed run
	Last    time.Time     `json:"last"`   // start of the last run that counted
	Fired   time.Time     `json:"fired,omitzero"`
	Ended   time.Time     `json:"ended,omitzero"`
	Runs    []bool        `json:"runs,omitempty"` // the last FireAfter+1 runs that counted, oldest first; true: failed
	Good    int           `json:"good,omitempty"` // good runs in a row
	Failed  int           `json:"failed"`         // runs that failed, of those Counted since it began
	Counted int           `json:"counted"`
	// Announced says that people were told of it, or will be: the opening is in
	// the outbox or has left it. Without it nobody needs to hear of its end.
	Announced bool   `json:"announced,omitempty"`
	Opened    Sight  `json:"opened,omitzero"` // what was seen when it fired
	Owner     string `json:"owner,omitempty"`
	Runbook   string `json:"runbook,omitempty"`
}

// State is where an incident stands.
type State string

// The states of an incident.
const (
	StatePending  State = "pending"  // failed, and not often enough to be told
	StateFiring   State = "firing"   // open
	StateResolved State = "resolved" // over
)

// Open returns the incidents that are firing, oldest first.
func (m Memory) Open() []Incident {
	var open []Incident
	for _, i := range m.Incidents {
		if i.State == StateFiring {
			open = append(open, i)
		}
	}
	return open
}

// Waiting returns how many notices wait to be told, and when the oldest of
// them was decided; zero when none waits.
func (m Memory) Waiting() (count int, oldest time.Time) {
	for _, n := range m.Outbox {
		if oldest.IsZero() || n.Decided.Before(oldest) {
			oldest = n.Decided
		}
	}
	return len(m.Outbox), oldest
}

// clone copies everything that a decision changes, so that the memory that was
// passed in stays as it is.
func (m Memory) clone() Memory {
	m.Incidents = slices.Clone(m.Incidents)
	for i := range m.Incidents {
		m.Incidents[i].Probes = slices.Clone(m.Incidents[i].Probes)
		m.Incidents[i].Runs = slices.Clone(m.Incidents[i].Runs)
	}
	m.Outbox = slices.Clone(m.Outbox)
	for i := range m.Outbox {
		m.Outbox[i].Ways = slices.Clone(m.Outbox[i].Ways)
	}
	return m
}

const (
	// keepResolved is how long what is over is remembered, and mostResolved how
	// much of it: the next decisions look at what came back soon.
	keepResolved = 7 * 24 * time.Hour
	mostResolved = 100
	// keepPending is when a failure that was never followed by another run is
	// forgotten: its probe is gone.
	keepPending = 30 * 24 * time.Hour
	// mostWhole is how many waiting notices keep all their sections. With Slack
	// away for weeks the memory must not outgrow the state.
	mostWhole = 100
)

// forget bounds the memory.
func (m *Memory) forget(now time.Time) {
	resolved := 0
	for _, i := range m.Incidents {
		if i.State == StateResolved {
			resolved++
		}
	}
	m.Incidents = slices.DeleteFunc(m.Incidents, func(i Incident) bool {
		switch i.State {
		case StatePending:
			return now.Sub(i.Last) > keepPending
		case StateResolved:
			if resolved <= mostResolved && now.Sub(i.Ended) <= keepResolved {
				return false
			}
			resolved--
			return true
		case StateFiring:
			return false
		}
		return false
	})
	for i := range max(0, len(m.Outbox)-mostWhole) {
		m.Outbox[i].slim()
	}
}

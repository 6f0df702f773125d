package alert

import (
	"slices"
	"strings"
	"time"

	"perch.example/probes"
)

// DocumentVersion is the version of Document. It changes when a field changes
// its meaning or goes; new fields may come at any time.
const DocumentVersion = 1

// Document is what the generic webhook gets: one notice. Durations are seconds
// as numbers, times are RFC 3339 in UTC, and what is absent is not known.
type Document struct {
	Version int    `json:"version"`           // 1
	Perch   string `json:"perch,omitempty"`   // the config's name
	Vantage string `json:"vantage,omitempty"` // where perch sits
	RunID   string `json:"run_id,omitempty"`  // of the run that decided it
	// ID is the notice's, for good and unlike any other perch's, and also the
	// header Idempotency-Key: who gets it twice was told once.
	ID   string `json:"id"`
	Kind Kind   `json:"kind"` // firing, flapping, sharper, reminder, resolved, digest, backlog, test
	// Thread groups notices about the same incident, or about incidents that were
	// told in one; absent: the notice stands alone.
	Thread string `json:"thread,omitempty"`
	// PossibleRepeat says that it may have been delivered before: no clear answer came.
	PossibleRepeat bool      `json:"possible_repeat"`
	Decided        time.Time `json:"decided"`
	WaitedSeconds  float64   `json:"waited_seconds,omitempty"` // since then, where it could not be delivered before

	Incidents []DocumentIncident `json:"incidents"` // empty: a digest, a test
	Diagnosis probes.Diagnosis   `json:"diagnosis,omitempty"`
	Severity  string             `json:"severity,omitempty"` // page, ticket, info

	Title    string            `json:"title"`   // one line
	Summary  string            `json:"summary"` // one sentence
	Sections []DocumentSection `json:"sections"`
	Links    []Link            `json:"links"`
	Trail    []Fact            `json:"trail"` // where it comes from: perch, vantage, run, trace
}

// DocumentIncident is one incident that a notice tells.
type DocumentIncident struct {
	Name         string        `json:"name"` // for good: "stock-api/connection#3"
	Target       string        `json:"target"`
	Family       probes.Family `json:"family"`
	State        State         `json:"state"`              // firing, resolved
	Trouble      string        `json:"trouble,omitempty"`  // what it opened with, in words
	Probes       []string      `json:"probes"`             // "target/probe"
	Since        time.Time     `json:"since"`              // start of the first failed run
	Fired        time.Time     `json:"fired,omitzero"`     // when it was enough to open it
	Ended        time.Time     `json:"ended,omitzero"`     // absent: it is open
	EndedBy      EndedBy       `json:"ended_by,omitempty"` // recovered, accepted, removed; absent: it is open
	FailedRuns   int           `json:"failed_runs"`        // of the counted ones, since it began
	CountedRuns  int           `json:"counted_runs"`       // runs that said something about it
	Owner        string        `json:"owner,omitempty"`    // as the config says
	Severity     string        `json:"severity,omitempty"`
	Runbook      string        `json:"runbook,omitempty"`
	EverySeconds float64       `json:"every_seconds,omitempty"` // how often its probes are looked at
}

// DocumentSection is a part of a notice under one heading.
type DocumentSection struct {
	Heading string `json:"heading"`
	// Form is how the lines are meant: text (a paragraph each), list (a point
	// each), fixed (columns aligned by blanks), facts (names and values).
	Form  Form     `json:"form"`
	Lines []string `json:"lines,omitempty"`
	Facts []Fact   `json:"facts,omitempty"`
}

// documentOf is a notice as a Document.
func documentOf(n Notice) Document {
	d := Document{
		Version: DocumentVersion, Perch: n.origin("perch"), Vantage: n.origin("vantage"), RunID: n.origin("run"),
		ID: documentID(n), Kind: n.Kind, Thread: n.Thread, PossibleRepeat: n.PossibleRepeat, Decided: n.Decided.UTC(), WaitedSeconds: n.Waited.Seconds(),
		Incidents: []DocumentIncident{}, Diagnosis: n.Diagnosis, Severity: n.Severity, Title: n.Title, Summary: n.Summary,
		Sections: []DocumentSection{}, Links: append([]Link{}, n.Links...), Trail: append([]Fact{}, n.Trail...),
	}
	for _, a := range n.About {
		d.Incidents = append(d.Incidents, DocumentIncident{
			Name: a.Name, Target: a.Target, Family: a.Family, State: a.State, Trouble: a.Trouble, Probes: append([]string{}, a.Probes...),
			Since: a.Since.UTC(), Fired: inUTC(a.Fired), Ended: inUTC(a.Ended), EndedBy: a.EndedBy, FailedRuns: a.Failed, CountedRuns: a.Counted,
			Owner: a.Owner, Severity: a.Severity, Runbook: a.Runbook, EverySeconds: a.Every.Seconds(),
		})
	}
	for _, s := range n.Sections {
		d.Sections = append(d.Sections, DocumentSection(s))
	}
	return d
}

// documentID is a notice's id among those of all perches, vantages and states:
// each of them numbers its incidents from 1, and does so anew after its state
// was reset.
func documentID(n Notice) string {
	parts := []string{n.origin("perch"), n.origin("vantage"), n.ID}
	var since time.Time
	for _, a := range n.About {
		if since.IsZero() || a.Since.Before(since) {
			since = a.Since
		}
	}
	if !since.IsZero() {
		parts = append(parts, since.UTC().Format(time.RFC3339Nano))
	}
	return strings.Join(slices.DeleteFunc(parts, func(part string) bool { return part == "" }), " ")
}

// inUTC leaves what is not known as it is.
func inUTC(t time.Time) time.Time {
	if t.IsZero() {
		return t
	}
	return t.UTC()
}

// origin is one fact of a notice's trail; empty: it is not said.
func (n Notice) origin(name string) string {
	for _, f := range n.Trail {
		if f.Name == name {
			return f.Value
		}
	}
	return ""
}

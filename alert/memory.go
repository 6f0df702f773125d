// Package alert decides what people are told, and tells it to Slack. The
// decision is pure: what the last runs left in a Memory and what this run
// found give the next Memory and the notices that are to be sent.
package alert

import (
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
	// Muted are the ends of told incidents that fell into a silence: they are told
	// when it is over.
	Muted []Notice `json:"muted,omitempty"`
	// Openings are those within the last hour whose incidents are over and were
	// forgotten, oldest first: by them is known what flaps.
	Openings []Opening `json:"openings,omitempty"`
	// Digest collects the day's degraded.
	Digest Digest `json:"digest,omitzero"`
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
	EndedBy EndedBy       `json:"ended_by,omitempty"` // empty while it is open, and in the format before
	Runs    []bool        `json:"runs,omitempty"`     // the last FireAfter+1 runs that counted, oldest first; true: failed
	Good    int           `json:"good,omitempty"`     // good runs in a row
	Failed  int           `json:"failed"`             // runs that failed, of those Counted since it began
	Counted int           `json:"counted"`
	// Announced says that people were told of it, or will be: the opening is in
	// the outbox or has left it. Without it nobody needs to hear of its end.
	Announced bool   `json:"announced,omitempty"`
	Opened    Sight  `json:"opened,omitzero"` // what was seen when it fired
	Owner     string `json:"owner,omitempty"`
	Runbook   string `json:"runbook,omitempty"`
	Channel   string `json:"channel,omitempty"`
	Severity  string `json:"severity,omitempty"`
	// Thread is the conversation in which it is told: its own, or that of the
	// notice that told several at once. Empty (the format before): its own.
	Thread string `json:"thread,omitempty"`
	// Every is the longest interval of its probes, where one is known.
	Every time.Duration `json:"every,omitempty"`
	// Apart is between the starts of the last two runs that counted; 0: there was
	// one only, or the format before.
	Apart time.Duration `json:"apart,omitempty"`
	// Failing is the start of the last run that failed.
	Failing time.Time `json:"failing,omitzero"`
	// Otherwise is how its probes fail now, where that is another trouble.
	Otherwise Otherwise `json:"otherwise,omitzero"`
	// Heard is when people were last told of it (or shown, where nothing is told).
	Heard     time.Time `json:"heard,omitzero"`
	Reminders int       `json:"reminders,omitempty"`
	// Known are the diagnoses that people were told: each is told once.
	Known []probes.Diagnosis `json:"known,omitempty"`
	// Flapping are the openings within the hour before it; none: it is a plain one.
	Flapping []time.Time `json:"flapping,omitempty"`
	// Owed are the ways to destinations that know of its opening by a backlog
	// alone: they are told in full at its next failed run.
	Owed []Way `json:"owed,omitempty"`
	// Silenced is the silence that kept its opening from being told.
	Silenced Hush `json:"silenced,omitzero"`
	// Gathering says that it fires, and is told with others that may follow: by Gathered.
	Gathering bool `json:"gathering,omitempty"`
}

// Hush is a silence that an incident fell into.
type Hush struct {
	From   time.Time `json:"from,omitzero"` // when it would have been told
	Until  time.Time `json:"until,omitzero"`
	Reason string    `json:"reason,omitempty"`
}

// State is where an incident stands.
type State string

// The states of an incident.
const (
	StatePending  State = "pending"  // failed, and not often enough to be told
	StateFiring   State = "firing"   // open
	StateResolved State = "resolved" // over
)

// EndedBy says by what an incident ended: not every end is a mending.
type EndedBy string

// The ends.
const (
	EndedRecovered EndedBy = "recovered" // what failed works
	EndedAccepted  EndedBy = "accepted"  // it fails, and is accepted now
	EndedRemoved   EndedBy = "removed"   // the config no longer has its probes: nothing is known
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

package probes

import "time"

// Incident is where an incident stands after a run.
type Incident struct {
	Name       string // as in notices: "stock-api/connection#3"
	Target     string
	Family     Family
	State      IncidentState
	Since      time.Time // start of the first failed run
	Failed     int       // runs that failed, of those Counted since it began
	Counted    int
	MutedUntil time.Time // its notices are; zero: they are not
	Notice     NoticeState
	Said       string // all of it, a sentence without its full stop
}

// IncidentState is a station in the life of an incident.
type IncidentState string

// The states.
const (
	IncidentPending  IncidentState = "pending"  // failed, and not often enough to be told
	IncidentFiring   IncidentState = "firing"   // open
	IncidentFlapping IncidentState = "flapping" // opened and closed again and again: held open for an hour
	IncidentResolved IncidentState = "resolved" // ended in this run: what failed works
	IncidentClosed   IncidentState = "closed"   // ended in this run, and nothing is mended: accepted, or out of the config
)

// IncidentStates returns the closed set.
func IncidentStates() []IncidentState {
	return []IncidentState{IncidentPending, IncidentFiring, IncidentFlapping, IncidentResolved, IncidentClosed}
}

// NoticeState says what people have heard of an incident.
type NoticeState string

// The states of notices.
const (
	NoticeNone    NoticeState = "none"    // there is nothing to tell yet, or nobody to be told
	NoticeMuted   NoticeState = "muted"   // a silence keeps it
	NoticeWaiting NoticeState = "waiting" // it is decided, and could not be delivered yet
	NoticeTold    NoticeState = "told"    // all that was decided was delivered
)

// NoticeStates returns the closed set.
func NoticeStates() []NoticeState {
	return []NoticeState{NoticeNone, NoticeMuted, NoticeWaiting, NoticeTold}
}

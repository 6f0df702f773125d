package probes

import "time"

// Event tells a watcher (the live view of a terminal) what a run is doing.
type Event struct {
	At            time.Time
	Target, Probe string
	Step          int // index of the step in the plan
	What          EventKind
	Hold          time.Duration // idle; burst: the gap
	Connections   int           // EventHolding: how many are held; 0: one
	Until         time.Time     // EventHolding: when the connection will be reused
	Close         *Close        // EventClosed
	Reason        Reason        // EventDone
}

// EventKind is a kind of Event.
type EventKind string

// The kinds of Event.
const (
	EventStarted EventKind = "started" // dialling
	EventHolding EventKind = "holding"
	EventClosed  EventKind = "closed" // the peer ended a held connection
	EventDone    EventKind = "done"
)

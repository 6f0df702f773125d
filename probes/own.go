package probes

import (
	"time"

	"perch.example/probes/wire"
)

// own adds to a failed attempt what perch's own pod did meanwhile, and to its
// delay a stall of perch's own, if that can be why. It is asked only after a
// failure: what ran well has nothing to explain.
func (c *call) own(a *Attempt, e wire.Evidence, since time.Time) {
	if a.OK() {
		return
	}
	pod, measured := OwnPod{}, c.env.Own != nil
	if measured {
		pod = c.env.Own(since)
	}
	pod.Exhausted = exhausted(e.DialErr, pod.Ports)
	if measured || pod.Exhausted != "" {
		a.Own = &pod
	}
	if stallable(*a, e) && pod.Stalled > a.Delay {
		a.Delay, a.DelayKnown = pod.Stalled, true
	}
	if leftUnused(e) && e.Age >= patience && e.Age > a.Delay {
		a.Delay, a.DelayKnown = e.Age, true // nothing but perch is awaited before a new connection's request
	}
}

// patience is for how long any server leaves a new connection be that nobody
// uses. A CPU quota that takes most of each period holds perch up by many small
// waits: none of them is a stall.
const patience = 500 * time.Millisecond

// stallable reports whether a stall of perch can be why an attempt failed: a
// timeout passed, or a server ended a new connection that nobody used.
func stallable(a Attempt, e wire.Evidence) bool {
	return leftUnused(e) || Stallable(a.Reason)
}

// leftUnused reports whether a server ended a new connection before anything was
// asked on it.
func leftUnused(e wire.Evidence) bool {
	return !e.Held && (e.Alerted || goneBefore(e) || e.Pushed || e.Before != nil && e.Before.State != wire.StateEstablished)
}

// Stallable reports whether an opening that ended so may have failed because
// perch itself stood still: the peer's answer was not seen in time, or the peer
// did not wait.
func Stallable(r Reason) bool {
	return r == ReasonDNS || r == ReasonConnectTimeout || r == ReasonProxy || r == ReasonTLS
}

// exhausted says what a socket could not be had for. The error for "no local
// port" also means "no address of that family here": with most ports free it is
// that.
func exhausted(e wire.Errno, ports Usage) Resource {
	switch {
	case e == wire.ErrnoDescriptors:
		return ResourceDescriptors
	case e == wire.ErrnoNoAddress && (ports.Limit == 0 || 2*ports.Used >= ports.Limit):
		return ResourcePorts
	default:
		return ""
	}
}

// began is when perch had its part to do: of a held connection's reuse when
// that was due, else when the connection was to be opened.
func began(e wire.Evidence) time.Time {
	switch {
	case e.Started.IsZero(): // nothing left
		return time.Now()
	case e.Held:
		return e.Started.Add(-e.HoldLate)
	}
	p := e.Phases
	return e.Started.Add(-e.Age - p.DNS - p.Connect - p.TLS)
}

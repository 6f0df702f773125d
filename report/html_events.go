package report

import (
	"fmt"
	"net/http"
	"strings"
	"time"

	"perch.example/probes"
)

// wireEvent is something that happened on a connection, as seen from perch.
type wireEvent struct {
	at     time.Duration // since perch began to open it
	what   eventKind
	took   time.Duration // how long it lasted; 0: a moment
	words  string
	detail string
}

// eventKind is what a wireEvent is.
type eventKind string

const (
	eventDNS     eventKind = "dns"
	eventDial    eventKind = "dial"
	eventTLS     eventKind = "tls"
	eventRequest eventKind = "request"
	eventAnswer  eventKind = "answer"
	eventFailure eventKind = "failure"
	eventIdle    eventKind = "idle"
	eventClose   eventKind = "close"
)

// wireConnection is one connection of an outcome with the attempts that it carried.
type wireConnection struct {
	attempts []*probes.Attempt
	close    *probes.Close // seen while it was held; nil: none
	unused   bool          // it carried nothing before it was held
}

// wireConnections are the connections of an outcome in the order in which they were opened. A
// fresh attempt and a control open one; a reused one is the last one's with the same
// local address.
func wireConnections(o *probes.Outcome) []wireConnection {
	var out []wireConnection
	for i := range o.Attempts {
		a := &o.Attempts[i]
		at := -1
		if a.Connection == probes.ConnectionReused {
			at = lastWith(out, a)
		}
		if at < 0 {
			out = append(out, wireConnection{unused: o.Unused && a.Connection == probes.ConnectionReused})
			at = len(out) - 1
		}
		out[at].attempts = append(out[at].attempts, a)
		if a.Connection == probes.ConnectionReused && o.Burst == nil {
			out[at].close = o.Close
		}
	}
	// A close that was seen, of a connection that was not used again.
	if len(out) == 1 && o.Close != nil && o.Burst == nil {
		out[0].close = o.Close
	}
	burstCloses(o, out)
	return out
}

// lastWith is the connection that an attempt reused.
func lastWith(all []wireConnection, a *probes.Attempt) int {
	for i := len(all) - 1; i >= 0; i-- {
		if all[i].attempts[0].Local == a.Local {
			return i
		}
	}
	return -1
}

// burstCloses gives each connection of a burst the close that a call of its met.
func burstCloses(o *probes.Outcome, all []wireConnection) {
	if o.Burst == nil {
		return
	}
	closes := map[*probes.Attempt]*probes.Close{}
	for _, c := range o.Burst.Calls {
		if c.Close != nil && c.Attempt >= 0 && c.Attempt < len(o.Attempts) {
			closes[&o.Attempts[c.Attempt]] = c.Close
		}
	}
	for i := range all {
		for _, a := range all[i].attempts {
			if c := closes[a]; c != nil {
				all[i].close = c
			}
		}
	}
}

// events tell a connection from its opening to the last that was seen of it. Moments are added
// up from what was measured, so that they agree with the numbers beside them.
func (c wireConnection) events() []wireEvent {
	var out []wireEvent
	now := c.opening(&out)
	for i, a := range c.attempts {
		if i > 0 || c.unused {
			now = c.idle(&out, a, now)
		}
		if a.Started.IsZero() && a.RequestBytes == 0 {
			out = append(out, wireEvent{at: now, what: eventFailure, words: string(a.Reason), detail: a.Detail})
			continue
		}
		out = append(out, wireEvent{at: now, what: eventRequest, words: requestWords(a), detail: requestDetail(a)})
		now += a.Elapsed
		out = append(out, ended(a, now))
	}
	if last := c.attempts[len(c.attempts)-1]; c.close != nil && last.IdleTime == 0 { // it was not used again
		out = append(out,
			wireEvent{at: now, what: eventIdle, took: c.close.Age, words: "held idle for " + age(c.close.Age)},
			closed(c.close, last, now+c.close.Age))
	}
	return out
}

// opening adds what opened the connection, and returns when it was open.
func (c wireConnection) opening(out *[]wireEvent) time.Duration {
	var now time.Duration
	a := c.attempts[0]
	for _, p := range []struct {
		what  eventKind
		words string
		took  time.Duration
	}{
		{eventDNS, "look up the name", a.Phases.DNS}, {eventDial, "dial " + address(a.Remote), a.Phases.Connect},
		{eventTLS, "TLS handshake", a.Phases.TLS},
	} {
		if p.took > 0 {
			*out = append(*out, wireEvent{at: now, what: p.what, took: p.took, words: strings.TrimSpace(p.words), detail: "in " + latency(p.took)})
			now += p.took
		}
	}
	return now
}

// idle adds the time between two requests, and the close that was seen in it.
func (c wireConnection) idle(out *[]wireEvent, a *probes.Attempt, now time.Duration) time.Duration {
	if a.IdleTime <= 0 {
		return now
	}
	*out = append(*out, wireEvent{at: now, what: eventIdle, took: a.IdleTime, words: "held idle for " + age(a.IdleTime)})
	if c.close != nil && c.close.Age <= a.IdleTime && a == c.attempts[len(c.attempts)-1] {
		*out = append(*out, closed(c.close, a, now+c.close.Age))
	}
	return now + a.IdleTime
}

func closed(c *probes.Close, a *probes.Attempt, at time.Duration) wireEvent {
	e := wireEvent{at: at, what: eventClose, words: c.How.Words() + goawaySaid(a) + " at " + age(c.Age) + " idle"}
	if c.How == probes.HowSilent {
		e.words = "given up at " + age(c.Age) + " idle: silence"
	}
	if c.Resolution > 0 {
		e.detail = "known to within " + latency(c.Resolution)
	}
	return e
}

func requestWords(a *probes.Attempt) string {
	what := a.Method
	if what == "" {
		what = http.MethodGet
	}
	switch a.Connection {
	case probes.ConnectionReused:
		return what + ", reusing it"
	case probes.ConnectionControl:
		return what + ", the control"
	default:
		return what
	}
}

func requestDetail(a *probes.Attempt) string {
	if a.RequestBytes == 0 {
		return ""
	}
	text := counted(int(a.RequestBytes), "byte")
	if a.RequestBytesAcked != nil {
		text += fmt.Sprintf(", %d acknowledged", *a.RequestBytesAcked)
	}
	return text
}

// ended is how an attempt ended.
func ended(a *probes.Attempt, at time.Duration) wireEvent {
	if a.OK() {
		e := wireEvent{at: at, what: eventAnswer, words: result(a), detail: strings.Trim(a.Proto+", "+counted(int(a.ResponseBytes), "byte"), ", ")}
		if a.CloseAfter {
			e.detail += ", and the answer ends the connection"
		}
		return e
	}
	e := wireEvent{at: at, what: eventFailure, words: result(a), detail: reasonWords(a.Reason)}
	if a.Queued {
		e.detail += "; the close was in our kernel already, and looking would have seen it"
	}
	return e
}

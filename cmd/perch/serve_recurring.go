package main

import (
	"maps"
	"strings"
	"time"
)

// mostRecurring problems are told apart. What comes beyond is not said: each counts all
// the same, and its outcomes say so.
const mostRecurring = 100

// recurring is what perch itself cannot do for probes, such as to read a secret that is
// gone. It may last for hours, and be in each wave of many.
type recurring struct {
	what   string // as it began
	since  time.Time
	said   time.Time
	probes map[string]bool // by target/probe: no wave of theirs has gone well since
}

// sayRecurring logs what perch itself could not do in a wave: when that begins, for
// whichever probe, again each sayAgain while it lasts, and once when no probe has it
// any more. Each time it counts, and its outcomes say so.
func (s *service) sayRecurring(pl *played) {
	now, id, well := time.Now(), pl.loop.id, len(pl.seen) > 0
	for _, o := range pl.seen {
		well = well && o.Cut == "" && o.Problem == ""
		if o.Problem == "" {
			continue
		}
		what, _, _ := strings.Cut(o.Problem, "\n") // a bug's stack is another one each time
		shape := withoutSpans(what)                // how long it took, or how many there are, is no other problem
		t := s.recurring[shape]
		if t == nil {
			if len(s.recurring) >= mostRecurring {
				continue
			}
			t = &recurring{what: what, since: now, probes: map[string]bool{}}
			s.recurring[shape] = t
		}
		t.probes[id] = true
		if t.said.IsZero() || now.Sub(t.said) >= sayAgain {
			t.said = now
			part, err := problemOf(o)
			s.log.Error(couldNot, "part", part, "error", err)
		}
	}
	if !well { // what was cut short does not show that it is over
		return
	}
	for shape, t := range s.recurring {
		if !t.probes[id] {
			continue
		}
		if delete(t.probes, id); len(t.probes) == 0 {
			delete(s.recurring, shape)
			s.log.Info("perch can do again what it could not", "was", t.what, "for", now.Sub(t.since).Round(time.Second))
		}
	}
}

// forgetRecurring drops those of probes that are gone. They are not over, and nobody has
// them.
func (s *service) forgetRecurring(stay map[string]bool) {
	for what, t := range s.recurring {
		maps.DeleteFunc(t.probes, func(id string, _ bool) bool { return !stay[id] })
		if len(t.probes) == 0 {
			delete(s.recurring, what)
		}
	}
}

package main

import (
	"maps"
	"slices"
	"strings"
	"time"

	"perch.example/probes"
)

// sayOther is how soon another problem of the same target is said. What a problem says may
// come from a peer, which could have a line written with each wave.
const sayOther = time.Minute

// recurring is what perch itself cannot do for a target's probes, such as to read a secret
// that is gone. It may last for hours, and be in each wave.
type recurring struct {
	what   string // as it was said last, in one line
	since  time.Time
	said   time.Time
	probes map[string]bool // by target/probe: no wave of theirs has gone well since
}

// sayRecurring logs what perch itself could not do in a wave: when that begins for a
// target, again each sayAgain while it lasts, and once when no probe of the target has it any
// more. Each time it counts, and its outcomes say so.
func (s *service) sayRecurring(pl *played) {
	now, id, target := time.Now(), pl.loop.id, pl.loop.spec.Target
	t := s.recurring[target]
	for _, o := range pl.seen {
		if o.Problem == "" {
			continue
		}
		if t == nil {
			t = &recurring{since: now, probes: map[string]bool{}}
			s.recurring[target] = t
		}
		t.probes[id] = true
		what, _, _ := strings.Cut(o.Problem, "\n") // a bug's stack is another one each time
		pause := sayAgain
		if withoutSpans(what) != withoutSpans(t.what) {
			pause = sayOther
		}
		if t.said.IsZero() || now.Sub(t.said) >= pause {
			t.what, t.said = what, now
			part, err := problemOf(o)
			s.log.Error(couldNot, "part", part, "error", err)
		}
	}
	if t == nil || !wentWell(pl.seen) {
		return
	}
	if delete(t.probes, id); len(t.probes) == 0 {
		delete(s.recurring, target)
		s.log.Info("perch can do again what it could not", "target", target, "was", t.what, "for", now.Sub(t.since).Round(time.Second))
	}
}

// wentWell reports whether a wave shows that perch can do its part: something was
// answered. What was cut short, or met nobody, shows nothing.
func wentWell(seen []probes.Observation) bool {
	answered := false
	for _, o := range seen {
		if o.Problem != "" {
			return false
		}
		answered = answered || slices.ContainsFunc(o.Attempts, func(a probes.Attempt) bool { return a.Reason == probes.ReasonOK })
	}
	return answered
}

// forgetRecurring drops those of probes that are gone. They are not over, and nobody has
// them.
func (s *service) forgetRecurring(stay map[string]bool) {
	for target, t := range s.recurring {
		maps.DeleteFunc(t.probes, func(id string, _ bool) bool { return !stay[id] })
		if len(t.probes) == 0 {
			delete(s.recurring, target)
		}
	}
}

package plan

import (
	"fmt"
	"time"
)

// What earlier runs sent, and what it does to a plan.

// skipLate gives up the steps that what earlier runs sent moved beyond the
// deadline: they would only be cut short, and the run with them.
func (d *desk) skipLate(deadline time.Duration) {
	if deadline == 0 || len(d.sent) == 0 {
		return
	}
	for i := range d.steps {
		s := &d.steps[i]
		if s.end() <= deadline {
			continue
		}
		for _, slot := range s.Slots() {
			d.cal.Release(slot)
		}
		s.Next, s.Controls = nil, nil
		s.Warm, s.Reuse, s.Control, s.Describe = 0, 0, 0, 0
		s.NoRoom = fmt.Sprintf("earlier runs have used the budget of %d requests in %s: there is room in %s, which is too late for the deadline of %s",
			d.cal.Allowed(), short(d.cal.Window()), short(roundUp(s.Start, time.Second)), short(deadline))
	}
}

// leastSaid is the shortest wait for earlier runs that is worth a word.
const leastSaid = 10 * time.Second

// sayWaits notes which targets begin later than they would without what earlier
// runs sent.
func (p *Plan) sayWaits(alone *Plan) {
	before := alone.firstStarts()
	now := p.firstStarts()
	for _, c := range p.Targets {
		start, runs := now[c.Target]
		if wait := start - before[c.Target]; runs && wait >= leastSaid {
			p.Notes = append(p.Notes, fmt.Sprintf("%s: waits %s, since earlier runs have used the budget of %d requests in %s",
				c.Target, short(roundUp(wait, time.Second)), c.Allowed, short(c.Window)))
		}
	}
}

// firstStarts is when each target's first step starts that is not skipped.
func (p *Plan) firstStarts() map[string]time.Duration {
	first := map[string]time.Duration{}
	for _, s := range p.Steps {
		if _, known := first[s.Spec.Target]; !known && s.NoRoom == "" {
			first[s.Spec.Target] = s.Start
		}
	}
	return first
}

// leastPace is how far apart runs may have to be without a word: no schedule is
// closer.
const leastPace = time.Minute

// notePace tells how often a run may come that sends what has no `every`: what
// starts the runs is not known here.
func (p *Plan) notePace() {
	for _, c := range p.Targets {
		seconds := float64(c.EachRun) / c.Rate
		if pace := time.Duration(min(seconds, longestWindow.Seconds()) * float64(time.Second)); pace > leastPace {
			p.Notes = append(p.Notes, fmt.Sprintf("%s: a run sends up to %s of what has no every, and the budget (%d in any %s) gives that each %s: a run that comes sooner waits, or skips what its deadline leaves no time for",
				c.Target, count(c.EachRun, "request"), c.Allowed, short(c.Window), short(roundUp(pace, time.Second))))
		}
	}
}

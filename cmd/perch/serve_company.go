package main

import (
	"time"

	"perch.example/alert"
)

const (
	// gatherFor bounds how long failures are gathered: the same trouble at three
	// targets or more is told as one, though their ticks are spread over their every.
	gatherFor = time.Minute
	// mostGathered waves wait for others at most.
	mostGathered = 2000
)

// company are the targets that are in trouble together.
type company struct {
	open map[string]bool // people know of it, or will by this turn
	near map[string]bool // about to be told, or told within gatherFor
}

// companyOf looks at what the alert memory has.
func companyOf(m alert.Memory, now time.Time) company {
	c := company{open: map[string]bool{}, near: map[string]bool{}}
	for _, i := range m.Incidents {
		switch i.State {
		case alert.StatePending:
			c.near[i.Target] = true
		case alert.StateFiring:
			c.open[i.Target] = true
			if now.Sub(i.Fired) <= gatherFor {
				c.near[i.Target] = true
			}
		case alert.StateResolved:
		}
	}
	return c
}

// any reports whether anything is wrong.
func (c company) any() bool { return len(c.open)+len(c.near) > 0 }

// gathers is when waves are taken in. A failure that is alone is at once; beside
// other targets in trouble it waits until each of these had its turn.
func (c company) gathers(all []*played, now time.Time) time.Time {
	fresh := map[string]bool{}
	var first time.Time
	var every time.Duration
	for _, pl := range all {
		target := pl.loop.spec.Target
		if !pl.failed || c.open[target] {
			continue
		}
		if fresh[target] = true; first.IsZero() {
			first = pl.at
		}
		every = max(every, pl.loop.spec.Every)
	}
	beside := len(fresh)
	for target, near := range c.near {
		if near && !fresh[target] {
			beside++
		}
	}
	if len(fresh) == 0 || beside < 2 || len(all) >= mostGathered {
		return now
	}
	return first.Add(min(every, gatherFor))
}

package state

import (
	"fmt"
	"maps"
	"time"
)

// longestMemory is how long a budget's window may be: what left before that
// says nothing any more. It also bounds a Retry-After that a wrong clock noted.
const longestMemory = 366 * 24 * time.Hour

// SetLeaveAlone remembers until when a target asked to be left alone. The zero
// time leaves what is known.
func (d *Document) SetLeaveAlone(target string, until time.Time) {
	if until.IsZero() {
		return
	}
	if d.LeaveAlone == nil {
		d.LeaveAlone = map[string]time.Time{}
	}
	d.LeaveAlone[target] = until.UTC()
}

// Reserved returns the document as it has to stand in the file while a run is
// under way: as if each target had been sent all that the run may send, on top
// of what is known, at the instant r.Last. Should perch be killed, the next run
// keeps its limits too strictly, never too loosely. d itself stays as it is.
func (d Document) Reserved(r Reservation) Document {
	d = d.clone()
	for target, n := range r.Most {
		d.AddRequests(target, r.Now, n)
		d.AddSent(target, n, r.Last)
	}
	for target, n := range r.Before {
		d.AddSent(target, n, r.Last)
	}
	for id, at := range r.Due {
		d.MarkRun(id, at)
	}
	return d
}

// checkBudget refuses values that would quietly switch a limit off.
func (d Document) checkBudget() error {
	for target, have := range d.Sent {
		if have.Requests < 0 {
			return fmt.Errorf("checking: %d requests to %q", have.Requests, target)
		}
		for _, before := range have.Earlier {
			if before.Requests < 0 {
				return fmt.Errorf("checking: %d requests to %q", before.Requests, target)
			}
		}
	}
	return nil
}

// pruneBudget forgets what no limit looks back to.
func (d *Document) pruneBudget(now time.Time) {
	earliest, latest, known := d.Clocks.span(now)
	if !known {
		return
	}
	maps.DeleteFunc(d.Sent, func(_ string, have Sent) bool { return earliest.Sub(have.At) > longestMemory })
	maps.DeleteFunc(d.LeaveAlone, func(_ string, until time.Time) bool {
		return !until.After(earliest) || until.Sub(latest) > longestMemory
	})
}

package alert

import (
	"fmt"
	"strings"
	"time"
)

// What flaps: an opening for at least the third time within flapWithin. It is
// over when nothing failed for as long.
const (
	flapWithin = time.Hour
	flapBefore = 2
)

// flaps returns when the incidents before it opened, where so many of them
// opened and closed within the last hour that this one is told as flapping;
// else nil.
func (m Memory) flaps(about Incident, now time.Time) []time.Time {
	var before []time.Time
	for _, i := range m.Incidents {
		if i.State == StateResolved && i.Target == about.Target && i.Family == about.Family &&
			!i.Fired.IsZero() && now.Sub(i.Fired) <= flapWithin {
			before = append(before, i.Fired)
		}
	}
	if len(before) < flapBefore {
		return nil
	}
	return before
}

// calm reports whether a flapping incident may be over: no run failed for an
// hour, by the runs' own clock.
func (i *Incident) calm() bool {
	return len(i.Flapping) == 0 || i.Last.Sub(i.Failing) >= flapWithin
}

// flappingWords say why the incident is one, and when it is over.
func (i Incident) flappingWords() string {
	var opened []string
	for _, at := range i.Flapping {
		opened = append(opened, at.UTC().Format("15:04"))
	}
	return fmt.Sprintf("It opened %d times within an hour: at %s and %s. From here on it is one incident: only reminders are sent until no run has failed for %s.",
		len(i.Flapping)+1, strings.Join(opened, ", "), i.Fired.UTC().Format("15:04 UTC"), span(flapWithin))
}

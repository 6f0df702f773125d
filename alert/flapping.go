package alert

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"perch.example/probes"
)

// What flaps: an opening for at least the third time within flapWithin. It is
// over when nothing failed for as long.
const (
	flapWithin = time.Hour
	flapBefore = 2
)

// flaps returns the incidents before it, where so many of them opened and
// closed within the last hour that this one is told as flapping; else nil.
func (m Memory) flaps(about Incident, now time.Time) []Incident {
	var before []Incident
	for _, e := range m.Openings {
		if e.Target == about.Target && e.Family == about.Family && now.Sub(e.Fired) <= flapWithin {
			before = append(before, e.incident())
		}
	}
	for _, i := range m.Incidents {
		if i.State == StateResolved && i.Target == about.Target && i.Family == about.Family &&
			!i.Fired.IsZero() && now.Sub(i.Fired) <= flapWithin {
			before = append(before, i)
		}
	}
	if len(before) < flapBefore {
		return nil
	}
	return before
}

// Opening is what is kept of an incident that was forgotten within the hour in
// which it opened.
type Opening struct {
	Target  string        `json:"target"`
	Family  probes.Family `json:"family"`
	Since   time.Time     `json:"since"`
	Fired   time.Time     `json:"fired"`
	Failed  int           `json:"failed"`
	Counted int           `json:"counted"`
	Flapped bool          `json:"flapped,omitempty"` // it counts the runs of those before it
}

// mostOpenings bounds them: two of a target and family are enough to see that it
// flaps.
const mostOpenings = 2000

// opening is what is kept of the incident.
func (i Incident) opening() Opening {
	return Opening{
		Target: i.Target, Family: i.Family, Since: i.Since, Fired: i.Fired,
		Failed: i.Failed, Counted: i.Counted, Flapped: len(i.Flapping) > 0,
	}
}

// incident is what flap looks at.
func (e Opening) incident() Incident {
	i := Incident{Since: e.Since, Fired: e.Fired, Failed: e.Failed, Counted: e.Counted}
	if e.Flapped {
		i.Flapping = []time.Time{e.Since}
	}
	return i
}

// forgetOpenings drops those of longer ago, and the oldest of too many.
func (m *Memory) forgetOpenings(now time.Time) {
	m.Openings = slices.DeleteFunc(m.Openings, func(e Opening) bool { return now.Sub(e.Fired) > flapWithin })
	m.Openings = m.Openings[max(0, len(m.Openings)-mostOpenings):]
}

// flap makes one incident of those before it and this one: it lasts since the
// first of them, and counts their runs. One that flapped itself counted those
// before it already.
func (i *Incident) flap(before []Incident) {
	runsFailed, counted := 0, 0
	for n, earlier := range before {
		if n == 0 || earlier.Since.Before(i.Since) {
			i.Since = earlier.Since
		}
		if len(earlier.Flapping) > 0 {
			runsFailed, counted = 0, 0
		}
		runsFailed, counted = runsFailed+earlier.Failed, counted+earlier.Counted
		i.Flapping = append(i.Flapping, earlier.Fired)
	}
	i.Failed, i.Counted = i.Failed+runsFailed, i.Counted+counted
}

// calm reports whether a flapping incident may be over: no run failed for an
// hour, by the runs' own clock.
func (i *Incident) calm() bool {
	return len(i.Flapping) == 0 || i.Last.Sub(i.Failing) >= flapWithin
}

// before is what a summary says before the trouble: that the incident flaps and
// how often it opened, or for how long it is open where that is news.
func (i Incident) before(kind Kind, o Options) string {
	switch {
	case kind == KindReminder:
		return "Open for " + lasted(o.Now.Sub(i.Since)) + ", " + i.share() + ". "
	case len(i.Flapping) == 0:
		return ""
	}
	return fmt.Sprintf("Flapping: it opened %d times within an hour, %s. ", len(i.Flapping)+1, i.share())
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

package alert

import (
	"slices"

	"perch.example/probes"
)

// Gathering returns the incidents that opened with Options.Gather, and of which nobody
// was told yet.
func (m Memory) Gathering() []Incident {
	var all []Incident
	for _, i := range m.Incidents {
		if i.Gathering {
			all = append(all, i)
		}
	}
	return all
}

// Mends reports whether the run shows an incident that is gathering as good. Gathered
// must come before such a run is decided: what nobody heard of ends unheard.
func (m Memory) Mends(run probes.Run) bool {
	gathering := m.Gathering()
	if len(gathering) == 0 {
		return false
	}
	all := sortRun(run)
	return slices.ContainsFunc(gathering, func(i Incident) bool {
		outcomes := contributed(i.Probes, all.of(i.Target))
		return len(outcomes) > 0 && !slices.ContainsFunc(outcomes, fails)
	})
}

// Gathered tells what is gathering, by what the run shows of it: no run is counted.
// What the run does not show failing is told by its next failed run. Like Decide it
// returns what is to be sent now, or what would be, and changes nothing.
func Gathered(m Memory, run probes.Run, o Options) (Memory, []Notice) {
	o = o.withDefaults()
	o.Gather = false
	next, all := m.clone(), sortRun(run)
	var turns []turn
	for n := range next.Incidents {
		i := &next.Incidents[n]
		if !i.Gathering {
			continue
		}
		i.Gathering = false
		turns = append(turns, i.tell(all.of(i.Target), o, func() []string { return next.upToDate(i.name(), o.Destinations) })...)
	}
	decided := next.notices(turns, all, o)
	if o.Mode != ModeNotify {
		return next, decided
	}
	next.post(decided, all, o)
	next.forget(o.Now)
	return next, next.due(o.Now)
}

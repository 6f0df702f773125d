package alert

import (
	"cmp"
	"slices"
	"strings"

	"perch.example/probes"
)

// drop takes the probes that the config no longer has from what is not over,
// and returns the incidents that lose all of theirs: the open ones end, a
// pending one was never told and vanishes.
func (m *Memory) drop(o Options) []turn {
	if o.Known == nil {
		return nil
	}
	known := make(map[string]bool, len(o.Known))
	for _, id := range o.Known {
		known[id] = true
	}
	var ended []turn
	kept := m.Incidents[:0]
	for _, i := range m.Incidents {
		left := slices.DeleteFunc(slices.Clone(i.Probes), func(id string) bool { return !known[id] })
		switch {
		case i.State == StateResolved || len(left) > 0 && len(i.Probes) == len(left):
		case len(left) > 0:
			i.Probes = left
		case i.State == StatePending:
			continue
		default: // its probes stay named, for its end
			ended = append(ended, i.end(o, EndedRemoved)...)
		}
		kept = append(kept, i)
	}
	m.Incidents = kept
	return ended
}

// removedNotice tells that perch no longer looks at what an incident is about.
func removedNotice(i Incident, run probes.Run, o Options) Notice {
	n := resolveOf(i, run, o)
	n.Title = closedTitle(i, "no longer in the config")
	n.Summary = shorten("Closed after "+lasted(i.Ended.Sub(i.Since))+", not mended: perch no longer looks at it.", maxSummary, "…")
	n.Trail = trail(run, "")
	n.Sections = removedSections(i, howLong(i, number(i.Failed)+" of "+number(i.Counted)+" failed"))
	return n
}

// removedSections say of an incident, which may be one of several, why perch no
// longer looks at it.
func removedSections(i Incident, howLong []Section) []Section {
	return slices.Concat(
		section("Why it is over", FormText, maxExperience, []string{
			"The config no longer has " + cmp.Or(strings.Join(i.Probes, ", "), "what was looked at there") + ". Whether what failed works again is not known: nothing measures it any more.",
			atOpening(i),
		}),
		howLong,
		section("When it would come back", FormText, maxFacts, []string{"When a probe of this target is in the config again, and fails."}),
	)
}

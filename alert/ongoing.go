package alert

import (
	"slices"

	"perch.example/probes"
)

// Ongoing returns a notice of each open incident that people were told of: for
// a destination that forgets what it does not hear in each run. A silence does
// not stop it: what was told before would be forgotten, and told there as over
// while it fails. They are never kept.
func Ongoing(m Memory, run probes.Run, o Options) []Notice {
	o = o.withDefaults()
	all := sortRun(run)
	var out []Notice
	for _, i := range m.Incidents {
		if i.State != StateFiring || !i.Announced {
			continue
		}
		outcomes := contributed(i.Probes, all.of(i.Target))
		n, lead := i.still(outcomes, run, o)
		n.ID = i.name() + " " + string(KindOngoing)
		n.Kind = KindOngoing
		n.Trail = trail(run, traceOf(lead))
		n.Sections = slices.Concat(
			facts("Since when, and how often", i.soFar(o)...),
			section("What is known", FormText, maxExperience, known(i, outcomes)),
		)
		out = append(out, n)
	}
	return out
}

// known says what an incident shows now, or when it last did.
func known(i Incident, outcomes []probes.Outcome) []string {
	if leading(outcomes, i.Family) != nil {
		return []string{atOpening(i)}
	}
	return i.lastSeen()
}

package alert

import (
	"strings"

	"perch.example/probes"
)

// hypotheses lists what is ruled in, then what is ruled out, each with its
// evidence and the rungs that were ruled differently; what could not be decided
// comes last, in one line.
func hypotheses(o probes.Outcome, outcomes []probes.Outcome) []string {
	var in, out, open []string
	for _, h := range o.Hypotheses {
		switch h.Ruled {
		case probes.RuledIn:
			in = append(in, "IN: "+h.ID.Words()+". "+capital(h.Evidence)+otherRulings(o, h, outcomes))
		case probes.RuledOut:
			out = append(out, "OUT: "+h.ID.Words()+". "+capital(h.Evidence)+otherRulings(o, h, outcomes))
		case probes.RuledOpen:
			open = append(open, h.ID.Words()+" ("+h.Evidence+")")
		default:
			open = append(open, h.ID.Words())
		}
	}
	lines := append(in, out...)
	if len(open) > 0 {
		lines = append(lines, "OPEN: "+strings.Join(open, "; "))
	}
	return lines
}

// otherRulings names the rungs with the lead's diagnosis that were ruled
// differently: " (OUT on the 2.5 s rung)".
func otherRulings(lead probes.Outcome, h probes.Hypothesis, outcomes []probes.Outcome) string {
	rungs := map[probes.Ruling][]string{}
	for _, o := range outcomes {
		if o.Kind != probes.KindIdle || o.ID() != lead.ID() || o.Diagnosis != lead.Diagnosis {
			continue
		}
		for _, other := range o.Hypotheses {
			if other.ID == h.ID && other.Ruled != h.Ruled {
				rungs[other.Ruled] = append(rungs[other.Ruled], held(o))
			}
		}
	}
	var parts []string
	for _, ruled := range []probes.Ruling{probes.RuledIn, probes.RuledOut, probes.RuledOpen} {
		switch n := len(rungs[ruled]); n {
		case 0:
		case 1:
			parts = append(parts, strings.ToUpper(string(ruled))+" on the "+rungs[ruled][0]+" rung")
		default:
			parts = append(parts, strings.ToUpper(string(ruled))+" on the "+strings.Join(rungs[ruled][:n-1], ", ")+" and "+rungs[ruled][n-1]+" rungs")
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return " (" + strings.Join(parts, ", ") + ")"
}

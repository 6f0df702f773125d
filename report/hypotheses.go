package report

import (
	"slices"
	"strings"

	"perch.example/probes"
)

// hypotheses adds the six as a table, in their fixed order: ruling, what
// somebody would say, and the measured evidence. Where nothing was ruled there
// is no table: six lines of "nothing was measured" help nobody.
func (p *page) hypotheses(f finding) {
	lead := f.lead()
	if allOpen(lead.Hypotheses) {
		return
	}
	const rulingWidth, wordsWidth, leastEvidence = 6, 27, 44
	label := "Hypotheses"
	for _, h := range lead.Hypotheses {
		head := []span{plain(margin), span{inkStrong, label}.padded(labelWidth), rulingWord(h.Ruled).padded(rulingWidth)}
		label = ""
		words := span{inkPlain, h.ID.Words()}
		evidence := h.Evidence + f.otherRulings(h)
		if p.style.columns()-len(margin)-labelWidth-rulingWidth-wordsWidth >= leastEvidence {
			p.hang(append(head, words.padded(wordsWidth)), plain(evidence))
			continue
		}
		p.hang(head, plain(words.text+": "+evidence))
	}
}

// allOpen reports whether nothing was ruled in or out.
func allOpen(hs []probes.Hypothesis) bool {
	return !slices.ContainsFunc(hs, func(h probes.Hypothesis) bool {
		return h.Ruled == probes.RuledIn || h.Ruled == probes.RuledOut
	})
}

// otherRulings names the outcomes of the finding that were ruled differently.
func (f finding) otherRulings(h probes.Hypothesis) string {
	rulings := map[string][]*probes.Outcome{}
	for _, o := range f.outcomes {
		i := slices.IndexFunc(o.Hypotheses, func(other probes.Hypothesis) bool { return other.ID == h.ID })
		if i >= 0 && o.Hypotheses[i].Ruled != h.Ruled {
			word := rulingWord(o.Hypotheses[i].Ruled).text
			rulings[word] = append(rulings[word], o)
		}
	}
	var parts []string
	for _, word := range []string{"IN", "OUT", "open"} {
		if others := rulings[word]; len(others) > 0 {
			parts = append(parts, word+" "+onRungs(others))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return " (" + strings.Join(parts, ", ") + ")"
}

// onRungs says of which outcomes something holds: "on the 2.5 s rung", "for
// calendar".
func onRungs(outcomes []*probes.Outcome) string {
	for _, o := range outcomes {
		if o.Kind != probes.KindIdle {
			return "for " + places(outcomes)
		}
	}
	text := "on the " + places(outcomes) + " rung"
	if len(outcomes) > 1 {
		text += "s"
	}
	return text
}

// places names outcomes in short: holds for rungs, else probes.
func places(outcomes []*probes.Outcome) string {
	var names []string
	for _, o := range outcomes {
		name := o.Probe
		if o.Kind == probes.KindIdle {
			name = idleAge(o)
		}
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return listed(names)
}

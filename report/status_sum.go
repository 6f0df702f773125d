package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"perch.example/probes"
)

// targetState is a target with its outcomes grouped as reports have them.
type targetState struct {
	StatusTarget
	view  targetView
	worst probes.Verdict // empty: nothing of it has run yet
}

// byAttention groups each target's outcomes; what asks for attention comes first,
// else the config's order stays.
func byAttention(targets []StatusTarget) []targetState {
	all := make([]targetState, len(targets))
	for i, t := range targets {
		all[i] = newTargetState(t)
	}
	slices.SortStableFunc(all, func(a, b targetState) int { return cmp.Compare(b.attention(), a.attention()) })
	return all
}

func newTargetState(t StatusTarget) targetState {
	s := targetState{StatusTarget: t}
	for i := range t.Probes {
		p := &t.Probes[i]
		if len(p.Outcomes) == 0 {
			if p.Before != "" {
				s.before(p.Before)
			}
			continue
		}
		v := probeView{id: t.Name + "/" + p.Name, idle: p.Idle, worst: p.Outcomes[0].Verdict}
		for k := range p.Outcomes {
			v.outcomes = append(v.outcomes, &p.Outcomes[k])
			v.worst = worse(v.worst, p.Outcomes[k].Verdict)
		}
		slices.SortStableFunc(v.outcomes, func(a, b *probes.Outcome) int { return cmp.Compare(a.Hold, b.Hold) })
		if len(s.view.probes) == 0 {
			s.view.worst = v.worst
		}
		s.view.probes = append(s.view.probes, v)
		s.view.worst = worse(s.view.worst, v.worst)
	}
	if len(s.view.probes) > 0 {
		s.before(cmp.Or(s.view.worst, probes.VerdictIncomplete))
	}
	return s
}

// before takes over a verdict of it.
func (t *targetState) before(v probes.Verdict) {
	if t.worst == "" {
		t.worst = v
	}
	t.worst = worse(t.worst, v)
}

func (t targetState) attention() int {
	if t.worst == "" {
		return attention(probes.VerdictPass)
	}
	return attention(t.worst)
}

// probe is a probe's outcomes as reports have them; nil: it has not run yet.
func (t targetState) probe(name string) *probeView {
	for i := range t.view.probes {
		if t.view.probes[i].id == t.Name+"/"+name {
			return &t.view.probes[i]
		}
	}
	return nil
}

// failing are a target's outcomes that an incident is made of.
func (t targetState) failing(i probes.Incident) []*probes.Outcome {
	var out []*probes.Outcome
	if t.Name != i.Target {
		return nil
	}
	for _, v := range t.view.probes {
		for _, o := range v.outcomes {
			if o.Family == i.Family && o.Verdict == probes.VerdictFail && o.Accepted == nil {
				out = append(out, o)
			}
		}
	}
	return out
}

// overallStatus is all of it in a sentence, and its verdict. perch's own trouble comes
// first: what it does not look at may be as broken as can be.
func overallStatus(s Status, all []targetState) (verdictView, string) {
	c := countStatus(all)
	worst := verdictView{string(probes.VerdictIncomplete), "Incomplete"}
	switch {
	case c.n[probes.VerdictFail] > 0:
		worst = verdictView{string(probes.VerdictFail), "Failing"}
	case c.waiting == c.total: // one that stands by knows nothing, and is well
		worst.Word = "Nothing is known yet"
	case s.Trouble != "":
		worst.Word = "perch itself is not well"
	case c.n[probes.VerdictIncomplete] > 0:
	case s.ConfigRefused && c.n[probes.VerdictDegraded] == 0:
		worst = verdictView{string(probes.VerdictDegraded), "The config is refused"}
	case c.n[probes.VerdictDegraded] > 0:
		worst = verdictView{string(probes.VerdictDegraded), "Degraded"}
	default:
		worst = verdictView{string(probes.VerdictPass), "All well"}
	}
	return worst, fit(c.sentence(), mostText)
}

// statusCount is how many probes there are of each verdict.
type statusCount struct {
	total, waiting, accepted int
	before                   int // of an earlier process, and not seen since
	n                        map[probes.Verdict]int
	named                    map[probes.Verdict][]string
}

func (c *statusCount) add(worst probes.Verdict, name string) {
	if !slices.Contains(probes.Verdicts(), worst) {
		worst = probes.VerdictIncomplete
	}
	c.n[worst]++
	c.named[worst] = append(c.named[worst], name)
}

func countStatus(all []targetState) statusCount {
	c := statusCount{n: map[probes.Verdict]int{}, named: map[probes.Verdict][]string{}}
	for _, t := range all {
		c.total += len(t.Probes)
		for _, p := range t.Probes {
			switch {
			case len(p.Outcomes) > 0:
			case p.Before == "":
				c.waiting++
			default:
				c.before++
				c.add(p.Before, t.Name+"/"+p.Name)
			}
		}
		for _, v := range t.view.probes {
			c.add(v.worst, v.id+whyAndWhether(v))
			if allAccepted(v) {
				c.accepted++
			}
		}
	}
	return c
}

// whyAndWhether says why a probe is what it is, and whether its client copes.
func whyAndWhether(v probeView) string {
	text := why(v)
	if client := copes(v.outcomes); client != "" && text != "" {
		text = strings.TrimSuffix(text, ")") + "; " + client + ")"
	}
	return text
}

func (c statusCount) sentence() string {
	switch {
	case c.total == 0:
		return "There is no probe to run."
	case c.waiting == c.total:
		return counted(c.total, "probe") + ", and none has run yet."
	}
	var parts []string
	first := true
	for _, w := range []struct {
		verdict   probes.Verdict
		one, many string
	}{
		{probes.VerdictFail, "fails", "fail"}, {probes.VerdictIncomplete, "is incomplete", "are incomplete"}, {probes.VerdictDegraded, "is degraded", "are degraded"},
	} {
		n := c.n[w.verdict]
		if n == 0 {
			continue
		}
		words := w.many
		if n == 1 {
			words = w.one
		}
		if w.verdict == probes.VerdictFail {
			words += acceptedOf(c.accepted, n)
		}
		text := fmt.Sprintf("%d %s", n, words)
		if first {
			text = fmt.Sprintf("%d of %s %s", n, counted(c.total, "probe"), words)
		}
		first = false
		parts = append(parts, text+": "+listed(fewNames(c.named[w.verdict])))
	}
	if first {
		parts = append(parts, c.well())
	}
	if c.before > 0 {
		parts = append(parts, fmt.Sprintf("%d not run yet since the start, and counted as before it", c.before))
	}
	if c.waiting > 0 {
		parts = append(parts, fmt.Sprintf("%d not run yet", c.waiting))
	}
	return strings.Join(parts, "; ") + "."
}

// well is said where nothing is wrong.
func (c statusCount) well() string {
	passed, skipped := c.n[probes.VerdictPass], c.n[probes.VerdictSkipped]
	switch {
	case skipped == 0 && passed == 1:
		return "1 probe passes"
	case skipped == 0:
		return fmt.Sprintf("%d probes pass", passed)
	case passed == 0:
		return "What ran was skipped"
	}
	return fmt.Sprintf("%s passed, %d skipped", counted(passed, "probe"), skipped)
}

// fewNames are the first of many names, and how many more there are.
func fewNames(names []string) []string {
	const most = 3
	if more := len(names) - most; more > 0 {
		return append(slices.Clone(names[:most]), fmt.Sprintf("%d more", more))
	}
	return names
}

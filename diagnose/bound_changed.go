package diagnose

import (
	"cmp"
	"fmt"
	"slices"

	"perch.example/probes"
)

// tellChange lets one rung tell that the path's bound has moved: a finding of
// its own, told once. It is one that does not fail by itself: what fails says
// more than a change, and only mentions it.
func (l *ladder) tellChange(rules []Rule, judged []*judgement) {
	if l.change == nil {
		return
	}
	for _, j := range l.tellers(judged) {
		if j.verdict != probes.VerdictPass && j.verdict != probes.VerdictDegraded {
			continue
		}
		told := *j
		told.facts.Changed, told.changed = true, true
		told.apply(rules)
		if told.rule.Diagnosis == probes.DiagnosisBoundChanged {
			*j = told
			return
		}
	}
	for _, j := range judged {
		if j.reused() && !answered(j.at) {
			j.changed = true
			return
		}
	}
}

// tellers are the rungs that can tell of the change, the one that shows it best
// first: the longest that lived where the bound moved up, the first that ended
// where it moved down.
func (l *ladder) tellers(judged []*judgement) []*judgement {
	var lived, died []*judgement
	for _, j := range judged {
		switch {
		case !j.reused():
		case answered(j.at):
			lived = append(lived, j)
		default:
			died = append(died, j)
		}
	}
	byAge := func(a, b *judgement) int { return cmp.Compare(a.rung.age(), b.rung.age()) }
	slices.SortStableFunc(lived, func(a, b *judgement) int { return byAge(b, a) })
	slices.SortStableFunc(died, byAge)
	if l.change.up {
		return append(lived, died...)
	}
	return append(died, lived...)
}

// changeText is the end of a message that tells of the change; empty: it does
// not.
func (j *judgement) changeText() string {
	if !j.changed {
		return ""
	}
	return "; " + j.l.change.words()
}

func (c *change) words() string {
	return fmt.Sprintf("the path's idle bound has moved: idle connections ended %s, and now %s, in two runs in a row", boundText(c.from), boundText(c.to))
}

// boundText says where a bound lies: "at 60 s", "between 2 s and 4 s".
func boundText(b probes.Bracket) string {
	switch {
	case b.Measured > 0 && human(b.Measured+b.Spread) != human(b.Measured):
		return "at " + human(b.Measured) + " to " + human(b.Measured+b.Spread)
	case b.Measured > 0:
		return "at " + human(b.Measured)
	case b.Died > 0 && b.Survived > 0:
		return "between " + human(b.Survived) + " and " + human(b.Died)
	case b.Died > 0:
		return "within " + human(b.Died)
	}
	return "after more than " + human(b.Survived)
}

// changeAdvice says what a moved bound asks for. A longer one does no harm; a
// shorter one is a new limit for every client on this path.
func (j *judgement) changeAdvice() []step {
	to := j.l.change.to
	what := next("ask whoever runs the path what was changed: a load balancer, a gateway or a firewall on it has another idle limit than before.")
	if j.l.change.up {
		return []step{what, next("leave the clients' own limits as they are, until it is known that the longer one stays.")}
	}
	most := to.Measured
	if most == 0 {
		most = to.Survived
	}
	if most == 0 {
		return []step{what, next(fmt.Sprintf("keep the longest idle time of every client on this path below %s, with a margin.", human(to.Died)))}
	}
	return []step{next(fmt.Sprintf("keep the longest idle time of every client on this path below %s, with a margin for round trip and ticks.", human(most))), what}
}

// packetsText is the end of a message about a connection that lived longer than
// the path let any live before the client sent TCP keep-alive; empty: there is
// nothing to compare with, or nothing that packets explain. They keep a path from
// forgetting, where one leaves before it does; a server's idle timeout does not
// count them.
func (j *judgement) packetsText() string {
	without, every, age := j.l.bound.Without, j.l.bound.Packets, j.rung.reuseAge()
	// A device that forgets answers the next packet with silence or with a reset.
	forgot := without.Hidden() && (without.How == probes.HowSilent || without.How == probes.HowRST)
	if !forgot || every >= without.Died || age <= without.Died+tolerance(without.Died) || j.rung.obs.Path.TCPEnds == probes.TCPEndsBeforePeer {
		return ""
	}
	return fmt.Sprintf("; TCP keep-alive every %s kept it: without, idle connections ended %s in an earlier run", human(every), boundText(without))
}

package report

import (
	"fmt"
	"slices"
	"strings"

	"perch.example/probes"
)

// shownVerdict is the run's as a headline has it: where nothing at all was
// tried it is SKIPPED, though it counts as a pass. Whoever reads PASS thinks that
// somebody looked.
func shownVerdict(run probes.Run) (probes.Verdict, ink) {
	untried := func(o probes.Outcome) bool {
		return o.Verdict == probes.VerdictSkipped && o.Reason == probes.ReasonSkipped
	}
	v := overall(run)
	if v == probes.VerdictPass && len(run.Outcomes) > 0 && !slices.ContainsFunc(run.Outcomes, func(o probes.Outcome) bool { return !untried(o) }) {
		return probes.VerdictSkipped, inkWarn
	}
	return v, verdictInk(v)
}

// leftAlone says which targets asked to be left alone, of those that something
// was skipped of, and until when; empty: none.
func leftAlone(run probes.Run) string {
	const most = 3
	var said []string
	for _, u := range run.Budget {
		skipped := func(o probes.Outcome) bool { return o.Target == u.Target && o.Reason == probes.ReasonSkipped }
		if u.LeaveAlone.After(run.Started) && slices.ContainsFunc(run.Outcomes, skipped) {
			said = append(said, u.Target+" until "+u.LeaveAlone.UTC().Format("15:04 UTC"))
		}
	}
	if len(said) == 0 {
		return ""
	}
	if more := len(said) - most; more > 0 {
		said = append(said[:most], fmt.Sprintf("%d more", more))
	}
	return "left alone as asked (Retry-After): " + strings.Join(said, ", ")
}

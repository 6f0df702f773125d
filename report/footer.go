package report

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"perch.example/probes"
)

// Headline is the run in one sentence without control characters: the verdict
// and the probes that are not a pass, worst first.
func Headline(run probes.Run) string {
	v, _ := shownVerdict(run)
	text := verdictWord(v) + ": "
	if run.CutShort != "" {
		text += "cut short, " + run.CutShort + "; "
	}
	text += tally(run)
	if len(run.Outcomes) == 0 && len(run.NotDue) > 0 {
		text += ": " + strings.Join(run.NotDue, ", ") + " (`--all` runs them all the same)"
	}
	if bad := worst(run); len(bad) > 0 {
		text += ": " + listed(bad)
	}
	if alone := leftAlone(run); alone != "" {
		text += "; " + alone
	}
	return clean(text)
}

// tally counts probes by their worst outcome.
func tally(run probes.Run) string {
	counts := map[probes.Verdict]int{}
	total, unheld, accepted := 0, 0, 0
	for _, t := range targets(run) {
		for _, v := range t.probes {
			total++
			if v.nothingHeld() {
				unheld++
				continue
			}
			counts[v.worst]++
			if allAccepted(v) {
				accepted++
			}
		}
	}
	if total == 0 && len(run.NotDue) > 0 {
		return "nothing was due"
	}
	if total == 0 {
		return "no probe ran"
	}
	if counts[probes.VerdictPass] == total {
		return counted(total, "probe") + " passed"
	}
	text := ""
	for _, c := range []struct {
		n     int
		words string
	}{
		{counts[probes.VerdictFail], "failed" + acceptedOf(accepted, counts[probes.VerdictFail])}, {counts[probes.VerdictIncomplete], "incomplete"},
		{counts[probes.VerdictDegraded], "degraded"}, {counts[probes.VerdictPass], "passed"},
		{counts[probes.VerdictSkipped], "skipped"}, {unheld, "held nothing (the API ends each connection)"},
	} {
		switch {
		case c.n == 0:
		case text == "":
			text = fmt.Sprintf("%d of %s %s", c.n, counted(total, "probe"), c.words)
		default:
			text += fmt.Sprintf(", %d %s", c.n, c.words)
		}
	}
	return text
}

// acceptedOf says how many of those that failed are accepted in all their fails.
func acceptedOf(n, failed int) string {
	switch n {
	case 0:
		return ""
	case failed:
		return " (accepted)"
	}
	return fmt.Sprintf(" (%d accepted)", n)
}

// worst names the probes of the worst kind with what is wrong, at most three.
func worst(run probes.Run) []string {
	const most = 3
	all := targets(run)
	worstRank := rank(probes.VerdictPass)
	for _, t := range all {
		worstRank = max(worstRank, rank(t.worst))
	}
	if worstRank == rank(probes.VerdictPass) {
		return nil
	}
	var names []string
	for _, t := range all {
		for _, v := range t.probes {
			if rank(v.worst) == worstRank {
				names = append(names, v.id+why(v))
			}
		}
	}
	if more := len(names) - most; more > 0 {
		names = append(names[:most], fmt.Sprintf("%d more", more))
	}
	return names
}

func why(v probeView) string {
	for _, o := range v.outcomes {
		if o.Verdict == v.worst && o.Diagnosis != "" {
			return " (" + string(o.Diagnosis) + ")"
		}
	}
	return ""
}

// footer adds what belongs to the run as a whole; the verdict comes last.
func (p *page) footer(run probes.Run) {
	p.gap()
	if run.CutShort != "" {
		p.field("Cut short", span{inkOdd, run.CutShort + ". What had not ended is not judged."})
	}
	if len(run.NotDue) > 0 {
		p.field("Not due", plain(strings.Join(run.NotDue, ", ")+" (`--all` runs them all the same)"))
	}
	p.settled(run.Settled)
	p.budget(untold(run))
	p.delays(run)
	for _, incident := range run.Incidents {
		p.field("Incident", span{incidentInk(incident.State), incident.Said})
	}
	for _, said := range run.Notices {
		p.field("Notices", span{inkWarn, said})
	}
	for _, problem := range run.Problems {
		p.field("Problem", span{inkBad, "perch could not do its own part (" + string(problem.Part) + "): " + problem.Text})
	}
	p.gap()
	p.verdict(run)
}

// untold are the budgets that no explanation above has told already, as one that
// rules "we call too often" does.
func untold(run probes.Run) []probes.BudgetUse {
	told := map[string]bool{}
	for _, t := range targets(run) {
		for _, f := range findings(t) {
			lead := f.lead()
			for _, h := range lead.Hypotheses {
				told[lead.Target] = told[lead.Target] || h.ID == probes.HypothesisRateLimit && strings.Contains(h.Evidence, "budget") && !allOpen(lead.Hypotheses)
			}
		}
	}
	return slices.DeleteFunc(slices.Clone(run.Budget), func(u probes.BudgetUse) bool {
		return told[u.Target] && u.Waited == 0 && u.Denied == 0
	})
}

// settled says what failed in the first seconds without being counted.
func (p *page) settled(list []probes.Settled) { p.fields("Settling", settledWords(list)) }

// settledWords are a line each. Of many targets the first stand for all: their pod's
// network was the same.
func settledWords(list []probes.Settled) []string {
	const few = 4
	var out []string
	for i, s := range list {
		if i == few {
			return append(out, fmt.Sprintf("and %s more", counted(len(list)-few, "target")))
		}
		times := counted(s.Times, "connection")
		out = append(out, fmt.Sprintf("%s: %s could not be opened (%s), the last %s after the start: tried again, and not counted (`alerts.settle`)",
			s.Target, times, s.Reason, latency(s.After)))
	}
	return out
}

// budget says what was sent. Of many targets only those are named that were
// held back; the rest is added up.
func (p *page) budget(uses []probes.BudgetUse) {
	const few = 4
	label := "Budget"
	rest, requests := 0, 0
	for _, u := range uses {
		if len(uses) > few && u.Waited == 0 && u.Denied == 0 {
			rest++
			requests += u.Requests
			continue
		}
		p.field(label, plain(budgetUse(u)))
		label = ""
	}
	if rest > 0 {
		p.field(label, plain(fmt.Sprintf("%s within their budget: %s", counted(rest, "target"), counted(requests, "request"))))
	}
}

func budgetUse(u probes.BudgetUse) string {
	text := u.Target + ": " + counted(u.Requests, "request")
	if u.Requests > 1 && u.PeakPerSecond > 0 {
		text += fmt.Sprintf(", at most %s in a second", decimal(u.PeakPerSecond, 2))
	}
	if u.LimitPerSecond > 0 {
		text += "; " + allowance(u.LimitPerSecond)
	}
	if u.Waited > 0 {
		text += "; waited " + latency(u.Waited) + " for it"
	}
	switch {
	case u.Denied == 1:
		text += "; 1 request was not sent"
	case u.Denied > 1:
		text += fmt.Sprintf("; %d requests were not sent", u.Denied)
	}
	return text
}

// allowance says a budget as it is enforced: so many requests in any window of
// max(1 s, 2/rate). Where it is 1/s, two requests in one second are within it.
func allowance(perSecond float64) string {
	const rounding = 1e-9
	window := max(1, 2/perSecond)
	allowed := math.Floor(perSecond*window + rounding)
	if window == 1 && allowed == perSecond {
		return fmt.Sprintf("its budget is %s/s", decimal(perSecond, 3))
	}
	return fmt.Sprintf("its budget of %s/s allows %s in any %s s", decimal(perSecond, 3), decimal(allowed, 0), decimal(window, 1))
}

// delays warns when perch itself was held up.
func (p *page) delays(run probes.Run) {
	if late := lateness(run); late != "" {
		p.field("Own delay", span{inkWarn, late})
	}
}

// lateness says that perch itself was held up for long enough to be mistaken for a
// failure; empty: it was not. It is the largest lateness of the whole run: what happened
// during one failure stands beside that failure.
func lateness(run probes.Run) string {
	const worthSaying = 50 * time.Millisecond
	notPass := slices.ContainsFunc(run.Outcomes, func(o probes.Outcome) bool { return rank(o.Verdict) > rank(probes.VerdictPass) })
	if len(run.Delays) == 0 || !notPass {
		return ""
	}
	most := slices.Max(run.Delays)
	if most <= worthSaying {
		return ""
	}
	return "at one moment of this run perch itself was " + latency(most) +
		" late. How late it was during a failure stands there, at '" + probes.HypothesisOwnPod.Words() + "'"
}

// verdict is the last line, with what a second run needs to do the same.
func (p *page) verdict(run probes.Run) {
	parts := []string{tally(run)}
	if alone := leftAlone(run); alone != "" {
		parts = append(parts, alone)
	}
	if n := len(run.Problems); n > 0 {
		parts = append(parts, counted(n, "problem")+" of perch's own")
	}
	if run.RunID != "" {
		parts = append(parts, "run "+run.RunID)
	}
	parts = append(parts, "seed "+strconv.FormatUint(run.Seed, 10))
	v, shade := shownVerdict(run)
	p.hang([]span{{shade, verdictWord(v)}, plain("  ")}, plain(strings.Join(parts, " · ")))
}

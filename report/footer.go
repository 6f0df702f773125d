package report

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"perch.example/probes"
)

// Headline is the run in one sentence without control characters: the verdict
// and the probes that are not a pass, worst first.
func Headline(run probes.Run) string {
	text := verdictWord(overall(run)) + ": "
	if run.CutShort != "" {
		text += "cut short, " + run.CutShort + "; "
	}
	text += tally(run)
	if bad := worst(run); len(bad) > 0 {
		text += ": " + listed(bad)
	}
	return clean(text)
}

// tally counts probes by their worst outcome.
func tally(run probes.Run) string {
	counts := map[probes.Verdict]int{}
	total := 0
	for _, t := range targets(run) {
		for _, v := range t.probes {
			counts[v.worst]++
			total++
		}
	}
	if total == 0 {
		return "no probe ran"
	}
	if counts[probes.VerdictPass] == total {
		return counted(total, "probe") + " passed"
	}
	text := ""
	for _, c := range []struct {
		v     probes.Verdict
		words string
	}{
		{probes.VerdictFail, "failed"}, {probes.VerdictIncomplete, "incomplete"}, {probes.VerdictDegraded, "degraded"},
		{probes.VerdictPass, "passed"}, {probes.VerdictSkipped, "skipped"},
	} {
		switch n := counts[c.v]; {
		case n == 0:
		case text == "":
			text = fmt.Sprintf("%d of %s %s", n, counted(total, "probe"), c.words)
		default:
			text += fmt.Sprintf(", %d %s", n, c.words)
		}
	}
	return text
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
		p.field("Not due", plain(strings.Join(run.NotDue, ", ")))
	}
	p.budget(run.Budget)
	p.delays(run.Delays)
	for _, problem := range run.Problems {
		p.field("Problem", span{inkBad, "perch could not do its own part (" + string(problem.Part) + "): " + problem.Text})
	}
	p.gap()
	p.verdict(run)
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
	if u.Requests > 0 {
		text += fmt.Sprintf(", peak %s/s", rate(u.PeakPerSecond))
	}
	if u.LimitPerSecond > 0 {
		text += fmt.Sprintf("; perch may send %s/s", rate(u.LimitPerSecond))
	}
	if u.Waited > 0 {
		text += "; waited " + latency(u.Waited) + " for it"
	}
	if u.Denied > 0 {
		text += fmt.Sprintf("; %d not sent, it was used up", u.Denied)
	}
	return text
}

func rate(f float64) string { return decimal(f, 2) }

// delays warns when perch itself was held up: then no latency of this run is
// to be trusted below that size.
func (p *page) delays(samples []time.Duration) {
	const worthSaying = 20 * time.Millisecond
	var longest time.Duration
	for _, d := range samples {
		longest = max(longest, d)
	}
	if longest >= worthSaying {
		p.field("Own delay", span{inkWarn, "perch itself was held up for " + latency(longest) +
			": its times are not exact to less than that"})
	}
}

// verdict is the last line, with what a second run needs to do the same.
func (p *page) verdict(run probes.Run) {
	parts := []string{tally(run)}
	if n := len(run.Problems); n > 0 {
		parts = append(parts, counted(n, "problem")+" of perch's own")
	}
	if run.RunID != "" {
		parts = append(parts, "run "+run.RunID)
	}
	parts = append(parts, "seed "+strconv.FormatUint(run.Seed, 10))
	p.hang([]span{{verdictInk(overall(run)), verdictWord(overall(run))}, plain("  ")}, plain(strings.Join(parts, " · ")))
}

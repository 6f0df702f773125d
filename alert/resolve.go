package alert

import (
	"fmt"
	"slices"
	"strings"

	"perch.example/probes"
)

// resolvedNotice tells that an incident is over: why, the proof, and when it
// would come back.
func resolvedNotice(i Incident, run probes.Run, o Options) Notice {
	outcomes := contributed(i.Probes, run)
	changed, how := whyOver(i, outcomes)
	n := resolveOf(i, run, o)
	if changed == causeAccepted {
		n.Title = closedTitle(i, "accepted")
	}
	n.Summary = shorten(fmt.Sprintf("Over after %s: %s.", lasted(i.Ended.Sub(i.Since)), becauseWords(changed, how)), maxSummary, "…")
	n.Trail = trail(run, lastTrace(outcomes))
	n.Charts = charts(outcomes)
	n.Sections = slices.Concat(
		section("Why it is over", FormText, maxExperience, reasonsWhy(i, changed, how)),
		howLong(i, fmt.Sprintf("%d of %d failed; the last %d were good", i.Failed, i.Counted, i.Good)),
		section("The proof, from the last run. "+ladderHeading(outcomes), FormFixed, maxLadder, ladderLines(outcomes)),
		section("What is still not as it should be", FormList, maxHypotheses, leftOver(i, outcomes)),
		section("When it would come back", FormText, maxFacts, returns(i, outcomes, changed, o)),
		section(checkHeading(KindResolved), FormList, maxCheck, again(i, KindResolved, o)),
	)
	return n
}

// resolveOf begins every end of one incident.
func resolveOf(i Incident, run probes.Run, o Options) Notice {
	n := i.notice(o)
	n.ID, n.Kind = i.name()+" "+string(KindResolved), KindResolved
	n.Title = shorten("RESOLVED "+clean(i.Target)+" ("+i.Opened.trouble()+")", maxTitle, "…")
	n.Links = links(Link{"Dashboard", dashboard(o, run, placeOf(i, probes.Outcome{}))}, Link{"Runbook", i.Runbook})
	return n
}

// closedTitle is of an end that is no mending.
func closedTitle(i Incident, how string) string {
	return shorten("CLOSED "+clean(i.Target)+" ("+i.Opened.trouble()+"): "+how, maxTitle, "…")
}

func howLong(i Incident, runs string) []Section {
	return facts("How long it lasted",
		Fact{"Since", clock(i.Since)},
		Fact{"Lasted", lasted(i.Ended.Sub(i.Since))},
		Fact{"Runs", runs},
		Fact{"Owner", i.Owner},
		Fact{"Probes", strings.Join(i.Probes, ", ")},
		Fact{"Family", string(i.Family)},
	)
}

// whyOver says why a run was good at last. What is accepted is not mended.
func whyOver(i Incident, outcomes []probes.Outcome) (cause, string) {
	if o := acceptedNow(i, outcomes); o != nil {
		return causeAccepted, "accepted until " + o.Accepted.LastDay() + because(o.Accepted.Reason) + ": " + troubleOf(*o)
	}
	now := look(outcomes, i.Family)
	if i.Family == probes.FamilyConnection {
		return why(i.Opened, now)
	}
	how := recovered(i, outcomes)
	if moved := pathChange(i.Opened, now); moved != "" {
		how = strings.TrimPrefix(how+"; "+moved, "; ")
	}
	return causeAgain, how
}

// acceptedNow returns the first outcome of the incident's family that is
// accepted; nil: none is.
func acceptedNow(i Incident, outcomes []probes.Outcome) *probes.Outcome {
	for n, o := range outcomes {
		if o.Accepted != nil && o.Family == i.Family {
			return &outcomes[n]
		}
	}
	return nil
}

func becauseWords(c cause, how string) string {
	switch {
	case c == causeAccepted, c == causeAgain && how != "":
		return how
	case how == "":
		return string(c)
	}
	return string(c) + ": " + how
}

// reasonsWhy says what changed, and what it was.
func reasonsWhy(i Incident, changed cause, how string) []string {
	lines := []string{sentence(capital(becauseWords(changed, how)))}
	if changed == causeAccepted {
		lines[0] = sentence(capital(how)) + " It is not mended: perch tells it no more, and goes on measuring."
	}
	if changed == causeNeither {
		what := "Neither the path nor the declared client changed"
		if i.Opened.Client == "" {
			what = "The path did not change"
		}
		lines[0] = what + " in anything that perch measures: it works again, and the cause may still be there."
	}
	return append(lines, atOpening(i))
}

// atOpening says what was seen when it fired; empty when that is not known.
func atOpening(i Incident) string {
	if i.Opened.Message == "" {
		return ""
	}
	return "At the opening: " + sentence(i.Opened.Message)
}

// leftOver says what a good run does not prove: a probe that has not run since
// it failed, and what is accepted, or works only by luck or a retry.
func leftOver(i Incident, outcomes []probes.Outcome) []string {
	var lines []string
	for _, id := range i.Probes {
		if !slices.ContainsFunc(outcomes, func(o probes.Outcome) bool { return o.ID() == id }) {
			lines = append(lines, id+" did not run in the last run: nothing is proven for it")
		}
	}
	for _, o := range outcomes {
		switch {
		case o.Accepted != nil && o.Family == i.Family: // that is why it is over
		case o.Accepted != nil:
			lines = append(lines, o.ID()+" fails ("+troubleOf(o)+"), which is accepted until "+o.Accepted.LastDay()+": "+o.Message)
		case o.Verdict == probes.VerdictDegraded:
			lines = append(lines, o.ID()+" is degraded ("+troubleOf(o)+"): "+o.Message)
		}
	}
	return lines
}

// comesBack says under which condition an incident of the connection family, or
// one that is accepted, would open again. Empty: nothing in it follows an idle
// time, so that nothing can be said.
func comesBack(then, now Sight, changed cause) string {
	limit := ""
	if ended := then.ended(); ended > 0 {
		limit = age(ended)
	}
	switch {
	case changed == causeAccepted:
		return "When the acceptance ends, or as soon as what fails is another trouble, or at an idle age that is not accepted."
	case limit == "":
		return ""
	case changed == causePath && now.Closed > 0:
		return fmt.Sprintf("If the path closes idle connections after about %s again. They end after %s now: a client that keeps them longer than that meets the same error.", limit, age(now.Closed))
	case changed == causePath:
		return fmt.Sprintf("If the path ends idle connections after about %s again.", limit)
	case changed == causeClient:
		return fmt.Sprintf("If the client again uses connections that were idle for more than %s, which is when the path still ends them.", limit)
	}
	return fmt.Sprintf("As soon as a connection that was idle for about %s is used again: what ended it then may still do so.", limit)
}

func lastTrace(outcomes []probes.Outcome) string {
	if len(outcomes) == 0 {
		return ""
	}
	return traceOf(outcomes[len(outcomes)-1])
}

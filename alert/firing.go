package alert

import (
	"fmt"
	"slices"
	"strings"

	"perch.example/probes"
)

// Preview returns, for display, the notices that the run would send if each of
// its failures had lasted long enough: for a run without a state, and for the
// demo.
func Preview(run probes.Run, o Options) []Notice {
	o = o.withDefaults()
	var out []Notice
	for _, about := range (Memory{}).keys(run) {
		count, ids := judge(nil, about, run)
		if count != failed {
			continue
		}
		i := Incident{Target: about.target, Family: about.family, Probes: ids, Since: started(run, o.Now)}
		out = append(out, notice(i, KindPreview, run, o))
	}
	return out
}

// firingNotice tells that an incident is open.
func firingNotice(i Incident, run probes.Run, o Options) Notice {
	return notice(i, KindFiring, run, o)
}

// notice writes what the engineer on call must know, in contract.md's order:
// what the application experiences, since when, the ladder, which explanations
// are in and out, what to change, how to check and to mute, where to look.
func notice(i Incident, kind Kind, run probes.Run, o Options) Notice {
	outcomes := contributed(i.Probes, run)
	lead := leading(outcomes, i.Family)
	if lead == nil { // cannot be: a run counts as failed by such an outcome
		lead = &probes.Outcome{Target: i.Target, Family: i.Family}
	}
	what := clean(i.Target) + ": " + trouble(lead.Diagnosis)
	n := Notice{
		ID: i.name() + " " + string(kind), Kind: kind, Target: i.Target, Family: i.Family, Diagnosis: lead.Diagnosis, Decided: o.Now,
		Title:   shorten("FIRING "+what, maxTitle, "…"),
		Summary: shorten(clean(summary(*lead)), maxSummary, "…"),
		Links:   links(Link{"Dashboard", o.DashboardURL}, Link{"Runbook", lead.Notice.Runbook}),
		Trail:   trail(run, traceOf(*lead)),
	}
	n.Sections = slices.Concat(
		section("What the application experiences", FormText, maxExperience, experience(*lead, outcomes, i.Family)),
		facts("Since when, and how often", sinceWhen(i, *lead, kind, o)...),
		section(ladderHeading(outcomes), FormFixed, maxLadder, ladderLines(outcomes)),
		section("Explanations, ruled in or out by what was measured", FormList, maxHypotheses, hypotheses(*lead)),
		section("What to change", FormList, maxAdvice, advice(outcomes, i.Family)),
		section("Check now, or mute", FormList, maxCheck, checks(i, *lead)),
	)
	return n
}

// name is the incident's, for good: "stock-api/connection#3".
func (i Incident) name() string { return fmt.Sprintf("%s/%s#%d", i.Target, i.Family, i.Number) }

// summary is one sentence: the application's error where it is known.
func summary(o probes.Outcome) string {
	if text := clientWords(o); text != "" {
		return text
	}
	return o.Message
}

// clientWords say what the declared client does, in its own words.
func clientWords(o probes.Outcome) string {
	if o.Client == nil || o.Client.Experiences == "" {
		return ""
	}
	return "The application's HTTP client, " + o.Client.Kind + ", " + o.Client.Experiences
}

// experience says what goes wrong in the application, then what perch saw.
func experience(lead probes.Outcome, outcomes []probes.Outcome, family probes.Family) []string {
	var lines []string
	if text := clientWords(lead); text != "" {
		lines = append(lines, sentence(text)+" "+retries(lead.Retry.Application))
	}
	if lead.Client != nil && lead.Client.Band != nil {
		lines = append(lines, "It does so with a connection that was idle for "+bandWords(lead.Client.Band)+
			": by then the path has closed it, and the client uses it without looking.")
	}
	if text := seen(lead); text != "" {
		lines = append(lines, sentence(capital(text)))
	}
	told := []string{lead.Probe} // a probe's other rungs stand in the ladder
	for _, o := range outcomes {
		if o.Verdict != probes.VerdictFail || o.Family != family || o.Message == "" || slices.Contains(told, o.Probe) {
			continue
		}
		told = append(told, o.Probe)
		lines = append(lines, o.Probe+": "+sentence(seen(o)))
	}
	if lead.Client == nil {
		lines = append(lines, "Which error this is in the application is not known: declare its HTTP client (`client:` of the target), and perch says.")
	}
	return lines
}

// seen is the outcome's message without what it says of the client, which is
// told before it.
func seen(o probes.Outcome) string {
	if o.Client == nil || o.Client.Experiences == "" {
		return o.Message
	}
	at := strings.Index(o.Message, o.Client.Experiences)
	if at < 0 {
		return o.Message
	}
	return o.Message[:max(0, strings.LastIndex(o.Message[:at], "; "))]
}

// sentence ends a text as a sentence ends.
func sentence(text string) string {
	text = strings.TrimSpace(text)
	if text == "" || strings.HasSuffix(text, ".") || strings.HasSuffix(text, "!") || strings.HasSuffix(text, "?") {
		return text
	}
	return text + "."
}

// sinceWhen says since when, how often, and who owns it.
func sinceWhen(i Incident, lead probes.Outcome, kind Kind, o Options) []Fact {
	runs := fmt.Sprintf("%d of the last %d failed", i.failures(), len(i.Runs))
	if kind == KindPreview {
		runs = "this one failed; a notice is sent when " + rule(o)
	}
	return []Fact{
		{"Since", clock(i.Since)},
		{"Runs", runs},
		{"Owner", lead.Notice.Owner},
		{"Severity", lead.Notice.Severity},
		{"Probes", strings.Join(i.Probes, ", ")},
		{"Family", string(i.Family)},
	}
}

// rule says when an incident opens.
func rule(o Options) string {
	if o.FireAfter == 1 {
		return "one fails"
	}
	return fmt.Sprintf("%d of the last %d fail", o.FireAfter, o.FireAfter+1)
}

// hypotheses lists what is ruled in, then what is ruled out, each with its
// evidence; what could not be decided comes last, in one line.
func hypotheses(o probes.Outcome) []string {
	var in, out, open []string
	for _, h := range o.Hypotheses {
		switch h.Ruled {
		case probes.RuledIn:
			in = append(in, "IN: "+h.ID.Words()+". "+capital(h.Evidence))
		case probes.RuledOut:
			out = append(out, "OUT: "+h.ID.Words()+". "+capital(h.Evidence))
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

// advice joins what the family's failures ask for, each line once.
func advice(outcomes []probes.Outcome, family probes.Family) []string {
	var lines []string
	for _, o := range outcomes {
		if o.Verdict != probes.VerdictFail || o.Family != family {
			continue
		}
		for _, text := range o.Advice {
			if text = clean(text); !slices.Contains(lines, text) {
				lines = append(lines, text)
			}
		}
	}
	return lines
}

// checks say how to look now, and how to be left in peace.
func checks(i Incident, lead probes.Outcome) []string {
	var only []string
	for _, id := range i.Probes {
		only = append(only, "--only "+id)
	}
	lines := []string{"`perch run " + strings.Join(only, " ") + " --all` runs it again now"}
	if address := publicURL(lead.Notice.URL); address != "" && i.Family == probes.FamilyConnection {
		lines = append(lines, "`perch idle "+address+"` measures this path's idle timeout, without any config (give what the API needs with `--header`)")
	}
	return append(lines, "To mute: `alerts: {mode: report}` in the config; perch goes on probing and deciding, and sends nothing")
}

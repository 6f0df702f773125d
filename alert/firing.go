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

// notice writes what the engineer on call must know, in contract.md's order:
// what the application experiences, since when, the ladder, which explanations
// are in and out, what to change, how to check and to mute, where to look.
func notice(i Incident, kind Kind, run probes.Run, o Options) Notice {
	outcomes := contributed(i.Probes, run)
	lead := leading(outcomes, i.Family)
	if lead == nil { // cannot be: a run counts as failed by such an outcome
		lead = &probes.Outcome{Target: i.Target, Family: i.Family}
	}
	n := i.notice(o)
	n.ID, n.Kind, n.Diagnosis = i.name()+" "+string(kind), kind, lead.Diagnosis
	if kind == KindSharper {
		n.ID += " " + string(lead.Diagnosis)
	}
	n.Title = shorten(i.heading(kind, o)+clean(i.Target)+": "+troubleOf(*lead)+copesWords(*lead, outcomes), maxTitle, "…")
	n.Summary = shorten(i.before(kind, o)+clean(summary(*lead, outcomes)), maxSummary, "…")
	n.Links = links(Link{"Dashboard", dashboard(o, run, placeOf(i, *lead))}, Link{"Runbook", lead.Notice.Runbook})
	n.Trail = trail(run, traceOf(*lead))
	n.Charts = charts(outcomes)
	n.Sections = slices.Concat(
		section("What the application experiences", FormText, maxExperience, append(news(i, *lead, kind), experience(*lead, outcomes, i.Family)...)),
		facts("Since when, and how often", sinceWhen(i, *lead, kind, o)...),
		section(ladderHeading(outcomes), FormFixed, maxLadder, ladderLines(outcomes)),
		section("Explanations, ruled in or out by what was measured", FormList, maxHypotheses, hypotheses(*lead, outcomes)),
		section("What to change", FormList, maxAdvice, advice(*lead, outcomes)),
		section(checkHeading(kind), FormList, maxCheck, checks(i, *lead, kind, o)),
	)
	return n
}

// heading begins the title. A preview is of what has not happened: one failed
// run seldom fires.
func (i Incident) heading(kind Kind, o Options) string {
	switch {
	case kind == KindReminder:
		return i.stillWord(o)
	case kind == KindFlapping:
		return "FLAPPING "
	case kind == KindSharper:
		return "CHANGED "
	case kind != KindPreview:
		return "FIRING "
	case o.FireAfter == 1:
		return "WOULD FIRE "
	}
	return "WOULD FIRE (at the " + ordinal(o.FireAfter) + " failed run) "
}

// news are what sets the notice apart from a plain opening.
func news(i Incident, lead probes.Outcome, kind Kind) []string {
	var lines []string
	switch kind {
	case KindFlapping:
		lines = append(lines, i.flappingWords())
	case KindReminder:
		lines = append(lines, "That it opened could not be told for more than "+span(waitsAtMost)+", and stands in a backlog alone: this is all of it.")
	case KindSharper:
		lines = append(lines, "It opened as: "+i.Opened.trouble()+". What is measured now says: "+troubleOf(lead)+".")
	default:
	}
	if lead.Lapsed != nil {
		lines = append(lines, "It was accepted until "+lead.Lapsed.LastDay()+because(lead.Lapsed.Reason)+", and no longer is.")
	}
	return lines
}

// name is the incident's, for good: "stock-api/connection#3".
func (i Incident) name() string { return fmt.Sprintf("%s/%s#%d", i.Target, i.Family, i.Number) }

// summary is one sentence: the application's error where it is known. Where its
// client notices, why it is told all the same comes first.
func summary(o probes.Outcome, outcomes []probes.Outcome) string {
	unhurt := unhurt(outcomes, o.Family)
	text := clientWords(o, unhurt)
	switch {
	case text == "":
		return o.Message
	case unhurt || o.Client.Result == probes.ClientNotices:
		return tooEarly(o) + text
	}
	return text
}

// tooEarly says that the path ends connections before the config's keep_alive, as the
// beginning of a text; empty where that was not seen.
func tooEarly(o probes.Outcome) string {
	if o.Diagnosis != probes.DiagnosisEarlyClose || o.Close == nil || o.Close.Age >= o.KeepAlive {
		return ""
	}
	return "Connections end after " + age(o.Close.Age) + " idle, before the declared keep_alive of " + age(o.KeepAlive) + ". "
}

// clientWords say what the declared client does, in its own words, and whether
// it does the application no harm.
func clientWords(o probes.Outcome, unhurt bool) string {
	switch {
	case o.Client == nil || o.Client.Experiences == "":
		return ""
	case unhurt:
		return "The application is not hurt by it: its HTTP client, " + o.Client.Kind + " as declared, " + o.Client.Experiences
	}
	return "The application's HTTP client, " + o.Client.Kind + " as declared, " + o.Client.Experiences
}

// experience says what goes wrong in the application, then what perch saw.
func experience(lead probes.Outcome, outcomes []probes.Outcome, family probes.Family) []string {
	var lines []string
	if text := clientWords(lead, unhurt(outcomes, family)); text != "" {
		lines = append(lines, sentence(text)+" "+retries(lead.Retry))
	}
	if lead.Client != nil && lead.Client.Band != nil {
		does := "It does so on"
		if lead.Client.Result == probes.ClientNotices {
			does = "It would use without looking"
		}
		lines = append(lines, does+" connections idle for "+bandWords(lead.Client.Band)+": "+ended(outcomes)+".")
	}
	if text := seen(lead); text != "" && !toldByLadder(lead) {
		lines = append(lines, sentence(capital(text)))
	}
	told := []string{lead.Probe} // a probe's other rungs stand in the ladder
	for _, o := range outcomes {
		if !fails(o) || o.Family != family || o.Message == "" || slices.Contains(told, o.Probe) {
			continue
		}
		told = append(told, o.Probe)
		lines = append(lines, o.Probe+": "+sentence(seen(o)))
	}
	if text := predictedWords(lead, outcomes); text != "" {
		lines = append(lines, text)
	}
	if lead.Client == nil {
		lines = append(lines, "Which error this is in the application is not known: declare its HTTP client (`client:` of the target), and perch says.")
	}
	return lines
}

// ended says what the path has done to a connection within the danger band,
// which begins one round trip before the close: what is sent then meets it on
// the way. Where no close was seen, only what worked is known to be alive.
func ended(outcomes []probes.Outcome) string {
	for _, o := range outcomes {
		if o.Close != nil && o.Close.How != probes.HowSilent {
			return "closed, or closing while the request travels"
		}
	}
	return "dead, or not known to be alive"
}

// toldByLadder reports whether the reader finds in the ladder what the
// outcome's message says, and beside it what the application makes of it.
func toldByLadder(o probes.Outcome) bool {
	return o.Kind == probes.KindIdle && clientWords(o, false) != "" && o.Close != nil && attempt(o, probes.ConnectionReused) != nil
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
	if text == "" || strings.HasSuffix(text, ".") || strings.HasSuffix(text, "…") || strings.HasSuffix(text, "!") || strings.HasSuffix(text, "?") {
		return text
	}
	return text + "."
}

// sinceWhen says since when, how often, and who owns it.
func sinceWhen(i Incident, lead probes.Outcome, kind Kind, o Options) []Fact {
	runs := fmt.Sprintf("%d of the last %d failed", i.failures(), len(i.Runs))
	switch {
	case len(i.Flapping) > 0, kind == KindReminder: // the window is too short for what lasts
		runs = number(i.Failed) + " of " + number(i.Counted) + " failed"
	case kind == KindPreview:
		runs = "not fired yet: 1 failed run; " + rule(o)
	}
	return []Fact{
		{"Since", clock(i.Since)},
		{"Runs", runs},
		{"Silenced", i.Silenced.words()},
		{"Owner", lead.Notice.Owner},
		{"Severity", lead.Notice.Severity},
		{"Probes", strings.Join(i.Probes, ", ")},
		{"Family", string(i.Family)},
	}
}

// rule says when an incident opens.
func rule(o Options) string {
	if o.FireAfter == 1 {
		return "one is enough to fire"
	}
	return fmt.Sprintf("fires when %d of the last %d failed", o.FireAfter, o.FireAfter+1)
}

// advice joins what the family's failures ask for, the lead's first.
func advice(lead probes.Outcome, outcomes []probes.Outcome) []string {
	var lists [][]string
	for _, o := range append([]probes.Outcome{lead}, outcomes...) {
		if !fails(o) || o.Family != lead.Family {
			continue
		}
		var cleaned []string
		for _, text := range o.Advice {
			cleaned = append(cleaned, clean(text))
		}
		lists = append(lists, cleaned)
	}
	return probes.JoinAdvice(lists...)
}

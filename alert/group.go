package alert

import (
	"fmt"
	"slices"
	"strings"

	"perch.example/probes"
)

// fromTargets is at how many targets the same trouble in one run is told as one.
const fromTargets = 3

// togetherness is what turns have in common that are told in one notice.
type togetherness struct {
	kind                       Kind
	trouble, channel, severity string
	thread                     string // of what is told already; empty: it opens now
	to                         string // of a reminder: its destinations
	flaps                      bool
	by                         EndedBy
	silence                    *Silence // until which an end is kept
}

// together returns under what a turn may be told with others, and whether it
// may at all. What people know of is told together where they were told
// together: each conversation must hear of its end.
func (t turn) together() (togetherness, bool) {
	common := togetherness{kind: t.kind, channel: t.Channel, severity: t.Severity, flaps: len(t.Flapping) > 0}
	switch {
	case t.kind == KindFiring, t.kind == KindFlapping, t.whole: // where something whole was told before does not matter: nobody was
		common.trouble = t.alike
		return common, true
	case t.kind == KindSharper:
		common.trouble = t.alike
	default:
		common.to, common.by, common.silence = strings.Join(t.to, " "), t.EndedBy, t.silence
	}
	common.thread = t.thread()
	return common, common.thread != t.name()
}

// gather puts the turns of three targets or more that are told together into
// one list, at the place of their first; every other turn is a list of its own.
func gather(turns []turn) [][]turn {
	targets := map[togetherness][]string{}
	for _, t := range turns {
		common, may := t.together()
		if may && !slices.Contains(targets[common], t.Target) {
			targets[common] = append(targets[common], t.Target)
		}
	}
	var lists [][]turn
	at := map[togetherness]int{}
	for _, t := range turns {
		common, may := t.together()
		if !may || len(targets[common]) < fromTargets {
			lists = append(lists, []turn{t})
			continue
		}
		if _, begun := at[common]; !begun {
			at[common] = len(lists)
			lists = append(lists, nil)
		}
		lists[at[common]] = append(lists[at[common]], t)
	}
	return lists
}

// notices writes what is told, in order, and keeps what is told after a silence.
func (m *Memory) notices(turns []turn, all sortedRun, o Options) []Notice {
	var out []Notice
	for _, list := range gather(turns) {
		var n Notice
		if len(list) > 1 {
			n = m.groupNotice(list, all, o)
		} else {
			n = list[0].notice(all.of(list[0].Target), o)
		}
		n.Ways = waysOf(list[0])
		switch t := list[0]; {
		case t.silence != nil:
			m.Muted = append(m.Muted, hush(n, *t.silence))
			continue
		case t.kind == KindResolved && t.Announced && o.Mode != ModeNotify: // shown now, and told to those who know that it began
			m.Muted = append(m.Muted, unreported(n))
		}
		out = append(out, n)
	}
	return out
}

// notice writes what is told of one incident.
func (t turn) notice(run probes.Run, o Options) Notice {
	switch {
	case t.EndedBy == EndedRemoved:
		return removedNotice(t.Incident, run, o)
	case t.kind == KindResolved:
		return resolvedNotice(t.Incident, run, o)
	case t.kind == KindReminder && !t.whole:
		return reminderNotice(t.Incident, run, o)
	}
	return notice(t.Incident, t.kind, run, o)
}

// groupNotice tells several incidents at once: a line each, and what one of
// them shows, as an example.
func (m *Memory) groupNotice(list []turn, all sortedRun, o Options) Notice {
	example := exampleOf(list, all)
	run := all.of(example.Target)
	if example.kind == KindFiring || example.kind == KindFlapping {
		thread := fmt.Sprintf("%s#%d", orNone(string(example.diagnosis)), list[0].Number)
		for n := range list {
			list[n].Thread = thread
			m.setThread(list[n].Incident, thread)
		}
		example.Thread = thread
	}
	n := example.Incident.notice(o)
	n.ID = fmt.Sprintf("%s %s %d", n.Thread, example.kind, list[0].Number)
	n.Kind, n.Target, n.Diagnosis, n.About = example.kind, "", example.diagnosis, nil
	n.Thread = threadOfAll(list)
	switch example.kind {
	case KindReminder:
		n.ID += fmt.Sprintf("-%d", example.Reminders)
	case KindSharper:
		n.ID += " " + string(example.diagnosis)
	default:
	}
	var targets []string
	since := example.Since
	for _, t := range list {
		n.About = append(n.About, t.about())
		if !slices.Contains(targets, t.Target) {
			targets = append(targets, t.Target)
		}
		if t.Since.Before(since) {
			since = t.Since
		}
	}
	outcomes := contributed(example.Probes, run)
	n.Title = shorten(groupTitle(example, list, len(targets)), maxTitle, "…")
	n.Summary = shorten(groupSummary(example, targets, outcomes), maxSummary, "…")
	n.Links = links(Link{"Dashboard", dashboard(o, run, place{targets: targets, since: since})}, Link{"Runbook", example.Runbook})
	n.Trail = trail(run, lastTrace(outcomes))
	n.Charts = charts(outcomes)
	n.Sections = groupSections(list, example, all, o)
	return n
}

// setThread notes where an incident is told.
func (m *Memory) setThread(of Incident, thread string) {
	for i := range m.Incidents {
		if have := &m.Incidents[i]; have.Number == of.Number && have.Target == of.Target && have.Family == of.Family {
			have.Thread = thread
		}
	}
}

// exampleOf returns the turn whose failure comes nearest to the application;
// where nothing fails any more, the first.
func exampleOf(list []turn, all sortedRun) turn {
	best, most := list[0], -1
	for _, t := range list {
		lead := leading(contributed(t.Probes, all.of(t.Target)), t.Family)
		if lead != nil && nearness(*lead) > most {
			best, most = t, nearness(*lead)
		}
	}
	return best
}

func groupTitle(example turn, list []turn, targets int) string {
	what := counted(targets, "target")
	if example.kind == KindResolved {
		opened := func(t turn) string { return t.Opened.trouble() }
		return endedTitle(what+" ("+ofAll(list, opened, trouble(example.Opened.Diagnosis))+")", example.EndedBy)
	}
	what += ": " + ofAll(list, func(t turn) string { return t.trouble }, example.alike)
	if !slices.ContainsFunc(list, func(t turn) bool { return !t.unhurt }) {
		what += " (the clients cope)"
	}
	return example.groupWord() + what
}

// endedTitle says of several by what they ended.
func endedTitle(what string, by EndedBy) string {
	switch by {
	case EndedAccepted:
		return "CLOSED " + what + ": accepted"
	case EndedRemoved:
		return "CLOSED " + what + ": no longer in the config"
	case EndedRecovered:
	}
	return "RESOLVED " + what
}

// groupWord begins the title of several that are open.
func (t turn) groupWord() string {
	switch {
	case t.kind == KindSharper:
		return "CHANGED "
	case t.kind == KindFlapping:
		return "FLAPPING "
	case t.kind == KindReminder && len(t.Flapping) > 0:
		return "STILL FLAPPING "
	case t.kind == KindReminder:
		return "STILL FIRING "
	}
	return "FIRING "
}

// ofAll is what each of them says; where they differ, the other.
func ofAll(list []turn, says func(turn) string, other string) string {
	first := says(list[0])
	if slices.ContainsFunc(list, func(t turn) bool { return says(t) != first }) {
		return other
	}
	return first
}

// threadOfAll is the one conversation of all; where each has its own, what is
// told of all stands alone.
func threadOfAll(list []turn) string {
	return ofAll(list, func(t turn) string { return t.thread() }, "")
}

// groupSummary names the targets, as many as a phone shows, and says what one
// of them meets.
func groupSummary(example turn, targets []string, outcomes []probes.Outcome) string {
	text := someOf(targets)
	switch {
	case example.EndedBy == EndedRemoved:
		return sentence("Closed at " + text + ", not mended: perch no longer looks at them")
	case example.kind == KindFlapping:
		text += ", again and again within an hour"
	case example.kind == KindResolved:
		changed, how := whyOver(example.Incident, outcomes)
		return sentence("Over at " + text + " after " + lasted(example.Ended.Sub(example.Since)) + ": " + becauseWords(changed, how))
	}
	if lead := leading(outcomes, example.Family); lead != nil {
		return sentence(text + ": " + clean(summary(*lead, outcomes)))
	}
	return sentence(text)
}

// someOf names the first few.
func someOf(targets []string) string {
	const shown = 3
	var names []string
	for _, target := range targets[:min(shown, len(targets))] {
		names = append(names, shorten(clean(target), 40, "…"))
	}
	text := strings.Join(names, ", ")
	if left := len(targets) - len(names); left > 0 {
		text += " and " + counted(left, "more target")
	}
	return text
}

func groupSections(list []turn, example turn, all sortedRun, o Options) []Section {
	outcomes := contributed(example.Probes, all.of(example.Target))
	name := clean(example.Target)
	where := section("Where", FormText, maxExperience, groupLines(list, all))
	check := section(checkHeading(example.kind), FormList, maxCheck, groupChecks(example, o))
	lead := leading(outcomes, example.Family)
	switch {
	case example.EndedBy == EndedRemoved:
		return slices.Concat(where, removedSections(example.Incident, nil))
	case example.kind == KindResolved:
		changed, how := whyOver(example.Incident, outcomes)
		return slices.Concat(where,
			section("Why it is over at "+name+", as an example", FormText, maxExperience, reasonsWhy(example.Incident, changed, how)),
			section("The proof, from the last run at "+name+". "+ladderHeading(outcomes), FormFixed, maxLadder, ladderLines(outcomes)),
			section("When it would come back", FormText, maxFacts, returns(example.Incident, outcomes, changed, o)),
			check)
	case example.kind == KindReminder && !example.whole || lead == nil:
		return slices.Concat(where,
			section("What changed at "+name+" since it opened, as an example", FormText, maxExperience, sinceOpening(example.Incident, look(outcomes, example.Family))),
			check)
	}
	return slices.Concat(where,
		section("What the application experiences at "+name+", as an example", FormText, maxExperience/2, append(news(example.Incident, *lead, example.kind), experience(*lead, outcomes, example.Family)...)),
		section(ladderHeading(outcomes), FormFixed, maxLadder*3/4, ladderLines(outcomes)),
		section("Explanations, ruled in or out by what was measured there", FormList, maxHypotheses, hypotheses(*lead, outcomes)),
		section("What to change", FormList, maxAdvice, advice(*lead, outcomes)),
		check)
}

// groupLines say of each incident since when, how often, and whose it is.
func groupLines(list []turn, all sortedRun) []string {
	lines := make([]string, len(list))
	for n, t := range list {
		text := shorten(clean(t.Target), 80, "…") + ": " + t.share() + " since " + clock(t.Since)
		switch {
		case t.EndedBy == EndedRemoved:
			text += "; closed after " + lasted(t.Ended.Sub(t.Since))
		case t.kind == KindResolved:
			changed, how := whyOver(t.Incident, contributed(t.Probes, all.of(t.Target)))
			text += "; over after " + lasted(t.Ended.Sub(t.Since)) + ": " + string(changed)
			if changed == causeAgain && how != "" {
				text += " (" + how + ")"
			}
		}
		if t.Owner != "" {
			text += "; owner " + shorten(clean(t.Owner), 60, "…")
		}
		if t.Silenced != (Hush{}) {
			text += "; silenced " + t.Silenced.words()
		}
		lines[n] = text
	}
	return lines
}

func groupChecks(example turn, o Options) []string {
	lines := []string{"`" + command(example.Incident, o) + "` runs the example again now; it counts as a run"}
	if o.Beside != "" {
		lines = []string{byItself(example.Incident, o)}
	}
	if example.kind != KindResolved {
		lines = append(lines, mute(example.Target, o)+"; the others likewise")
	}
	return lines
}

package alert

import (
	"slices"
	"strings"
	"time"

	"perch.example/probes"
)

// mostSilent is for how long people hear nothing of a target that cannot be
// reached, whatever the config says.
const mostSilent = 4 * time.Hour

// remind reports whether people have not heard of the incident for so long
// that they are told again.
func (i Incident) remind(o Options) bool {
	every := o.RemindEvery
	if every <= 0 {
		return false
	}
	if i.Family == probes.FamilyReachability {
		every = min(every, mostSilent)
	}
	last := i.Heard
	if last.IsZero() { // the format before did not keep it
		last = i.Fired
	}
	return o.Now.Sub(last) >= every
}

// reminderNotice tells that an incident is still open, shortly: what was told
// before stands above it.
func reminderNotice(i Incident, run probes.Run, o Options) Notice {
	outcomes := contributed(i.Probes, run)
	n, lead := i.still(outcomes, run, o)
	n.ID = i.name() + " " + string(KindReminder) + " " + number(i.Reminders)
	n.Kind = KindReminder
	n.Trail = trail(run, traceOf(lead))
	n.Sections = slices.Concat(
		facts("Since when, and how often", i.soFar(o)...),
		section("What changed since it opened", FormText, maxExperience, sinceOpening(i, look(outcomes, i.Family))),
		section(ladderHeading(outcomes), FormFixed, maxLadder, ladderLines(outcomes)),
		section("Check now, or mute", FormList, maxCheck, checks(i, lead, KindReminder, o)),
	)
	return n
}

// still begins a notice of an incident that people know of.
func (i Incident) still(outcomes []probes.Outcome, run probes.Run, o Options) (Notice, probes.Outcome) {
	now := i.Opened
	lead := probes.Outcome{Target: i.Target, Family: i.Family}
	says, copes := strings.Join(i.lastSeen(), " "), ""
	if failing := leading(outcomes, i.Family); failing != nil {
		lead, now = *failing, look(outcomes, i.Family)
		says, copes = sentence(capital(now.Message)), copesWords(*failing, outcomes)
	}
	n := i.notice(o)
	n.Diagnosis = now.Diagnosis
	n.Title = shorten(i.stillWord(o)+clean(i.Target)+": "+now.trouble()+copes, maxTitle, "…")
	n.Summary = shorten("Open for "+lasted(o.Now.Sub(i.Since))+", "+i.share()+". "+says, maxSummary, "…")
	n.Links = links(Link{"Dashboard", dashboard(o, run, placeOf(i, lead))}, Link{"Runbook", i.Runbook})
	n.Charts = charts(outcomes)
	return n, lead
}

// stillWord begins the title of an incident that people know of, or hear of in
// this very run. What is not seen failing is open, no more.
func (i Incident) stillWord(o Options) string {
	word := "FIRING "
	switch {
	case len(i.Flapping) > 0:
		word = "FLAPPING "
	case i.Good > 0 || i.Unjudged() != "":
		word = "OPEN "
	}
	if i.Fired.Equal(o.Now) {
		return word
	}
	return "STILL " + word
}

// notice begins every notice of one incident.
func (i Incident) notice(o Options) Notice {
	return Notice{
		Target: i.Target, Family: i.Family, Diagnosis: i.Opened.Diagnosis, Decided: o.Now,
		Thread: i.thread(), Channel: i.Channel, Severity: i.Severity, About: []About{i.about()},
	}
}

// share says how many of all its runs failed.
func (i Incident) share() string {
	return number(i.Failed) + " of " + counted(i.Counted, "run") + " failed"
}

// soFar says since when it is open, and how often it failed.
func (i Incident) soFar(o Options) []Fact {
	return []Fact{
		{"Since", clock(i.Since)},
		{"Open for", lasted(o.Now.Sub(i.Since))},
		{"Runs", number(i.Failed) + " of " + number(i.Counted) + " failed"},
		{"Owner", i.Owner},
		{"Severity", i.Severity},
		{"Probes", strings.Join(i.Probes, ", ")},
		{"Family", string(i.Family)},
	}
}

// sinceOpening says what is other than at the opening.
func sinceOpening(i Incident, now Sight) []string {
	var lines []string
	if now.Diagnosis != i.Opened.Diagnosis {
		lines = append(lines, "It began as: "+i.Opened.trouble()+". Now: "+now.trouble()+".")
	}
	if changed, how := why(i.Opened, now); changed != causeNeither {
		lines = append(lines, sentence(capital(becauseWords(changed, how))))
	}
	if len(lines) == 0 {
		lines = []string{"Nothing that perch measures: it fails as it did then."}
	}
	if len(i.Flapping) > 0 {
		lines = append(lines, "It is over when no run has failed for "+span(flapWithin)+".")
	}
	if now.Message != "" {
		lines = append(lines, "In the last run: "+sentence(now.Message))
	}
	return lines
}

package alert

import (
	"time"

	"perch.example/probes"
)

// Otherwise is how an incident's probes fail since they were last seen to fail
// as it does: in another family, which neither confirms nor ends it.
type Otherwise struct {
	Since   time.Time     `json:"since"` // start of the first such run
	Probe   string        `json:"probe"` // "target/probe"
	Family  probes.Family `json:"family"`
	Trouble string        `json:"trouble"` // in words
}

// otherwise notes a run that does not count because what made up the incident
// fails in another way now.
func (i *Incident) otherwise(run probes.Run, at time.Time) {
	outcomes := contributed(i.Probes, run)
	if leading(outcomes, i.Family) != nil {
		return
	}
	for _, o := range outcomes {
		if !fails(o) {
			continue
		}
		if i.Otherwise.Since.IsZero() {
			i.Otherwise.Since = at
		}
		i.Otherwise.Probe, i.Otherwise.Family, i.Otherwise.Trouble = o.ID(), o.Family, shorten(clean(troubleOf(o)), maxTitle, "…")
		return
	}
}

// Unjudged says, as the end of a sentence about an open incident, that its
// probes fail otherwise now: when they were last seen to fail as it does, since
// when and how they fail instead, and that this neither confirms nor ends it.
// Empty: they do not.
func (i Incident) Unjudged() string {
	if i.Otherwise.Since.IsZero() {
		return ""
	}
	text := "since " + clock(i.Otherwise.Since) + " " + clean(i.Otherwise.Probe) + " fails otherwise (" +
		string(i.Otherwise.Family) + ": " + i.Otherwise.Trouble + "), which neither confirms nor ends it"
	if !i.Failing.IsZero() { // the format before did not keep it
		text = "last seen failing so at " + clock(i.Failing) + "; " + text
	}
	return text
}

// lastSeen says of an open incident that did not fail so in this run what is
// known of it.
func (i Incident) lastSeen() []string {
	var lines []string
	switch {
	case i.Unjudged() != "":
		lines = append(lines, sentence(capital(i.Unjudged())))
	case i.Good > 0:
		lines = append(lines, "Since then "+counted(i.Good, "run")+" went well.")
	case !i.Failing.IsZero():
		lines = append(lines, "Last seen failing so at "+clock(i.Failing)+"; the last run says nothing about it.")
	}
	if text := atOpening(i); text != "" {
		lines = append(lines, text)
	}
	return lines
}

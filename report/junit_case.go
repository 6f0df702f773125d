package report

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"perch.example/probes"
)

// newJUnitCase is an outcome. Its name is the same in each run, so that a CI system
// can tell since when it fails.
func newJUnitCase(o *probes.Outcome, failing []probes.Verdict) junitCase {
	c := junitCase{Name: clean(junitName(o)), Class: clean(o.Target + "." + o.Probe), Time: junitTime(duration(o))}
	said := &junitResult{Message: clean(o.Message), Type: clean(junitType(o))}
	switch {
	case o.Verdict == probes.VerdictSkipped:
		c.Skipped = said
	case o.Verdict == probes.VerdictPass:
		c.Output = strings.Join(append(junitBursts(o), predictionsText([]*probes.Outcome{o})...), "\n")
	case o.Accepted != nil:
		said.Message, said.Type = clean(acceptedWords(o)+"; "+o.Message), "accepted"
		c.Skipped, c.Output = said, junitBody(o)
	case o.Verdict == probes.VerdictFail || slices.Contains(failing, o.Verdict):
		c.Failure, said.Body = said, junitBody(o)
	case o.Verdict == probes.VerdictDegraded:
		c.Output = strings.TrimSpace("degraded: " + clean(o.Message) + "\n" + junitBody(o))
	default: // incomplete, and what has no verdict
		c.Error, said.Body = said, junitBody(o)
	}
	return c
}

// junitName is the probe, and of a rung the hold that it stands for.
func junitName(o *probes.Outcome) string {
	name := o.Probe
	if o.Kind == probes.KindIdle {
		name += ", held for up to " + rungName(o) // less, where it ended before
	}
	for _, a := range o.Attempts {
		if a.Address.IsValid() {
			return name + " at " + a.Address.String()
		}
	}
	return name
}

func junitType(o *probes.Outcome) string {
	if o.Diagnosis != "" {
		return string(o.Diagnosis)
	}
	return string(o.Reason)
}

// duration is how long an outcome's attempts and its hold took. A burst's connections idle
// side by side: it is the time from its first call to the last answer.
func duration(o *probes.Outcome) time.Duration {
	if o.Burst != nil {
		return lasted(o.Attempts)
	}
	var took time.Duration
	for _, a := range o.Attempts {
		took += a.Elapsed + a.IdleTime
		if !a.Started.IsZero() { // else Elapsed is the opening's
			took += a.Phases.DNS + a.Phases.Connect + a.Phases.TLS
		}
	}
	return took
}

// lasted is the time from the opening before the first request to the last answer.
func lasted(attempts []probes.Attempt) time.Duration {
	var from, to time.Time
	for _, a := range attempts {
		if a.Started.IsZero() { // no request left
			continue
		}
		if began := a.Started.Add(-a.Phases.DNS - a.Phases.Connect - a.Phases.TLS); from.IsZero() || began.Before(from) {
			from = began
		}
		if ended := a.Started.Add(a.Elapsed); ended.After(to) {
			to = ended
		}
	}
	return to.Sub(from)
}

// junitBursts are a burst probe's bursts, a line each.
func junitBursts(o *probes.Outcome) []string {
	if o.Burst == nil {
		return nil
	}
	lines := []string{clean(burstSummary(o))}
	for i, s := range o.Burst.Sums(o.Attempts) {
		if i == burstRows {
			lines = append(lines, "bursts that are not told here follow")
			break
		}
		lines = append(lines, strings.TrimSuffix(fmt.Sprintf("burst %d: %s, %d fresh, %d reused, %d of those dead, %d failed otherwise; %s",
			s.Burst, counted(s.Calls, "call"), s.Fresh, s.Reused, s.Dead, s.Failed, whichCalls(s)), "; "))
	}
	if text := burstEnded(o.Burst); text != "" {
		lines = append(lines, text)
	}
	return lines
}

// junitBody is what explains an outcome: a line each for what the text report says
// of it.
func junitBody(o *probes.Outcome) string {
	f := finding{[]*probes.Outcome{o}}
	lines := []string{title(o)}
	add := func(label string, texts ...string) {
		for _, text := range texts {
			if text != "" {
				lines = append(lines, label+": "+text)
			}
		}
	}
	if o.Diagnosis == "" && o.Reason == "" {
		lines = nil
	}
	add("Application", f.application()...)
	if o.Client != nil && o.Client.Band != nil {
		add("Danger band", bandWords(o.Client.Band)+" idle")
	}
	add("Detail", f.details()...)
	add("Calls", junitBursts(o)...)
	add("Prediction", predictionsText([]*probes.Outcome{o})...)
	if a := deciding(o); a != nil && !a.OK() {
		add("On the wire", wire(a))
	}
	if !allOpen(o.Hypotheses) {
		for _, h := range o.Hypotheses {
			add("Hypothesis "+rulingWord(h.Ruled).text, h.ID.Words()+": "+h.Evidence)
		}
	}
	add("Change this", o.Advice...)
	if a := deciding(o); a != nil {
		add("Trace", a.TraceID)
	}
	add("Owner", o.Notice.Owner)
	add("Runbook", o.Notice.Runbook)
	for i := range lines {
		lines[i] = clean(lines[i])
	}
	return strings.Join(lines, "\n")
}

package alert

import (
	"strings"
	"time"

	"perch.example/probes"
)

// recovered says what is measurably other than at the opening of an incident
// that has nothing to do with idle time. Empty: no good answer is known.
func recovered(i Incident, outcomes []probes.Outcome) string {
	a := proof(i.Family, outcomes)
	if a == nil {
		return ""
	}
	answer := "it answered in " + latency(a.Elapsed)
	if a.Status > 0 {
		answer = "it answered " + a.Answer() + " in " + latency(a.Elapsed)
	}
	switch i.Family {
	case probes.FamilyReachability:
		if i.Opened.Diagnosis == probes.DiagnosisUnreachable {
			return "connections are accepted again, and " + answer
		}
		return "requests on fresh connections are answered again: " + answer
	case probes.FamilyLatency:
		if limit := i.Opened.limit(); limit != "" {
			return "answers come in time again: " + answer + " (limit " + limit + ")"
		}
		return "answers come in time again: " + answer
	case probes.FamilyCertificate:
		if end := a.Expires().NotAfter; !end.IsZero() {
			return "the certificate was accepted, and is valid until " + clock(end)
		}
		return "the certificate was accepted: " + answer
	case probes.FamilyLimits:
		return "no 429 in the last " + counted(i.Good, "run") + ": " + answer
	case probes.FamilyAuthorization:
		return "the credentials are accepted again: " + answer
	case probes.FamilyContract:
		return "the answer is as expected again: " + answer
	case probes.FamilyConnection, probes.FamilyOwn: // the first is compared by its idle ages, the second opens nothing
	}
	return answer
}

// proof is the attempt that shows that the family's trouble is over: of answers
// that were slow, the slowest; else the first one on a fresh connection. nil:
// none is known.
func proof(family probes.Family, outcomes []probes.Outcome) *probes.Attempt {
	var best *probes.Attempt
	for _, o := range outcomes {
		for n := range o.Attempts {
			a := &o.Attempts[n]
			if !a.OK() || a.Elapsed <= 0 {
				continue
			}
			if best == nil || family == probes.FamilyLatency && a.Elapsed > best.Elapsed {
				best = a
			}
		}
	}
	return best
}

// limit is how long an answer might take, as the opening's message says;
// empty: it does not.
func (s Sight) limit() string {
	_, rest, found := strings.Cut(s.Message, "want latency <")
	_, rest, called := strings.Cut(rest, "duration(")
	text, _, closed := strings.Cut(rest, ")")
	d, err := time.ParseDuration(strings.Trim(text, `"'`))
	if !found || !called || !closed || err != nil {
		return ""
	}
	return latency(d)
}

// returns says under which condition the incident would open again, where that
// says something: empty lines are left out.
func returns(i Incident, outcomes []probes.Outcome, changed cause, o Options) []string {
	now := look(outcomes, i.Family)
	if i.Family == probes.FamilyConnection || changed == causeAccepted {
		return []string{comesBack(i.Opened, now, changed)}
	}
	switch limit := i.Opened.limit(); {
	case i.Family == probes.FamilyLatency && limit != "":
		return []string{"When answers take longer than " + limit + " again: " + rule(o) + "."}
	case i.Family == probes.FamilyCertificate:
		if a := proof(i.Family, outcomes); a != nil && !a.Expires().NotAfter.IsZero() {
			return []string{"When the certificate comes near its end, " + clock(a.Expires().NotAfter) + ", and is not renewed."}
		}
	}
	return nil
}

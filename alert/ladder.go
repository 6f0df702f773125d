package alert

import (
	"strings"

	"perch.example/probes"
)

// ladderLines draw what each outcome showed: which holds worked, where it died,
// by whom, how fast against the round trip, and what the control did. Probes
// are named where there are several, and where there is no hold to tell.
func ladderLines(outcomes []probes.Outcome) []string {
	several, holds := false, false
	for _, o := range outcomes {
		several = several || o.Probe != outcomes[0].Probe
		holds = holds || o.Kind == probes.KindIdle
	}
	var rows [][]string
	for _, o := range outcomes {
		var head []string
		if several || !holds {
			head = append(head, clean(o.Probe))
		}
		if holds {
			head = append(head, held(o))
		}
		head = append(head, verdictWord(o.Verdict))
		for _, text := range story(o) {
			rows = append(rows, append(head, text))
			head = make([]string, len(head))
		}
	}
	return columns(rows)
}

// ladderHeading says how to read the lines.
func ladderHeading(outcomes []probes.Outcome) string {
	for _, o := range outcomes {
		if o.Kind == probes.KindIdle {
			return "The ladder: a connection held idle for so long, then used again"
		}
	}
	return "The attempts"
}

// held is the rung's name; other kinds have none.
func held(o probes.Outcome) string {
	switch {
	case o.Kind != probes.KindIdle:
		return ""
	case o.Search:
		return "search"
	}
	return age(o.Hold)
}

// story tells an outcome, a failure in full and what is well in short.
func story(o probes.Outcome) []string {
	reused, control := attempt(o, probes.ConnectionReused), attempt(o, probes.ConnectionControl)
	if reused == nil {
		return opening(o)
	}
	var lines []string
	if o.Close != nil {
		lines = append(lines, closed(o))
	}
	if text := looked(o); text != "" {
		return append(lines, text)
	}
	lines = append(lines, "used again: "+result(*reused))
	if control != nil {
		lines = append(lines, "control, on a fresh connection: "+result(*control))
	}
	return lines
}

// opening tells of attempts on fresh connections, where nothing was reused.
func opening(o probes.Outcome) []string {
	if len(o.Attempts) == 0 {
		return []string{"not tried"}
	}
	var lines []string
	name := "request"
	if o.Kind == probes.KindIdle {
		name = "opening request"
	}
	for _, a := range o.Attempts {
		lines = append(lines, name+": "+result(a))
		name = "second try"
		if a.Connection == probes.ConnectionControl {
			name = "control"
		}
	}
	return lines
}

// closed says when, by whom and how the connection ended while it was idle.
func closed(o probes.Outcome) string {
	who := "by whom is not known"
	if o.ClosedBy == "peer" {
		who = "by the peer"
	}
	return "closed at " + age(o.Close.Age) + " idle " + who + " (" + closing(o.Close.How) + ")"
}

// looked explains a rung that ended and passes all the same: the application's
// client does not use such a connection.
func looked(o probes.Outcome) string {
	if o.Verdict == probes.VerdictFail || o.Close == nil || o.Client == nil || o.Client.Experiences == "" {
		return ""
	}
	return clean(o.Client.Kind + " " + o.Client.Experiences)
}

// result says what an attempt came to, how fast, and against which round trip
// when it failed: an end within one round trip was no answer to the request.
func result(a probes.Attempt) string {
	text := got(a) + " in " + latency(a.Elapsed)
	switch {
	case a.OK() || a.Status != 0 || a.RTT == 0:
	case a.Elapsed < a.RTT:
		text += ", less than one round trip (" + latency(a.RTT) + ")"
	default:
		text += ", round trip " + latency(a.RTT)
	}
	return text
}

// attempt returns the outcome's last attempt on that kind of connection, or nil.
func attempt(o probes.Outcome, c probes.Connection) *probes.Attempt {
	for i := len(o.Attempts) - 1; i >= 0; i-- {
		if o.Attempts[i].Connection == c {
			return &o.Attempts[i]
		}
	}
	return nil
}

// leading returns the failure that an incident is told by: the first of those
// that come nearest to the application. nil: none failed.
func leading(outcomes []probes.Outcome, family probes.Family) *probes.Outcome {
	var lead *probes.Outcome
	for i, o := range outcomes {
		if o.Verdict != probes.VerdictFail || o.Family != family {
			continue
		}
		if lead == nil || nearness(o) > nearness(*lead) {
			lead = &outcomes[i]
		}
	}
	return lead
}

// nearness says how much of a failure reaches the application's callers.
func nearness(o probes.Outcome) int {
	if o.Client == nil || o.Client.Experiences == "" {
		return 0
	}
	switch o.Retry.Application {
	case probes.CoverUncovered, probes.CoverUnsafe:
		return 4
	case probes.CoverUnknown:
		return 3
	case probes.CoverCovered:
		return 2
	}
	return 1 // the client copes
}

// traceOf returns the trace id of the attempt that decided, or of any.
func traceOf(o probes.Outcome) string {
	trace := ""
	for _, a := range o.Attempts {
		if a.Reason == o.Reason && a.TraceID != "" {
			return a.TraceID
		}
		trace = a.TraceID
	}
	return strings.TrimSpace(trace)
}

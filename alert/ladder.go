package alert

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"perch.example/probes"
)

// ladderLines draw what each outcome showed, a row each: which holds worked,
// where it ended, by whom, how fast against the round trip, and what the
// control did. Probes are named where there are several, and where there is no
// hold to tell. Below it stands where the client copes with what was seen.
func ladderLines(outcomes []probes.Outcome) []string {
	several, holds, reuses := false, false, false
	for _, o := range outcomes {
		several = several || o.Probe != outcomes[0].Probe
		holds = holds || o.Kind == probes.KindIdle
		reuses = reuses || attempt(o, probes.ConnectionReused) != nil
	}
	head := func(probe, hold, verdict string) []string {
		var cells []string
		if several || !holds {
			cells = append(cells, probe)
		}
		if holds {
			cells = append(cells, hold)
		}
		return append(cells, verdict)
	}
	var rows [][]string
	if reuses {
		rows = append(rows, append(head("probe", "hold", ""), "while idle", "reuse", "control (fresh)"))
	}
	for _, o := range outcomes {
		rows = append(rows, append(head(clean(o.Probe), held(o), rowWord(o)), story(o)...))
	}
	return append(columns(rows), copes(outcomes)...)
}

// ladderHeading says how to read the lines.
func ladderHeading(outcomes []probes.Outcome) string {
	for _, o := range outcomes {
		if o.Kind != probes.KindIdle {
			continue
		}
		const heading = "The ladder: connections held idle, then reused"
		if o.KeepAlive > 0 {
			return heading + " (expected to live for " + age(o.KeepAlive) + ")"
		}
		return heading
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
	if o.Unused {
		return age(o.Hold) + " unused"
	}
	return age(o.Hold)
}

// story tells an outcome in cells: three for a connection that was reused,
// else one.
func story(o probes.Outcome) []string {
	reused, control := o.Decides()
	if reused == nil {
		return []string{opening(o)}
	}
	if burst, number, ok := o.Call(reused); ok && reused.Connection != probes.ConnectionReused {
		return []string{fmt.Sprintf("call %d of burst %d, on a new connection: %s", number, burst, result(*reused))}
	}
	cells := []string{whileIdle(o, *reused), result(*reused), "-"}
	if control != nil {
		cells[2] = result(*control)
	}
	return cells
}

// opening tells of attempts on fresh connections, where nothing was reused.
func opening(o probes.Outcome) string {
	if len(o.Attempts) == 0 {
		return "not tried"
	}
	if o.Burst != nil { // hundreds of calls, of which none decided
		return fmt.Sprintf("%d of %d calls were made", len(o.Burst.Calls), o.Burst.Shape.Calls())
	}
	text := ""
	if o.Kind == probes.KindIdle {
		text = "opening request: "
	}
	for i, a := range o.Attempts {
		switch {
		case i == 0:
		case a.Connection == probes.ConnectionControl:
			text += ", control: "
		default:
			text += ", then "
		}
		text += result(a)
	}
	return text
}

// whileIdle says when, by whom and how the connection ended while it was idle,
// or that nothing was seen.
func whileIdle(o probes.Outcome, reused probes.Attempt) string {
	switch {
	case o.Close == nil && reused.OK():
		return "stayed open"
	case o.Close == nil:
		return "looked open"
	case o.ClosedBy == "peer":
		return o.Close.How.Words() + " by peer at " + age(o.Close.Age)
	}
	return o.Close.How.Words() + " by unknown at " + age(o.Close.Age)
}

// copes explains rungs that ended and do the application no harm: its client
// does not use such a connection, or sends again by itself. A probe without a hold is
// named.
func copes(outcomes []probes.Outcome) []string {
	var texts []string
	rungs := map[string][]string{}
	for _, o := range outcomes {
		if o.Close == nil || nearness(o) != 1 {
			continue
		}
		text := clean(o.Client.Kind + " " + o.Client.Experiences)
		if rungs[text] == nil {
			texts = append(texts, text)
		}
		name := held(o)
		if name == "" {
			name = clean(o.Probe)
		}
		if !slices.Contains(rungs[text], name) {
			rungs[text] = append(rungs[text], name)
		}
	}
	for i, text := range texts {
		texts[i] = strings.Join(rungs[text], ", ") + ": " + text
	}
	return texts
}

// result says what an attempt came to, how fast, and against which round trip
// when it failed: an end within one round trip was no answer to the request.
// Round trips within one machine say nothing.
func result(a probes.Attempt) string {
	const near = 200 * time.Microsecond
	text := got(a)
	if a.Elapsed > 0 {
		text += " in " + latency(a.Elapsed)
	}
	if !a.OK() && a.Status == 0 && a.RoundTrip() >= near {
		text += " (round trip " + latency(a.RoundTrip()) + ")"
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
// that come nearest to the application, and of a ladder's rungs that are equally
// near the one that closed earliest, as the report has it. nil: none failed.
func leading(outcomes []probes.Outcome, family probes.Family) *probes.Outcome {
	var lead *probes.Outcome
	for i, o := range outcomes {
		if !fails(o) || o.Family != family {
			continue
		}
		if lead == nil || nearness(o) > nearness(*lead) || closedBefore(o, *lead) {
			lead = &outcomes[i]
		}
	}
	return lead
}

// closedBefore reports whether o is a rung like the lead that closed earlier, to
// what is printed of it.
func closedBefore(o, lead probes.Outcome) bool {
	return o.ID() == lead.ID() && o.Reason == lead.Reason && nearness(o) == nearness(lead) &&
		o.Close != nil && lead.Close != nil && o.Close.How == lead.Close.How && o.Close.Age.Round(time.Millisecond) < lead.Close.Age.Round(time.Millisecond)
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
	if call, _ := o.Decides(); o.Burst != nil && call != nil {
		return strings.TrimSpace(call.TraceID)
	}
	trace := ""
	for _, a := range o.Attempts {
		if a.Reason == o.Reason && a.TraceID != "" {
			return a.TraceID
		}
		trace = a.TraceID
	}
	return strings.TrimSpace(trace)
}

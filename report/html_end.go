package report

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"perch.example/probes"
)

// runNotes are what must be known of the run before anything else.
func runNotes(run probes.Run) []htmlNote {
	var out []htmlNote
	for _, problem := range run.Problems {
		out = append(out, htmlNote{"fail", "Problem", "perch could not do its own part (" + string(problem.Part) + "): " + problem.Text})
	}
	if run.CutShort != "" {
		out = append(out, htmlNote{"incomplete", "Cut short", run.CutShort + ". What had not ended is not judged."})
	}
	for i, incident := range run.Incidents {
		if i == mostIncidents {
			out = append(out, htmlNote{"skipped", "Incident", fmt.Sprintf("and %d more", len(run.Incidents)-i)})
			break
		}
		out = append(out, htmlNote{incidentClass(incident.State), "Incident", incident.Said})
	}
	for _, said := range run.Notices {
		out = append(out, htmlNote{"degraded", "Notices", said})
	}
	return out
}

// asides are what else the text report's end says of the run as a whole.
func asides(run probes.Run) []htmlNote {
	var out []htmlNote
	for _, text := range settledWords(run.Settled) {
		out = append(out, htmlNote{"skipped", "Settling", text})
	}
	if late := lateness(run); late != "" {
		out = append(out, htmlNote{"degraded", "Own delay", late})
	}
	if len(run.NotDue) > 0 {
		out = append(out, htmlNote{"skipped", "Not due", strings.Join(run.NotDue, ", ") + " (`--all` runs them all the same)"})
	}
	return out
}

func incidentClass(s probes.IncidentState) string {
	switch incidentInk(s) {
	case inkBad:
		return "fail"
	case inkWarn:
		return "degraded"
	default:
		return "skipped"
	}
}

// budgetTable is what was sent to each target; of very many, those that were held
// back, and the first.
func budgetTable(uses []probes.BudgetUse) ([]htmlBudget, string) {
	const most = 50
	sorted := slices.Clone(uses)
	held := func(u probes.BudgetUse) int {
		if u.Waited > 0 || u.Denied > 0 {
			return 0
		}
		return 1
	}
	if len(sorted) > most {
		slices.SortStableFunc(sorted, func(a, b probes.BudgetUse) int { return held(a) - held(b) })
	}
	var out []htmlBudget
	rest, requests := 0, 0
	for i, u := range sorted {
		if i >= most {
			rest++
			requests += u.Requests
			continue
		}
		out = append(out, newHTMLBudget(u))
	}
	if rest == 0 {
		return out, ""
	}
	return out, fmt.Sprintf("And %s more: %s.", counted(rest, "target"), counted(requests, "request"))
}

func newHTMLBudget(u probes.BudgetUse) htmlBudget {
	b := htmlBudget{Target: u.Target, Requests: u.Requests}
	if u.LimitPerSecond > 0 {
		b.Limit = strings.TrimPrefix(strings.TrimPrefix(allowance(u.LimitPerSecond), "its budget is "), "its budget of ")
	}
	if u.PeakPerSecond > 0 {
		b.Peak = decimal(u.PeakPerSecond, 2)
	}
	var held []string
	if u.Waited > 0 {
		held = append(held, "waited "+latency(u.Waited))
	}
	if u.Denied > 0 {
		held = append(held, counted(u.Denied, "request")+" not sent")
	}
	if !u.LeaveAlone.IsZero() {
		held = append(held, "left alone until "+u.LeaveAlone.UTC().Format(time.RFC3339))
	}
	b.Held = strings.Join(held, ", ")
	return b
}

package report

import "perch.example/probes"

// incidentJSON is where an incident stands after the run.
type incidentJSON struct {
	Name       string               `json:"name"`
	Target     string               `json:"target"`
	Family     probes.Family        `json:"family"`
	State      probes.IncidentState `json:"state"`
	Since      string               `json:"since,omitempty"`
	FailedRuns int                  `json:"failed_runs"`
	Counted    int                  `json:"counted_runs"`
	MutedUntil string               `json:"muted_until,omitempty"`
	Notice     probes.NoticeState   `json:"notice"`
	Said       string               `json:"said"`
}

func newIncident(i probes.Incident) incidentJSON {
	return incidentJSON{
		Name: i.Name, Target: i.Target, Family: i.Family, State: i.State, Since: timestamp(i.Since),
		FailedRuns: i.Failed, Counted: i.Counted, MutedUntil: timestamp(i.MutedUntil), Notice: i.Notice, Said: i.Said,
	}
}

// incidentInk is bad for what is open, odd for what may come, and nothing for
// what is over.
func incidentInk(s probes.IncidentState) ink {
	switch s {
	case probes.IncidentFiring, probes.IncidentFlapping:
		return inkBad
	case probes.IncidentPending:
		return inkWarn
	case probes.IncidentResolved, probes.IncidentClosed:
	}
	return inkPlain
}

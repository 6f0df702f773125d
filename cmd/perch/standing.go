package main

import (
	"fmt"
	"slices"

	"perch.example/alert"
	"perch.example/config"
	"perch.example/probes"
)

// sayIncidents puts into the report where each incident stands, what people
// have heard of it, and why nobody hears.
func (p *pass) sayIncidents(run *probes.Run) {
	active := p.silences(run.Finished)
	for _, i := range p.memory.Incidents {
		if i.State == alert.StateResolved && !i.Ended.Equal(run.Finished) {
			continue // over before this run
		}
		run.Incidents = append(run.Incidents, p.standing(i, active))
	}
	if waiting, oldest := p.memory.Waiting(); waiting > 0 {
		run.Notices = append(run.Notices, fmt.Sprintf("%s to be told, since %s", count(waiting, "notice waits", "notices wait"), stamp(oldest)))
	}
	if why := p.untold(); why != "" && (len(run.Incidents) > 0 || len(run.Notices) > 0) {
		run.Notices = append(run.Notices, "nothing is sent: "+why)
	}
}

// sayUnkept says why the message that is shown is not sent, where the config
// looks as if it were.
func (p *pass) sayUnkept(run *probes.Run) {
	if len(destinations(p.cfg)) > 0 && p.notices != "" {
		run.Notices = append(run.Notices, "nothing is sent: "+p.untold())
	}
}

// untold says why nobody is told anything; empty: notices are sent.
func (p *pass) untold() string {
	var why string
	switch {
	case p.cfg.Alerts.Mode == config.ModeReport:
		why = "alerts.mode is report"
	case len(destinations(p.cfg)) == 0:
		why = "the config names no destination"
	case p.store == nil:
		return "the config names no state, and without one every run would tell all of it anew"
	default:
		return ""
	}
	if p.store == nil {
		why += "; and there is no state, without which nothing is remembered of earlier runs"
	}
	return why
}

// standing is where one incident stands.
func (p *pass) standing(i alert.Incident, active []alert.Silence) probes.Incident {
	out := probes.Incident{
		Name: i.Name(), Target: i.Target, Family: i.Family, State: stationOf(i), Since: i.Since, Failed: i.Failed, Counted: i.Counted,
		Notice: p.noticeOf(i),
	}
	out.Said = fmt.Sprintf("%s (%s) %s", i.Target, i.Family, p.lifeOf(i, out.State))
	if s, muted := mutes(active, i.Probes); muted {
		out.MutedUntil, out.Notice = s.Until, probes.NoticeMuted
		out.Said += fmt.Sprintf("; its notices are muted until %s (%s)", stamp(s.Until), s.Reason)
	}
	switch out.Notice {
	case probes.NoticeWaiting:
		if i.Gathering {
			out.Said += "; it is told within a minute, with others that may follow"
			break
		}
		out.Said += "; what there is to tell of it waits"
	case probes.NoticeTold:
		out.Said += "; told"
	case probes.NoticeNone, probes.NoticeMuted:
	}
	return out
}

func stationOf(i alert.Incident) probes.IncidentState {
	switch {
	case i.State == alert.StatePending:
		return probes.IncidentPending
	case i.State == alert.StateResolved && (i.EndedBy == alert.EndedAccepted || i.EndedBy == alert.EndedRemoved):
		return probes.IncidentClosed
	case i.State == alert.StateResolved:
		return probes.IncidentResolved
	case len(i.Flapping) > 0:
		return probes.IncidentFlapping
	}
	return probes.IncidentFiring
}

// lifeOf says where the incident stands, and what would move it on.
func (p *pass) lifeOf(i alert.Incident, at probes.IncidentState) string {
	since, failed := stamp(i.Since), fmt.Sprintf("%d of %d runs failed", i.Failed, i.Counted)
	switch at {
	case probes.IncidentPending:
		return fmt.Sprintf("is pending since %s: %s", since, pendingWords(i, p.cfg.Alerts.FireAfter))
	case probes.IncidentFlapping:
		return fmt.Sprintf("is flapping since %s: %s; it is held open until no run has failed for an hour, the last did at %s", since, failed, stamp(i.Failing))
	case probes.IncidentResolved:
		return fmt.Sprintf("is resolved in this run: it was open since %s, %s", since, failed)
	case probes.IncidentClosed:
		why := "its probes are no longer in the config"
		if i.EndedBy == alert.EndedAccepted {
			why = "what fails is accepted now"
		}
		return fmt.Sprintf("is closed in this run, and was open since %s: %s", since, why)
	case probes.IncidentFiring:
	}
	if unseen := i.Unjudged(); unseen != "" {
		return fmt.Sprintf("is open since %s: %s; %s", since, failed, unseen)
	}
	said := fmt.Sprintf("is firing since %s: %s", since, failed)
	if i.Good > 0 {
		said += fmt.Sprintf("; %d of %d good runs in a row, then it is resolved", i.Good, max(p.cfg.Alerts.ResolveAfter, i.Good+1))
	}
	return said
}

// pendingWords say how far it is to an alert.
func pendingWords(i alert.Incident, fireAfter int) string {
	failures := 0
	for _, failed := range i.Runs {
		if failed {
			failures++
		}
	}
	said := fmt.Sprintf("%d of %s", failures, count(fireAfter, "failed run", "failed runs"))
	if more := moreToFire(i.Runs, fireAfter); more > 1 {
		return said + fmt.Sprintf(": %d more fire", more)
	}
	return said + ": the next one fires"
}

// moreToFire counts the failed runs, from the next one on, after which the
// incident fires: fireAfter of the last fireAfter+1 have to be.
func moreToFire(runs []bool, fireAfter int) int {
	runs = slices.Clone(runs)
	for more := 1; ; more++ {
		runs = append(runs, true)
		failures := 0
		for _, failed := range runs[max(0, len(runs)-fireAfter-1):] {
			if failed {
				failures++
			}
		}
		if failures >= fireAfter {
			return more
		}
	}
}

// noticeOf says what people have heard of an incident.
func (p *pass) noticeOf(i alert.Incident) probes.NoticeState {
	switch {
	case p.alertMode() != alert.ModeNotify:
		return probes.NoticeNone
	case p.memory.Untold(i):
		return probes.NoticeWaiting
	case i.Announced:
		return probes.NoticeTold
	}
	return probes.NoticeNone
}

// mutes returns the silence behind which all of the probes are: the first of
// those to end.
func mutes(active []alert.Silence, ids []string) (first alert.Silence, muted bool) {
	for _, id := range ids {
		var last alert.Silence
		for _, s := range active {
			if s.Matches(id) && s.Until.After(last.Until) {
				last = s
			}
		}
		if last.Until.IsZero() {
			return alert.Silence{}, false
		}
		if first.Until.IsZero() || last.Until.Before(first.Until) {
			first = last
		}
	}
	return first, len(ids) > 0
}

package alert

import (
	"slices"
	"time"

	"perch.example/probes"
)

// counting is what a run means for an incident.
type counting int

const (
	uncounted counting = iota // says nothing: neither fires nor resolves
	failed
	good
)

// fails reports whether an outcome makes an incident: what is accepted does
// not.
func fails(o probes.Outcome) bool { return o.Verdict == probes.VerdictFail && o.Accepted == nil }

// judge decides how a run counts for an incident to which those probes have
// contributed so far, and returns the probes that contribute now.
func judge(contributing []string, about key, run probes.Run) (counting, []string) {
	all := slices.Clone(contributing)
	failedNow := false
	for _, o := range run.Outcomes {
		if o.Target != about.target || o.Family != about.family || !fails(o) {
			continue
		}
		failedNow = true
		if !slices.Contains(all, o.ID()) {
			all = append(all, o.ID())
		}
	}
	if !slices.ContainsFunc(all, func(id string) bool { return whole(id, run) }) {
		return uncounted, nil
	}
	if failedNow {
		return failed, all
	}
	for _, o := range run.Outcomes {
		if slices.Contains(all, o.ID()) && o.Verdict != probes.VerdictPass && o.Verdict != probes.VerdictDegraded && o.Accepted == nil {
			return uncounted, nil
		}
	}
	return good, all
}

// whole reports whether a probe ran whole: something of it was judged, and
// nothing that was begun is without a judgement. What was left out (skipped)
// does not spoil a failure: after several failures the breaker leaves out the
// rest of a probe, and a dead service must still count.
func whole(id string, run probes.Run) bool {
	judged := false
	for _, o := range run.Outcomes {
		if o.ID() != id {
			continue
		}
		switch o.Verdict {
		case probes.VerdictPass, probes.VerdictDegraded, probes.VerdictFail:
			judged = true
		case probes.VerdictSkipped:
		case probes.VerdictIncomplete:
			return false
		default:
			return false // no verdict at all is no judgement
		}
	}
	return judged
}

// count adds a run that counts.
func (i *Incident) count(c counting, contributing []string, at time.Time, o Options) {
	if !i.Last.IsZero() && at.After(i.Last) {
		i.Apart = at.Sub(i.Last)
	}
	i.Probes, i.Last = contributing, at
	i.Counted++
	i.Good++
	i.Otherwise = Otherwise{}
	if c == failed {
		i.Failed++
		i.Good, i.Failing = 0, at
	}
	i.Runs = append(i.Runs, c == failed)
	i.Runs = i.Runs[max(0, len(i.Runs)-o.FireAfter-1):]
}

// event is what becomes of an incident.
type event int

const (
	stays event = iota
	opens
	ends
	vanishes
)

// advance decides what the runs that counted make of the incident.
func (i *Incident) advance(o Options) event {
	switch i.State {
	case StatePending:
		switch failures := i.failures(); {
		case failures == 0:
			return vanishes // a bad run that only good ones followed was never an incident
		case failures >= o.FireAfter && i.Good == 0:
			return opens
		}
	case StateFiring:
		if i.Good >= o.ResolveAfter && i.calm() {
			return ends
		}
	case StateResolved:
	}
	return stays
}

// failures counts the failed runs in the window.
func (i *Incident) failures() int {
	n := 0
	for _, failed := range i.Runs {
		if failed {
			n++
		}
	}
	return n
}

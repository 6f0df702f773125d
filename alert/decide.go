package alert

import (
	"slices"
	"time"

	"perch.example/probes"
)

// Options are the config's alerts, and what a notice needs beside the run.
type Options struct {
	FireAfter    int // failed runs, of the last FireAfter+1 that counted; 0: 1
	ResolveAfter int // good runs in a row; 0: 1
	Mode         Mode
	Now          time.Time
	Destinations []string      // names, to each of which every notice goes; with none, nothing is kept for sending
	RemindEvery  time.Duration // of an open incident, 4 h at most while its target is unreachable; 0: never
	Silences     []Silence
	Known        []string // every "target/probe" of the whole config; nil: not known
	DashboardURL string   // shown as a link; empty: none
	Config       string   // the config's path as it was given, for the commands in notices; empty: the default
}

// Mode says whether what is decided is also told.
type Mode string

// The modes. The zero value tells nobody.
const (
	ModeNotify Mode = "notify"
	ModeReport Mode = "report" // decide and record, for display only
)

// Decide folds one run into the memory.
//
// With ModeNotify it returns all that is to be sent now, in this order: what
// an earlier run could not deliver, then what this run decided. Each stays in
// the memory's outbox until Deliver has told it. Otherwise it returns, for display, what
// this run would have told; nothing is kept for sending.
//
// It is pure: neither m nor run is changed.
func Decide(m Memory, run probes.Run, o Options) (Memory, []Notice) {
	o = o.withDefaults()
	next := m.clone()
	for i := range next.Outbox {
		next.Outbox[i].interrupted()
	}
	var decided []Notice
	for _, about := range next.keys(run) {
		decided = append(decided, next.step(about, run, o)...)
	}
	next.forget(o.Now)
	if o.Mode != ModeNotify {
		return next, decided
	}
	for _, n := range decided {
		n.Ways = ways(o.Destinations)
		next.Outbox = append(next.Outbox, n)
	}
	return next, next.due(o.Now)
}

func (o Options) withDefaults() Options {
	o.FireAfter, o.ResolveAfter = max(o.FireAfter, 1), max(o.ResolveAfter, 1)
	return o
}

// due returns the outbox, with how long each notice has waited.
func (m Memory) due(now time.Time) []Notice {
	due := slices.Clone(m.Outbox)
	for i := range due {
		due[i].Waited = max(0, now.Sub(due[i].Decided))
		due[i].PossibleRepeat = slices.ContainsFunc(due[i].Ways, func(w Way) bool { return w.PossibleRepeat })
	}
	return due
}

// key is what one incident is about.
type key struct {
	target string
	family probes.Family
}

// keys returns all that the run may say something about: incidents that are
// not over, then new failures, in the run's order.
func (m Memory) keys(run probes.Run) []key {
	var keys []key
	for _, i := range m.Incidents {
		if i.State != StateResolved {
			keys = append(keys, key{i.Target, i.Family})
		}
	}
	for _, o := range run.Outcomes {
		about := key{o.Target, o.Family}
		if o.Verdict == probes.VerdictFail && !slices.Contains(keys, about) {
			keys = append(keys, about)
		}
	}
	return keys
}

// step folds the run into one incident and returns what there is to tell.
func (m *Memory) step(about key, run probes.Run, o Options) []Notice {
	at := slices.IndexFunc(m.Incidents, func(i Incident) bool {
		return i.State != StateResolved && i.Target == about.target && i.Family == about.family
	})
	var have Incident
	if at >= 0 {
		have = m.Incidents[at]
	}
	count, failing := judge(have.Probes, about, run)
	if count == uncounted || at < 0 && count == good {
		return nil
	}
	if at < 0 {
		m.Count++
		m.Incidents = append(m.Incidents, Incident{
			Number: m.Count, Target: about.target, Family: about.family, State: StatePending, Since: started(run, o.Now),
		})
		at = len(m.Incidents) - 1
	}
	now := &m.Incidents[at]
	now.count(count, failing, started(run, o.Now), o)
	happened := now.advance(o)
	switch happened {
	case opens:
		now.open(run, o)
	case ends:
		now.State, now.Ended = StateResolved, o.Now
		if now.Announced || o.Mode != ModeNotify {
			return []Notice{resolvedNotice(*now, run, o)}
		}
		return nil // nobody was told that it began
	case vanishes:
		m.Incidents = slices.Delete(m.Incidents, at, at+1)
		return nil
	case stays:
	}
	if !now.tells(happened, o) {
		return nil
	}
	now.Announced = o.Mode == ModeNotify
	return []Notice{firingNotice(*now, run, o)}
}

// tells reports whether people hear of the incident now: once, when it opens;
// or, when it opened in a mode that tells nobody, at its next failed run.
func (i *Incident) tells(happened event, o Options) bool {
	if o.Mode != ModeNotify {
		return happened == opens
	}
	return i.State == StateFiring && !i.Announced && i.Good == 0
}

// counting is what a run means for an incident.
type counting int

const (
	uncounted counting = iota // says nothing: neither fires nor resolves
	failed
	good
)

// judge decides how a run counts for an incident to which those probes have
// contributed so far, and returns the probes that contribute now.
func judge(contributing []string, about key, run probes.Run) (counting, []string) {
	all := slices.Clone(contributing)
	failedNow := false
	for _, o := range run.Outcomes {
		if o.Target != about.target || o.Family != about.family || o.Verdict != probes.VerdictFail {
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
		if slices.Contains(all, o.ID()) && o.Verdict != probes.VerdictPass && o.Verdict != probes.VerdictDegraded {
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
	i.Probes, i.Last = contributing, at
	i.Counted++
	i.Good++
	if c == failed {
		i.Failed++
		i.Good = 0
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
		if i.Good >= o.ResolveAfter {
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

// open makes the incident fire, and keeps what was seen for its end.
func (i *Incident) open(run probes.Run, o Options) {
	outcomes := contributed(i.Probes, run)
	i.State, i.Fired = StateFiring, o.Now
	i.Opened = look(outcomes, i.Family)
	if lead := leading(outcomes, i.Family); lead != nil {
		i.Owner, i.Runbook = lead.Notice.Owner, lead.Notice.Runbook
	}
}

// contributed returns the outcomes of those probes.
func contributed(ids []string, run probes.Run) []probes.Outcome {
	var out []probes.Outcome
	for _, o := range run.Outcomes {
		if slices.Contains(ids, o.ID()) {
			out = append(out, o)
		}
	}
	return out
}

func started(run probes.Run, now time.Time) time.Time {
	if run.Started.IsZero() {
		return now
	}
	return run.Started
}

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
	NoBacklog    []string      // those of the destinations that forget by themselves: what waits for them is not summed up
	RemindEvery  time.Duration // of an open incident, 4 h at most while its target is unreachable; 0: never
	Silences     []Silence
	Known        []string // every "target/probe" of the whole config; nil: not known
	DashboardURL string   // shown as a link; empty: none
	Config       string   // the config's path as it was given, for the commands in notices; empty: the default
	Gather       bool     // what opens is not told, but kept for Gathered
	Beside       string   // of a perch that runs for long, and has the state to itself: how a command is run beside it, as "perch"; empty: perch run can run again
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
	next, all := m.clone(), sortRun(run)
	next.notAhead(o.Now)
	next.Incidents = slices.DeleteFunc(next.Incidents, func(i Incident) bool { return i.stale(o.Now) })
	for i := range next.Outbox {
		next.Outbox[i].interrupted()
	}
	decided := next.unmute(o)
	turns := next.drop(o)
	for _, about := range next.keys(run) {
		turns = append(turns, next.step(about, all.of(about.target), o)...)
	}
	decided = append(decided, next.notices(turns, all, o)...)
	decided = append(decided, next.sumUpDay(run, o)...)
	if o.Mode == ModeNotify {
		next.post(decided, all, o)
	}
	next.forget(o.Now)
	if o.Mode == ModeNotify {
		return next, next.due(o.Now)
	}
	return next, decided
}

func (o Options) withDefaults() Options {
	o.FireAfter, o.ResolveAfter = max(o.FireAfter, 1), max(o.ResolveAfter, 1)
	if len(o.Destinations) == 0 {
		o.Mode = ModeReport // nobody would be told
	}
	return o
}

// post puts what was decided into the outbox. A reminder takes the place of an
// older one of the same incidents that still waits.
func (m *Memory) post(decided []Notice, all sortedRun, o Options) {
	m.readdress(o.Destinations)
	for _, n := range decided {
		if n.Kind == KindReminder {
			m.Outbox = slices.DeleteFunc(m.Outbox, func(old Notice) bool {
				return old.Kind == KindReminder && !old.Whole && old.Thread == n.Thread && sameAbout(old, n)
			})
		}
		if n.Ways == nil {
			n.Ways = ways(o.Destinations)
		}
		m.Outbox = append(m.Outbox, n)
	}
	m.sumUpBacklog(all.Run, o)
	m.tellOwed(all, o)
}

// sameAbout reports whether two notices tell the same incidents.
func sameAbout(a, b Notice) bool {
	return slices.EqualFunc(a.About, b.About, func(x, y About) bool { return x.Name == y.Name })
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
	has := map[key]bool{}
	for _, i := range m.Incidents {
		if i.State != StateResolved {
			keys = append(keys, key{i.Target, i.Family})
			has[key{i.Target, i.Family}] = true
		}
	}
	for _, o := range run.Outcomes {
		about := key{o.Target, o.Family}
		if fails(o) && !has[about] {
			keys = append(keys, about)
			has[about] = true
		}
	}
	return keys
}

// step folds the run, as far as it is of its target, into one incident and returns its turn, if it has one.
func (m *Memory) step(about key, run probes.Run, o Options) []turn {
	at := slices.IndexFunc(m.Incidents, func(i Incident) bool {
		return i.State != StateResolved && i.Target == about.target && i.Family == about.family
	})
	var have Incident
	if at >= 0 {
		have = m.Incidents[at]
	}
	count, failing := judge(have.Probes, about, run)
	switch {
	case count == uncounted && at >= 0:
		m.Incidents[at].otherwise(run, started(run, o.Now))
		return nil
	case count == uncounted || at < 0 && count == good:
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
	now.Every = interval(contributed(now.Probes, run), now.Every)
	switch now.advance(o) {
	case opens:
		now.open(run, o)
		now.flap(m.flaps(*now, o.Now))
	case ends:
		by := EndedRecovered
		if acceptedNow(*now, contributed(now.Probes, run)) != nil {
			by = EndedAccepted
		}
		return now.end(o, by)
	case vanishes:
		m.Incidents = slices.Delete(m.Incidents, at, at+1)
		return nil
	case stays:
	}
	return now.tell(run, o, func() []string { return m.upToDate(now.name(), o.Destinations) })
}

// upToDate returns those of the destinations for which nothing of the incident
// waits but a reminder: there, that it is open does not go without saying.
func (m Memory) upToDate(incident string, destinations []string) []string {
	waits := map[string]bool{}
	for _, n := range m.Outbox {
		if n.Kind == KindReminder && !n.Whole || !n.tells(incident) {
			continue
		}
		for _, w := range n.Ways {
			waits[w.Destination] = waits[w.Destination] || !w.told()
		}
	}
	return slices.DeleteFunc(slices.Clone(destinations), func(d string) bool { return waits[d] })
}

// open makes the incident fire, and keeps what was seen for its end, and where
// it is told.
func (i *Incident) open(run probes.Run, o Options) {
	outcomes := contributed(i.Probes, run)
	i.State, i.Fired = StateFiring, o.Now
	i.Opened = look(outcomes, i.Family)
	if lead := leading(outcomes, i.Family); lead != nil {
		i.Owner, i.Runbook, i.Channel, i.Severity = lead.Notice.Owner, lead.Notice.Runbook, lead.Notice.Channel, lead.Notice.Severity
	}
}

// interval is the longest at which the probes are looked at, 0 where that is in
// every run; have, where the run does not say.
func interval(outcomes []probes.Outcome, have time.Duration) time.Duration {
	if len(outcomes) == 0 {
		return have
	}
	longest := time.Duration(0)
	for _, o := range outcomes {
		longest = max(longest, o.Every)
	}
	return longest
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

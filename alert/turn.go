package alert

import (
	"cmp"
	"slices"
	"time"

	"perch.example/probes"
)

// turn is what there is to tell of an incident after a run: at most one a run.
type turn struct {
	Incident
	kind      Kind
	trouble   string // what is told of it
	alike     string // what makes the same trouble of several targets one: nothing of their own numbers
	unhurt    bool   // the declared client copes with it
	whole     bool   // a reminder that tells all, since its opening stood in a backlog
	diagnosis probes.Diagnosis
	to        []string // of a reminder: the destinations that are up to date; the others hear what waits for them
	silence   *Silence // its end is kept until this is over; nil: it is told
}

// end closes the incident, and returns its turn where people are to hear of it:
// whoever was told that it began.
func (i *Incident) end(o Options, by EndedBy) []turn {
	i.State, i.Ended, i.EndedBy, i.Gathering = StateResolved, o.Now, by, false
	silence := o.muted(i.Probes)
	if !i.Announced && (o.Mode == ModeNotify || silence != nil) {
		return nil
	}
	return []turn{{Incident: *i, kind: KindResolved, diagnosis: i.Opened.Diagnosis, silence: silence}}
}

// tell returns the incident's turn while it is open, if it has one. What is
// told is noted; what is muted is not, so that it is told after the silence.
// A reminder goes to those alone that are up to date: where something of it is
// still to be delivered, that it is open goes without saying.
func (i *Incident) tell(run probes.Run, o Options, upToDate func() []string) []turn {
	lead := leading(contributed(i.Probes, run), i.Family)
	if i.State != StateFiring || i.Good > 0 || lead == nil {
		return nil
	}
	kind := i.due(*lead, o)
	if kind == "" {
		return nil
	}
	opening := kind == KindFiring || kind == KindFlapping
	if silence := o.muted(i.Probes); silence != nil {
		if opening {
			i.hush(*silence, o.Now)
		}
		return nil
	}
	if i.Gathering = opening && o.Gather; i.Gathering {
		return nil
	}
	var to []string
	if kind == KindReminder && o.Mode == ModeNotify {
		if to = upToDate(); len(to) == 0 {
			i.Heard = o.Now
			return nil
		}
	}
	i.heard(kind, lead.Diagnosis, o)
	said := i.turnOf(kind, run)
	said.to = to
	i.Silenced = Hush{} // said now
	return []turn{said}
}

// turnOf is a turn of an incident that fails in the run.
func (i *Incident) turnOf(kind Kind, run probes.Run) turn {
	outcomes := contributed(i.Probes, run)
	t := turn{Incident: *i, kind: kind, unhurt: unhurt(outcomes, i.Family)}
	if lead := leading(outcomes, i.Family); lead != nil {
		t.trouble, t.diagnosis, t.alike = troubleOf(*lead), lead.Diagnosis, trouble(lead.Diagnosis)
		if lead.ByClient {
			t.alike = t.trouble
		}
	}
	return t
}

// due returns what people have not heard of an open incident whose run failed:
// that it is open, that it is another trouble than they were told, or, after a
// while, that it is still there. In a mode that tells nobody an opening is shown
// once, and nothing of what was told before.
func (i *Incident) due(lead probes.Outcome, o Options) Kind {
	notify := o.Mode == ModeNotify
	switch {
	case notify && !i.Announced || !notify && !i.Announced && i.Heard.IsZero():
		if len(i.Flapping) > 0 {
			return KindFlapping
		}
		return KindFiring
	case !notify && i.Announced:
		return ""
	case len(i.Flapping) == 0 && lead.Diagnosis != "" && !slices.Contains(i.known(), lead.Diagnosis):
		return KindSharper
	case i.remind(o):
		return KindReminder
	}
	return ""
}

// known returns the diagnoses that people were told.
func (i Incident) known() []probes.Diagnosis {
	if len(i.Known) == 0 { // the format before did not keep them
		return []probes.Diagnosis{i.Opened.Diagnosis}
	}
	return i.Known
}

// heard notes what is told.
func (i *Incident) heard(kind Kind, d probes.Diagnosis, o Options) {
	i.Heard = o.Now
	switch kind {
	case KindFiring, KindFlapping:
		i.Announced, i.Thread, i.Known = o.Mode == ModeNotify, i.name(), []probes.Diagnosis{d}
	case KindSharper:
		i.Known = append(slices.Clone(i.known()), d)
	case KindReminder:
		i.Reminders++
	default:
	}
}

// hush notes that a silence kept the opening from being told.
func (i *Incident) hush(s Silence, now time.Time) {
	i.Gathering = false
	if i.Silenced.From.IsZero() {
		i.Silenced.From = now
	}
	i.Silenced.Until, i.Silenced.Reason = s.Until, shorten(clean(s.Reason), 200, "…")
}

// thread names the conversation in which it is told.
func (i Incident) thread() string {
	if i.Thread == "" {
		return i.name()
	}
	return i.Thread
}

// about is what machines need to know of it.
func (i Incident) about() About {
	return About{
		Name: i.name(), Target: i.Target, Family: i.Family, State: i.State, Probes: slices.Clone(i.Probes),
		Since: i.Since, Fired: i.Fired, Ended: i.Ended, EndedBy: i.EndedBy, Failed: i.Failed, Counted: i.Counted,
		Owner: i.Owner, Severity: i.Severity, Runbook: i.Runbook, Every: cmp.Or(i.Every, i.Apart), Trouble: i.Opened.trouble(),
	}
}

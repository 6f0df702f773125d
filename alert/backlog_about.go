package alert

import (
	"fmt"
	"slices"
	"time"

	"perch.example/probes"
)

// aboutAll returns the incidents that a backlog names, in its order: as the last
// notice of each has it, and as it stands now where it is still open.
func (m Memory) aboutAll(b Backlog, about []About) []About {
	last := map[string]About{}
	for _, a := range about {
		if last[a.Name].State != StateResolved { // what tells that it began may stand behind what tells its end
			last[a.Name] = a
		}
	}
	for _, i := range m.Incidents {
		if a, named := last[i.name()]; named && i.State == StateFiring && a.State != StateResolved {
			last[i.name()] = i.about()
		}
	}
	var all []About
	for _, e := range b.Entries {
		if a, known := last[e.Name]; known { // the format before has none
			all = append(all, a)
		}
	}
	return all
}

// highest is the severity of several incidents: the one that wakes somebody.
func highest(about []About) string {
	all := []string{"", "info", "ticket", "page"}
	most := 0
	for _, a := range about {
		most = max(most, slices.Index(all, a.Severity))
	}
	return all[most]
}

// owed notes what a notice's way to a destination must yet tell in full, since
// a backlog takes its place.
func (n Notice) owed(to Way, owed map[string]Way) {
	if n.Kind != KindFiring && n.Kind != KindFlapping && !n.Whole {
		return
	}
	for _, name := range n.names() {
		if _, has := owed[name]; !has {
			owed[name] = to
		}
	}
}

// owe notes which openings a destination knows by a backlog alone.
func (m *Memory) owe(owed map[string]Way) {
	if len(owed) == 0 {
		return
	}
	for i := range m.Incidents {
		at := &m.Incidents[i]
		if at.State != StateFiring {
			continue
		}
		if to, owes := owed[at.name()]; owes && at.owes(to.Destination) == nil {
			at.Owed = append(at.Owed, to)
		}
	}
}

// owes returns the way to a destination that must yet be told in full; nil: it
// was.
func (i *Incident) owes(destination string) *Way {
	for n := range i.Owed {
		if i.Owed[n].Destination == destination {
			return &i.Owed[n]
		}
	}
	return nil
}

// tellOwed tells in full, right behind the backlog that names them, what is
// still firing: an incident failed in this run, and is not silenced. A sum alone
// wakes nobody. What failed in no run since then is told as soon as it does.
func (m *Memory) tellOwed(all sortedRun, o Options) {
	for _, destination := range o.Destinations {
		var turns []turn
		doubted := map[string]bool{}
		for n := range m.Incidents {
			i := &m.Incidents[n]
			way := i.owes(destination)
			if way == nil || i.State != StateFiring || !i.failsIn(all.of(i.Target), o) || o.muted(i.Probes) != nil {
				continue
			}
			doubted[i.name()] = way.PossibleRepeat
			i.Owed = slices.DeleteFunc(i.Owed, func(w Way) bool { return w.Destination == destination })
			t := i.turnOf(KindReminder, all.of(i.Target))
			t.whole = true
			turns = append(turns, t)
		}
		for _, list := range slices.Backward(gather(turns)) { // each in front of those behind it
			n := m.wholeNotice(list, destination, all, o)
			n.Ways[0].PossibleRepeat = slices.ContainsFunc(list, func(t turn) bool { return doubted[t.name()] })
			m.Outbox = slices.Insert(m.Outbox, m.behindBacklog(destination, n.Channel), n)
		}
	}
}

// failsIn reports whether the incident was confirmed by the run.
func (i *Incident) failsIn(run probes.Run, o Options) bool {
	return i.Good == 0 && i.Failing.Equal(started(run, o.Now)) && leading(contributed(i.Probes, run), i.Family) != nil
}

func (m *Memory) wholeNotice(list []turn, destination string, all sortedRun, o Options) Notice {
	n := list[0].notice(all.of(list[0].Target), o)
	if len(list) > 1 {
		n = m.groupNotice(list, all, o)
	}
	n.ID = fmt.Sprintf("%s whole %s %s", n.ID, destination, o.Now.UTC().Format(time.RFC3339Nano))
	n.Whole, n.Ways = true, ways([]string{destination})
	return n
}

// behindBacklog is the place behind a destination's and channel's backlog; where
// none waits, the end.
func (m Memory) behindBacklog(destination, channel string) int {
	at := slices.IndexFunc(m.Outbox, func(n Notice) bool {
		_, waits := n.way(destination)
		return n.Kind == KindBacklog && n.Channel == channel && waits
	})
	if at < 0 {
		return len(m.Outbox)
	}
	return at + 1
}

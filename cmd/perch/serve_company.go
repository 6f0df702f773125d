package main

import (
	"context"
	"slices"
	"time"

	"perch.example/alert"
	"perch.example/probes"
)

// gatherFor bounds how long what opens waits to be told with others: the same trouble
// at three targets or more is told as one, though their ticks are spread over their
// every.
const gatherFor = time.Minute

// inTrouble reports whether anything is wrong that is not over.
func inTrouble(m alert.Memory) bool {
	return slices.ContainsFunc(m.Incidents, func(i alert.Incident) bool { return i.State != alert.StateResolved })
}

// company reports whether what opens by a run does so beside another target that is in
// trouble too, and was not told long ago. If so, it waits until each of these had its
// turn: for their longest every, and gatherFor at most.
func company(m alert.Memory, run probes.Run) (wait time.Duration, beside bool) {
	known, trouble := map[string]bool{}, map[string]bool{} // by target
	for _, i := range m.Incidents {
		switch i.State {
		case alert.StatePending:
			trouble[i.Target] = true
		case alert.StateFiring:
			known[i.Target] = true
			if run.Finished.Sub(i.Fired) <= gatherFor {
				trouble[i.Target] = true
			}
		case alert.StateResolved:
		}
	}
	for _, o := range run.Outcomes {
		if o.Verdict == probes.VerdictFail && o.Accepted == nil && !known[o.Target] {
			trouble[o.Target] = true
			wait = max(wait, o.Every)
		}
	}
	return min(wait, gatherFor), len(trouble) > 1
}

// gather decides, before a run is, whether what it opens is told at once or with others.
// What mends meanwhile is told before.
func (s *service) gather(w *pass, run probes.Run) {
	if w.store == nil {
		return // nobody is told
	}
	if w.memory.Mends(run) {
		s.tellGathered(w)
	}
	wait, beside := company(w.memory, run)
	if w.gather = beside || !s.gatherAt.IsZero(); w.gather && s.gatherAt.IsZero() {
		s.gatherAt = time.Now().Add(wait)
	}
}

// gathered is after a run was decided: where nothing waits, nothing gathers.
func (s *service) gathered() {
	if len(s.memory.Gathering()) == 0 {
		s.gatherAt = time.Time{}
	}
}

// tellGathered tells what waited, by what was found last.
func (s *service) tellGathered(w *pass) {
	s.gatherAt = time.Time{}
	all := w.memory.Gathering()
	if len(all) == 0 {
		return
	}
	run := s.lastOf(all, s.sys.clock())
	var notices []alert.Notice
	w.gather = false
	if w.memory, notices = alert.Gathered(w.memory, run, w.alertOptions(run.Finished)); w.alertMode() != alert.ModeNotify {
		w.show(notices)
		s.sayUnsent(w, run)
	}
	w.showMemory()
	s.moved, s.dirty = true, true
	s.showIncidents(w)
}

// tellDue tells what waited, where its time has come.
func (s *service) tellDue(ctx context.Context, now time.Time) {
	if s.gatherAt.IsZero() || s.gatherAt.After(now) {
		return
	}
	muted := s.silencesNow(ctx)
	s.mu.Lock()
	w := s.newPass()
	s.mu.Unlock()
	if muted != nil {
		w.silenced = muted
	}
	s.tellGathered(w)
}

// lastOf is the last run with what was found last of these incidents.
func (s *service) lastOf(incidents []alert.Incident, now time.Time) probes.Run {
	run := s.last
	run.Finished, run.Outcomes = now, nil
	f, _ := s.board.now()
	for _, i := range incidents {
		for _, id := range i.Probes {
			run.Outcomes = append(run.Outcomes, f.last[id]...)
		}
	}
	return run
}

// showIncidents puts on the board where incidents stand now.
func (s *service) showIncidents(w *pass) {
	run := probes.Run{Finished: s.last.Finished} // what ended in it is still shown
	if run.Finished.IsZero() {
		run.Finished = s.sys.clock()
	}
	if w.store != nil {
		w.sayIncidents(&run)
	}
	s.board.stand(run.Incidents, run.Notices)
}

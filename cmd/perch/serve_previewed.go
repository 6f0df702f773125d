package main

import (
	"maps"

	"perch.example/alert"
	"perch.example/probes"
)

// freshlyUnsent are the notices of a run that would be sent, and were not said yet. With a
// state the incident decides that. Without one each failed run is the first, and has all
// of its notices: those that were said are left out until their probes have been well.
func (s *service) freshlyUnsent(w *pass, run probes.Run) []alert.Notice {
	if w.store != nil {
		return w.unsent
	}
	well := wellIn(run)
	s.dropPreviewed(func(id string) bool { return well[id] })
	var all []alert.Notice
	for _, n := range w.unsent {
		failing := s.previewed[n.ID]
		if failing == nil {
			failing = map[string]bool{}
			s.previewed[n.ID] = failing
			all = append(all, n)
		}
		for _, about := range n.About {
			for _, id := range about.Probes {
				failing[id] = true
			}
		}
	}
	return all
}

// wellIn are the probes of a run, by target/probe, whose outcomes are all good: one that
// was cut short shows nothing of what is over.
func wellIn(run probes.Run) map[string]bool {
	well := map[string]bool{}
	for _, o := range run.Outcomes {
		good := o.Verdict == probes.VerdictPass || o.Verdict == probes.VerdictDegraded
		before, seen := well[o.ID()]
		well[o.ID()] = good && (before || !seen)
	}
	return well
}

// dropPreviewed forgets probes, and notices of which none is left.
func (s *service) dropPreviewed(over func(id string) bool) {
	for notice, failing := range s.previewed {
		maps.DeleteFunc(failing, func(id string, _ bool) bool { return over(id) })
		if len(failing) == 0 {
			delete(s.previewed, notice)
		}
	}
}

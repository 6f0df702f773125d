package runner

import (
	"time"

	"perch.example/plan"
)

// following are the places of a step's requests after the first, each with its instant
// as it was planned.
func following(s plan.Step) []place {
	next := make([]place, len(s.Next))
	for i, slot := range s.Next {
		next[i] = place{slot: slot, at: s.Start + time.Duration(i+1)*s.Spec.Gap, held: true}
	}
	return next
}

// following is the next of them; a gap where they are used up.
func (s *slots) following() *place {
	if s.nextUsed == len(s.next) {
		return &place{held: true}
	}
	s.nextUsed++
	return &s.next[s.nextUsed-1]
}

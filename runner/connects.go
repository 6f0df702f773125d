package runner

import (
	"time"

	"perch.example/plan"
	"perch.example/probes"
)

// placeOf is the booking of the request that a connection is opened for.
func (s *slots) placeOf(role probes.Role) *place {
	switch {
	case role == probes.RoleWarm:
		return &s.warm
	case role == probes.RoleDescribe && !s.describe.used:
		return &s.describe
	case role == probes.RoleControl:
		return &s.control
	case role == probes.RoleAgain, role == probes.RoleRedirect:
		return &s.gap
	default:
		return &place{}
	}
}

// placeInBurst is the same for a burst, which dials several connections at once. The
// lock is held.
func (s *slots) placeInBurst(a probes.Attempt) *place {
	switch off := time.Since(s.budget.start); {
	case a.Connection == probes.ConnectionControl:
		return s.bursts.control(off)
	case !s.warm.used:
		return &s.warm
	default:
		return s.bursts.call(off)
	}
}

// connected counts a CONNECT that a proxy did not carry out in the place of the
// request that it was for: the proxy has seen one, and may have dialled the API.
// What it did carry out is counted as that request leaves.
func (s *slots) connected(a probes.Attempt) {
	b := s.budget
	b.mu.Lock()
	defer b.mu.Unlock()
	if !a.ProxyAsked || s.dialling == "" && s.bursts == nil { // a handshake alone has asked the budget before
		return
	}
	now := time.Now()
	b.turnDay(now)
	if len(b.recent) == b.gate.Allowed() {
		b.recent = b.recent[1:]
	}
	b.spend(s, now)
	p := s.placeOf(s.dialling)
	if s.bursts != nil {
		p = s.placeInBurst(a)
	}
	if p.slot == 0 {
		return
	}
	b.cal.Move(p.slot, plan.At(now.Sub(b.start))) // where there is no room it stays: near, and as many
	p.used = true
	if p == &s.gap {
		s.gap = place{} // the next one needs its own
	}
}

// counts reports whether an attempt counts for how well the target is. A step that
// tries all addresses counts as one failure, if all of them failed: some bad ones are
// no reason to leave the target alone.
func (s *slots) counts(a probes.Attempt) bool {
	if !s.many {
		return true
	}
	first := !s.failed && !s.answered
	s.failed, s.answered = s.failed || a.Reason.Unwell(), s.answered || a.OK()
	return a.OK() || first
}

package alert

import "slices"

// DropUndeliverable empties the outbox where the config names no destination
// at all: nobody would ever be told, and with none nothing is decided to be
// told. It returns how many notices that were: say so. Call it before Decide,
// with the names of the destinations; where there is one, nothing is dropped.
//
// An open incident whose opening is dropped before any try to tell it may be
// told as opened once there is a destination again.
func DropUndeliverable(m Memory, destinations []string) (Memory, int) {
	if len(destinations) > 0 || len(m.Outbox)+len(m.Muted) == 0 {
		return m, 0
	}
	m = m.clone()
	for _, n := range m.Outbox {
		if n.tried() {
			continue
		}
		opens := n.opens()
		for i := range m.Incidents {
			if at := &m.Incidents[i]; slices.Contains(opens, at.name()) {
				at.Announced, at.Thread, at.Known, at.Owed = false, "", nil, nil
			}
		}
	}
	dropped := len(m.Outbox) + len(m.Muted)
	m.Outbox, m.Muted = nil, nil
	return m, dropped
}

// opens are the incidents that a notice tells as opened, and surely for the
// first time.
func (n Notice) opens() []string {
	if n.Kind == KindFiring || n.Kind == KindFlapping {
		return n.names()
	}
	var names []string
	for _, e := range n.Backlog.Entries {
		if !e.Opened.IsZero() && !e.PossibleRepeat {
			names = append(names, e.Name)
		}
	}
	return names
}

// tried reports whether a notice may have arrived somewhere.
func (n Notice) tried() bool {
	return slices.ContainsFunc(n.Ways, func(w Way) bool { return w.Sending || w.PossibleRepeat || len(w.Done) > 0 })
}

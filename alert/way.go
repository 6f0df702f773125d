package alert

import "slices"

// Way is a notice's way to one destination. A notice stays in the outbox for
// as long as it has one.
type Way struct {
	Destination string `json:"destination"`
	// Sending says that a send began whose end is not recorded.
	Sending bool `json:"sending,omitempty"`
	// PossibleRepeat says that the notice may have been delivered before.
	PossibleRepeat bool `json:"possible_repeat,omitempty"`
	// Done are the parts that were delivered; they are not sent again.
	Done []Part `json:"done,omitempty"`
}

// Part is a part of a notice that is sent by itself.
type Part string

// The parts. A destination without threads has the message alone.
const (
	PartMessage Part = "message" // the incident's first message, or a reply in its thread
	PartRoot    Part = "root"    // the first message, brought up to date
)

// MarkSending says that all that waits is about to be sent. Save the memory
// then: should perch be killed before the answers, the next run knows that
// they may have been delivered.
func MarkSending(m Memory) Memory {
	m = m.clone()
	for i := range m.Outbox {
		for w := range m.Outbox[i].Ways {
			m.Outbox[i].Ways[w].Sending = true
		}
	}
	return m
}

// mark takes a destination's way from what was told there, and keeps that of
// what was not for the next run. A notice without a way is told.
func (m *Memory) mark(destination string, marks []mark) {
	for at, is := range marks {
		if !is.due {
			continue
		}
		n := &m.Outbox[at]
		if is.told {
			n.Told = true
			n.Ways = slices.DeleteFunc(n.Ways, func(w Way) bool { return w.Destination == destination })
			continue
		}
		for w := range n.Ways {
			if way := &n.Ways[w]; way.Destination == destination {
				way.Sending, way.Done = false, is.done
				way.PossibleRepeat = way.PossibleRepeat || is.ambiguous
			}
		}
	}
}

// interrupted turns what an earlier run was sending when it ended without an
// answer into what may have been delivered.
func (n *Notice) interrupted() {
	for w := range n.Ways {
		if n.Ways[w].Sending {
			n.Ways[w].Sending, n.Ways[w].PossibleRepeat = false, true
		}
	}
}

// ways makes a notice's ways to each of the destinations.
func ways(destinations []string) []Way {
	all := make([]Way, len(destinations))
	for i, name := range destinations {
		all[i].Destination = name
	}
	return all
}

// Unaddressed counts the notices that wait for each destination that the
// config no longer has. The next decision takes these ways from the outbox: say
// so before.
func (m Memory) Unaddressed(destinations []string) map[string]int {
	count := map[string]int{}
	for _, n := range m.Outbox {
		for _, w := range n.Ways {
			if !slices.Contains(destinations, w.Destination) {
				count[w.Destination]++
			}
		}
	}
	return count
}

// readdress takes the ways to destinations that the config no longer has from
// the outbox. A notice that has no other goes to those that it has now where it
// was told nowhere, and nowhere where it was told.
func (m *Memory) readdress(destinations []string) {
	m.Outbox = slices.DeleteFunc(m.Outbox, func(n Notice) bool {
		return n.told() && !slices.ContainsFunc(n.Ways, func(w Way) bool { return slices.Contains(destinations, w.Destination) })
	})
	summed := map[string]bool{} // by sums that go elsewhere now
	for i := range m.Outbox {
		n := &m.Outbox[i]
		n.Told = n.told()
		// What was written for one destination says again what others may have
		// been told notice by notice.
		doubted := n.Kind == KindBacklog || n.Whole || slices.ContainsFunc(n.Ways, func(w Way) bool { return w.PossibleRepeat })
		n.Ways = slices.DeleteFunc(n.Ways, func(w Way) bool { return !slices.Contains(destinations, w.Destination) })
		if len(n.Ways) > 0 {
			continue
		}
		n.Ways = ways(destinations)
		for w := range n.Ways {
			n.Ways[w].PossibleRepeat = doubted
		}
		for _, e := range n.Backlog.Entries {
			summed[e.Name] = true
		}
	}
	for _, n := range m.Outbox {
		if slices.ContainsFunc(n.names(), func(name string) bool { return summed[name] }) {
			for w := range n.Ways {
				n.Ways[w].PossibleRepeat = true
			}
		}
	}
}

// told reports whether a destination has the notice, perhaps but for its
// pictures.
func (n Notice) told() bool {
	return n.Told || slices.ContainsFunc(n.Ways, Way.told)
}

// told reports whether all but the pictures arrived.
func (w Way) told() bool { return slices.Contains(w.Done, PartMessage) }

// waysOf are a turn's ways, where it does not go to every destination.
func waysOf(t turn) []Way {
	if t.to == nil {
		return nil
	}
	return ways(t.to)
}

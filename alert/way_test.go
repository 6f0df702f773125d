package alert

import "slices"

// told is the memory once one notice was told at one destination.
func (m Memory) told(id, destination string) Memory {
	return m.marked(id, destination, mark{told: true})
}

// untold is the memory once one notice was not told.
func (m Memory) untold(id, destination string, done []Part, ambiguous bool) Memory {
	return m.marked(id, destination, mark{done: done, ambiguous: ambiguous})
}

func (m Memory) marked(id, destination string, is mark) Memory {
	m = m.clone()
	is.due = true
	marks := make([]mark, len(m.Outbox))
	for at, n := range m.Outbox {
		if n.ID == id {
			marks[at] = is
		}
	}
	m.mark(destination, marks)
	m.Outbox = slices.DeleteFunc(m.Outbox, func(n Notice) bool { return len(n.Ways) == 0 })
	return m
}

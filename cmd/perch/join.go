package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"

	"perch.example/alert"
)

// joinMemories keeps this run's memory, and of another run's, which wrote its
// own meanwhile, what is new since base or changed there alone: an incident that
// it told has to end, and what it decided and did not tell is told all the same.
// Runs take turns, so this is for a turn that was lost on the way. A base that
// cannot be read is as none: it was set aside.
func joinMemories(base, mine, theirs json.RawMessage) (json.RawMessage, error) {
	var b, m, t alert.Memory
	if len(base) > 0 && json.Unmarshal(base, &b) != nil {
		b = alert.Memory{}
	}
	for raw, into := range map[*json.RawMessage]*alert.Memory{&mine: &m, &theirs: &t} {
		if len(*raw) == 0 {
			continue
		}
		if err := json.Unmarshal(*raw, into); err != nil {
			return nil, err
		}
	}
	m.Count = max(m.Count, t.Count)
	m.Incidents = joinIncidents(b.Incidents, m.Incidents, t.Incidents)
	m.Outbox = joinNotices(b.Outbox, m.Outbox, t.Outbox)
	m.Muted = joinNotices(b.Muted, m.Muted, t.Muted)
	for key, thread := range t.Threads {
		_, inBase := b.Threads[key]
		_, inMine := m.Threads[key]
		switch {
		case inMine && !alike(m.Threads[key], b.Threads[key]), inBase && !inMine:
			continue
		case m.Threads == nil:
			m.Threads = map[string]alert.Thread{}
		}
		m.Threads[key] = thread
	}
	if alike(m.Digest, b.Digest) {
		m.Digest = t.Digest
	}
	return json.Marshal(m)
}

// joinIncidents keeps at most one of a (target, family) that is not over: mine,
// unless theirs alone was told.
func joinIncidents(base, mine, theirs []alert.Incident) []alert.Incident {
	joined := slices.Clone(mine)
	for _, i := range theirs {
		same := func(have alert.Incident) bool { return have.Name() == i.Name() }
		was, at := slices.IndexFunc(base, same), slices.IndexFunc(joined, same)
		switch {
		case at >= 0 && was >= 0 && alike(joined[at], base[was]):
			joined[at] = i // changed by them alone
			continue
		case at < 0 && was >= 0:
			continue // forgotten by me
		case at < 0:
			at = slices.IndexFunc(joined, func(have alert.Incident) bool {
				return have.Target == i.Target && have.Family == i.Family &&
					have.State != alert.StateResolved && i.State != alert.StateResolved
			})
		}
		switch {
		case at < 0:
			joined = append(joined, i)
		case i.Announced && !joined[at].Announced:
			joined[at] = i // people know it by this name
		}
	}
	slices.SortStableFunc(joined, func(a, b alert.Incident) int { return cmp.Compare(a.Number, b.Number) })
	return joined
}

// joinNotices adds theirs that are new.
func joinNotices(base, mine, theirs []alert.Notice) []alert.Notice {
	for _, n := range theirs {
		same := func(have alert.Notice) bool { return have.ID == n.ID }
		if !slices.ContainsFunc(base, same) && !slices.ContainsFunc(mine, same) {
			mine = append(mine, n)
		}
	}
	return mine
}

// alike compares as the state would write both.
func alike(a, b any) bool {
	one, err := json.Marshal(a)
	if err != nil {
		return false
	}
	two, err := json.Marshal(b)
	return err == nil && bytes.Equal(one, two)
}

package alert

import (
	"maps"
	"slices"
	"time"
)

// clone copies everything that a decision changes, so that the memory that was
// passed in stays as it is.
func (m Memory) clone() Memory {
	m.Incidents = slices.Clone(m.Incidents)
	for i := range m.Incidents {
		at := &m.Incidents[i]
		at.Probes, at.Runs, at.Known = slices.Clone(at.Probes), slices.Clone(at.Runs), slices.Clone(at.Known)
		at.Owed = slices.Clone(at.Owed)
	}
	m.Outbox = slices.Clone(m.Outbox)
	for i := range m.Outbox {
		m.Outbox[i].Ways = slices.Clone(m.Outbox[i].Ways)
	}
	m.Threads = maps.Clone(m.Threads)
	m.Muted = slices.Clone(m.Muted)
	m.Openings = slices.Clone(m.Openings)
	m.Digest.Items = slices.Clone(m.Digest.Items)
	return m
}

const (
	// keepResolved is how long what is over is remembered, and mostResolved how
	// much of it: the next decisions look at what came back soon.
	keepResolved = 7 * 24 * time.Hour
	mostResolved = 100
	// keepPending is when a failure that was never followed by another run is
	// forgotten, where nothing is known of how far apart its runs are: two a year
	// apart are not two of the last two. keepKnown is that of the others, at least,
	// and keepTimes of that distance.
	keepPending = 30 * 24 * time.Hour
	keepKnown   = 8 * 24 * time.Hour // weekly runs count
	keepTimes   = 6
	// mostWhole is how many waiting notices keep all their sections. With Slack
	// away for weeks the memory must not outgrow the state.
	mostWhole = 100
)

// forget bounds the memory.
func (m *Memory) forget(now time.Time) {
	resolved := m.resolved()
	m.Incidents = slices.DeleteFunc(m.Incidents, func(i Incident) bool {
		switch i.State {
		case StatePending:
			return i.stale(now)
		case StateResolved:
			if resolved <= mostResolved && now.Sub(i.Ended) <= keepResolved {
				return false
			}
			resolved--
			m.Openings = append(m.Openings, i.opening())
			return true
		case StateFiring:
			return false
		}
		return false
	})
	for _, waiting := range [][]Notice{m.Outbox, m.Muted} {
		for i := range max(0, len(waiting)-mostWhole) {
			waiting[i].slim()
		}
	}
	m.forgetOpenings(now)
	m.forgetThreads()
}

// stale reports whether a failure is of too long ago to be one of several in a
// row.
func (i Incident) stale(now time.Time) bool {
	keep := keepPending
	if apart := max(i.Every, i.Apart); apart > 0 {
		keep = max(keepKnown, keepTimes*apart)
	}
	return i.State == StatePending && now.Sub(i.Last) > keep
}

func (m Memory) resolved() int {
	n := 0
	for _, i := range m.Incidents {
		if i.State == StateResolved {
			n++
		}
	}
	return n
}

// Shrink makes room where the state says that it is too large: the older half
// of the incidents that are over is forgotten, then when they opened, then the
// evidence that is kept for first messages, then the older half of the waiting notices loses its
// details. It returns false when there is nothing left to drop: what is open,
// and that something is to be told, is never dropped.
func (m Memory) Shrink() (Memory, bool) {
	m = m.clone()
	if n := (m.resolved() + 1) / 2; n > 0 {
		m.Incidents = slices.DeleteFunc(m.Incidents, func(i Incident) bool {
			if i.State != StateResolved || n == 0 {
				return false
			}
			n--
			m.Openings = append(m.Openings, i.opening())
			return true
		})
		m.forgetThreads()
		return m, true
	}
	if len(m.Openings) > 0 {
		m.Openings = nil
		return m, true
	}
	if m.forgetShown(0, nil) {
		return m, true
	}
	var whole []*Notice
	for _, waiting := range [][]Notice{m.Muted, m.Outbox} {
		for i := range waiting {
			if !waiting[i].isSlim() {
				whole = append(whole, &waiting[i])
			}
		}
	}
	for _, n := range whole[:(len(whole)+1)/2] {
		n.slim()
	}
	return m, len(whole) > 0
}

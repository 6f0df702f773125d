package alert

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"
)

// Thread is where an incident's messages stand at a destination, and what must
// be known to bring the first of them up to date.
type Thread struct {
	Channel string `json:"channel"` // the channel's id, not its name
	Root    string `json:"root"`    // the first message's id there
	// Fixed says that the root cannot be edited: that was said, and is not tried again.
	Fixed bool `json:"fixed,omitempty"`
	// Why says why the thread is not in the channel where it should be; empty: it is.
	Why string `json:"why,omitempty"`
	// Size is how many incidents the thread was opened with: the memory forgets
	// some. 0: one, or not known.
	Size int `json:"size,omitempty"`
	// Shown is the evidence in the root; nil: not known, or needed no more. It is
	// replaced, never changed.
	Shown *Shown `json:"shown,omitempty"`
}

// Shown is the evidence that a root shows: that of the opening, or of the last
// notice that knew more.
type Shown struct {
	Decided  time.Time `json:"decided"` // when that notice was
	Sections []Section `json:"sections,omitempty"`
	Links    []Link    `json:"links,omitempty"`
	Trail    []Fact    `json:"trail,omitempty"`
}

// mostShown is how many roots keep their evidence when they are brought up to
// date. It is as large as a notice, and the memory must not outgrow the state.
const mostShown = 50

// threadKey names a thread of a destination in the memory.
func threadKey(destination, thread string) string { return destination + " " + thread }

// threadOf is the thread that a key names.
func threadOf(key string) string {
	_, thread, _ := strings.Cut(key, " ")
	return thread
}

// shownAfter is the evidence in a thread's root once a notice was told: the
// notice's own, unless it only tells how the incident goes on, or more of one
// of several that the root tells.
func shownAfter(n Notice, so Receipt) *Shown {
	have := so.Thread.Shown
	switch {
	case n.Kind == KindSharper && have != nil && so.incidents() > len(n.About):
		return have
	case n.Kind == KindFiring || n.Kind == KindFlapping || n.Kind == KindSharper || n.Whole:
		return &Shown{Decided: n.Decided, Sections: n.Sections, Links: n.Links, Trail: n.Trail}
	}
	return have
}

// sizeAfter is how many incidents a thread tells once a notice is its root.
func sizeAfter(n Notice, so Receipt) int {
	if size := max(so.incidents(), len(n.About)); size > 1 {
		return size
	}
	return 0
}

// keepThreads remembers where conversations stand.
func (m *Memory) keepThreads(threads map[string]Thread) {
	if m.Threads == nil && len(threads) > 0 {
		m.Threads = map[string]Thread{}
	}
	maps.Copy(m.Threads, threads)
}

// forgetThreads drops the places of conversations that are never taken up
// again: no incident and no waiting notice belongs to them.
func (m *Memory) forgetThreads() {
	known, goesOn, summed := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for _, n := range m.Outbox {
		for _, e := range n.Backlog.Entries {
			summed[e.Name] = true
		}
	}
	for _, i := range m.Incidents {
		known[i.thread()] = true
		goesOn[i.thread()] = goesOn[i.thread()] || i.State == StateFiring || summed[i.name()]
	}
	for _, n := range slices.Concat(m.Outbox, m.Muted) {
		known[n.Thread], goesOn[n.Thread] = true, true
	}
	maps.DeleteFunc(m.Threads, func(key string, _ Thread) bool { return !known[threadOf(key)] })
	m.forgetShown(mostShown, goesOn)
}

// forgetShown keeps the evidence of those threads' roots, of the newest so
// many. It reports whether it dropped any.
func (m *Memory) forgetShown(most int, of map[string]bool) bool {
	var keys []string
	for key, at := range m.Threads {
		if at.Shown != nil {
			keys = append(keys, key)
		}
	}
	slices.SortFunc(keys, func(a, b string) int { // a root's id begins with its time
		return cmp.Or(cmp.Compare(m.Threads[b].Root, m.Threads[a].Root), cmp.Compare(a, b))
	})
	dropped := false
	for _, key := range keys {
		if of[threadOf(key)] && most > 0 {
			most--
			continue
		}
		at := m.Threads[key]
		at.Shown = nil
		m.Threads[key] = at
		dropped = true
	}
	return dropped
}

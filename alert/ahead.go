package alert

import (
	"slices"
	"time"
)

// notAhead takes every remembered time by which is decided that is ahead of now
// for now: one run with a clock that was wrong must not silence those after it
// until that time comes.
func (m *Memory) notAhead(now time.Time) {
	bound := func(times ...*time.Time) {
		for _, at := range times {
			if at.After(now) {
				*at = now
			}
		}
	}
	for n := range m.Incidents {
		i := &m.Incidents[n]
		bound(&i.Since, &i.Last, &i.Fired, &i.Ended, &i.Failing, &i.Heard, &i.Otherwise.Since, &i.Silenced.From)
		i.Flapping = slices.Clone(i.Flapping)
		for at := range i.Flapping {
			bound(&i.Flapping[at])
		}
	}
	for n := range m.Outbox {
		bound(&m.Outbox[n].Decided)
	}
	for n := range m.Openings {
		bound(&m.Openings[n].Since, &m.Openings[n].Fired)
	}
	bound(&m.Digest.Since)
	m.Digest.Day = min(m.Digest.Day, now.UTC().Format(time.DateOnly))
}

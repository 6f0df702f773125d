package state

import "time"

// Clocks is what the clocks of the last two runs said at their ends. One of them
// may have been wrong: a node without its time server, a virtual machine that
// was restored. What one clock alone says is over may be what still limits or
// mutes, so nothing is forgotten before all that are known agree.
type Clocks struct {
	Last   time.Time `json:"last,omitzero"`
	Before time.Time `json:"before,omitzero"`
}

// span returns the earliest and the latest time that a clock says, now's too.
// Where fewer than two runs are known, it is not known.
func (c Clocks) span(now time.Time) (earliest, latest time.Time, known bool) {
	if c.Last.IsZero() || c.Before.IsZero() {
		return time.Time{}, time.Time{}, false
	}
	earliest, latest = now, now
	for _, said := range []time.Time{c.Last, c.Before} {
		if said.Before(earliest) {
			earliest = said
		}
		latest = later(time.Time{}, latest, said)
	}
	return earliest, latest, true
}

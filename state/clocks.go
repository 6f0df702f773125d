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
func (c Clocks) span(now time.Time) (earliest, latest time.Time) {
	earliest, latest = now, now
	for _, said := range []time.Time{c.Last, c.Before} {
		switch {
		case said.IsZero():
		case said.Before(earliest):
			earliest = said
		case said.After(latest):
			latest = said
		}
	}
	return earliest, latest
}

// Past returns the instant for whoever forgets what is over: what ended before
// it is over by now's clock, and by those of the last two runs. In a quiet life
// it is two runs ago.
func (d Document) Past(now time.Time) time.Time {
	earliest, _ := d.Clocks.span(now)
	return earliest
}

package diagnose

import (
	"time"

	"perch.example/probes"
)

const (
	// otherRuns is for how many runs a bound is remembered that was seen beside the
	// one that holds: a name with two backends shows now one and now the other.
	otherRuns = 20
	// lookAnew is how old a bracket around a hidden end grows before it is looked
	// for anew: the holds beside it are too far away to see a small move.
	lookAnew = 24 * time.Hour
)

// aged is what was seen beside the bound, a run later; nothing once it has not
// been seen for long.
func aged(other probes.Bracket) probes.Bracket {
	if other == (probes.Bracket{}) || other.Runs >= otherRuns {
		return probes.Bracket{}
	}
	other.Runs++
	return other
}

// beside remembers what was seen and does not hold, from this run on.
func (b *Bound) beside(seen probes.Bracket) {
	if seen != (probes.Bracket{}) {
		seen.Runs = 0
		b.Other = seen
	}
}

// doubted remembers a sighting that no second run agreed with, where it could not
// be of the bound that is known.
func (b *Bound) doubted(suspect probes.Bracket) {
	if apart(b.Known, suspect) {
		b.beside(suspect)
	}
}

// replaced puts what two runs agree on in the place of what was known.
func (b *Bound) replaced(by probes.Bracket) {
	b.Known, b.Twice = by, 0
	if by.Hidden() {
		b.Twice = by.Died
	}
}

// wasSeen reports whether a path that showed from, and lately what is in Other,
// shows nothing new in to.
func (b *Bound) wasSeen(from, to probes.Bracket) bool {
	if to.Measured == 0 {
		return b.Other != (probes.Bracket{}) && !apart(b.Other, to)
	}
	return oneOf(to.Measured, from, b.Other) && oneOf(to.Measured+to.Spread, from, b.Other)
}

// oneOf reports whether a close at that age was about the first or the last that
// any of those holds.
func oneOf(age time.Duration, all ...probes.Bracket) bool {
	near := min(tickAt(age), time.Second)
	for _, b := range all {
		if b.Measured > 0 && ((age-b.Measured).Abs() <= near || (age-b.Measured-b.Spread).Abs() <= near) {
			return true
		}
	}
	return false
}

// twice is the least idle age by which two runs have met the hidden end: one run
// alone may have met a device that lost its table at that moment.
func (b *Bound) twice(before, e probes.Bracket) {
	switch {
	case b.Known.Measured > 0 || b.Known.Died == 0:
		b.Twice = 0
	case e.Measured > 0 || e.Died == 0 || before.Died == 0:
	case e.Died <= before.Died:
		b.Twice = before.Died
	case b.Twice == 0 || e.Died < b.Twice:
		b.Twice = e.Died
	}
}

// corrected is the bracket without the one death that put its upper end where a
// connection has now lived: a correction, and no move of the path's. ok is false
// where two runs have met that end.
func (b *Bound) corrected(e probes.Bracket) (known probes.Bracket, ok bool) {
	known = b.Known
	if !known.Hidden() || e.Measured > 0 || e.Survived <= known.Died+known.Resolution() || e.Survived+tolerance(b.Twice) > b.Twice {
		return known, false
	}
	known.Survived, known.Died, known.Tries = e.Survived, b.Twice, 0
	if e.Died > 0 {
		known.Died = min(e.Died, b.Twice)
	}
	return known, true
}

// slipped reports whether a run contradicts a bracket around a hidden end by less
// than a move is told for, but by more than such ends vary.
func slipped(known, e probes.Bracket) bool {
	if !known.Hidden() || e.Measured > 0 || apart(known, e) {
		return false
	}
	return e.Survived > known.Died+known.Resolution() || e.Died > 0 && e.Died < known.Survived-known.Resolution()
}

// widened puts what two runs saw that contradict a hidden end's bracket in its
// place, and counts it as a look: an end that varies is not looked for for ever.
func (b *Bound) widened(a, e probes.Bracket) {
	known := b.Known
	known.Survived, known.Died, known.Tries = min(a.Survived, e.Survived), max(a.Died, e.Died), known.Tries+1
	b.replaced(known)
}

// looked widens a bracket that nobody has looked into for long to what this run's
// holds beside it show, so that the next runs cut it anew.
func (b *Bound) looked(before, e probes.Bracket, now time.Time) {
	known := &b.Known
	switch {
	case !known.Hidden():
		b.Looked = time.Time{}
	case b.Looked.IsZero() || known.Survived != before.Survived || known.Died != before.Died:
		b.Looked = now.UTC()
	case now.Sub(b.Looked) >= lookAnew && known.Settled() && e.Hidden() && e.Survived <= known.Survived && e.Died >= known.Died:
		known.Survived, known.Died, known.Tries = e.Survived, e.Died, 0
		b.Twice, b.Looked = max(b.Twice, e.Died), now.UTC()
	}
}

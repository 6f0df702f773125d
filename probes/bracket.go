package probes

import "time"

// leastResolution is how well an idle age is looked for that no close tells: a
// second look at the same path may differ by as much.
const leastResolution = 100 * time.Millisecond

// enoughTries is how many runs may look inside a bracket without narrowing it: a
// path with several bounds, or none that holds still, has no narrower one.
const enoughTries = 3

// Bracket is what is known of the idle age at which a path ends connections: it
// lies above Survived and at or below Died. Where a close was seen it is known
// directly, and lies at Measured. Zero: not known.
type Bracket struct {
	Survived time.Duration // the longest idle age that worked
	Died     time.Duration // the shortest that did not
	Measured time.Duration // the least idle age of a close that was seen
	Spread   time.Duration // by how much later others of that limit were seen
	How      HowClosed     // empty: nothing died
	Tries    int           // runs that have looked inside of it since it was last narrowed
	Runs     int           // runs that agree with it; above a few not counted
}

// Hidden reports whether the bracket lies around an end that nobody saw, so that
// only more holds inside of it tell where.
func (b Bracket) Hidden() bool { return b.Measured == 0 && b.Died > 0 && b.Survived < b.Died }

// Width is how far apart what worked and what did not are; 0: there is no
// bracket around a hidden end.
func (b Bracket) Width() time.Duration {
	if !b.Hidden() {
		return 0
	}
	return b.Died - b.Survived
}

// Resolution is the width at which a bracket is narrow enough: 100 ms, or 1% of
// the age if that is more.
func (b Bracket) Resolution() time.Duration { return max(leastResolution, b.Died/100) }

// Narrow reports whether a hidden end is known well enough, or there is none.
func (b Bracket) Narrow() bool { return b.Width() <= b.Resolution() }

// Settled reports whether holds inside the bracket would tell nothing more: it
// is narrow, or looking again and again has not made it so.
func (b Bracket) Settled() bool { return b.Narrow() || b.Tries >= enoughTries }

// Cut returns at most k holds inside the bracket, shortest first, that cut it
// into equal parts: held at once, they leave one part of it. As few of them as
// reach the resolution; none where it is settled.
func (b Bracket) Cut(k int) []time.Duration {
	if b.Settled() || k < 1 {
		return nil
	}
	// A reuse comes a few milliseconds after its hold: equal parts are not quite.
	enough := int(b.Width()/(b.Resolution()*9/10)) + 1
	parts := min(k+1, max(2, enough))
	var holds []time.Duration
	for n := 1; n < parts; n++ {
		at := b.Survived + b.Width()*time.Duration(n)/time.Duration(parts)
		holds = append(holds, at.Round(time.Millisecond))
	}
	return holds
}

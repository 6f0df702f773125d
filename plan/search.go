package plan

import (
	"slices"
	"time"

	"perch.example/probes"
)

// searchAtOnce is how many rungs of one run cut a bracket: each run leaves a
// sixth of it. From rungs of the common ladder three runs reach the resolution.
const searchAtOnce = 5

// searchRuns is how many runs of a day a search takes at most: from a bracket as
// wide as an age to 1% of it with but one rung at a time, or until it is given
// up.
const searchRuns = 7

// search returns the rungs that narrow the bracket of an end that nobody saw, as
// many at once as connections may be open; once it is narrow, one rung below and
// one above it, far enough for a bound that has moved to be told from noise.
// Where the path shows when it closes, no search is needed.
func (l *ladder) search() []rung {
	b := l.known
	if !b.Hidden() {
		return nil
	}
	var rungs []rung
	for _, hold := range b.Cut(min(searchAtOnce, l.atOnce)) {
		rungs = append(rungs, rung{hold, rankSearch, "inside the bracket of the last run, " + bracketText(b)})
	}
	if b.Settled() {
		from := " the bracket of the last runs, " + bracketText(b)
		rungs = append(rungs,
			rung{(b.Survived - beside(b.Survived)).Round(leastHold), rankConfirm, "just below" + from},
			rung{(b.Died + beside(b.Died)).Round(leastHold), rankConfirm, "just above" + from})
	}
	return slices.DeleteFunc(rungs, func(r rung) bool {
		return r.hold < leastHold || l.longest > 0 && r.hold > l.longest ||
			slices.ContainsFunc(l.rungs, func(other rung) bool { return other.hold == r.hold })
	})
}

// beside is half as much again as what counts as the same age.
func beside(age time.Duration) time.Duration { return tolerance(age) * 3 / 2 }

// bracketText names a bracket: "2s to 3.8s".
func bracketText(b probes.Bracket) string {
	round := func(d time.Duration) string { return short(d.Round(time.Millisecond)) }
	return round(b.Survived) + " to " + round(b.Died)
}

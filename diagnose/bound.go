package diagnose

import (
	"slices"
	"time"

	"perch.example/probes"
)

// Bound is what the runs so far have shown of the idle age at which a path ends
// connections. The zero value is a path of which nothing is known.
type Bound struct {
	// Known is what holds: the narrowest bracket in which the runs agree.
	Known probes.Bracket
	// Suspect is what the last run saw where that contradicts Known. One run may
	// be a reload that nobody can tell from idleness: a second that agrees with it
	// makes it a change.
	Suspect probes.Bracket
	// Packets is how often TCP keep-alive was sent while holding; 0: never. What
	// was measured with other packets is another question.
	Packets time.Duration
	// Without is what was known before the client declared TCP keep-alive.
	Without probes.Bracket
	// Way is a short print of how the connections went; empty: an older perch
	// did not keep it. What was measured by another way is another question, too.
	Way string
	// Other is what was seen lately beside Known, its Runs how many runs ago:
	// where both come again and again, neither is a move.
	Other probes.Bracket
	// Twice is the least idle age by which two runs have met Known's hidden end;
	// 0: not known.
	Twice time.Duration
	// Looked is when Known, around a hidden end, was last another; zero: unknown.
	Looked time.Time
}

// firmRuns is how many runs have to agree on a bound before its move is told: of
// the first run's nobody knows that it was no reload.
const firmRuns = 3

// change is a bound that two runs in a row agree has moved.
type change struct {
	from, to probes.Bracket
	up       bool
}

// NextBound returns what the next run's Last should hold of the path's bound:
// what was known, with what this run has shown.
func NextBound(in Input) Bound {
	if len(ladders(in)) > 1 {
		return in.Last.Bound // rungs with several addresses are about no one path
	}
	return newLadder(in).bound
}

// seen is what this ladder alone shows, and whether it speaks of the bound at
// all: where anything ended for another reason than idleness, nothing in this
// run is sure to be about it.
func (l *ladder) seen() (probes.Bracket, bool) {
	b := probes.Bracket{Survived: l.idle.Survived, Died: l.idle.Died, Measured: l.idle.Measured, How: l.idle.How, Runs: 1}
	if len(l.ends) > 0 {
		b.Spread = l.ends[len(l.ends)-1] - b.Measured
	}
	for i, r := range l.rungs {
		if r.reuse != nil && !answered(r.reuse) && !l.endsIdle(i) {
			return b, false
		}
	}
	if b == (probes.Bracket{Runs: 1}) || b.Measured == 0 && b.Died > 0 && b.Survived >= b.Died {
		return b, false
	}
	return b, true
}

// endsIdle reports whether rung i ended as an idle limit ends connections.
func (l *ladder) endsIdle(i int) bool {
	r := l.rungs[i]
	idle := slices.Contains(ended(), r.reuse.Reason) || r.reuse.Reason == probes.ReasonBlackhole || r.reuse.Reason == probes.ReasonNoResponse
	return idle && r.ended() && !r.instant() && !l.notIdle(i) && !l.massClosed(i) && !l.outlived(i)
}

// learn joins what is known with what this ladder shows.
func (l *ladder) learn() {
	l.bound = begun(l.in.Last.Bound, l.in.Spec)
	e, clear := l.seen()
	if slices.ContainsFunc(l.rungs, func(r rungView) bool { return r.obs.Cut != "" }) {
		return
	}
	known := l.bound.Known
	if !clear {
		l.bound.Known = l.counted(known, known)
		return
	}
	l.bound.Other = aged(l.bound.Other)
	l.weigh(e)
	l.bound.twice(known, e)
	l.bound.looked(known, e, l.in.Now)
}

// weigh sets what this run saw against what is known.
func (l *ladder) weigh(e probes.Bracket) {
	b := &l.bound
	known, suspect := b.Known, b.Suspect
	corrected, wrong := b.corrected(e)
	b.Suspect = probes.Bracket{}
	switch {
	case known == (probes.Bracket{}):
		b.Known = e
	case wrong:
		b.Known = corrected
	case slipped(known, e) && (suspect == (probes.Bracket{}) || !slipped(known, suspect)):
		b.Suspect = e
	case slipped(known, e):
		b.widened(suspect, e)
	case !apart(known, e):
		b.doubted(suspect)
		b.Known = l.counted(known, narrowed(jitter(known, suspect), e))
	case suspect == (probes.Bracket{}):
		known.Runs = max(0, known.Runs-1) // what each second run contradicts is never firm
		b.Known, b.Suspect = known, e
	case !agree(suspect, e):
		b.doubted(suspect)
		b.Known, b.Suspect = jitter(known, suspect), e
	default:
		b.replaced(narrowed(suspect, e))
		if known.Runs >= firmRuns-1 && !b.wasSeen(known, b.Known) { // one was taken by the sighting before
			l.change = &change{from: known, to: b.Known, up: lived(b.Known) > lived(known)}
		}
		b.beside(known)
	}
}

// counted counts the runs that looked inside a bracket and left it as it was.
func (l *ladder) counted(before, after probes.Bracket) probes.Bracket {
	looked := slices.ContainsFunc(l.rungs, func(r rungView) bool {
		return r.reuse != nil && r.obs.Hold > before.Survived && r.obs.Hold < before.Died
	})
	switch {
	case !after.Hidden() || after.Width() < before.Width():
		after.Tries = 0
	case looked:
		after.Tries = before.Tries + 1
	}
	return after
}

// tickAt is how far apart closes may lie that one idle timeout of about this age
// causes: a server looks for what is idle now and then, and in one run sooner
// after it is due than in the next.
func tickAt(age time.Duration) time.Duration { return max(min(longestTick, age/2), tolerance(age)) }

// lived is the longest idle age that is known to have been lived to; 0: none is.
func lived(b probes.Bracket) time.Duration { return max(b.Survived, b.Measured) }

// lower is the age before which the path ends nothing, whatever its ticks; 0:
// not known.
func lower(b probes.Bracket) time.Duration {
	if b.Measured > 0 {
		return max(0, max(b.Measured+b.Spread, b.Survived)-tickAt(b.Measured))
	}
	return b.Survived
}

// upper is the age by which it has ended what is idle, likewise.
func upper(b probes.Bracket) time.Duration {
	if b.Measured > 0 {
		return max(b.Measured+max(b.Spread, tickAt(b.Measured)), b.Survived)
	}
	return b.Died
}

// apart reports whether two brackets cannot be of one bound, by more than the
// tolerance and a server's ticks.
func apart(a, b probes.Bracket) bool {
	if a.Measured > 0 && b.Measured > 0 {
		first, spread := union(a, b)
		return spread > tickAt(first)
	}
	return above(a, b) || above(b, a)
}

// agree reports whether two sightings in a row are of one bound. Ticks do not
// excuse as much here as in apart: two reloads would agree too often.
func agree(a, b probes.Bracket) bool {
	if a.Measured > 0 && b.Measured > 0 {
		first, spread := union(a, b)
		return spread-max(a.Spread, b.Spread) <= min(tickAt(first), time.Second)
	}
	return !apart(a, b)
}

func above(a, b probes.Bracket) bool {
	end := upper(b)
	return end > 0 && lower(a) > end+tolerance(end)
}

// narrowed joins two brackets of one bound, the newer second. What lies within
// the tolerance and would leave no bracket is noise, and changes nothing.
func narrowed(have, e probes.Bracket) probes.Bracket {
	if have.Measured == 0 || e.Measured > 0 || e.Survived <= have.Measured+have.Spread+tolerance(have.Measured) {
		have.Runs = min(have.Runs+1, firmRuns) // what only outlived the closes that were seen agrees with nothing
	}
	switch {
	case e.Measured > 0 && have.Measured > 0:
		e.Runs = have.Runs
		e.Measured, e.Spread = union(have, e)
		return e
	case e.Measured > 0: // the first close that was seen: no other run agrees with it yet
		return e
	}
	if have.Measured > 0 {
		have.Survived = max(have.Survived, e.Survived)
		return have
	}
	out := have
	out.Survived = max(have.Survived, e.Survived)
	if e.Died > 0 && (have.Died == 0 || e.Died <= have.Died) {
		out.Died, out.How = e.Died, e.How
	}
	if out.Died > 0 && out.Survived >= out.Died {
		return have
	}
	return out
}

// jitter widens what was seen of a limit by a sighting that no second run
// agreed with: a server that looks for idle connections now and then ends them
// up to a tick later. It has to be agreed on anew.
func jitter(known, suspect probes.Bracket) probes.Bracket {
	if known.Measured == 0 || suspect.Measured == 0 {
		return known
	}
	first, spread := union(known, suspect)
	if spread <= longestTick {
		known.Measured, known.Spread, known.Runs = first, spread, 0
	}
	return known
}

// union is where the closes of both lie: the least age, and how far from it the
// others are.
func union(a, b probes.Bracket) (first, spread time.Duration) {
	first = min(a.Measured, b.Measured)
	return first, max(a.Measured+a.Spread, b.Measured+b.Spread) - first
}

// narrowest is the ladder's result, with the bracket of all runs where this one
// met an end that nobody saw: it need not have looked again where that was found.
func (l *ladder) narrowest(res probes.IdleResult) probes.IdleResult {
	known := l.bound.Known
	if res.Measured > 0 || res.Died == 0 || !known.Hidden() || res.Died < known.Died || res.Survived > known.Survived {
		return res
	}
	res.Survived, res.Died = known.Survived, known.Died
	return res
}

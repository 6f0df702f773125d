package report

import (
	"slices"
	"time"

	"perch.example/probes"
)

// ladderView is an idle probe's rungs as a table, with a bar each to one scale.
type ladderView struct {
	Scale  string // what a bar's whole width stands for
	Rungs  []rungView
	More   int      // rungs that are not shown
	Band   *barView // where the application's client uses what may be closed; nil: nowhere
	Words  string   // of the band
	Search bool
	Passed string // why a rung passes though its reuse failed; empty: none does
}

type rungView struct {
	Verdict                    verdictView
	Hold, Idle, Reuse, Control string
	Bar                        barView
}

// barView is a bar's parts, in hundredths of its width.
type barView struct {
	Open string    // how long the connection was open
	Dead spanView  // it was closed, and a pool would still hold it; zero: it was not
	End  string    // where it ended; empty: it did not
	Band *spanView // the danger band; nil: none
}

type spanView struct{ From, Width string }

const mostRungs = 60

func newLadder(outcomes []*probes.Outcome) *ladderView {
	v := &ladderView{Search: outcomes[0].Search, Passed: whyPassed(outcomes)}
	var scale time.Duration
	for _, o := range outcomes {
		scale = max(scale, extent(o))
		if !o.Search {
			scale = max(scale, o.Hold)
		}
	}
	v.Scale = age(scale)
	c := clientOf(outcomes)
	var band *spanView
	if c != nil && c.Band != nil {
		v.Words = bandWords(c.Band)
		if c.Band.From < scale {
			to := scale
			if !c.Band.Open {
				to = min(to, c.Band.To)
			}
			band = newSpan(c.Band.From, to, scale)
		}
	}
	for _, o := range outcomes {
		if len(v.Rungs) == mostRungs {
			v.More++
			continue
		}
		v.Rungs = append(v.Rungs, rungView{
			Verdict: verdictOf(o.Verdict), Hold: rungName(o), Idle: fit(heldOver(o, idleCell(o)).text, mostName*2),
			Reuse: fit(reuseCell(o).text, mostName*2), Control: fit(controlCell(o).text, mostName*2), Bar: newBar(o, scale, band),
		})
	}
	return v
}

func newBar(o *probes.Outcome, scale time.Duration, band *spanView) barView {
	end := extent(o)
	b := barView{Open: hundredths(end, scale), Band: band}
	reused := attempt(o, probes.ConnectionReused)
	switch {
	case o.Close != nil:
		at := min(o.Close.Age, end)
		b.Open, b.End = hundredths(at, scale), hundredths(at, scale)
		b.Dead = *newSpan(at, end, scale)
	case reused != nil && !reused.OK():
		b.End = b.Open
	}
	return b
}

func newSpan(from, to, scale time.Duration) *spanView {
	return &spanView{hundredths(from, scale), hundredths(max(0, to-from), scale)}
}

// hundredths is a part of a scale, of 100.
func hundredths(d, scale time.Duration) string {
	if scale <= 0 {
		return "0"
	}
	return decimal(100*min(1, max(0, d.Seconds()/scale.Seconds())), 1)
}

// size is about how many bytes it takes.
func (v *ladderView) size() int {
	const table, row = 900, 750
	n := table + row*len(v.Rungs)
	for _, r := range slices.All(v.Rungs) {
		n += len(r.Idle) + len(r.Reuse) + len(r.Control)
	}
	return n
}

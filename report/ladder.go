package report

import (
	"strings"
	"time"

	"perch.example/probes"
)

// The signs of a bar.
const (
	signOpen  = '━' // the connection was open
	signEnd   = '✗' // where it ended
	signDead  = '╌' // ended, but a client that does not look still holds it
	signWhere = '?' // it died in silence, somewhere here
	signWrong = '!' // it lived, and the answer was not as expected
	signBand  = '▒'
)

// rung is one row of a ladder.
type rung struct {
	outcome                             *probes.Outcome
	verdict, hold, idle, reuse, control span
}

// drawable reports whether there is anything to draw: at least one connection
// that was really held.
func drawable(v probeView) bool {
	for _, o := range v.outcomes {
		if extent(o) > 0 {
			return true
		}
	}
	return false
}

// extent is how long the connection was idle before its reuse; 0: it was never
// held, or nobody knows.
func extent(o *probes.Outcome) time.Duration {
	reused := attempt(o, probes.ConnectionReused)
	switch {
	case reused != nil && reused.IdleTime > 0:
		return reused.IdleTime
	case o.Close != nil && o.Search:
		return o.Close.Age
	case o.Close != nil:
		return max(o.Hold, o.Close.Age)
	case reused != nil:
		return o.Hold
	}
	return 0
}

// ladder draws an idle probe's rungs, a row each, all to one scale.
func (p *page) ladder(outcomes []*probes.Outcome) {
	rungs := make([]rung, len(outcomes))
	var c chart
	for i, o := range outcomes {
		rungs[i] = rung{o, span{verdictInk(o.Verdict), strings.ToLower(verdictWord(o.Verdict))}, plain(rungName(o)), heldOver(o, idleCell(o)), reuseCell(o), controlCell(o)}
		c.scale = max(c.scale, extent(o))
		if !o.Search {
			c.scale = max(c.scale, o.Hold)
		}
		if a := attempt(o, probes.ConnectionReused); a != nil && a.OK() && !o.Unused {
			c.survived = max(c.survived, extent(o))
		}
	}
	g := newGrid(c, rungs, p.style.columns())
	g.search = outcomes[0].Search
	p.line(g.headings()...)
	for _, r := range rungs {
		p.rung(g, r)
	}
	p.band(g, outcomes)
	p.legend(g, outcomes)
	if text := whyPassed(outcomes); text != "" {
		p.hang([]span{plain(margin)}, span{inkFaint, text})
	}
	p.pinned(outcomes)
}

// whyPassed says why a rung passes though its reuse failed; empty: none does.
func whyPassed(outcomes []*probes.Outcome) string {
	for _, o := range outcomes {
		a := attempt(o, probes.ConnectionReused)
		if o.Verdict != probes.VerdictPass || a == nil || a.OK() || o.Close == nil || o.Search { // a search is to find a close
			continue
		}
		if o.KeepAlive > 0 && o.Close.Age >= o.KeepAlive {
			return "pass, though the reuse failed: closed in good order, and after the " + age(o.KeepAlive) + " of keep_alive"
		}
		return "pass, though the reuse failed: closed in good order between two requests, so that a client that looks sees it"
	}
	return ""
}

// idleAge is the age that a rung stands for: its hold, or where a search ended.
func idleAge(o *probes.Outcome) string {
	if o.Search && o.Close != nil {
		return age(o.Close.Age)
	}
	return rungName(o)
}

// idleCell says what was seen while the connection was held.
func idleCell(o *probes.Outcome) span {
	reused := attempt(o, probes.ConnectionReused)
	switch {
	case o.Close != nil && o.Close.How == probes.HowSilent:
		return plain("silent, given up at " + age(o.Close.Age))
	case o.Close != nil:
		who := "peer"
		if o.ClosedBy != who {
			who = "unknown"
		}
		return plain(howShort(o.Close.How) + goawaySaid(reused) + " by " + who + " at " + age(o.Close.Age))
	case reused != nil && reused.OK():
		return plain("stayed open")
	case reused != nil:
		return plain("looked open")
	case len(o.Attempts) == 0:
		return span{inkFaint, "not tried"}
	case o.Attempts[0].Reason == probes.ReasonNoKeepAlive:
		return span{inkFaint, "ended by the first answer"}
	case !o.Attempts[0].OK():
		return span{inkFaint, "not held"}
	}
	return span{inkFaint, "cut short"}
}

// reuseCell says what the request on the held connection gave; when nothing
// was held, what the opening request did.
func reuseCell(o *probes.Outcome) span {
	if a := attempt(o, probes.ConnectionReused); a != nil {
		return attemptCell(a, o.Verdict)
	}
	if a := attempt(o, probes.ConnectionFresh); a != nil && !a.OK() {
		cell := attemptCell(a, o.Verdict)
		cell.text = "warm-up: " + cell.text
		return cell
	}
	return span{inkFaint, "-"}
}

func controlCell(o *probes.Outcome) span {
	if a := attempt(o, probes.ConnectionControl); a != nil {
		return attemptCell(a, o.Verdict)
	}
	return span{inkFaint, "-"}
}

// attemptCell has the ink of the verdict: a connection that was closed when it
// should be is nothing to worry about.
func attemptCell(a *probes.Attempt, v probes.Verdict) span {
	if a.OK() {
		return span{inkGood, result(a)}
	}
	return span{verdictInk(v), result(a)}
}

// grid holds the widths of a ladder's columns, and what its bars share.
type grid struct {
	chart
	verdict, hold, idle, reuse int
	stacked                    bool // too narrow for one line a rung
	search                     bool // a hold ends at its first close
}

const (
	gutter   = "  "
	shortest = 14 // cells of a bar: room for its scale, "idle 0 2.586 s"
	longest  = 40
)

// newGrid gives the bar what the words leave of the line.
func newGrid(c chart, rungs []rung, columns int) grid {
	g := grid{chart: c, hold: len("danger"), idle: len("while idle"), reuse: len("reuse")}
	control := len("control (fresh)")
	for _, r := range rungs {
		g.verdict = max(g.verdict, width(r.verdict.text))
		g.hold = max(g.hold, width(r.hold.text))
		g.idle = max(g.idle, width(clean(r.idle.text)))
		g.reuse = max(g.reuse, width(clean(r.reuse.text)))
		control = max(control, width(clean(r.control.text)))
	}
	left := columns - len(margin) - g.verdict - g.hold - 2*len(gutter)
	g.cells = min(longest, left-g.idle-g.reuse-control-3*len(gutter))
	if g.cells < shortest {
		g.stacked, g.cells = true, min(longest, left)
	}
	return g
}

// head is the left part of a row: 2 blanks, the verdict, the hold.
func (g grid) head(verdict, hold span) []span {
	return []span{plain(margin), verdict.padded(g.verdict), plain(gutter), hold.padded(g.hold), plain(gutter)}
}

// tail is the right part of a row.
func (g grid) tail(idle, reuse, control span) []span {
	return []span{plain(gutter), idle.padded(g.idle), plain(gutter), reuse.padded(g.reuse), plain(gutter), control}
}

// headings names the columns; the bar's is its scale of idle ages.
func (g grid) headings() []span {
	begin, end := "idle 0", age(g.scale)
	if g.cells <= len(begin)+len(end) {
		begin = "0"
	}
	axis := begin + strings.Repeat(" ", max(1, g.cells-len(begin)-len(end))) + end
	hold := "hold"
	if g.search {
		hold = "up to"
	}
	spans := append(g.head(plain(""), span{inkFaint, hold}), span{inkFaint, axis}.padded(g.cells))
	if g.stacked {
		return spans
	}
	return append(spans, g.tail(span{inkFaint, "while idle"}, span{inkFaint, "reuse"}, span{inkFaint, "control (fresh)"})...)
}

func (p *page) rung(g grid, r rung) {
	spans := append(g.head(r.verdict, r.hold), inked(g.bar(r.outcome), r.outcome.Verdict)...)
	if !g.stacked {
		p.line(append(spans, g.tail(r.idle, r.reuse, r.control)...)...)
		return
	}
	p.line(spans...)
	words := r.idle.text
	if r.reuse.text != "-" {
		words += ", reuse: " + r.reuse.text
	}
	if attempt(r.outcome, probes.ConnectionControl) != nil {
		words += ", control: " + r.control.text
	}
	p.hang([]span{plain(margin + strings.Repeat(" ", g.verdict) + gutter)}, plain(words))
}

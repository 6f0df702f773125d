package report

import (
	"fmt"
	"math"
	"slices"
	"time"

	"perch.example/probes"
)

// htmlLadder is a ladder as a drawing and as a table. Places on the axis are shares
// of the drawing's width ("12.5%"), so that its letters keep their size on a phone.
type htmlLadder struct {
	Title, Description string
	Height, Axis       int // in pixels, as all that is upright
	Top, Depth         int // of what stands across the rungs
	Rungs              []htmlRung
	Lines              []htmlLine
	Ticks              []htmlTick
	Band               *htmlSpan
	Legend             []htmlSign
	Table              []htmlRungRow
	Hold               string // heading of the holds
}

// htmlSpan is a stretch of the axis; Words say what it is.
type htmlSpan struct{ From, To, Width, Words string }

// htmlRung is a bar with its words above it.
type htmlRung struct {
	Verdict        verdictView
	Name, Seen     string
	Open           string // how far it was open, from 0
	Dead, Unseen   *htmlSpan
	End, Alive     string // where the sign of its end, or of its life, stands
	Wrong          bool   // it lived, and the answer was not as expected
	Text, Bar, Mid int    // upright places
}

// htmlLine is an age that is marked across all rungs.
type htmlLine struct {
	Class, At, Words, Anchor string
	Y                        int
	Parts                    []htmlPart // beside each bar, not through the words above it
}

// htmlPart is an upright stretch.
type htmlPart struct{ From, To int }

type htmlTick struct{ At, Words, Anchor string }

// htmlSign explains a sign of the drawing.
type htmlSign struct{ Class, Words string }

type htmlRungRow struct {
	Verdict                    verdictView
	Hold, Idle, Reuse, Control string
}

// axis turns ages into places.
type axis struct{ scale time.Duration }

func (a axis) share(d time.Duration) float64 {
	if a.scale <= 0 {
		return 0
	}
	return min(100, max(0, 100*float64(d)/float64(a.scale)))
}

func percent(f float64) string { return decimal(f, 2) + "%" }

func (a axis) at(d time.Duration) string { return percent(a.share(d)) }

func (a axis) span(from, to time.Duration, words string) *htmlSpan {
	return spanOf(a.share(from), a.share(to), words)
}

func spanOf(from, to float64, words string) *htmlSpan {
	to = max(from, to)
	return &htmlSpan{percent(from), percent(to), percent(to - from), words}
}

// anchor keeps words within the drawing.
func (a axis) anchor(d time.Duration) string {
	switch s := a.share(d); {
	case s < 15:
		return "start"
	case s > 85:
		return "end"
	}
	return "middle"
}

// side is where there is room for long words beside an age: its right in the first
// half, else its left.
func (a axis) side(d time.Duration) string {
	if a.share(d) < 50 {
		return "start"
	}
	return "end"
}

const (
	rungHeight = 46 // a line of words, a bar, a gap
	lineHeight = 18
	// wordsHeight is a rung's words, which no line is drawn through.
	wordsHeight = 20
)

func newHTMLLadder(v probeView) *htmlLadder {
	marked := ladderMarks(v)
	a := axis{ladderScale(v, marked)}
	l := &htmlLadder{
		Title: "The ladder of " + v.id, Description: ladderSummary(v) + closesWords(v),
		Hold: "Hold", Ticks: a.ticks(),
	}
	if v.first().Search {
		l.Hold = "Up to"
	}
	y := 0
	for _, m := range marked {
		line := htmlLine{Class: m.class, At: a.at(m.age), Words: m.words + " " + age(m.age), Anchor: a.side(m.age), Y: y + lineHeight - 5}
		if m.age > a.scale {
			line.Words += " →"
		}
		y += lineHeight
		l.Lines = append(l.Lines, line)
	}
	var survived time.Duration
	for _, o := range v.outcomes {
		if r := attempt(o, probes.ConnectionReused); r != nil && r.OK() && !o.Unused {
			survived = max(survived, extent(o))
		}
	}
	var beside []htmlPart
	for i, o := range v.outcomes {
		l.Table = append(l.Table, newHTMLRungRow(o))
		if i < mostRungs {
			l.Rungs = append(l.Rungs, a.rung(o, y, survived))
			beside = append(beside, htmlPart{y + wordsHeight, y + rungHeight})
			y += rungHeight
		}
	}
	l.Top = lineHeight * len(marked)
	l.Axis, l.Depth, l.Height = y, y-l.Top, y+lineHeight+4
	for i := range l.Lines {
		l.Lines[i].Parts = append([]htmlPart{{l.Lines[i].Y, l.Top}}, beside...)
	}
	if c := clientOf(v.outcomes); c != nil && c.Band != nil && c.Band.From < a.scale {
		to := c.Band.To
		if c.Band.Open {
			to = a.scale
		}
		l.Band = a.span(c.Band.From, to, bandWords(c.Band))
	}
	l.Legend = l.legend(clientOf(v.outcomes))
	if text := whyPassed(v.outcomes); text != "" {
		l.Legend = append(l.Legend, htmlSign{"more", text})
	}
	return l
}

// mark is an age that all rungs are to be seen beside.
type mark struct {
	class, words string
	age          time.Duration
}

func ladderMarks(v probeView) []mark {
	var out []mark
	if v.idle != nil && v.idle.Measured > 0 {
		out = append(out, mark{"measured", "measured: closed after", v.idle.Measured})
	}
	if v.idle != nil && v.idle.Advertised > 0 {
		out = append(out, mark{"advertised", "advertised", v.idle.Advertised})
	}
	if keep := v.first().KeepAlive; keep > 0 {
		out = append(out, mark{"expected", "expected", keep})
	}
	return out
}

// ladderScale takes in what is marked, unless that lies so far away that the rungs
// could not be told apart.
func ladderScale(v probeView, marked []mark) time.Duration {
	const farthest = 4
	var held time.Duration
	for _, o := range v.outcomes {
		held = max(held, extent(o))
		if !o.Search {
			held = max(held, o.Hold)
		}
	}
	scale := held
	for _, m := range marked {
		if m.age <= farthest*held {
			scale = max(scale, m.age)
		}
	}
	return scale + scale/50
}

// rung is text's bar (bar.go), drawn.
func (a axis) rung(o *probes.Outcome, y int, survived time.Duration) htmlRung {
	const longestSeen = 46
	end := extent(o)
	r := htmlRung{
		Verdict: verdictOf(o.Verdict), Name: rungName(o), Seen: cut(clean(heldOver(o, idleCell(o)).text), longestSeen),
		Open: a.at(end), Text: y + 15, Bar: y + 22, Mid: y + 27,
	}
	reused := attempt(o, probes.ConnectionReused)
	switch {
	case end <= 0:
		r.Open = ""
	case o.Close != nil:
		r.Open, r.End, r.Dead = a.at(o.Close.Age), a.at(o.Close.Age), a.span(o.Close.Age, end, "")
	case reused == nil:
	case reused.OK():
		r.Alive = a.at(end)
	case reused.Reason == probes.ReasonBlackhole:
		r.End = a.at(end)
		if survived < end {
			r.Open, r.Unseen = a.at(survived), a.span(survived, end, "")
		}
	case reused.Status != 0:
		r.Alive, r.Wrong = a.at(end), true
	default:
		r.End = a.at(end)
	}
	return r
}

// ticks are round ages, four to six of them.
func (a axis) ticks() []htmlTick {
	if a.scale <= 0 {
		return nil
	}
	step := roundStep(a.scale / 4)
	out := []htmlTick{{"0%", "idle 0", "start"}}
	for n := time.Duration(1); n*step <= a.scale && n < 10; n++ {
		at := n * step
		if a.share(at) > 18 { // else it would stand in "idle 0"
			out = append(out, htmlTick{a.at(at), age(at), a.anchor(at)})
		}
	}
	return out
}

// roundStep is the next larger age that people count by.
func roundStep(d time.Duration) time.Duration {
	for _, s := range []time.Duration{time.Minute, 2 * time.Minute, 5 * time.Minute, 10 * time.Minute, 15 * time.Minute, 30 * time.Minute, time.Hour, 2 * time.Hour, 6 * time.Hour} {
		if d > 20*time.Second && d <= s {
			return s
		}
	}
	power := time.Duration(math.Pow(10, math.Floor(math.Log10(float64(max(d, 1))))))
	for _, m := range []time.Duration{1, 2, 5} {
		if d <= m*power {
			return m * power
		}
	}
	return 10 * power
}

// legend explains the signs that are drawn.
func (l *htmlLadder) legend(c *probes.ClientOutcome) []htmlSign {
	has := func(f func(htmlRung) bool) bool { return slices.ContainsFunc(l.Rungs, f) }
	var out []htmlSign
	add := func(is bool, class, words string) {
		if is {
			out = append(out, htmlSign{class, words})
		}
	}
	add(has(func(r htmlRung) bool { return r.Open != "" }), "open", "open")
	add(has(func(r htmlRung) bool { return r.Alive != "" && !r.Wrong }), "alive", "survived: answered when it was reused")
	add(has(func(r htmlRung) bool { return r.Wrong }), "wrong", "lived, and the answer was not as expected")
	add(has(func(r htmlRung) bool { return r.End != "" }), "end", "closed, or died")
	add(has(func(r htmlRung) bool { return r.Dead != nil }), "dead", "dead; a pool may still hold it")
	add(has(func(r htmlRung) bool { return r.Unseen != nil }), "unseen-end", "died somewhere here, and nobody saw it")
	if l.Band != nil {
		add(true, "band", fmt.Sprintf("danger band of %s, %s: it would use a closed connection", c.Kind, bandWords(c.Band)))
	}
	if more := len(l.Table) - len(l.Rungs); more > 0 {
		add(true, "more", fmt.Sprintf("%d more rungs stand in the table alone", more))
	}
	return out
}

func newHTMLRungRow(o *probes.Outcome) htmlRungRow {
	return htmlRungRow{
		Verdict: verdictOf(o.Verdict), Hold: rungName(o),
		Idle: heldOver(o, idleCell(o)).text, Reuse: reuseCell(o).text, Control: controlCell(o).text,
	}
}

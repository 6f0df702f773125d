package alert

import (
	"image/color"
	"slices"
	"time"

	"perch.example/internal/canvas"
	"perch.example/probes"
)

// The places of a ladder's picture, in points.
const (
	ladderLeft  = 84  // of the bars: what stands before is the hold's name
	ladderRight = 520 // what stands behind is what became of it
	ladderFoot  = 74
)

// drawLadder draws a ladder as PNG: a bar a rung as long as its hold, solid for
// as long as the connection is known to have lived, what became of it in a
// word and a sign, where it was closed, what was expected, and where the client
// is in danger. Nothing, if there is no rung.
func drawLadder(charts Charts) ([]byte, error) {
	charts = charts.bounded()
	if len(charts.Ladder) == 0 {
		return nil, nil
	}
	height := rowHeight(len(charts.Ladder))
	top := ladderTop(charts)
	bottom := top + height*float64(len(charts.Ladder))
	d := newDrawing(bottom + ladderFoot)
	a := newAxis(ladderTimes(charts), ladderLeft, ladderRight)
	d.Print(canvas.At(20, 32), titleFace(), d.text, "The ladder: connections held idle, then used again")
	d.shadeBand(charts, a, bottom)
	d.drawAxis(a, canvas.At(top, bottom), age, "idle time")
	for n, r := range charts.Ladder {
		d.drawRung(r, a, top+height*(float64(n)+0.5), height)
	}
	d.drawExpected(charts.Expected, a, bottom)
	if charts.banded() {
		d.printOver(a, a.at(charts.Band.From), top-14, "client's danger band: "+bandWords(charts.Band))
	}
	d.drawLadderKey(charts, bottom+58)
	return d.png()
}

// ladderTop is where the first row begins: below what is said of lines and areas.
func ladderTop(charts Charts) float64 {
	top := 56.0
	if charts.Expected > 0 {
		top += 20
	}
	if charts.banded() {
		top += 22
	}
	return top
}

// banded reports whether there is a danger band to be drawn.
func (c Charts) banded() bool { return c.Band != nil && (c.Band.Open || c.Band.To > c.Band.From) }

// rowHeight makes a few rungs airy, and keeps many on one screen.
func rowHeight(rungs int) float64 {
	if rungs <= 8 {
		return 30
	}
	return 22
}

// ladderTimes are what the axis must show.
func ladderTimes(charts Charts) []time.Duration {
	times := []time.Duration{charts.Expected}
	for _, r := range charts.Ladder {
		times = append(times, r.Hold, r.Closed)
	}
	if charts.Band != nil {
		times = append(times, charts.Band.From, charts.Band.To)
	}
	return times
}

// drawRung draws one row.
func (d *drawing) drawRung(r ChartRung, a axis, y, height float64) {
	half := height * 0.28
	name := d.Short(textFace(), age(max(0, r.Hold)), ladderLeft-24)
	d.Print(canvas.At(ladderLeft-10-d.Width(textFace(), name), y+4.5), textFace(), d.text, name)
	end, i := a.at(r.Hold), d.inkOf(r.Verdict)
	if r.Hold > 0 {
		d.drawBar(r, a, y, half)
		d.sign(r.Verdict, canvas.At(end, y), half*0.95)
	}
	if r.Closed > 0 {
		d.diamond(canvas.At(a.at(r.Closed), y), half*1.15)
	}
	d.sign(r.Verdict, canvas.At(ladderRight+22, y), 5)
	d.Print(canvas.At(ladderRight+36, y+4.5), textFace(), i, d.Short(textFace(), rungWords(r), pictureWidth-ladderRight-46))
}

// drawBar is solid for as long as the connection is known to have lived, empty
// behind a close, hatched where nobody knows since when it was dead, and no more
// than a line where nothing was judged.
func (d *drawing) drawBar(r ChartRung, a axis, y, half float64) {
	from, to := canvas.At(a.left, y-half), canvas.At(a.at(r.Hold), y+half)
	lived := to
	switch {
	case r.Closed > 0 && r.Closed < r.Hold:
		d.frame(from, to, d.faint)
		lived.X = a.at(r.Closed)
	case r.Closed > 0 || r.Verdict == probes.VerdictPass:
	case !unseen(r):
		d.Fill(canvas.At(from.X, y-0.5), canvas.At(to.X, y+0.5), d.faint)
		return
	default:
		d.hatch(from, to, d.faint)
		d.frame(from, to, d.faint)
		return
	}
	d.Fill(from, lived, d.alive)
}

// unseen reports whether a connection died without anybody seeing when.
func unseen(r ChartRung) bool {
	return r.Closed <= 0 && severity(r.Verdict) > severity(probes.VerdictPass)
}

// rungWords say what became of a rung.
func rungWords(r ChartRung) string {
	text := verdictWord(r.Verdict)
	if r.Closed > 0 {
		return text + ": closed at " + age(r.Closed)
	}
	if reason := clean(string(r.Reason)); r.Verdict != probes.VerdictPass && reason != "" {
		return text + ": " + reason
	}
	return text
}

func (d *drawing) inkOf(v probes.Verdict) color.RGBA {
	switch v {
	case probes.VerdictPass:
		return d.alive
	case probes.VerdictDegraded:
		return d.warn
	case probes.VerdictFail:
		return d.bad
	case probes.VerdictSkipped, probes.VerdictIncomplete:
		return d.faint
	}
	return d.faint
}

// shadeBand shades the idle times at which the client would use a dead connection.
func (d *drawing) shadeBand(charts Charts, a axis, bottom float64) {
	if !charts.banded() {
		return
	}
	top := ladderTop(charts) - 8
	from, to := a.at(charts.Band.From), a.right
	if !charts.Band.Open {
		to = a.at(charts.Band.To)
	}
	d.Fill(canvas.At(from, top), canvas.At(to, bottom), d.band)
	d.vertical(canvas.At(from, top), canvas.At(from, bottom), 0, d.bandEdge)
	if !charts.Band.Open {
		d.vertical(canvas.At(to, top), canvas.At(to, bottom), 0, d.bandEdge)
	}
}

// drawExpected marks the idle time that the path is expected to honour.
func (d *drawing) drawExpected(expected time.Duration, a axis, bottom float64) {
	const top = 58
	if expected <= 0 {
		return
	}
	x, text := a.at(expected), "expected to live: "+age(expected)
	d.vertical(canvas.At(x, top), canvas.At(x, bottom), 5, d.text)
	d.printOver(a, x-d.Width(smallFace(), text)/2, top-4, text)
}

// printOver sets a small text over the axis, at x or as near as there is room,
// and on nothing else.
func (d *drawing) printOver(a axis, x, y float64, text string) {
	wide := d.Width(smallFace(), text)
	x = max(a.left, min(x, a.right-wide))
	d.Fill(canvas.At(x-3, y-11), canvas.At(x+wide+3, y+4), d.paper)
	d.Print(canvas.At(x, y), smallFace(), d.text, text)
}

// drawLadderKey says what a bar's looks mean, of those that are there.
func (d *drawing) drawLadderKey(charts Charts, y float64) {
	closed := slices.ContainsFunc(charts.Ladder, func(r ChartRung) bool { return r.Closed > 0 })
	x := 20.0
	entry := func(draw func(from, to canvas.Spot), text string) {
		draw(canvas.At(x, y-10), canvas.At(x+22, y))
		d.Print(canvas.At(x+28, y-1), smallFace(), d.faint, text)
		x += 46 + d.Width(smallFace(), text)
	}
	entry(func(from, to canvas.Spot) { d.Fill(from, to, d.alive) }, "connection alive")
	if closed {
		entry(func(from, _ canvas.Spot) { d.diamond(canvas.At(from.X+11, y-5), 6) }, "close seen")
		entry(func(from, to canvas.Spot) { d.frame(from, to, d.faint) }, "closed, still held")
	}
	if slices.ContainsFunc(charts.Ladder, unseen) {
		entry(func(from, to canvas.Spot) { d.hatch(from, to, d.faint); d.frame(from, to, d.faint) }, "no close seen, failed when used again")
	}
}

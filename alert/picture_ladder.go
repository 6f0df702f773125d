package alert

import (
	"slices"
	"time"

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
	c, err := newCanvas(bottom + ladderFoot)
	if err != nil {
		return nil, err
	}
	a := newAxis(ladderTimes(charts), ladderLeft, ladderRight)
	c.print(spot{20, 32}, styleTitle, c.text, "The ladder: connections held idle, then used again")
	c.shadeBand(charts, a, bottom)
	c.drawAxis(a, spot{top, bottom}, age, "idle time")
	for n, r := range charts.Ladder {
		c.drawRung(r, a, top+height*(float64(n)+0.5), height)
	}
	c.drawExpected(charts.Expected, a, bottom)
	if charts.banded() {
		c.printOver(a, a.at(charts.Band.From), top-14, "client's danger band: "+bandWords(charts.Band))
	}
	c.drawLadderKey(charts, bottom+58)
	return c.png()
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
func (c *canvas) drawRung(r ChartRung, a axis, y, height float64) {
	half := height * 0.28
	name := c.short(styleText, age(max(0, r.Hold)), ladderLeft-24)
	c.print(spot{ladderLeft - 10 - c.width(styleText, name), y + 4.5}, styleText, c.text, name)
	end, i := a.at(r.Hold), c.inkOf(r.Verdict)
	if r.Hold > 0 {
		c.drawBar(r, a, y, half)
		c.sign(r.Verdict, spot{end, y}, half*0.95)
	}
	if r.Closed > 0 {
		c.diamond(spot{a.at(r.Closed), y}, half*1.15)
	}
	c.sign(r.Verdict, spot{ladderRight + 22, y}, 5)
	c.print(spot{ladderRight + 36, y + 4.5}, styleText, i, c.short(styleText, rungWords(r), pictureWidth-ladderRight-46))
}

// drawBar is solid for as long as the connection is known to have lived, empty
// behind a close, hatched where nobody knows since when it was dead, and no more
// than a line where nothing was judged.
func (c *canvas) drawBar(r ChartRung, a axis, y, half float64) {
	from, to := spot{a.left, y - half}, spot{a.at(r.Hold), y + half}
	lived := spot{to.x, to.y}
	switch {
	case r.Closed > 0 && r.Closed < r.Hold:
		c.frame(from, to, c.faint)
		lived.x = a.at(r.Closed)
	case r.Closed > 0 || r.Verdict == probes.VerdictPass:
	case !unseen(r):
		c.rect(spot{from.x, y - 0.5}, spot{to.x, y + 0.5}, c.faint)
		return
	default:
		c.hatch(from, to, c.faint)
		c.frame(from, to, c.faint)
		return
	}
	c.rect(from, lived, c.alive)
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

func (c *canvas) inkOf(v probes.Verdict) ink {
	switch v {
	case probes.VerdictPass:
		return c.alive
	case probes.VerdictDegraded:
		return c.warn
	case probes.VerdictFail:
		return c.bad
	case probes.VerdictSkipped, probes.VerdictIncomplete:
		return c.faint
	}
	return c.faint
}

// shadeBand shades the idle times at which the client would use a dead connection.
func (c *canvas) shadeBand(charts Charts, a axis, bottom float64) {
	if !charts.banded() {
		return
	}
	top := ladderTop(charts) - 8
	from, to := a.at(charts.Band.From), a.right
	if !charts.Band.Open {
		to = a.at(charts.Band.To)
	}
	c.rect(spot{from, top}, spot{to, bottom}, c.band)
	c.vertical(spot{from, top}, spot{from, bottom}, 0, c.bandEdge)
	if !charts.Band.Open {
		c.vertical(spot{to, top}, spot{to, bottom}, 0, c.bandEdge)
	}
}

// drawExpected marks the idle time that the path is expected to honour.
func (c *canvas) drawExpected(expected time.Duration, a axis, bottom float64) {
	const top = 58
	if expected <= 0 {
		return
	}
	x, text := a.at(expected), "expected to live: "+age(expected)
	c.vertical(spot{x, top}, spot{x, bottom}, 5, c.text)
	c.printOver(a, x-c.width(styleSmall, text)/2, top-4, text)
}

// printOver sets a small text over the axis, at x or as near as there is room,
// and on nothing else.
func (c *canvas) printOver(a axis, x, y float64, text string) {
	wide := c.width(styleSmall, text)
	x = max(a.left, min(x, a.right-wide))
	c.rect(spot{x - 3, y - 11}, spot{x + wide + 3, y + 4}, c.paper)
	c.print(spot{x, y}, styleSmall, c.text, text)
}

// drawLadderKey says what a bar's looks mean, of those that are there.
func (c *canvas) drawLadderKey(charts Charts, y float64) {
	closed := slices.ContainsFunc(charts.Ladder, func(r ChartRung) bool { return r.Closed > 0 })
	x := 20.0
	entry := func(draw func(from, to spot), text string) {
		draw(spot{x, y - 10}, spot{x + 22, y})
		c.print(spot{x + 28, y - 1}, styleSmall, c.faint, text)
		x += 46 + c.width(styleSmall, text)
	}
	entry(func(from, to spot) { c.rect(from, to, c.alive) }, "connection alive")
	if closed {
		entry(func(from, _ spot) { c.diamond(spot{from.x + 11, y - 5}, 6) }, "close seen")
		entry(func(from, to spot) { c.frame(from, to, c.faint) }, "closed, still held")
	}
	if slices.ContainsFunc(charts.Ladder, unseen) {
		entry(func(from, to spot) { c.hatch(from, to, c.faint); c.frame(from, to, c.faint) }, "no close seen, failed when used again")
	}
}

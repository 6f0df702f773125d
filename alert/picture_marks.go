package alert

import (
	"math"
	"time"

	"perch.example/probes"
)

// sign draws a verdict's sign: a disc for a pass, a triangle for what was only
// just served, a cross for a failure, a ring for what was not judged.
func (c *canvas) sign(v probes.Verdict, at spot, size float64) {
	switch v {
	case probes.VerdictPass:
		c.disc(at, size, c.inkOf(v))
	case probes.VerdictDegraded:
		c.shape(c.paper, spot{at.x, at.y - size*1.5}, spot{at.x + size*1.5, at.y + size*1.2}, spot{at.x - size*1.5, at.y + size*1.2})
		c.shape(c.inkOf(v), spot{at.x, at.y - size*1.1}, spot{at.x + size*1.1, at.y + size}, spot{at.x - size*1.1, at.y + size})
	case probes.VerdictFail:
		c.cross(at, size+2, size*0.7+2, c.paper)
		c.cross(at, size, size*0.5, c.inkOf(v))
	case probes.VerdictSkipped, probes.VerdictIncomplete:
		c.ring(at, size)
	default:
		c.ring(at, size)
	}
}

func (c *canvas) ring(at spot, size float64) {
	c.disc(at, size, c.faint)
	c.disc(at, size*0.55, c.paper)
}

// disc draws a filled circle.
func (c *canvas) disc(at spot, size float64, i ink) {
	const corners = 28
	around := make([]spot, corners)
	for n := range around {
		sin, cos := math.Sincos(2 * math.Pi * float64(n) / corners)
		around[n] = spot{at.x + size*cos, at.y + size*sin}
	}
	c.shape(i, around...)
}

// cross draws two slanted strokes of that width.
func (c *canvas) cross(at spot, size, wide float64, i ink) {
	d := wide / 2 / math.Sqrt2
	c.shape(i, spot{at.x - size - d, at.y - size + d}, spot{at.x - size + d, at.y - size - d}, spot{at.x + size + d, at.y + size - d}, spot{at.x + size - d, at.y + size + d})
	c.shape(i, spot{at.x - size - d, at.y + size - d}, spot{at.x - size + d, at.y + size + d}, spot{at.x + size + d, at.y - size + d}, spot{at.x + size - d, at.y - size - d})
}

// diamond marks a close that was seen.
func (c *canvas) diamond(at spot, size float64) {
	for _, part := range []struct {
		size float64
		ink  ink
	}{{size + 1.5, c.paper}, {size, c.mark}} {
		c.shape(part.ink, spot{at.x, at.y - part.size}, spot{at.x + part.size, at.y}, spot{at.x, at.y + part.size}, spot{at.x - part.size, at.y})
	}
}

// drawAxis draws the grid between span's x (top) and y (bottom), and names the
// ticks and the axis below it.
func (c *canvas) drawAxis(a axis, span spot, words func(time.Duration) string, title string) {
	const apart = 58
	for _, d := range a.ticks(apart) {
		x, text := a.at(d), "0"
		if d > 0 {
			text = words(d)
		}
		c.vertical(spot{x, span.x}, spot{x, span.y + 4}, 0, c.grid)
		c.print(spot{x - c.width(styleSmall, text)/2, span.y + 17}, styleSmall, c.faint, text)
	}
	c.rect(spot{a.left, span.y}, spot{a.right, span.y + 1}, c.faint)
	if a.log {
		title += " (log scale)"
	}
	c.print(spot{a.right - c.width(styleSmall, title), span.y + 34}, styleSmall, c.faint, title)
}

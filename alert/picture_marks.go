package alert

import (
	"image/color"
	"math"
	"time"

	"perch.example/internal/canvas"
	"perch.example/probes"
)

// sign draws a verdict's sign: a disc for a pass, a triangle for what was only
// just served, a cross for a failure, a ring for what was not judged.
func (d *drawing) sign(v probes.Verdict, at canvas.Spot, size float64) {
	switch v {
	case probes.VerdictPass:
		d.disc(at, size, d.inkOf(v))
	case probes.VerdictDegraded:
		d.Shape(d.paper, canvas.At(at.X, at.Y-size*1.5), canvas.At(at.X+size*1.5, at.Y+size*1.2), canvas.At(at.X-size*1.5, at.Y+size*1.2))
		d.Shape(d.inkOf(v), canvas.At(at.X, at.Y-size*1.1), canvas.At(at.X+size*1.1, at.Y+size), canvas.At(at.X-size*1.1, at.Y+size))
	case probes.VerdictFail:
		d.cross(at, size+2, size*0.7+2, d.paper)
		d.cross(at, size, size*0.5, d.inkOf(v))
	case probes.VerdictSkipped, probes.VerdictIncomplete:
		d.ring(at, size)
	default:
		d.ring(at, size)
	}
}

func (d *drawing) ring(at canvas.Spot, size float64) {
	d.disc(at, size, d.faint)
	d.disc(at, size*0.55, d.paper)
}

// disc draws a filled circle.
func (d *drawing) disc(at canvas.Spot, size float64, i color.RGBA) {
	const corners = 28
	around := make([]canvas.Spot, corners)
	for n := range around {
		sin, cos := math.Sincos(2 * math.Pi * float64(n) / corners)
		around[n] = canvas.At(at.X+size*cos, at.Y+size*sin)
	}
	d.Shape(i, around...)
}

// cross draws two slanted strokes of that width.
func (d *drawing) cross(at canvas.Spot, size, wide float64, i color.RGBA) {
	w := wide / 2 / math.Sqrt2
	d.Shape(i, canvas.At(at.X-size-w, at.Y-size+w), canvas.At(at.X-size+w, at.Y-size-w),
		canvas.At(at.X+size+w, at.Y+size-w), canvas.At(at.X+size-w, at.Y+size+w))
	d.Shape(i, canvas.At(at.X-size-w, at.Y+size-w), canvas.At(at.X-size+w, at.Y+size+w),
		canvas.At(at.X+size+w, at.Y-size+w), canvas.At(at.X+size-w, at.Y-size-w))
}

// diamond marks a close that was seen.
func (d *drawing) diamond(at canvas.Spot, size float64) {
	for _, part := range []struct {
		size float64
		ink  color.RGBA
	}{{size + 1.5, d.paper}, {size, d.mark}} {
		d.Shape(part.ink, canvas.At(at.X, at.Y-part.size), canvas.At(at.X+part.size, at.Y), canvas.At(at.X, at.Y+part.size), canvas.At(at.X-part.size, at.Y))
	}
}

// drawAxis draws the grid between span's x (top) and y (bottom), and names the
// ticks and the axis below it.
func (d *drawing) drawAxis(a axis, span canvas.Spot, words func(time.Duration) string, title string) {
	const apart = 58
	for _, tick := range a.ticks(apart) {
		x, text := a.at(tick), "0"
		if tick > 0 {
			text = words(tick)
		}
		d.vertical(canvas.At(x, span.X), canvas.At(x, span.Y+4), 0, d.grid)
		d.Print(canvas.At(x-d.Width(smallFace(), text)/2, span.Y+17), smallFace(), d.faint, text)
	}
	d.Fill(canvas.At(a.left, span.Y), canvas.At(a.right, span.Y+1), d.faint)
	if a.log {
		title += " (log scale)"
	}
	d.Print(canvas.At(a.right-d.Width(smallFace(), title), span.Y+34), smallFace(), d.faint, title)
}

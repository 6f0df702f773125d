//go:build peers

package grafana

import (
	"image/color"
	"image/png"
	"math"
	"strconv"

	"perch.example/internal/canvas"
)

// dots is how many pixels one point of a picture has.
const dots = 1.5

// area is a part of a picture, in points from the upper left corner.
type area struct{ x, y, w, h float64 }

func (a area) inner(by float64) area { return area{a.x + by, a.y + by, a.w - 2*by, a.h - 2*by} }

func small() canvas.Face  { return canvas.Face{Size: 10.5} }
func medium() canvas.Face { return canvas.Face{Size: 12} }
func strong() canvas.Face { return canvas.Face{Bold: true, Size: 12.5} }

// rgb reads "#rrggbb"; what is none is black, and is seen.
func rgb(s string) color.RGBA {
	if len(s) != 7 {
		return color.RGBA{A: 0xff}
	}
	n, err := strconv.ParseUint(s[1:], 16, 32)
	if err != nil {
		return color.RGBA{A: 0xff}
	}
	return color.RGBA{uint8(n >> 16), uint8(n >> 8), uint8(n), 0xff}
}

// faded is a colour on white, so strong of 1: a picture with few colours is
// small.
func faded(c color.RGBA, strength float64) color.RGBA {
	mix := func(v uint8) uint8 { return uint8(255 - (255-float64(v))*strength) }
	return color.RGBA{mix(c.R), mix(c.G), mix(c.B), 0xff}
}

func (d *drawing) fill(a area, ink color.RGBA) {
	d.Fill(canvas.At(a.x, a.y), canvas.At(a.x+a.w, a.y+a.h), ink)
}

// line draws a stroke, so wide.
func (d *drawing) line(ink color.RGBA, wide float64, from, to canvas.Spot) {
	dx, dy := to.X-from.X, to.Y-from.Y
	long := math.Hypot(dx, dy)
	if long == 0 {
		return
	}
	nx, ny := -dy/long*wide/2, dx/long*wide/2
	d.Shape(ink, canvas.At(from.X+nx, from.Y+ny), canvas.At(to.X+nx, to.Y+ny), canvas.At(to.X-nx, to.Y-ny), canvas.At(from.X-nx, from.Y-ny))
}

// dashed draws a stroke with gaps.
func (d *drawing) dashed(ink color.RGBA, wide float64, from, to canvas.Spot) {
	const on, off = 6.0, 4.0
	dx, dy := to.X-from.X, to.Y-from.Y
	long := math.Hypot(dx, dy)
	for at := 0.0; at < long; at += on + off {
		a, b := at/long, math.Min(at+on, long)/long
		d.line(ink, wide, canvas.At(from.X+dx*a, from.Y+dy*a), canvas.At(from.X+dx*b, from.Y+dy*b))
	}
}

// center sets a text in the middle of an area, as large as it fits.
func (d *drawing) center(f canvas.Face, ink color.RGBA, a area, text string) {
	for f.Size > 9 && d.Width(f, text) > a.w {
		f.Size--
	}
	text = d.Short(f, text, a.w)
	d.Print(canvas.At(a.x+(a.w-d.Width(f, text))/2, a.y+a.h/2+f.Size*0.36), f, ink, text)
}

// png writes the picture with few colours.
func (d *drawing) png() []byte {
	const coarse = 51   // a fifth of each channel: only the edges of letters are between
	const common = 1500 // pixels: what so many have is a colour that was meant
	exact := map[color.RGBA]int{}
	pix := d.Image.Pix
	for at := 0; at < len(pix); at += 4 {
		exact[color.RGBA{pix[at], pix[at+1], pix[at+2], 0xff}]++
	}
	round := func(v uint8) uint8 { return uint8((int(v) + coarse/2) / coarse * coarse) }
	drawn, err := d.PNG(png.BestCompression, func(found color.RGBA) color.RGBA {
		if exact[found] >= common {
			return found
		}
		return color.RGBA{round(found.R), round(found.G), round(found.B), 0xff}
	})
	if err != nil {
		d.t.Fatal(err)
	}
	return drawn
}

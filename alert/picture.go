package alert

import (
	"image/color"
	"image/png"
	"math"
	"slices"

	"perch.example/internal/canvas"
)

// pictureScale is how many pixels one point of a picture has: sharp on screens
// of twice the density.
const pictureScale = 2

// edgeStep is how finely the edges of letters and signs are shaded, of 255.
const edgeStep = 85

// pictureWidth is the width of every picture, in points.
const pictureWidth = 800

// palette are the inks, told apart by people who see red and green alike.
type palette struct{ paper, text, faint, grid, alive, warn, bad, band, bandEdge, mark color.RGBA }

func newPalette() palette {
	return palette{
		paper: ink(0xff, 0xff, 0xff), text: ink(0x22, 0x22, 0x22), faint: ink(0x66, 0x66, 0x66), grid: ink(0xdd, 0xdd, 0xdd),
		alive: ink(0x33, 0x77, 0xbb), warn: ink(0xcc, 0x77, 0x00), bad: ink(0xbb, 0x11, 0x22),
		band: ink(0xff, 0xee, 0xcc), bandEdge: ink(0xcc, 0xaa, 0x66), mark: ink(0x44, 0x00, 0x77),
	}
}

// ink is a plain colour.
func ink(r, g, b uint8) color.RGBA { return color.RGBA{r, g, b, 0xff} }

func (p palette) inks() []color.RGBA {
	return []color.RGBA{p.paper, p.text, p.faint, p.grid, p.alive, p.warn, p.bad, p.band, p.bandEdge, p.mark}
}

// near is an ink as it is, and any other colour, at the edges of letters and
// signs, to the nearest third of each channel: few colours are left.
func (p palette) near(found color.RGBA) color.RGBA {
	if slices.Contains(p.inks(), found) {
		return found
	}
	return ink(third(found.R), third(found.G), third(found.B))
}

func third(value uint8) uint8 { return uint8((int(value) + edgeStep/2) / edgeStep * edgeStep) }

// How a text is set.
func titleFace() canvas.Face { return canvas.Face{Bold: true, Size: 16} }
func textFace() canvas.Face  { return canvas.Face{Size: 13} }
func smallFace() canvas.Face { return canvas.Face{Size: 11} }

// drawing is a picture in the making. All lengths are points.
type drawing struct {
	*canvas.Canvas
	palette
}

// newDrawing makes an empty picture of that height.
func newDrawing(height float64) *drawing {
	p := newPalette()
	return &drawing{canvas.New(canvas.At(pictureWidth, height), pictureScale, p.paper), p}
}

// png writes the picture.
func (d *drawing) png() ([]byte, error) { return d.PNG(png.DefaultCompression, d.near) }

// hatch fills a rectangle with slanted lines: not solid, not empty, without
// regard to colour.
func (d *drawing) hatch(from, to canvas.Spot, i color.RGBA) {
	const every, wide = 10, 4
	area := d.Pixels(from, to).Intersect(d.Image.Bounds())
	for y := area.Min.Y; y < area.Max.Y; y++ {
		for x := area.Min.X; x < area.Max.X; x++ {
			if (x+y)%every < wide {
				d.Image.SetRGBA(x, y, i)
			}
		}
	}
}

// frame draws a rectangle's edge, inside of it.
func (d *drawing) frame(from, to canvas.Spot, i color.RGBA) {
	const wide = 1.5
	d.Fill(from, canvas.At(to.X, from.Y+wide), i)
	d.Fill(canvas.At(from.X, to.Y-wide), to, i)
	d.Fill(from, canvas.At(from.X+wide, to.Y), i)
	d.Fill(canvas.At(to.X-wide, from.Y), to, i)
}

// vertical draws an upright line; dash is how long its dashes are, 0: it is whole.
func (d *drawing) vertical(at, to canvas.Spot, dash float64, i color.RGBA) {
	const wide = 1
	if dash <= 0 {
		d.Fill(at, canvas.At(at.X+wide, to.Y), i)
		return
	}
	for y := at.Y; y < to.Y; y += 2 * dash {
		d.Fill(canvas.At(at.X, y), canvas.At(at.X+wide, math.Min(y+dash, to.Y)), i)
	}
}

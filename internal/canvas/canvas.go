// Package canvas draws pictures of a few plain colours: areas, shapes and text,
// written as a small PNG. All lengths are points; a canvas says how many pixels
// one has.
package canvas

import (
	"image"
	"image/color"
	"image/draw"
	"math"

	"golang.org/x/image/font"
	"golang.org/x/image/vector"
)

// Spot is a place on a picture, in points from its upper left corner.
type Spot struct{ X, Y float64 }

// At gives the spot so far from the left and from the top.
func At(x, y float64) Spot { return Spot{X: x, Y: y} }

// Canvas is a picture in the making. New makes one. All its colours are opaque.
type Canvas struct {
	// Image are the pixels, for what no method here draws.
	Image  *image.RGBA
	dots   float64 // pixels a point
	faces  map[Face]font.Face
	failed error // why a text could not be set; PNG tells
}

// New makes an empty picture that reaches to the spot size, with dots pixels a
// point, above 0, all of the colour paper.
func New(size Spot, dots float64, paper color.RGBA) *Canvas {
	c := &Canvas{
		Image: image.NewRGBA(image.Rect(0, 0, int(math.Ceil(size.X*dots)), int(math.Ceil(size.Y*dots)))),
		dots:  dots,
		faces: map[Face]font.Face{},
	}
	draw.Draw(c.Image, c.Image.Bounds(), image.NewUniform(paper), image.Point{}, draw.Src)
	return c
}

// Pixels are the whole pixels nearest to a rectangle. Not all of them need lie on
// the picture.
func (c *Canvas) Pixels(from, to Spot) image.Rectangle {
	at := func(v float64) int { return int(math.Round(v * c.dots)) }
	return image.Rect(at(from.X), at(from.Y), at(to.X), at(to.Y))
}

// Fill fills a rectangle, its edges on whole pixels.
func (c *Canvas) Fill(from, to Spot, ink color.RGBA) {
	draw.Draw(c.Image, c.Pixels(from, to), image.NewUniform(ink), image.Point{}, draw.Src)
}

// far is how far out a spot of a shape may lie, in pixels: with numbers much
// larger the rasterizer overflows and panics.
const far = 1 << 14

// Shape fills the area within some spots, smoothly. What lies beside the picture
// is not drawn, nor is a shape one of whose spots is none or lies further than
// 16,384 pixels from the upper left corner.
func (c *Canvas) Shape(ink color.RGBA, around ...Spot) {
	box := c.box(around)
	if box.Empty() {
		return
	}
	raster := vector.NewRasterizer(box.Dx(), box.Dy())
	for n, s := range around {
		x, y := float32(s.X*c.dots)-float32(box.Min.X), float32(s.Y*c.dots)-float32(box.Min.Y)
		if n == 0 {
			raster.MoveTo(x, y)
			continue
		}
		raster.LineTo(x, y)
	}
	raster.ClosePath()
	raster.Draw(c.Image, box, image.NewUniform(ink), image.Point{})
}

// box are the pixels of the picture that some spots touch. The rasterizer writes
// wherever its box is: one that leaves the picture would panic.
func (c *Canvas) box(around []Spot) image.Rectangle {
	if len(around) == 0 {
		return image.Rectangle{}
	}
	least, most := around[0], around[0]
	for _, s := range around {
		if !(math.Hypot(s.X, s.Y)*c.dots <= far) { // so that it holds for NaN too
			return image.Rectangle{}
		}
		least = At(math.Min(least.X, s.X), math.Min(least.Y, s.Y))
		most = At(math.Max(most.X, s.X), math.Max(most.Y, s.Y))
	}
	down := func(v float64) int { return int(math.Floor(v * c.dots)) }
	up := func(v float64) int { return int(math.Ceil(v * c.dots)) }
	return image.Rect(down(least.X), down(least.Y), up(most.X), up(most.Y)).Intersect(c.Image.Bounds())
}

//go:build peers

package grafana

import (
	"bytes"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"math"
	"strconv"
	"testing"

	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/gobold"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/math/fixed"
	"golang.org/x/image/vector"
)

// dots is how many pixels one point of a picture has.
const dots = 1.5

// spot is a place on a picture, and area a part of it, in points from the upper
// left corner.
type spot struct{ x, y float64 }

type area struct{ x, y, w, h float64 }

func (a area) inner(by float64) area { return area{a.x + by, a.y + by, a.w - 2*by, a.h - 2*by} }

// canvas is a picture in the making.
type canvas struct {
	t     *testing.T
	img   *image.RGBA
	faces map[face]font.Face
}

// face is a font: bold or not, in points.
type face struct {
	bold bool
	size float64
}

func small() face  { return face{size: 10.5} }
func medium() face { return face{size: 12} }
func strong() face { return face{bold: true, size: 12.5} }

func newCanvas(t *testing.T, w, h float64) *canvas {
	t.Helper()
	c := &canvas{t: t, img: image.NewRGBA(image.Rect(0, 0, int(w*dots), int(h*dots))), faces: map[face]font.Face{}}
	c.fill(area{0, 0, w, h}, rgb("#f4f5f5"))
	return c
}

// rgb reads "#rrggbb"; what is none is black, and is seen.
func rgb(s string) color.NRGBA {
	if len(s) != 7 {
		return color.NRGBA{A: 0xff}
	}
	n, err := strconv.ParseUint(s[1:], 16, 32)
	if err != nil {
		return color.NRGBA{A: 0xff}
	}
	return color.NRGBA{uint8(n >> 16), uint8(n >> 8), uint8(n), 0xff}
}

// faded is a colour on white, so strong of 1: a picture with few colours is
// small.
func faded(c color.NRGBA, strength float64) color.NRGBA {
	mix := func(v uint8) uint8 { return uint8(255 - (255-float64(v))*strength) }
	return color.NRGBA{mix(c.R), mix(c.G), mix(c.B), 0xff}
}

func (c *canvas) fill(a area, ink color.NRGBA) {
	at := func(v float64) int { return int(math.Round(v * dots)) }
	draw.Draw(c.img, image.Rect(at(a.x), at(a.y), at(a.x+a.w), at(a.y+a.h)), image.NewUniform(ink), image.Point{}, draw.Over)
}

// shape fills what lies between some spots.
func (c *canvas) shape(ink color.NRGBA, around ...spot) {
	least, most := around[0], around[0]
	for _, s := range around {
		least = spot{math.Min(least.x, s.x), math.Min(least.y, s.y)}
		most = spot{math.Max(most.x, s.x), math.Max(most.y, s.y)}
	}
	box := image.Rect(int(math.Floor(least.x*dots)), int(math.Floor(least.y*dots)), int(math.Ceil(most.x*dots)), int(math.Ceil(most.y*dots)))
	raster := vector.NewRasterizer(box.Dx(), box.Dy())
	for i, s := range around {
		x, y := float32(s.x*dots)-float32(box.Min.X), float32(s.y*dots)-float32(box.Min.Y)
		if i == 0 {
			raster.MoveTo(x, y)
			continue
		}
		raster.LineTo(x, y)
	}
	raster.ClosePath()
	raster.Draw(c.img, box, image.NewUniform(ink), image.Point{})
}

// line draws a stroke, so wide.
func (c *canvas) line(ink color.NRGBA, wide float64, from, to spot) {
	dx, dy := to.x-from.x, to.y-from.y
	long := math.Hypot(dx, dy)
	if long == 0 {
		return
	}
	nx, ny := -dy/long*wide/2, dx/long*wide/2
	c.shape(ink, spot{from.x + nx, from.y + ny}, spot{to.x + nx, to.y + ny}, spot{to.x - nx, to.y - ny}, spot{from.x - nx, from.y - ny})
}

// dashed draws a stroke with gaps.
func (c *canvas) dashed(ink color.NRGBA, wide float64, from, to spot) {
	const on, off = 6.0, 4.0
	long := math.Hypot(to.x-from.x, to.y-from.y)
	for d := 0.0; d < long; d += on + off {
		a, b := d/long, math.Min(d+on, long)/long
		c.line(ink, wide, spot{from.x + (to.x-from.x)*a, from.y + (to.y-from.y)*a}, spot{from.x + (to.x-from.x)*b, from.y + (to.y-from.y)*b})
	}
}

func (c *canvas) font(f face) font.Face {
	if have := c.faces[f]; have != nil {
		return have
	}
	ttf := goregular.TTF
	if f.bold {
		ttf = gobold.TTF
	}
	parsed, err := opentype.Parse(ttf)
	if err != nil {
		c.t.Fatal(err)
	}
	made, err := opentype.NewFace(parsed, &opentype.FaceOptions{Size: f.size * dots, DPI: 72, Hinting: font.HintingFull})
	if err != nil {
		c.t.Fatal(err)
	}
	c.faces[f] = made
	return made
}

// print sets a text that begins at a spot of its base line.
func (c *canvas) print(f face, ink color.NRGBA, at spot, text string) {
	d := font.Drawer{Dst: c.img, Src: image.NewUniform(ink), Face: c.font(f), Dot: fixed.P(int(math.Round(at.x*dots)), int(math.Round(at.y*dots)))}
	d.DrawString(text)
}

func (c *canvas) width(f face, text string) float64 {
	return float64(font.MeasureString(c.font(f), text)) / 64 / dots
}

// short cuts a text so that it takes no more than that room.
func (c *canvas) short(f face, text string, room float64) string {
	if c.width(f, text) <= room {
		return text
	}
	letters := []rune(text)
	for len(letters) > 0 && c.width(f, string(letters)+"…") > room {
		letters = letters[:len(letters)-1]
	}
	return string(letters) + "…"
}

// center sets a text in the middle of an area, as large as it fits.
func (c *canvas) center(f face, ink color.NRGBA, a area, text string) {
	for f.size > 9 && c.width(f, text) > a.w {
		f.size--
	}
	text = c.short(f, text, a.w)
	c.print(f, ink, spot{a.x + (a.w-c.width(f, text))/2, a.y + a.h/2 + f.size*0.36}, text)
}

// png writes the picture with few colours, each named by a number.
func (c *canvas) png() []byte {
	const coarse = 51 // a sixth of each channel: only the edges of letters are between
	out := image.NewPaletted(c.img.Bounds(), nil)
	numbers := map[color.RGBA]uint8{}
	exact := map[color.RGBA]int{}
	for at := 0; at < len(c.img.Pix); at += 4 {
		exact[color.RGBA{c.img.Pix[at], c.img.Pix[at+1], c.img.Pix[at+2], 0xff}]++
	}
	const common = 1500 // pixels: what so many have is a colour that was meant
	for at := 0; at < len(c.img.Pix); at += 4 {
		found := color.RGBA{c.img.Pix[at], c.img.Pix[at+1], c.img.Pix[at+2], 0xff}
		if exact[found] < common {
			round := func(v uint8) uint8 { return uint8((int(v) + coarse/2) / coarse * coarse) }
			found = color.RGBA{round(found.R), round(found.G), round(found.B), 0xff}
		}
		number, known := numbers[found]
		if !known {
			if len(out.Palette) == 256 {
				c.t.Fatal("the picture has too many colours")
			}
			number = uint8(len(out.Palette))
			numbers[found], out.Palette = number, append(out.Palette, found)
		}
		out.Pix[at/4] = number
	}
	var b bytes.Buffer
	encoder := png.Encoder{CompressionLevel: png.BestCompression}
	if err := encoder.Encode(&b, out); err != nil {
		c.t.Fatal(err)
	}
	return b.Bytes()
}

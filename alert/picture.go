package alert

import (
	"bytes"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"math"
	"slices"

	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/gobold"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/math/fixed"
	"golang.org/x/image/vector"
)

// pictureScale is how many pixels one point of a picture has: sharp on screens
// of twice the density.
const pictureScale = 2

// edgeStep is how finely the edges of letters and signs are shaded, of 255.
const edgeStep = 85

// pictureWidth is the width of every picture, in points.
const pictureWidth = 800

// ink is a plain colour.
type ink struct{ r, g, b uint8 }

func (i ink) rgba() color.RGBA { return color.RGBA{i.r, i.g, i.b, 0xff} }

// palette are the inks, told apart by people who see red and green alike.
type palette struct{ paper, text, faint, grid, alive, warn, bad, band, bandEdge, mark ink }

func newPalette() palette {
	return palette{
		paper: ink{0xff, 0xff, 0xff}, text: ink{0x22, 0x22, 0x22}, faint: ink{0x66, 0x66, 0x66}, grid: ink{0xdd, 0xdd, 0xdd},
		alive: ink{0x33, 0x77, 0xbb}, warn: ink{0xcc, 0x77, 0x00}, bad: ink{0xbb, 0x11, 0x22},
		band: ink{0xff, 0xee, 0xcc}, bandEdge: ink{0xcc, 0xaa, 0x66}, mark: ink{0x44, 0x00, 0x77},
	}
}

func (p palette) inks() []ink {
	return []ink{p.paper, p.text, p.faint, p.grid, p.alive, p.warn, p.bad, p.band, p.bandEdge, p.mark}
}

// style is how a text is set.
type style string

// The styles.
const (
	styleTitle style = "title"
	styleText  style = "text"
	styleSmall style = "small"
)

// spot is a place on a picture, in points from its upper left corner.
type spot struct{ x, y float64 }

// canvas is a picture in the making. All lengths are points.
type canvas struct {
	img   *image.RGBA
	faces map[style]font.Face
	palette
}

// newCanvas makes an empty picture of that height.
func newCanvas(height float64) (*canvas, error) {
	c := &canvas{
		img:     image.NewRGBA(image.Rect(0, 0, pictureWidth*pictureScale, int(math.Ceil(height*pictureScale)))),
		faces:   map[style]font.Face{},
		palette: newPalette(),
	}
	draw.Draw(c.img, c.img.Bounds(), image.NewUniform(c.paper.rgba()), image.Point{}, draw.Src)
	for _, f := range []struct {
		style style
		ttf   []byte
		size  float64
	}{{styleTitle, gobold.TTF, 16}, {styleText, goregular.TTF, 13}, {styleSmall, goregular.TTF, 11}} {
		parsed, err := opentype.Parse(f.ttf)
		if err != nil {
			return nil, err
		}
		if c.faces[f.style], err = opentype.NewFace(parsed, &opentype.FaceOptions{Size: f.size * pictureScale, DPI: 72, Hinting: font.HintingFull}); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// rect fills a rectangle, its edges on whole pixels.
func (c *canvas) rect(from, to spot, i ink) {
	draw.Draw(c.img, pixels(from, to), image.NewUniform(i.rgba()), image.Point{}, draw.Src)
}

// hatch fills a rectangle with slanted lines: not solid, not empty, without
// regard to colour.
func (c *canvas) hatch(from, to spot, i ink) {
	const every, wide = 10, 4
	area := pixels(from, to).Intersect(c.img.Bounds())
	for y := area.Min.Y; y < area.Max.Y; y++ {
		for x := area.Min.X; x < area.Max.X; x++ {
			if (x+y)%every < wide {
				c.img.SetRGBA(x, y, i.rgba())
			}
		}
	}
}

// frame draws a rectangle's edge, inside of it.
func (c *canvas) frame(from, to spot, i ink) {
	const wide = 1.5
	c.rect(from, spot{to.x, from.y + wide}, i)
	c.rect(spot{from.x, to.y - wide}, to, i)
	c.rect(from, spot{from.x + wide, to.y}, i)
	c.rect(spot{to.x - wide, from.y}, to, i)
}

// vertical draws an upright line; dash is how long its dashes are, 0: it is whole.
func (c *canvas) vertical(at, to spot, dash float64, i ink) {
	const wide = 1
	if dash <= 0 {
		c.rect(at, spot{at.x + wide, to.y}, i)
		return
	}
	for y := at.y; y < to.y; y += 2 * dash {
		c.rect(spot{at.x, y}, spot{at.x + wide, math.Min(y+dash, to.y)}, i)
	}
}

// shape fills the area within some spots, smoothly.
func (c *canvas) shape(i ink, around ...spot) {
	least, most := around[0], around[0]
	for _, s := range around {
		least = spot{math.Min(least.x, s.x), math.Min(least.y, s.y)}
		most = spot{math.Max(most.x, s.x), math.Max(most.y, s.y)}
	}
	box := image.Rect(int(math.Floor(least.x*pictureScale)), int(math.Floor(least.y*pictureScale)), int(math.Ceil(most.x*pictureScale)), int(math.Ceil(most.y*pictureScale)))
	raster := vector.NewRasterizer(box.Dx(), box.Dy())
	for n, s := range around {
		x, y := float32(s.x*pictureScale)-float32(box.Min.X), float32(s.y*pictureScale)-float32(box.Min.Y)
		if n == 0 {
			raster.MoveTo(x, y)
			continue
		}
		raster.LineTo(x, y)
	}
	raster.ClosePath()
	raster.Draw(c.img, box, image.NewUniform(i.rgba()), image.Point{})
}

// print sets a text that begins at a spot of its base line.
func (c *canvas) print(at spot, s style, i ink, text string) {
	d := font.Drawer{
		Dst: c.img, Src: image.NewUniform(i.rgba()), Face: c.faces[s],
		Dot: fixed.P(int(math.Round(at.x*pictureScale)), int(math.Round(at.y*pictureScale))),
	}
	d.DrawString(text)
}

// width is how much room a text takes.
func (c *canvas) width(s style, text string) float64 {
	return float64(font.MeasureString(c.faces[s], text)) / 64 / pictureScale
}

// short cuts a text so that it takes no more than that room.
func (c *canvas) short(s style, text string, room float64) string {
	if c.width(s, text) <= room {
		return text
	}
	letters := []rune(text)
	for len(letters) > 0 && c.width(s, string(letters)+"…") > room {
		letters = letters[:len(letters)-1]
	}
	return string(letters) + "…"
}

// png writes the picture.
func (c *canvas) png() ([]byte, error) {
	var b bytes.Buffer
	err := png.Encode(&b, c.packed())
	return b.Bytes(), err
}

// packed rounds what lies between two inks, at the edges of letters and signs,
// so that few colours are left, and names each by a number: a picture of a third
// of the bytes. The inks themselves stay.
func (c *canvas) packed() image.Image {
	const colours = 256
	numbers := map[color.RGBA]uint8{}
	out := image.NewPaletted(c.img.Bounds(), nil)
	var last color.RGBA // most have their neighbour's colour
	var number uint8
	for at := 0; at < len(c.img.Pix); at += 4 {
		found := color.RGBA{c.img.Pix[at], c.img.Pix[at+1], c.img.Pix[at+2], 0xff}
		if found == last {
			out.Pix[at/4] = number
			continue
		}
		last = found
		var known bool
		if number, known = numbers[found]; !known {
			colour := c.near(found)
			number = uint8(max(0, slices.Index(out.Palette, color.Color(colour))))
			if !slices.Contains(out.Palette, color.Color(colour)) {
				if len(out.Palette) == colours {
					return c.img
				}
				number = uint8(len(out.Palette))
				out.Palette = append(out.Palette, colour)
			}
			numbers[found] = number
		}
		out.Pix[at/4] = number
	}
	return out
}

// near is an ink as it is, and any other colour to the nearest third of each
// channel.
func (c *canvas) near(found color.RGBA) color.RGBA {
	for _, i := range c.inks() {
		if i.rgba() == found {
			return found
		}
	}
	return color.RGBA{third(found.R), third(found.G), third(found.B), 0xff}
}

func third(value uint8) uint8 { return uint8((int(value) + edgeStep/2) / edgeStep * edgeStep) }

// pixels are the whole pixels nearest to a rectangle.
func pixels(from, to spot) image.Rectangle {
	at := func(v float64) int { return int(math.Round(v * pictureScale)) }
	return image.Rect(at(from.x), at(from.y), at(to.x), at(to.y))
}

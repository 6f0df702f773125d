package canvas

import (
	"image"
	"image/color"
	"math"

	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/gobold"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/math/fixed"
)

// Face is how a text is set: in Go's font, bold or not, so many points high.
type Face struct {
	Bold bool
	Size float64
}

// Print sets a text that begins at a spot of its base line.
func (c *Canvas) Print(at Spot, f Face, ink color.RGBA, text string) {
	face := c.face(f)
	if face == nil {
		return
	}
	d := font.Drawer{
		Dst: c.Image, Src: image.NewUniform(ink), Face: face,
		Dot: fixed.P(int(math.Round(at.X*c.dots)), int(math.Round(at.Y*c.dots))),
	}
	d.DrawString(text)
}

// Width is how much room a text takes.
func (c *Canvas) Width(f Face, text string) float64 {
	face := c.face(f)
	if face == nil {
		return 0
	}
	return float64(font.MeasureString(face, text)) / 64 / c.dots
}

// Short cuts a text so that it takes no more than that room, and ends it with …
// then. The … stays where there is no room even for it.
func (c *Canvas) Short(f Face, text string, room float64) string {
	if c.Width(f, text) <= room {
		return text
	}
	letters := []rune(text)
	for len(letters) > 0 && c.Width(f, string(letters)+"…") > room {
		letters = letters[:len(letters)-1]
	}
	return string(letters) + "…"
}

// face makes a font once, and gives nil where that fails: PNG tells why, so that
// nobody who draws has to look.
func (c *Canvas) face(f Face) font.Face {
	if made := c.faces[f]; made != nil {
		return made
	}
	ttf := goregular.TTF
	if f.Bold {
		ttf = gobold.TTF
	}
	parsed, err := opentype.Parse(ttf)
	if err != nil {
		c.failed = err
		return nil
	}
	made, err := opentype.NewFace(parsed, &opentype.FaceOptions{Size: f.Size * c.dots, DPI: 72, Hinting: font.HintingFull})
	if err != nil {
		c.failed = err
		return nil
	}
	c.faces[f] = made
	return made
}

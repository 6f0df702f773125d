package canvas

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
)

// colours are as many as a PNG can name by a number of one byte.
const colours = 256

// errColours is what PNG says of a picture that is left with more.
var errColours = errors.New("more than 256 colours are left")

// PNG writes the picture. Each colour becomes what round makes of it, and is then
// named by a number: where few are left, a picture of a third of the bytes. It
// fails where more than 256 are left, or where a text could not be set.
func (c *Canvas) PNG(level png.CompressionLevel, round func(color.RGBA) color.RGBA) ([]byte, error) {
	if c.failed != nil {
		return nil, fmt.Errorf("setting text: %w", c.failed)
	}
	numbered, err := c.numbered(round)
	if err != nil {
		return nil, fmt.Errorf("packing a picture: %w", err)
	}
	var b bytes.Buffer
	encoder := png.Encoder{CompressionLevel: level}
	if err := encoder.Encode(&b, numbered); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// numbered gives the colours their numbers, in the order in which they come.
func (c *Canvas) numbered(round func(color.RGBA) color.RGBA) (*image.Paletted, error) {
	out := image.NewPaletted(c.Image.Bounds(), nil)
	numbers := map[color.RGBA]uint8{} // of colours that were found
	rounded := map[color.RGBA]uint8{} // of colours that are left
	var last color.RGBA               // most have their neighbour's colour
	var number uint8
	for at := 0; at < len(c.Image.Pix); at += 4 {
		found := color.RGBA{c.Image.Pix[at], c.Image.Pix[at+1], c.Image.Pix[at+2], 0xff}
		if found == last {
			out.Pix[at/4] = number
			continue
		}
		last = found
		var known bool
		if number, known = numbers[found]; !known {
			colour := round(found)
			if number, known = rounded[colour]; !known {
				if len(out.Palette) == colours {
					return nil, errColours
				}
				number = uint8(len(out.Palette))
				out.Palette = append(out.Palette, colour)
				rounded[colour] = number
			}
			numbers[found] = number
		}
		out.Pix[at/4] = number
	}
	return out, nil
}

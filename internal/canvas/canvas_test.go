package canvas

import (
	"bytes"
	"errors"
	"image"
	"image/color"
	"image/png"
	"math"
	"slices"
	"strings"
	"testing"
)

func white() color.RGBA { return color.RGBA{0xff, 0xff, 0xff, 0xff} }
func black() color.RGBA { return color.RGBA{0, 0, 0, 0xff} }

func as(c color.RGBA) color.RGBA { return c }

// inked are the pixels that are not paper.
func inked(c *Canvas) []image.Point {
	var all []image.Point
	for y := range c.Image.Bounds().Dy() {
		for x := range c.Image.Bounds().Dx() {
			if c.Image.RGBAAt(x, y) != white() {
				all = append(all, image.Pt(x, y))
			}
		}
	}
	return all
}

func TestSizeHoldsAllPoints(t *testing.T) {
	if got, want := New(At(3, 2.5), 1.5, white()).Image.Bounds(), image.Rect(0, 0, 5, 4); got != want {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestFillEndsOnWholePixels(t *testing.T) {
	c := New(At(4, 4), 2, white())
	c.Fill(At(0.6, 1), At(1.2, 1.8), black())
	if got, want := inked(c), []image.Point{{1, 2}, {1, 3}}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	for _, p := range inked(c) {
		if got := c.Image.RGBAAt(p.X, p.Y); got != black() {
			t.Errorf("%v is %v, want all of the ink", p, got)
		}
	}
}

func TestShapeIsSmooth(t *testing.T) {
	c := New(At(4, 4), 1, white())
	c.Shape(black(), At(1, 1), At(3, 1), At(3, 3))
	if got := c.Image.RGBAAt(2, 1); got != black() {
		t.Errorf("within the shape %v, want all of the ink", got)
	}
	if got := c.Image.RGBAAt(1, 1).R; got < 0x70 || got > 0x90 {
		t.Errorf("half in the shape %#x, want about half of the ink", got)
	}
	if got := c.Image.RGBAAt(1, 2); got != white() {
		t.Errorf("beside the shape %v, want paper", got)
	}
}

// TestShapeStaysOnThePicture: the part that lies on it looks as if the picture
// went on.
func TestShapeStaysOnThePicture(t *testing.T) {
	around := []Spot{At(-3, 2), At(4, -4), At(14, 5), At(5, 13)}
	whole, part := New(At(40, 40), 1, white()), New(At(8, 8), 1, white())
	var moved []Spot
	for _, s := range around {
		moved = append(moved, At(s.X+10, s.Y+10))
	}
	whole.Shape(black(), moved...)
	part.Shape(black(), around...)
	if len(inked(part)) == 0 {
		t.Error("nothing is drawn")
	}
	for y := range 8 {
		for x := range 8 {
			a, b := whole.Image.RGBAAt(x+10, y+10).R, part.Image.RGBAAt(x, y).R
			if math.Abs(float64(a)-float64(b)) > 2 {
				t.Errorf("(%d, %d) is %#x, want %#x", x, y, b, a)
			}
		}
	}
	for _, outside := range [][]Spot{nil, {At(3, 3)}, {At(20, 20), At(30, 20), At(20, 30)}, {At(-9, -9), At(-1, -9), At(-9, -1)}, {At(0, 0), At(far, far), At(0, 8)}, {At(0, 0), At(8, 8), At(0, math.NaN())}} {
		c := New(At(8, 8), 1, white())
		c.Shape(black(), outside...)
		if seen := inked(c); len(seen) > 0 {
			t.Errorf("%v: %d pixels are drawn, want none", outside, len(seen))
		}
	}
}

func TestTextTakesItsWidth(t *testing.T) {
	plain, bold := Face{Size: 12}, Face{Bold: true, Size: 12}
	for _, dots := range []float64{1, 1.5, 2} {
		c := New(At(200, 30), dots, white())
		c.Print(At(10, 20), plain, black(), "HELLO")
		seen := inked(c)
		if len(seen) == 0 {
			t.Fatal("nothing is printed")
		}
		left, right, foot := math.Inf(1), 0.0, 0.0
		for _, p := range seen {
			left, right, foot = math.Min(left, float64(p.X)/dots), math.Max(right, float64(p.X+1)/dots), math.Max(foot, float64(p.Y+1)/dots)
		}
		if left < 10 || right > 10+c.Width(plain, "HELLO") || right < 10+c.Width(plain, "HELL") {
			t.Errorf("%v dots: from %v to %v, want from 10, %v wide", dots, left, right, c.Width(plain, "HELLO"))
		}
		if math.Abs(foot-20) > 1 {
			t.Errorf("%v dots: the base line is at %v, want 20", dots, foot)
		}
		if c.Width(bold, "many letters") <= c.Width(plain, "many letters") {
			t.Errorf("%v dots: bold takes no more room", dots)
		}
	}
}

func TestPNGKeepsWhatRoundGives(t *testing.T) {
	c := New(At(30, 20), 1, white())
	c.Fill(At(0, 0), At(10, 20), black())
	c.Fill(At(10, 0), At(20, 20), color.RGBA{0xfe, 0xff, 0xff, 0xff})
	data, err := c.PNG(png.DefaultCompression, func(c color.RGBA) color.RGBA {
		if c == black() {
			return c
		}
		return white()
	})
	if err != nil {
		t.Fatal(err)
	}
	img, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	numbered, is := img.(*image.Paletted)
	if !is || len(numbered.Palette) != 2 {
		t.Fatalf("a %T, want two numbered colours", img)
	}
	for x, want := range map[int]color.RGBA{5: black(), 15: white(), 25: white()} {
		if got := img.At(x, 10); got != color.Color(want) {
			t.Errorf("at %d: %v, want %v", x, got, want)
		}
	}
}

func TestPNGOfManyColours(t *testing.T) {
	for many, want := range map[int]error{256: nil, 257: errColours} {
		c := New(At(float64(many), 1), 1, white())
		for n := range many {
			c.Image.SetRGBA(n, 0, color.RGBA{uint8(n), uint8(n >> 8), 0, 0xff})
		}
		if _, err := c.PNG(png.DefaultCompression, as); !errors.Is(err, want) {
			t.Errorf("%d colours: %v, want %v", many, err, want)
		}
	}
}

func TestShortFits(t *testing.T) {
	c, face := New(At(1, 1), 2, white()), Face{Size: 11}
	for _, text := range []string{"", "a reason that is long", "é…", "\x00\xff", "日本語"} {
		whole := c.Width(face, text)
		if got := c.Short(face, text, whole); got != text {
			t.Errorf("%q became %q, though there is room", text, got)
		}
		for _, part := range []float64{-1, 0, 0.3, 0.9} {
			room := whole * part
			got := c.Short(face, text, room)
			kept, cut := strings.CutSuffix(got, "…")
			switch {
			case got == text && whole <= room:
			case !cut || !strings.HasPrefix(string([]rune(text)), kept):
				t.Errorf("%q became %q", text, got)
			case kept != "" && c.Width(face, got) > room:
				t.Errorf("%q takes %v, want at most %v", got, c.Width(face, got), room)
			}
		}
	}
	if got, want := c.Short(face, "a reason that is long", c.Width(face, "a reason…")), "a reason…"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func FuzzShape(f *testing.F) {
	f.Add(1.0, 2.0, 3.0, 4.0, 5.0, 6.0)
	f.Add(1.0, 2.0, 3.0, 4.0, 1e300, -1e300)
	f.Add(-8000.0, 0.0, 8000.0, 0.0, 0.0, 8000.0)
	f.Add(math.NaN(), math.Inf(1), 0.0, 0.0, 0.0, math.Inf(-1))
	f.Fuzz(func(t *testing.T, a, b, c, d, e, g float64) {
		p := New(At(8, 8), 2, white())
		p.Shape(black(), At(a, b), At(c, d), At(e, g))
		for _, at := range inked(p) {
			x, y := float64(at.X)/2, float64(at.Y)/2 // a pixel is half a point wide
			if x+0.5 < min(a, c, e) || x > max(a, c, e) || y+0.5 < min(b, d, g) || y > max(b, d, g) {
				t.Errorf("(%v, %v) is drawn beside the shape", x, y)
			}
		}
	})
}

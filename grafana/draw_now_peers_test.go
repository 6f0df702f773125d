//go:build peers

package grafana

import (
	"math"

	"github.com/grafana/grafana-foundation-sdk/go/common"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
	stats "github.com/grafana/grafana-foundation-sdk/go/stat"

	"perch.example/internal/canvas"
)

// stats draws numbers or words, one tile a series.
func (d *drawing) stats(p dashboard.Panel, found []course, a area) {
	o := p.Options.(*stats.Options)
	var tiles []course
	for _, c := range found {
		if _, known := c.last(); known {
			tiles = append(tiles, c)
		}
	}
	if len(tiles) == 0 {
		d.none(p, a)
		return
	}
	across, down := spread2(len(tiles), a)
	w, h := a.w/float64(across), a.h/float64(down)
	for i, c := range tiles {
		v, _ := c.last()
		text, ink := shown(p, v)
		tile := area{a.x + w*float64(i%across), a.y + h*float64(i/across), w, h}.inner(1)
		front := rgb(ink)
		if o.ColorMode == common.BigValueColorModeBackgroundSolid {
			d.fill(tile, rgb(ink))
			front = rgb("#ffffff")
		}
		if o.GraphMode == common.BigValueGraphModeArea {
			d.spark(c, area{tile.x, tile.y + tile.h*0.62, tile.w, tile.h * 0.38}, ink)
			tile.h *= 0.7
		}
		if o.TextMode == common.BigValueTextModeValueAndName {
			name := area{tile.x + 4, tile.y + tile.h*0.62, tile.w - 8, tile.h * 0.36}
			under := rgb("#444444")
			if o.ColorMode == common.BigValueColorModeBackgroundSolid {
				under = front
			}
			d.center(medium(), under, name, c.name)
			tile.h *= 0.66
		}
		d.center(canvas.Face{Bold: true, Size: math.Min(30, tile.h*0.62)}, front, tile.inner(3), text)
	}
}

// spread2 is how many tiles lie side by side and one above the other.
func spread2(n int, a area) (across, down int) {
	best := 0.0
	for x := 1; x <= n; x++ {
		y := (n + x - 1) / x
		if size := math.Min(a.w/float64(x)/2.6, a.h/float64(y)); size > best {
			best, across, down = size, x, y
		}
	}
	return across, down
}

// spark is a stat's course behind it.
func (d *drawing) spark(c course, a area, ink string) {
	low, high := math.Inf(1), math.Inf(-1)
	for _, p := range c.points {
		if !math.IsNaN(p.value) {
			low, high = math.Min(low, p.value), math.Max(high, p.value)
		}
	}
	at := func(p point) canvas.Spot {
		return canvas.At(a.x+d.share(p)*a.w, a.y+a.h-(p.value-low)/math.Max(high-low, 1e-12)*a.h*0.9)
	}
	var above []canvas.Spot
	for _, p := range c.points {
		if !math.IsNaN(p.value) {
			above = append(above, at(p))
		}
	}
	if len(above) < 2 {
		return
	}
	d.Shape(faded(rgb(ink), 0.25), append(append([]canvas.Spot{}, above...), canvas.At(above[len(above)-1].X, a.y+a.h), canvas.At(above[0].X, a.y+a.h))...)
	for i := 1; i < len(above); i++ {
		d.line(rgb(ink), 1.5, above[i-1], above[i])
	}
}

// share is where in the time shown a point lies, from 0 to 1.
func (d *drawing) share(p point) float64 {
	return math.Min(1, math.Max(0, float64(p.at.Sub(d.span.from))/float64(d.span.long())))
}

// gauges draws one bar a series.
func (d *drawing) gauges(p dashboard.Panel, found []course, a area) {
	if len(found) == 0 {
		d.none(p, a)
		return
	}
	f := p.FieldConfig.Defaults
	most, names := 0.0, 0.0
	for _, c := range found {
		v, _ := c.last()
		most, names = math.Max(most, v), math.Max(names, d.Width(medium(), c.name))
	}
	if f.Max != nil {
		most = *f.Max
	}
	names = math.Min(names, a.w*0.5)
	h := math.Min(34, a.h/float64(len(found)))
	top := a.y + (a.h-h*float64(len(found)))/2
	for i, c := range found {
		v, _ := c.last()
		text, ink := shown(p, v)
		ink, _ = overridden(p, c.name, ink)
		y := top + h*float64(i)
		d.Print(canvas.At(a.x, y+h/2+4), medium(), rgb("#222222"), d.Short(medium(), c.name, names))
		bar := area{a.x + names + 10, y + h*0.15, a.w - names - 82, h * 0.7}
		d.fill(bar, rgb("#eeeeee"))
		bar.w *= math.Min(1, math.Max(0, v/math.Max(most, 1e-12)))
		d.fill(bar, rgb(ink))
		d.Print(canvas.At(a.x+a.w-66, y+h/2+4), strong(), rgb(ink), text)
	}
}

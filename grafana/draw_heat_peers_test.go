//go:build peers

package grafana

import (
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/grafana/grafana-foundation-sdk/go/dashboard"

	"perch.example/internal/canvas"
)

// heat draws a histogram over time: the darker, the more.
func (d *drawing) heat(p dashboard.Panel, found []course, a area) {
	cells := cellsOf(found)
	if len(cells) == 0 {
		d.none(p, a)
		return
	}
	plot := area{a.x + 58, a.y + 4, a.w - 62, a.h - 24}
	s := scale{plot: plot, low: math.Inf(1), high: 0, log: true}
	most := 0.0
	for _, c := range cells {
		s.low, s.high, most = math.Min(s.low, c.from), math.Max(s.high, c.to), math.Max(most, c.count)
	}
	const shades = 9
	wide := float64(d.span.step(p, a.w)) / float64(d.span.long()) * plot.w
	for _, c := range cells {
		shade := math.Ceil(math.Sqrt(c.count/most)*shades) / shades
		x := plot.x + d.share(point{at: c.at})*plot.w
		left := math.Max(plot.x, x-wide)
		d.fill(area{left, s.y(c.to), x - left - 0.7, s.y(c.from) - s.y(c.to) - 0.7}, faded(rgb("#08306b"), 0.08+0.92*shade))
	}
	d.timeAxis(area{plot.x, plot.y + plot.h, plot.w, 2})
	for _, v := range s.ticks(*p.FieldConfig.Defaults.Unit) {
		text := written(*p.FieldConfig.Defaults.Unit, nil, v)
		d.Print(canvas.At(plot.x-6-d.Width(small(), text), s.y(v)+4), small(), rgb("#666666"), text)
	}
}

// heatCell is how many observations of a step of time lie between two values.
type heatCell struct {
	at              time.Time
	from, to, count float64
}

// cellsOf reads classic buckets, which hold all that is below them, or native
// ones. What has no end is drawn up to ten times the last one that has.
func cellsOf(found []course) []heatCell {
	var all []heatCell
	add := func(at time.Time, b bucket) {
		if b.from <= 0 {
			b.from = b.to / 10
		}
		if b.count > 1e-9 {
			all = append(all, heatCell{at, b.from, b.to, b.count})
		}
	}
	below := map[int64]float64{}
	from := 0.0
	slices.SortFunc(found, func(a, b course) int { return int(math.Copysign(1, ends(a)-ends(b))) })
	for _, c := range found {
		to := ends(c)
		if math.IsInf(to, 1) {
			to = from * 10
		}
		for _, p := range c.points {
			for _, b := range p.buckets {
				add(p.at, b)
			}
			if p.buckets == nil {
				add(p.at, bucket{from, to, p.value - below[p.at.Unix()]})
				below[p.at.Unix()] = p.value
			}
		}
		from = to
	}
	return all
}

// ends is where a classic bucket ends.
func ends(c course) float64 {
	v, err := strconv.ParseFloat(c.labels["le"], 64)
	if err != nil {
		return 0
	}
	return v
}

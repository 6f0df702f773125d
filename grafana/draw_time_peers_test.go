//go:build peers

package grafana

import (
	"math"
	"slices"
	"sort"
	"time"

	"github.com/grafana/grafana-foundation-sdk/go/common"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
	"github.com/grafana/grafana-foundation-sdk/go/timeseries"

	"perch.example/internal/canvas"
)

// scale turns values into heights of a plot.
type scale struct {
	plot      area
	low, high float64
	log       bool
}

func (s scale) y(v float64) float64 {
	low, high := s.low, s.high
	if s.log {
		low, high, v = math.Log10(low), math.Log10(high), math.Log10(math.Max(v, s.low))
	}
	return s.plot.y + s.plot.h - math.Min(1.02, math.Max(0, (v-low)/(high-low)))*s.plot.h
}

// ticks are the values that the axis of a unit names.
func (s scale) ticks(unit string) []float64 {
	var all []float64
	if s.log {
		between := []float64{1, 2, 5}
		if s.high/s.low > 150 {
			between = between[:1]
		}
		for power := math.Pow(10, math.Floor(math.Log10(s.low)+1e-9)); power <= s.high; power *= 10 {
			for _, by := range between {
				if v := power * by; v >= s.low*0.9999 && v <= s.high*1.0001 {
					all = append(all, v)
				}
			}
		}
		return all
	}
	step := s.step(unit)
	for v := math.Ceil(s.low/step) * step; v <= s.high*1.0001; v += step {
		all = append(all, v)
	}
	return all
}

// step is how far apart ticks are: a round number, of time one in its own unit.
func (s scale) step(unit string) float64 {
	const most = 5.5 // of them
	if unit == "s" && s.high-s.low > 10 {
		for _, v := range []float64{5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 2 * 3600, 3 * 3600, 6 * 3600, 12 * 3600, day} {
			if (s.high-s.low)/v <= most {
				return v
			}
		}
	}
	step := math.Pow(10, math.Floor(math.Log10((s.high-s.low)/4)))
	for _, by := range []float64{1, 2, 5, 10} {
		if (s.high-s.low)/(step*by) <= most {
			return step * by
		}
	}
	return step
}

// timeAxis names hours under a plot and draws its upright lines.
func (d *drawing) timeAxis(plot area) {
	every := time.Hour
	for float64(d.span.long()/every)*56 > plot.w {
		every *= 2
	}
	if d.span.long() < 4*time.Hour {
		every = d.span.long() / 4
	}
	for at := d.span.from.Truncate(every).Add(every); at.Before(d.span.to); at = at.Add(every) {
		x := plot.x + d.share(point{at: at})*plot.w
		d.fill(area{x, plot.y, 0.7, plot.h}, rgb("#ebebeb"))
		text := at.Format("15:04")
		d.Print(canvas.At(x-d.Width(small(), text)/2, plot.y+plot.h+13), small(), rgb("#666666"), text)
	}
}

// lines draws a time series panel: lines, areas or bars.
func (d *drawing) lines(p dashboard.Panel, found []course, a area) {
	custom := p.FieldConfig.Defaults.Custom.(*timeseries.FieldConfig)
	bars := *custom.DrawStyle == common.GraphDrawStyleBars
	stacked := custom.Stacking != nil
	names := d.legendHeight(found, a.w)
	plot := area{a.x + 58, a.y + 4, a.w - 62, a.h - 24 - names}
	if len(found) == 0 {
		d.timeAxis(plot)
		d.none(p, plot)
		return
	}
	s := d.scaleFor(p, found, plot, stacked)
	if custom.ScaleDistribution != nil {
		s.log = true
		s.low = math.Pow(10, math.Floor(math.Log10(math.Max(lowest(found), 1e-6))))
		s.high = math.Max(s.high, s.low*10)
	}
	d.timeAxis(plot)
	for _, v := range s.ticks(*p.FieldConfig.Defaults.Unit) {
		d.fill(area{plot.x, s.y(v), plot.w, 0.7}, rgb("#e4e4e4"))
		text := written(*p.FieldConfig.Defaults.Unit, nil, v)
		d.Print(canvas.At(plot.x-6-d.Width(small(), text), s.y(v)+4), small(), rgb("#666666"), text)
	}
	d.marks(plot)
	if custom.ThresholdsStyle != nil {
		for _, step := range p.FieldConfig.Defaults.Thresholds.Steps {
			if step.Value != nil && *step.Value <= s.high {
				d.dashed(rgb(step.Color), 1, canvas.At(plot.x, s.y(*step.Value)), canvas.At(plot.x+plot.w, s.y(*step.Value)))
			}
		}
	}
	below := map[int64]float64{}
	wide := math.Max(1.5, float64(d.span.step(p, a.w))/float64(d.span.long())*plot.w-1)
	for i, c := range found {
		ink, dash := inkOf(p, c.name, i)
		switch {
		case bars:
			d.bars(c, s, below, wide, ink)
		case stacked:
			d.stack(c, s, below, ink)
		default:
			d.stroke(c, s, ink, dash)
		}
	}
	d.legend(p, found, area{a.x, a.y + a.h - names, a.w, names})
}

// scaleFor holds all values, and begins and ends where the panel says.
func (d *drawing) scaleFor(p dashboard.Panel, found []course, plot area, stacked bool) scale {
	s := scale{plot: plot, low: 0, high: math.Inf(-1)}
	sums := map[int64]float64{}
	for _, c := range found {
		for _, v := range c.points {
			if math.IsNaN(v.value) {
				continue
			}
			sums[v.at.Unix()] += v.value
			if !stacked {
				s.high = math.Max(s.high, v.value)
			}
		}
	}
	if stacked {
		for _, v := range sums {
			s.high = math.Max(s.high, v)
		}
	}
	s.high *= 1.08
	if m := p.FieldConfig.Defaults.Max; m != nil {
		s.high = *m
	}
	if !(s.high > s.low) {
		s.high = s.low + 1
	}
	return s
}

func lowest(found []course) float64 {
	low := math.Inf(1)
	for _, c := range found {
		for _, v := range c.points {
			if v.value > 0 {
				low = math.Min(low, v.value)
			}
		}
	}
	return low
}

// marks show when incidents were open.
func (d *drawing) marks(plot area) {
	for _, c := range d.alarms {
		begun := c.points[0]
		for i, p := range c.points {
			last := i == len(c.points)-1
			if !last && c.points[i+1].at.Sub(p.at) <= 2*time.Minute {
				continue
			}
			x, to := plot.x+d.share(begun)*plot.w, plot.x+d.share(p)*plot.w
			d.fill(area{x, plot.y, to - x, plot.h}, rgb("#fdf3ee"))
			d.dashed(rgb(bad), 1, canvas.At(x, plot.y), canvas.At(x, plot.y+plot.h))
			d.Shape(rgb(bad), canvas.At(x-3.5, plot.y+plot.h+4), canvas.At(x+3.5, plot.y+plot.h+4), canvas.At(x, plot.y+plot.h))
			if !last {
				begun = c.points[i+1]
			}
		}
	}
}

func (d *drawing) stroke(c course, s scale, ink string, dash bool) {
	for i := 1; i < len(c.points); i++ {
		a, b := c.points[i-1], c.points[i]
		if math.IsNaN(a.value) || math.IsNaN(b.value) || b.at.Sub(a.at) > joined*time.Millisecond {
			continue
		}
		from, to := canvas.At(s.plot.x+d.share(a)*s.plot.w, s.y(a.value)), canvas.At(s.plot.x+d.share(b)*s.plot.w, s.y(b.value))
		if dash && (a.at.Unix()/600)%2 == 0 && d.span.long() > time.Hour {
			continue
		}
		d.line(rgb(ink), 1.8, from, to)
	}
}

func (d *drawing) stack(c course, s scale, below map[int64]float64, ink string) {
	var above, under []canvas.Spot
	for _, p := range c.points {
		if math.IsNaN(p.value) {
			continue
		}
		x, low := s.plot.x+d.share(p)*s.plot.w, below[p.at.Unix()]
		below[p.at.Unix()] = low + p.value
		above, under = append(above, canvas.At(x, s.y(low+p.value))), append(under, canvas.At(x, s.y(low)))
	}
	if len(above) < 2 {
		return
	}
	slices.Reverse(under)
	d.Shape(faded(rgb(ink), 0.6), append(append([]canvas.Spot{}, above...), under...)...)
	for i := 1; i < len(above); i++ {
		d.line(rgb(ink), 1.2, above[i-1], above[i])
	}
}

func (d *drawing) bars(c course, s scale, below map[int64]float64, wide float64, ink string) {
	for _, p := range c.points {
		if math.IsNaN(p.value) || p.value <= 0 {
			continue
		}
		low := below[p.at.Unix()]
		below[p.at.Unix()] = low + p.value
		x := s.plot.x + d.share(p)*s.plot.w
		d.fill(area{math.Max(s.plot.x, x-wide), s.y(low + p.value), wide, s.y(low) - s.y(low+p.value)}, rgb(ink))
	}
}

// lineHeight is that of a legend.
const lineHeight = 15.0

// legend names the series, in as many lines as that takes, up to three.
func (d *drawing) legend(p dashboard.Panel, found []course, a area) {
	x, y := a.x, a.y
	for i, c := range found {
		ink, dash := inkOf(p, c.name, i)
		wide := d.Width(small(), c.name) + 30
		if x+wide > a.x+a.w && x > a.x {
			x, y = a.x, y+lineHeight
		}
		if y >= a.y+a.h {
			return
		}
		d.fill(area{x, y + 5, 12, 3}, rgb(ink))
		if dash {
			d.fill(area{x + 4, y + 5, 4, 3}, rgb("#ffffff"))
		}
		d.Print(canvas.At(x+16, y+10), small(), rgb("#333333"), d.Short(small(), c.name, a.w-16))
		x += wide
	}
}

// legendHeight is how much room the legend takes.
func (d *drawing) legendHeight(found []course, wide float64) float64 {
	const most = 3
	lines, x := 1.0, 0.0
	for _, c := range found {
		w := d.Width(small(), c.name) + 30
		if x+w > wide && x > 0 {
			lines, x = lines+1, 0
		}
		x += w
	}
	return math.Min(lines, most) * lineHeight
}

// states draws one row a series, whose colours and words are its values.
func (d *drawing) states(p dashboard.Panel, found []course, a area) {
	if len(found) == 0 {
		d.none(p, a)
		return
	}
	names := 0.0
	for _, c := range found {
		names = math.Max(names, d.Width(small(), c.name))
	}
	names = math.Min(names, a.w*0.42)
	plot := area{a.x + names + 8, a.y, a.w - names - 8, a.h - 38}
	h := plot.h / float64(len(found))
	for i, c := range found {
		y := plot.y + h*float64(i)
		d.Print(canvas.At(a.x+names-d.Width(small(), d.Short(small(), c.name, names)), y+h/2+4), small(), rgb("#222222"), d.Short(small(), c.name, names))
		d.stateRow(p, c, area{plot.x, y + h*0.1, plot.w, h * 0.8})
	}
	d.timeAxis(area{plot.x, plot.y + plot.h, plot.w, 2})
	d.words(p, area{a.x, a.y + a.h - 14, a.w, 14})
}

func (d *drawing) stateRow(p dashboard.Panel, c course, a area) {
	for i := 0; i < len(c.points); {
		end := i
		for end+1 < len(c.points) && c.points[end+1].value == c.points[i].value && c.points[end+1].at.Sub(c.points[end].at) <= joined*time.Millisecond {
			end++
		}
		to := c.points[end].at.Add(d.span.step(p, a.w))
		if end+1 < len(c.points) && c.points[end+1].at.Sub(c.points[end].at) <= joined*time.Millisecond {
			to = c.points[end+1].at
		}
		x, right := a.x+d.share(c.points[i])*a.w, a.x+d.share(point{at: to})*a.w
		text, ink := shown(p, c.points[i].value)
		d.fill(area{x, a.y, right - x, a.h}, faded(rgb(ink), 0.85))
		if a.h > 10 && d.Width(small(), text) < right-x-6 {
			d.Print(canvas.At(x+5, a.y+a.h/2+4), small(), rgb("#ffffff"), text)
		}
		i = end + 1
	}
}

// words is the legend of states.
func (d *drawing) words(p dashboard.Panel, a area) {
	x := a.x
	for _, m := range p.FieldConfig.Defaults.Mappings {
		var keys []string
		for key := range m.ValueMap.Options {
			keys = append(keys, key)
		}
		sort.Strings(keys)
		for _, key := range keys {
			w := m.ValueMap.Options[key]
			d.fill(area{x, a.y + 1, 11, 11}, rgb(*w.Color))
			d.Print(canvas.At(x+16, a.y+10), small(), rgb("#333333"), *w.Text)
			x += d.Width(small(), *w.Text) + 34
		}
	}
}

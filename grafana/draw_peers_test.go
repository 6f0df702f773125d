//go:build peers

package grafana

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
	"github.com/grafana/grafana-foundation-sdk/go/prometheus"

	"perch.example/internal/canvas"
)

// How a dashboard lies on a picture, in points.
const (
	cell   = 50.0 // a column
	row    = 32.0 // a row of the grid
	header = 74.0 // the title and the variables
	gap    = 4.0
)

// drawing is a dashboard being drawn.
type drawing struct {
	*canvas.Canvas
	t      *testing.T
	server server
	span   span
	board  Board
	alarms []course // when incidents were open
}

// picture makes the picture of a dashboard.
func picture(t *testing.T, b Board, p server, s span) []byte {
	t.Helper()
	bottom := uint32(0)
	for _, each := range b.Panels {
		bottom = max(bottom, position(each).Y+position(each).H)
	}
	d := &drawing{
		Canvas: canvas.New(canvas.At(24*cell+2*gap, header+float64(bottom)*row+gap), dots, rgb("#f4f5f5")),
		t:      t, server: p, span: s, board: b,
	}
	d.header()
	d.alarms = d.incidents()
	for _, each := range b.Panels {
		at := position(each)
		a := area{gap + float64(at.X)*cell, header + float64(at.Y)*row, float64(at.W) * cell, float64(at.H) * row}
		if each.RowPanel != nil {
			x, y := a.x+8, a.y+a.h-13
			d.Shape(rgb("#666666"), canvas.At(x, y-3), canvas.At(x+9, y-3), canvas.At(x+4.5, y+3))
			d.Print(canvas.At(x+16, y+4), strong(), rgb("#333333"), *each.RowPanel.Title)
			continue
		}
		d.panel(*each.Panel, a)
	}
	return d.png()
}

func position(p dashboard.PanelOrRowPanel) dashboard.GridPos {
	if p.RowPanel != nil {
		return *p.RowPanel.GridPos
	}
	return *p.Panel.GridPos
}

// header is the title, the variables and the links.
func (d *drawing) header() {
	ink, faint := rgb("#222222"), rgb("#666666")
	d.Print(canvas.At(12, 26), canvas.Face{Bold: true, Size: 17}, ink, *d.board.Title)
	when := d.span.from.Format("2006-01-02 15:04") + " to " + d.span.to.Format("2006-01-02 15:04 MST")
	d.Print(canvas.At(24*cell-d.Width(medium(), when), 26), medium(), faint, when)
	x := 12.0
	for _, v := range d.board.Templating.List {
		if v.Hide != nil && *v.Hide == dashboard.VariableHideHideVariable {
			continue
		}
		value := "Prometheus"
		if v.Current != nil && v.Current.Text.String != nil {
			value = *v.Current.Text.String
		}
		label := *v.Label
		d.Print(canvas.At(x, 54), medium(), faint, label)
		x += d.Width(medium(), label) + 6
		wide := d.Width(medium(), value) + 22
		d.fill(area{x, 39, wide, 22}, rgb("#c8c8c8"))
		d.fill(area{x + 1, 40, wide - 2, 20}, rgb("#ffffff"))
		d.Print(canvas.At(x+7, 54), medium(), ink, value)
		x += wide + 14
	}
	x = 24 * cell
	for i := len(d.board.Links) - 1; i >= 0; i-- {
		title := d.board.Links[i].Title
		if d.board.Links[i].Type == dashboard.DashboardLinkTypeDashboards {
			title = "other dashboards of perch"
		}
		x -= d.Width(medium(), title)
		d.Print(canvas.At(x, 54), medium(), rgb(info), title)
		x -= 18
	}
}

// panel draws one panel within its frame.
func (d *drawing) panel(p dashboard.Panel, a area) {
	frame := area{a.x + gap/2, a.y + gap/2, a.w - gap, a.h - gap}
	d.fill(frame, rgb("#dcdcdc"))
	d.fill(frame.inner(0.8), rgb("#ffffff"))
	d.Print(canvas.At(frame.x+8, frame.y+17), strong(), rgb("#222222"), d.Short(strong(), *p.Title, frame.w-16))
	body := area{frame.x + 8, frame.y + 25, frame.w - 16, frame.h - 32}
	found := d.ask(p, body.w)
	switch look(p.Type) {
	case lookStat:
		d.stats(p, found, body)
	case lookGauges:
		d.gauges(p, found, body)
	case lookStates:
		d.states(p, found, body)
	case lookHeat:
		d.heat(p, found, body)
	default:
		d.lines(p, found, body)
	}
}

// ask answers all queries of a panel.
func (d *drawing) ask(p dashboard.Panel, wide float64) []course {
	var all []course
	for _, q := range queriesOf(p) {
		found, err := d.server.ask(q, d.span, d.span.step(p, wide))
		if err != nil {
			d.t.Fatalf("%s: %q: %v", d.board.File, *p.Title, err)
		}
		all = append(all, found...)
	}
	return all
}

// incidents are those that the dashboard's annotations show.
func (d *drawing) incidents() []course {
	q := prometheus.Dataquery{Expr: *d.board.Annotations.List[0].Expr, LegendFormat: new("{{target}}: {{family}}"), Instant: new(false)}
	found, err := d.server.ask(q, d.span, time.Minute)
	if err != nil {
		d.t.Fatalf("%s: annotations: %v", d.board.File, err)
	}
	return found
}

// none says that there is nothing to show, in the panel's own words.
func (d *drawing) none(p dashboard.Panel, a area) {
	text := "No data"
	if p.FieldConfig.Defaults.NoValue != nil {
		text = *p.FieldConfig.Defaults.NoValue
	}
	d.center(canvas.Face{Size: 15}, rgb("#777777"), a, text)
}

// shown is a value as the panel's words, or its unit, tell it; and its colour.
func shown(p dashboard.Panel, v float64) (text, ink string) {
	f := p.FieldConfig.Defaults
	ink = neutral
	for _, s := range f.Thresholds.Steps {
		if s.Value == nil || v >= *s.Value {
			ink = s.Color
		}
	}
	for _, m := range f.Mappings {
		if m.ValueMap == nil {
			continue
		}
		if w, is := m.ValueMap.Options[strconv.FormatFloat(v, 'f', -1, 64)]; is {
			return *w.Text, *w.Color
		}
	}
	return written(*f.Unit, f.Decimals, v), ink
}

// written is a value in its unit, as Grafana writes it.
func written(unit string, decimals *float64, v float64) string {
	in := func(v float64, least int) string {
		if decimals != nil {
			return strconv.FormatFloat(v, 'f', int(*decimals), 64)
		}
		text := strconv.FormatFloat(v, 'f', least, 64)
		if strings.Contains(text, ".") {
			text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
		}
		return text
	}
	digits := func(v float64) int { // about three figures
		return int(max(0, min(3, 2-math.Floor(math.Log10(math.Abs(v)+1e-9)))))
	}
	size := math.Abs(v)
	switch unit {
	case "percentunit":
		return in(v*100, 0) + "%"
	case "reqps":
		return strconv.FormatFloat(v, 'g', 2, 64) + " req/s"
	case "s":
		for _, u := range []struct {
			name string
			long float64
		}{{"days", day}, {"hours", 3600}, {"mins", 60}, {"s", 1}, {"ms", 1e-3}, {"µs", 1e-6}} {
			if size >= u.long*0.9999 {
				return in(v/u.long, digits(v/u.long)) + " " + u.name
			}
		}
		return "0 s"
	default:
		if size >= 1000 {
			return strconv.FormatFloat(v/1000, 'f', 1, 64) + " K"
		}
		return in(v, digits(v))
	}
}

// inkOf is the colour of a series: the panel's own, else one after the other.
func inkOf(p dashboard.Panel, name string, nth int) (ink string, dash bool) {
	palette := []string{info, warn, good, purple, bad, light, "#8a6d00", neutral, "#44aa99", "#882255", "#332288", "#117733"}
	return overridden(p, name, palette[nth%len(palette)])
}

// overridden is the colour that the panel has for the series of a name, else the
// given one.
func overridden(p dashboard.Panel, name, otherwise string) (ink string, dash bool) {
	ink = otherwise
	for _, o := range p.FieldConfig.Overrides {
		pattern := fmt.Sprint(o.Matcher.Options) // between slashes, or for the whole name
		if inner, is := strings.CutPrefix(pattern, "/"); is {
			pattern = strings.TrimSuffix(inner, "/")
		} else {
			pattern = "^(?:" + pattern + ")$"
		}
		if !regexp.MustCompile(pattern).MatchString(name) {
			continue
		}
		for _, property := range o.Properties {
			value, _ := property.Value.(map[string]any)
			if property.Id == "color" {
				ink = fmt.Sprint(value["fixedColor"])
			}
			if property.Id == "custom.lineStyle" {
				dash = true
			}
		}
	}
	return ink, dash
}

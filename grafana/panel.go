package grafana

import (
	"strconv"

	"github.com/grafana/grafana-foundation-sdk/go/cog/variants"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
	"github.com/grafana/grafana-foundation-sdk/go/prometheus"
)

// look is a kind of panel, by Grafana's name.
type look string

const (
	lookStat   look = "stat"           // a number or a word, now
	lookSeries look = "timeseries"     // numbers over time
	lookStates look = "state-timeline" // words over time
	lookGauges look = "bargauge"       // numbers now, one beside the other
	lookHeat   look = "heatmap"        // a histogram over time
)

// panel is one panel. What is left empty is Grafana's own choice.
type panel struct {
	look       look
	title      string
	about      string // what it shows, and what to do about it
	page       string // of the documentation that says more: "reasons"; empty: none
	wide, tall uint32 // of 24 columns; in rows of 30 pixels
	queries    []query
	unit       string // Grafana's name of it
	decimals   *float64
	min, max   *float64
	empty      string // what stands there when there is nothing to show
	words      []word
	steps      []step // of a value's colour; the first has no lower end
	inks       []ink
	style      style
}

// style is how a panel's series are drawn.
type style struct {
	bars    bool   // stacked, each of them one step of time
	stacked bool   // areas on top of each other
	lines   bool   // the thresholds are drawn, too
	log     bool   // the axis is logarithmic
	spark   bool   // a stat has its course behind it
	names   bool   // a stat shows the name of each series
	plain   bool   // a stat's colour is in its text, not behind it
	traces  bool   // points above the lines, exemplars, that lead to a trace
	least   string // the shortest step of time: "10m"
}

// query is one PromQL expression and how its series are called.
type query struct {
	expr, legend string
}

// word is what a value means: never only a colour.
type word struct {
	value float64
	text  string
	ink   string
}

// step is a threshold: from this value on, this colour.
type step struct {
	from float64
	ink  string
}

// ink is the colour of the series whose names match.
type ink struct {
	names string // a regular expression
	ink   string
	dash  bool // of a line
}

// The colours are those of Okabe and Ito, which people tell apart who see red
// and green alike; each comes with a word or a number all the same.
const (
	good    = "#009E73"
	warn    = "#E69F00"
	bad     = "#D55E00"
	info    = "#0072B2"
	light   = "#56B4E9"
	purple  = "#CC79A7"
	neutral = "#8E8E8E"
)

func (p panel) build(id uint32, at dashboard.GridPos) dashboard.Panel {
	built := dashboard.Panel{
		Type: string(p.look), Id: new(id), GridPos: &at,
		Title: new(p.title), Description: new(p.about),
		Datasource: new(source()),
		Options:    p.options(),
		FieldConfig: &dashboard.FieldConfigSource{
			Defaults: p.field(), Overrides: p.overrides(),
		},
	}
	for i, q := range p.queries {
		built.Targets = append(built.Targets, p.target(i, q))
	}
	if p.page != "" {
		built.Links = []dashboard.DashboardLink{{
			Title: "docs/" + p.page + ".md", Type: dashboard.DashboardLinkTypeLink,
			Url: new("${docs}/" + p.page + ".md"), TargetBlank: true, Tags: []string{},
		}}
	}
	if p.style.least != "" {
		built.Interval = new(p.style.least)
	}
	return built
}

// target is the nth query. What shows only how things are now asks for no more
// than that.
func (p panel) target(n int, q query) variants.Dataquery {
	now := p.look == lookGauges || p.look == lookStat && !p.style.spark
	format := prometheus.PromQueryFormatTimeSeries
	if p.look == lookHeat {
		format = prometheus.PromQueryFormatHeatmap
	}
	return prometheus.Dataquery{
		Datasource: new(source()), EditorMode: new(prometheus.QueryEditorModeCode),
		Expr: q.expr, LegendFormat: new(q.legend), RefId: new(string(rune('A' + n))),
		Instant: new(now), Range: new(!now), Format: &format, Exemplar: p.exemplar(n),
	}
}

// exemplar makes the first query bring the exemplars: the others are of the same
// histogram, and would bring them again.
func (p panel) exemplar(n int) *bool {
	if !p.style.traces || n > 0 {
		return nil
	}
	return new(true)
}

func (p panel) field() dashboard.FieldConfig {
	f := dashboard.FieldConfig{
		Unit: new(p.unit), Decimals: p.decimals, Min: p.min, Max: p.max,
		Mappings: p.mappings(), Thresholds: p.thresholds(), Custom: p.custom(),
		Color: &dashboard.FieldColor{Mode: dashboard.FieldColorModeIdPaletteClassic},
	}
	if len(p.steps) > 0 && p.look != lookSeries || len(p.words) > 0 {
		f.Color.Mode = dashboard.FieldColorModeIdThresholds
	}
	if p.empty != "" {
		f.NoValue = new(p.empty)
	}
	return f
}

func (p panel) mappings() []dashboard.ValueMapping {
	if len(p.words) == 0 {
		return nil
	}
	m := dashboard.NewValueMap()
	for i, w := range p.words {
		m.Options[strconv.FormatFloat(w.value, 'f', -1, 64)] = dashboard.ValueMappingResult{
			Text: new(w.text), Color: new(w.ink), Index: new(int32(i)),
		}
	}
	return []dashboard.ValueMapping{{ValueMap: m}}
}

func (p panel) thresholds() *dashboard.ThresholdsConfig {
	t := &dashboard.ThresholdsConfig{Mode: dashboard.ThresholdsModeAbsolute, Steps: []dashboard.Threshold{{Color: neutral}}}
	for i, s := range p.steps {
		if i == 0 {
			t.Steps[0].Color = s.ink
			continue
		}
		t.Steps = append(t.Steps, dashboard.Threshold{Value: new(s.from), Color: s.ink})
	}
	return t
}

// overrides give series the colours that they have on every panel.
func (p panel) overrides() []dashboard.DashboardFieldConfigSourceOverrides {
	all := []dashboard.DashboardFieldConfigSourceOverrides{}
	for _, i := range p.inks {
		o := dashboard.DashboardFieldConfigSourceOverrides{
			Matcher: dashboard.MatcherConfig{Id: "byRegexp", Options: i.names},
			Properties: []dashboard.DynamicConfigValue{
				{Id: "color", Value: map[string]any{"mode": "fixed", "fixedColor": i.ink}},
			},
		}
		if i.dash {
			o.Properties = append(o.Properties, dashboard.DynamicConfigValue{
				Id: "custom.lineStyle", Value: map[string]any{"fill": "dash", "dash": []int{8, 6}},
			})
		}
		all = append(all, o)
	}
	return all
}

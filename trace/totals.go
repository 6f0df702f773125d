package trace

import (
	"iter"
	"math"
	"slices"
	"strings"

	dto "github.com/prometheus/client_model/go"
)

// totals are what counters and histograms count at one moment, by key.
type totals map[string]*point

// point is a series: a counter's value, or a histogram.
type point struct {
	Name   string     `json:"n"`
	Labels []string   `json:"l,omitempty"` // name, value, name, value, ...
	Value  float64    `json:"c,omitempty"`
	Hist   *histogram `json:"h,omitempty"` // nil: a counter
}

func (p *point) key() string {
	return p.Name + "\x00" + strings.Join(p.Labels, "\x00")
}

// Families are a registry's, and may come in several pieces each.
type Families = iter.Seq[*dto.MetricFamily]

// read returns what the families count, without what is at zero, as most of it is.
// Gauges count nothing.
func read(families Families) totals {
	all := totals{}
	for f := range families {
		for _, m := range f.GetMetric() {
			p := &point{Name: f.GetName(), Labels: labels(m)}
			switch f.GetType() {
			case dto.MetricType_COUNTER:
				p.Value = m.GetCounter().GetValue()
			case dto.MetricType_HISTOGRAM:
				p.Hist = readHistogram(m.GetHistogram())
			default:
				continue
			}
			if p.Value != 0 || p.Hist != nil && p.Hist.Count > 0 {
				all[p.key()] = p
			}
		}
	}
	return all
}

func labels(m *dto.Metric) []string {
	var all []string
	for _, l := range m.GetLabel() {
		all = append(all, clean(l.GetName()), clean(l.GetValue()))
	}
	return all
}

// since returns what was counted after base, without what stands still. What counts
// less than it did began anew: all of it is new.
func (t totals) since(base totals) totals {
	grown := totals{}
	for key, now := range t {
		if d := now.since(base[key]); d != nil {
			grown[key] = d
		}
	}
	return grown
}

// since is nil where nothing was counted, or nothing that can be a count.
func (p *point) since(base *point) *point {
	d := *p
	if p.Hist != nil {
		var before *histogram
		if base != nil {
			before = base.Hist
		}
		d.Hist = p.Hist.since(before)
		if d.Hist.Count == 0 {
			return nil
		}
		return &d
	}
	if base != nil && base.Hist == nil && base.Value <= p.Value {
		d.Value -= base.Value
	}
	if !(d.Value > 0) || math.IsInf(d.Value, 0) {
		return nil
	}
	return &d
}

// add puts what grew later to what grew before.
func (t totals) add(later totals) {
	for key, p := range later {
		before := t[key]
		switch {
		case before == nil || (before.Hist == nil) != (p.Hist == nil):
			t[key] = p
		case p.Hist != nil:
			sum := *p
			sum.Hist = before.Hist.plus(p.Hist)
			t[key] = &sum
		default:
			sum := *p
			sum.Value += before.Value
			t[key] = &sum
		}
	}
}

// sorted are the points by key: the same ones always come in the same order.
func (t totals) sorted() []*point {
	all := make([]*point, 0, len(t))
	for _, p := range t {
		all = append(all, p)
	}
	slices.SortFunc(all, func(a, b *point) int { return strings.Compare(a.key(), b.key()) })
	return all
}

package trace

import (
	"iter"
	"math"
	"slices"
	"strings"
	"time"

	dto "github.com/prometheus/client_model/go"
	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	metricspb "go.opentelemetry.io/proto/otlp/metrics/v1"
)

// Histograms says as what a histogram is sent: a metric has one kind in OTLP, and
// perch's are both.
type Histograms string

// The kinds.
const (
	Exponential Histograms = "exponential" // buckets at most 10% wide
	Explicit    Histograms = "explicit"    // the few classic ones
)

// mostPoints is how many series one request carries.
const mostPoints = 1000

// window is the time in which the deltas of a request grew.
type window struct{ from, to time.Time }

// batch is one request's metrics and the counts that it carries.
type batch struct {
	metrics []*metricspb.Metric
	points  []*point // of metrics those that are deltas
}

// batches are the requests that say what grew, and then what the gauges are now: made
// one after the other, for all at once would take the memory of many.
func batches(grown []*point, families Families, w window, as Histograms) iter.Seq[batch] {
	return func(yield func(batch) bool) {
		b := &batcher{help: map[string]string{}, window: w, as: as, yield: yield}
		for f := range families {
			b.help[f.GetName()] = f.GetHelp()
		}
		for _, p := range grown {
			b.delta(p)
		}
		for f := range families {
			if f.GetType() != dto.MetricType_GAUGE {
				continue
			}
			for _, m := range f.GetMetric() {
				if v := m.GetGauge().GetValue(); !math.IsNaN(v) && !math.IsInf(v, 0) {
					b.gauge(f.GetName(), labels(m), v)
				}
			}
		}
		b.flush()
	}
}

// batcher puts points into metrics, and metrics into requests.
type batcher struct {
	help map[string]string
	window
	as    Histograms
	yield func(batch) bool
	batch      // the one that is being filled
	full  int  // points in it
	ended bool // nobody wants more
}

// flush hands out the batch that is being filled.
func (b *batcher) flush() {
	if b.full > 0 && !b.ended {
		b.ended = !b.yield(b.batch)
	}
	b.batch, b.full = batch{}, 0
}

func (b *batcher) delta(p *point) {
	if m := b.metric(p.Name, kindOf(p, b.as)); p.Hist != nil {
		b.histogram(m, p)
	} else {
		s := m.GetSum()
		s.DataPoints = append(s.DataPoints, &metricspb.NumberDataPoint{
			Attributes: pairs(p.Labels), StartTimeUnixNano: nanos(b.from), TimeUnixNano: nanos(b.to),
			Value: &metricspb.NumberDataPoint_AsDouble{AsDouble: p.Value},
		})
	}
	b.points = append(b.points, p)
}

func (b *batcher) gauge(name string, labels []string, value float64) {
	g := b.metric(name, kindGauge).GetGauge()
	g.DataPoints = append(g.DataPoints, &metricspb.NumberDataPoint{
		Attributes: pairs(labels), TimeUnixNano: nanos(b.to), Value: &metricspb.NumberDataPoint_AsDouble{AsDouble: value},
	})
}

func (b *batcher) histogram(m *metricspb.Metric, p *point) {
	if h := m.GetHistogram(); h != nil {
		h.DataPoints = append(h.DataPoints, &metricspb.HistogramDataPoint{
			Attributes: pairs(p.Labels), StartTimeUnixNano: nanos(b.from), TimeUnixNano: nanos(b.to),
			Count: p.Hist.Count, Sum: &p.Hist.Sum, BucketCounts: p.Hist.Classic, ExplicitBounds: p.Hist.Bounds,
		})
		return
	}
	schema, first, counts := p.Hist.dense()
	h := m.GetExponentialHistogram()
	h.DataPoints = append(h.DataPoints, &metricspb.ExponentialHistogramDataPoint{
		Attributes: pairs(p.Labels), StartTimeUnixNano: nanos(b.from), TimeUnixNano: nanos(b.to),
		Count: p.Hist.Count, Sum: &p.Hist.Sum, Scale: schema, ZeroCount: p.Hist.Zero, ZeroThreshold: p.Hist.Width,
		// Prometheus numbers a bucket by its upper end, OpenTelemetry by its lower one.
		Positive: &metricspb.ExponentialHistogramDataPoint_Buckets{Offset: first - 1, BucketCounts: counts},
	})
}

// The kinds of metrics in OTLP.
type kind int

const (
	kindSum kind = iota
	kindGauge
	kindExplicit
	kindExponential
)

func kindOf(p *point, as Histograms) kind {
	switch {
	case p.Hist == nil:
		return kindSum
	case as == Exponential && p.Hist.hasNative():
		return kindExponential
	}
	return kindExplicit
}

// metric returns the one that the next point goes into.
func (b *batcher) metric(name string, k kind) *metricspb.Metric {
	if b.full == mostPoints {
		b.flush()
	}
	b.full++
	if n := len(b.metrics); n > 0 && b.metrics[n-1].Name == name && kindOfMetric(b.metrics[n-1]) == k {
		return b.metrics[n-1]
	}
	m := &metricspb.Metric{Name: clean(name), Description: clean(b.help[name]), Unit: unit(name)}
	const delta = metricspb.AggregationTemporality_AGGREGATION_TEMPORALITY_DELTA
	switch k {
	case kindSum:
		m.Data = &metricspb.Metric_Sum{Sum: &metricspb.Sum{AggregationTemporality: delta, IsMonotonic: true}}
	case kindGauge:
		m.Data = &metricspb.Metric_Gauge{Gauge: &metricspb.Gauge{}}
	case kindExplicit:
		m.Data = &metricspb.Metric_Histogram{Histogram: &metricspb.Histogram{AggregationTemporality: delta}}
	case kindExponential:
		m.Data = &metricspb.Metric_ExponentialHistogram{ExponentialHistogram: &metricspb.ExponentialHistogram{AggregationTemporality: delta}}
	}
	b.metrics = append(b.metrics, m)
	return m
}

func kindOfMetric(m *metricspb.Metric) kind {
	switch m.Data.(type) {
	case *metricspb.Metric_Sum:
		return kindSum
	case *metricspb.Metric_Gauge:
		return kindGauge
	case *metricspb.Metric_Histogram:
		return kindExplicit
	}
	return kindExponential
}

// unit is a metric's unit, where its name says it. Others have none: a store that
// makes Prometheus' names of OTLP's would add one to them.
func unit(name string) string {
	if strings.HasSuffix(strings.TrimSuffix(name, "_total"), "_seconds") {
		return "s"
	}
	return ""
}

func pairs(labels []string) []*commonpb.KeyValue {
	var a attributes
	for pair := range slices.Chunk(labels, 2) {
		if len(pair) == 2 {
			a.text(pair[0], pair[1])
		}
	}
	return a
}

package trace

import (
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
const mostPoints = 2000

// window is the time in which the deltas of a request grew.
type window struct{ from, to time.Time }

// batch is one request's metrics and the counts that it carries.
type batch struct {
	metrics []*metricspb.Metric
	points  []*point // of metrics those that are deltas
}

// batches are the requests that say what grew, and then what the gauges are now.
func batches(grown []*point, families []*dto.MetricFamily, w window, as Histograms) []batch {
	b := &batcher{help: map[string]string{}, window: w, as: as}
	for _, f := range families {
		b.help[f.GetName()] = f.GetHelp()
	}
	for _, p := range grown {
		b.delta(p)
	}
	for _, f := range families {
		if f.GetType() != dto.MetricType_GAUGE {
			continue
		}
		for _, m := range f.GetMetric() {
			if v := m.GetGauge().GetValue(); !math.IsNaN(v) && !math.IsInf(v, 0) {
				b.gauge(f.GetName(), labels(m), v)
			}
		}
	}
	return b.done
}

// batcher puts points into metrics, and metrics into requests.
type batcher struct {
	help map[string]string
	window
	as   Histograms
	done []batch
	room int // in the last of done
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
	last := &b.done[len(b.done)-1]
	last.points = append(last.points, p)
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
	if b.room == 0 {
		b.done, b.room = append(b.done, batch{}), mostPoints
	}
	b.room--
	last := &b.done[len(b.done)-1]
	if n := len(last.metrics); n > 0 && last.metrics[n-1].Name == name && kindOfMetric(last.metrics[n-1]) == k {
		return last.metrics[n-1]
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
	last.metrics = append(last.metrics, m)
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

package tracetest

import (
	"encoding/hex"
	"maps"
	"slices"
	"strings"
	"time"

	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	metricspb "go.opentelemetry.io/proto/otlp/metrics/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
)

// Span is one span. Ids are in hex; an empty Parent is none.
type Span struct {
	Trace, ID, Parent string
	Name              string
	Client            bool
	Start, End        time.Time
	Attributes        map[string]any
	Events            []Event
	Links             []Link
	Failed            bool
	Message           string
	Resource          map[string]any
}

// Event is a moment of a span.
type Event struct {
	Name       string
	At         time.Time
	Attributes map[string]any
}

// Link names another span.
type Link struct {
	Trace, ID string
	What      any // perch.link
}

// Point is one value of one series.
type Point struct {
	Name, Unit string
	Kind       string // sum, gauge, histogram, exponential
	Delta      bool
	Labels     map[string]any
	From, To   time.Time
	Value      float64 // of a sum or a gauge
	Count      uint64  // of a histogram, as the rest
	Sum        float64
	Buckets    []uint64
	Bounds     []float64
	Scale      int32
	Offset     int32
	Zero       uint64
}

// Series names the point's series: name{label=value,...}.
func (p Point) Series() string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(p.Labels)) {
		value, _ := p.Labels[name].(string)
		all = append(all, name+"="+value)
	}
	return p.Name + "{" + strings.Join(all, ",") + "}"
}

func spansOf(d *tracepb.TracesData) []Span {
	var all []Span
	for _, r := range d.GetResourceSpans() {
		for _, scope := range r.GetScopeSpans() {
			for _, s := range scope.GetSpans() {
				out := Span{
					Trace: hex.EncodeToString(s.TraceId), ID: hex.EncodeToString(s.SpanId), Parent: hex.EncodeToString(s.ParentSpanId),
					Name: s.Name, Client: s.Kind == tracepb.Span_SPAN_KIND_CLIENT, Start: at(s.StartTimeUnixNano), End: at(s.EndTimeUnixNano),
					Attributes: values(s.Attributes), Failed: s.GetStatus().GetCode() == tracepb.Status_STATUS_CODE_ERROR,
					Message: s.GetStatus().GetMessage(), Resource: values(r.GetResource().GetAttributes()),
				}
				for _, e := range s.Events {
					out.Events = append(out.Events, Event{e.Name, at(e.TimeUnixNano), values(e.Attributes)})
				}
				for _, l := range s.Links {
					out.Links = append(out.Links, Link{hex.EncodeToString(l.TraceId), hex.EncodeToString(l.SpanId), values(l.Attributes)["perch.link"]})
				}
				all = append(all, out)
			}
		}
	}
	return all
}

func pointsOf(d *metricspb.MetricsData) []Point {
	var all []Point
	for _, r := range d.GetResourceMetrics() {
		for _, scope := range r.GetScopeMetrics() {
			for _, m := range scope.GetMetrics() {
				all = append(all, pointsOfMetric(m)...)
			}
		}
	}
	return all
}

func pointsOfMetric(m *metricspb.Metric) []Point {
	const delta = metricspb.AggregationTemporality_AGGREGATION_TEMPORALITY_DELTA
	var all []Point
	for _, n := range append(m.GetSum().GetDataPoints(), m.GetGauge().GetDataPoints()...) {
		p := Point{Name: m.Name, Unit: m.Unit, Kind: "gauge", Labels: values(n.Attributes), From: at(n.StartTimeUnixNano), To: at(n.TimeUnixNano), Value: n.GetAsDouble()}
		if s := m.GetSum(); s != nil {
			p.Kind, p.Delta = "sum", s.AggregationTemporality == delta && s.IsMonotonic
		}
		all = append(all, p)
	}
	for _, h := range m.GetHistogram().GetDataPoints() {
		all = append(all, Point{
			Name: m.Name, Unit: m.Unit, Kind: "histogram", Delta: m.GetHistogram().AggregationTemporality == delta, Labels: values(h.Attributes),
			From: at(h.StartTimeUnixNano), To: at(h.TimeUnixNano), Count: h.Count, Sum: h.GetSum(), Buckets: h.BucketCounts, Bounds: h.ExplicitBounds,
		})
	}
	for _, h := range m.GetExponentialHistogram().GetDataPoints() {
		all = append(all, Point{
			Name: m.Name, Unit: m.Unit, Kind: "exponential", Delta: m.GetExponentialHistogram().AggregationTemporality == delta, Labels: values(h.Attributes),
			From: at(h.StartTimeUnixNano), To: at(h.TimeUnixNano), Count: h.Count, Sum: h.GetSum(), Buckets: h.GetPositive().GetBucketCounts(),
			Scale: h.Scale, Offset: h.GetPositive().GetOffset(), Zero: h.ZeroCount,
		})
	}
	return all
}

func values(all []*commonpb.KeyValue) map[string]any {
	out := map[string]any{}
	for _, kv := range all {
		switch v := kv.GetValue().GetValue().(type) {
		case *commonpb.AnyValue_StringValue:
			out[kv.Key] = v.StringValue
		case *commonpb.AnyValue_IntValue:
			out[kv.Key] = v.IntValue
		case *commonpb.AnyValue_DoubleValue:
			out[kv.Key] = v.DoubleValue
		case *commonpb.AnyValue_BoolValue:
			out[kv.Key] = v.BoolValue
		default:
			out[kv.Key] = nil
		}
	}
	return out
}

// at is zero where the time is not known.
func at(nanos uint64) time.Time {
	if nanos == 0 {
		return time.Time{}
	}
	return time.Unix(0, int64(nanos)).UTC()
}

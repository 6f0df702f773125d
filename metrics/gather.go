package metrics

import (
	"cmp"
	"maps"
	"math"
	"slices"

	dto "github.com/prometheus/client_model/go"
)

// gatherer hands out the series of one perch. It implements client_golang's
// Gatherer.
type gatherer struct {
	vectors []*vector
	shape
}

// shape says how series are exposed.
type shape struct {
	further   []*dto.LabelPair // that each series has beside its own labels
	exemplars bool             // also those; the text format has no place for them
}

// Gather never fails: vectors hold nothing that cannot be exposed.
func (g gatherer) Gather() ([]*dto.MetricFamily, error) {
	var all []*dto.MetricFamily
	for _, v := range g.vectors {
		v.mu.Lock()
		if keys := v.keys(); len(keys) > 0 {
			all = append(all, v.gather(keys, g.shape))
		}
		v.mu.Unlock()
	}
	return all, nil
}

func pair(name, value string) *dto.LabelPair { return &dto.LabelPair{Name: &name, Value: &value} }

// keys returns the keys of all series, sorted; v is locked.
func (v *vector) keys() []string {
	if v.kind == dto.MetricType_HISTOGRAM {
		return slices.Sorted(maps.Keys(v.histograms))
	}
	return slices.Sorted(maps.Keys(v.values))
}

// gather returns some of the vector's series; v is locked. Labels, values and
// buckets share what they can.
func (v *vector) gather(keys []string, as shape) *dto.MetricFamily {
	out := &dto.MetricFamily{Name: &v.name, Help: &v.help, Type: v.kind.Enum(), Metric: v.labelled(keys, as.further)}
	if v.kind == dto.MetricType_HISTOGRAM {
		for i, key := range keys {
			h := v.histograms[key]
			out.Metric[i].Histogram = h.expose(v.bounds)
			if as.exemplars {
				h.exposeExemplars(out.Metric[i].Histogram)
			}
		}
		return out
	}
	values := make([]float64, len(keys))
	counters, gauges := []dto.Counter(nil), []dto.Gauge(nil)
	if v.kind == dto.MetricType_COUNTER {
		counters = make([]dto.Counter, len(keys))
	} else {
		gauges = make([]dto.Gauge, len(keys))
	}
	for i, key := range keys {
		values[i] = v.values[key]
		if v.kind == dto.MetricType_COUNTER {
			counters[i].Value = &values[i]
			if as.exemplars {
				counters[i].Exemplar = v.exemplars[key].expose()
			}
			out.Metric[i].Counter = &counters[i]
			continue
		}
		gauges[i].Value = &values[i]
		out.Metric[i].Gauge = &gauges[i]
	}
	return out
}

// labelled makes a series for each key, with its labels and no value yet.
func (v *vector) labelled(keys []string, further []*dto.LabelPair) []*dto.Metric {
	width := len(v.labels) + len(further)
	metrics, pairs := make([]dto.Metric, len(keys)), make([]*dto.LabelPair, 0, len(keys)*width)
	seen := make([]map[string]*dto.LabelPair, len(v.labels))
	for i := range seen {
		seen[i] = map[string]*dto.LabelPair{}
	}
	all := make([]*dto.Metric, len(keys))
	for n, key := range keys {
		for i, value := range v.split(key) {
			p := seen[i][value]
			if p == nil {
				p = pair(v.labels[i], value)
				seen[i][value] = p
			}
			pairs = append(pairs, p)
		}
		pairs = append(pairs, further...)
		own := pairs[n*width : len(pairs) : len(pairs)]
		slices.SortFunc(own, func(a, b *dto.LabelPair) int { return cmp.Compare(a.GetName(), b.GetName()) })
		metrics[n].Label = own
		all[n] = &metrics[n]
	}
	return all
}

// expose returns the histogram as Prometheus reads it: the classic buckets
// added up from below, the native ones in spans of neighbours, each count as
// its difference to the one before.
func (h *histogram) expose(bounds []float64) *dto.Histogram {
	out := &dto.Histogram{
		SampleCount: new(h.count()), SampleSum: new(h.sum),
		Schema: new(h.schema), ZeroThreshold: new(zeroWidth), ZeroCount: new(h.zero),
		Bucket: make([]*dto.Bucket, len(bounds)),
	}
	buckets, counts := make([]dto.Bucket, len(bounds)), make([]uint64, len(bounds))
	var below uint64
	for i := range bounds {
		if h.classic != nil {
			below += h.classic[i]
		}
		counts[i] = below
		buckets[i].CumulativeCount, buckets[i].UpperBound = &counts[i], &bounds[i]
		out.Bucket[i] = &buckets[i]
	}
	out.PositiveSpan, out.PositiveDelta = spans(h.native)
	return out
}

// exposeExemplars adds the exemplars to the classic buckets, where a Prometheus
// that takes native histograms looks for them, too. The bucket without a bound is
// written only where it has one.
func (h *histogram) exposeExemplars(out *dto.Histogram) {
	for i, e := range h.exemplars {
		if i < len(out.Bucket) {
			out.Bucket[i].Exemplar = e.expose()
		} else if e.trace != "" {
			out.Bucket = append(out.Bucket, &dto.Bucket{CumulativeCount: out.SampleCount, UpperBound: new(math.Inf(1)), Exemplar: e.expose()})
		}
	}
}

// maxGap is how many empty buckets are written rather than a new span, which
// takes more room.
const maxGap = 2

func spans(native []bucket) (all []*dto.BucketSpan, deltas []int64) {
	var before int64
	var next int32
	put := func(count int64) {
		*all[len(all)-1].Length++
		deltas = append(deltas, count-before)
		before = count
	}
	for i, b := range native {
		gap := b.index - next
		if i == 0 || gap > maxGap {
			all = append(all, &dto.BucketSpan{Offset: new(gap), Length: new(uint32)})
			gap = 0
		}
		for range gap {
			put(0)
		}
		put(int64(b.count))
		next = b.index + 1
	}
	return all, deltas
}

package trace

import (
	"maps"
	"math"
	"slices"

	dto "github.com/prometheus/client_model/go"
)

// histogram is both of perch's at once: a few buckets with bounds, and many whose
// bounds are powers of two. Its counts are each bucket's own.
type histogram struct {
	Count   uint64    `json:"n"`
	Sum     float64   `json:"s"`
	Bounds  []float64 `json:"b,omitempty"`
	Classic []uint64  `json:"k,omitempty"` // one more than bounds
	Schema  int32     `json:"e"`
	Width   float64   `json:"w,omitempty"` // upper end of the bucket for nothing at all
	Zero    uint64    `json:"z,omitempty"`
	Index   []int32   `json:"i,omitempty"` // Prometheus': bucket i ends at 2^(i/2^schema), inclusively
	Native  []uint64  `json:"v,omitempty"` // for each index
}

// readHistogram takes what a scrape would show. Buckets that do not grow, which no
// histogram of perch's has, count as empty.
func readHistogram(h *dto.Histogram) *histogram {
	out := &histogram{Count: h.GetSampleCount(), Sum: h.GetSampleSum(), Schema: h.GetSchema(), Width: h.GetZeroThreshold(), Zero: h.GetZeroCount()}
	if !finite(out.Sum) {
		out.Sum = 0
	}
	var below uint64
	for _, b := range h.GetBucket() {
		if bound := b.GetUpperBound(); math.IsInf(bound, 0) || math.IsNaN(bound) {
			continue
		}
		up := max(below, b.GetCumulativeCount())
		out.Bounds = append(out.Bounds, b.GetUpperBound())
		out.Classic = append(out.Classic, up-below)
		below = up
	}
	out.Classic = append(out.Classic, max(out.Count, below)-below)
	index, count := int32(0), int64(0)
	deltas := h.GetPositiveDelta()
	for _, s := range h.GetPositiveSpan() {
		index += s.GetOffset()
		for range s.GetLength() {
			if len(deltas) == 0 {
				return out
			}
			count += deltas[0]
			deltas = deltas[1:]
			if count > 0 {
				out.Index, out.Native = append(out.Index, index), append(out.Native, uint64(count))
			}
			index++
		}
	}
	return out
}

// since returns what h counted beyond an earlier state of itself; all of it, where
// that is none of h's.
func (h *histogram) since(base *histogram) *histogram {
	if base == nil || base.Count > h.Count || base.Schema < h.Schema || !slices.Equal(base.Bounds, h.Bounds) || base.Zero > h.Zero {
		return h
	}
	d := *h
	d.Count, d.Zero, d.Sum = h.Count-base.Count, h.Zero-base.Zero, max(0, h.Sum-base.Sum)
	d.Classic = slices.Clone(h.Classic)
	for i, n := range base.Classic {
		if n > d.Classic[i] {
			return h
		}
		d.Classic[i] -= n
	}
	left := h.buckets(h.Schema)
	for i, n := range base.buckets(h.Schema) {
		if n > left[i] {
			return h
		}
		left[i] -= n
	}
	d.setBuckets(left)
	return &d
}

// plus returns both together. Of buckets with other bounds than the later ones, which
// a newer perch may have, the later alone are known.
func (h *histogram) plus(later *histogram) *histogram {
	if !slices.Equal(h.Bounds, later.Bounds) || h.Width != later.Width {
		return later
	}
	sum := *later
	sum.Count, sum.Sum, sum.Zero = h.Count+later.Count, h.Sum+later.Sum, h.Zero+later.Zero
	sum.Schema = min(h.Schema, later.Schema)
	sum.Classic = slices.Clone(later.Classic)
	for i, n := range h.Classic {
		sum.Classic[i] += n
	}
	all := h.buckets(sum.Schema)
	for i, n := range later.buckets(sum.Schema) {
		all[i] += n
	}
	sum.setBuckets(all)
	return &sum
}

// buckets are the native ones at a schema that is h's or a lower one.
func (h *histogram) buckets(schema int32) map[int32]uint64 {
	all := map[int32]uint64{}
	for k, index := range h.Index {
		all[coarser(index, h.Schema-schema)] += h.Native[k]
	}
	return all
}

func (h *histogram) setBuckets(all map[int32]uint64) {
	h.Index, h.Native = nil, nil
	for _, index := range slices.Sorted(maps.Keys(all)) {
		if all[index] > 0 {
			h.Index, h.Native = append(h.Index, index), append(h.Native, all[index])
		}
	}
}

// coarser returns the bucket that holds a bucket after its resolution was halved some
// times. Buckets include their upper end, hence up.
func coarser(index, times int32) int32 { return -(-index >> min(times, 31)) }

// widest is how many buckets in a row are sent; OpenTelemetry's own SDKs keep as many.
const widest = 160

// dense returns the native buckets in a row, with the empty ones between them, and the
// index of the first. Where they lie too far apart the resolution is lowered.
func (h *histogram) dense() (schema, first int32, counts []uint64) {
	schema = h.Schema
	if len(h.Index) == 0 {
		return schema, 0, nil
	}
	low, high := h.Index[0], h.Index[len(h.Index)-1]
	for int64(high)-int64(low) >= widest {
		low, high, schema = coarser(low, 1), coarser(high, 1), schema-1
	}
	counts = make([]uint64, high-low+1)
	for index, n := range h.buckets(schema) {
		counts[index-low] += n
	}
	return schema, low, counts
}

// whole reports whether a histogram that was stored can be one.
func (h *histogram) whole() bool {
	shape := len(h.Classic) == len(h.Bounds)+1 && len(h.Index) == len(h.Native) && len(h.Index) <= mostBuckets && len(h.Bounds) <= mostBuckets
	if !shape || h.Count == 0 || h.Schema < -4 || h.Schema > 8 || !finite(h.Sum) || !finite(h.Width) {
		return false
	}
	return total(h.Classic) == h.Count && (h.hasNative() || len(h.Native) == 0) &&
		slices.IsSorted(h.Bounds) && !slices.ContainsFunc(h.Bounds, math.IsNaN) && ascending(h.Index)
}

// hasNative reports whether the native buckets hold all that was counted.
func (h *histogram) hasNative() bool { return total(h.Native)+h.Zero == h.Count }

// total adds counts up. One that is more than can be counted makes all of it so.
func total(counts []uint64) (sum uint64) {
	const most = 1 << 53
	for _, n := range counts {
		if n > most || sum > most {
			return math.MaxUint64
		}
		sum += n
	}
	return sum
}

// mostBuckets is far above what any histogram of perch's has.
const mostBuckets = 1000

func finite(v float64) bool { return v >= 0 && !math.IsInf(v, 1) }

// ascending reports whether the indexes are those of buckets, each once.
func ascending(index []int32) bool {
	const most = 1 << 20 // the largest number there is lies below, at any schema
	for i := range index {
		if index[i] > most || index[i] < -most || i > 0 && index[i-1] >= index[i] {
			return false
		}
	}
	return true
}

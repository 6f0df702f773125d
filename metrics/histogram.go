package metrics

import (
	"cmp"
	"math"
	"slices"
)

// The native part of a histogram. Prometheus calls a resolution a schema: each
// power of two is cut into 2^schema buckets.
const (
	finest    = 3  // 8 buckets for each power of two: each is at most 10% wide
	coarsest  = -4 // the lowest that Prometheus knows
	maxNative = 100
	// zeroWidth is the upper end of the bucket for nothing at all; client_golang
	// takes the same, and a name's threshold should never change.
	zeroWidth = 0x1p-128
)

// histogram counts observations twice: in a few classic buckets with fixed
// bounds, and in native ones. client_golang's cannot be set to what an earlier
// run counted; this one is but its counts, so that it can be saved, restored
// and added up. The zero value with a schema is one without observations.
type histogram struct {
	sum     float64
	classic []uint64 // each bucket's own count, the last without a bound; nil: nothing was observed
	schema  int32
	zero    uint64
	native  []bucket // by index, without empty ones
	// exemplars holds the newest of each classic bucket; nil: there is none.
	exemplars []exemplar
}

// bucket is one native bucket: index i ends at 2^(i/2^schema), inclusively.
type bucket struct {
	index int32
	count uint64
}

func (h *histogram) count() uint64 {
	var n uint64
	for _, c := range h.classic {
		n += c
	}
	return n
}

// observe counts v. What is no duration (negative, or not a number) counts as
// none: nothing that perch measures is, and a wrong clock must not spoil the
// sum for good. It returns the classic bucket that v fell into.
func (h *histogram) observe(v float64, bounds []float64) (classic int) {
	if !(v >= 0) || math.IsInf(v, 1) {
		v = 0
	}
	if h.classic == nil {
		h.classic = make([]uint64, len(bounds)+1)
	}
	at, _ := slices.BinarySearch(bounds, v)
	h.classic[at]++
	h.sum += v
	if v <= zeroWidth {
		h.zero++
		return at
	}
	h.count1(coarser(nativeIndex(v), finest-h.schema))
	h.limit()
	return at
}

// exemplify keeps the newest exemplar of a classic bucket.
func (h *histogram) exemplify(classic int, e exemplar) {
	if e.trace == "" {
		return
	}
	if h.exemplars == nil {
		h.exemplars = make([]exemplar, len(h.classic))
	}
	h.exemplars[classic] = e
}

// count1 adds one to a native bucket.
func (h *histogram) count1(index int32) {
	at, there := slices.BinarySearchFunc(h.native, index, func(b bucket, i int32) int { return cmp.Compare(b.index, i) })
	if !there {
		h.native = slices.Insert(h.native, at, bucket{index: index})
	}
	h.native[at].count++
}

// nativeIndex returns the bucket of v > 0 at the finest resolution.
func nativeIndex(v float64) int32 {
	// 2^(i/8 - 1), as Prometheus' clients write them.
	bounds := [1 << finest]float64{
		0.5, 0.5452538663326288, 0.5946035575013605, 0.6484197773255048,
		0.7071067811865475, 0.7711054127039704, 0.8408964152537144, 0.9170040432046711,
	}
	fraction, exponent := math.Frexp(v)
	at, _ := slices.BinarySearch(bounds[:], fraction)
	return int32(at + (exponent-1)<<finest)
}

// coarser returns the bucket that holds a bucket after its resolution was
// halved some times. Buckets include their upper end, hence up.
func coarser(index, times int32) int32 { return -(-index >> times) }

// limit halves the resolution until there are not too many native buckets.
func (h *histogram) limit() {
	for len(h.native) > maxNative && h.schema > coarsest {
		h.reduce(h.schema - 1)
	}
}

// reduce lowers the resolution to a schema; a lower one stays.
func (h *histogram) reduce(schema int32) {
	if schema >= h.schema {
		return
	}
	merged := h.native[:0]
	for _, b := range h.native {
		b.index = coarser(b.index, h.schema-schema)
		if last := len(merged) - 1; last >= 0 && merged[last].index == b.index {
			merged[last].count += b.count
			continue
		}
		merged = append(merged, b)
	}
	h.native, h.schema = merged, schema
}

// add counts what another histogram of the same bounds counted. Both come to
// the lower of the two resolutions.
func (h *histogram) add(o histogram) {
	if o.classic == nil {
		return
	}
	o = o.clone()
	h.reduce(o.schema)
	o.reduce(h.schema)
	if h.classic == nil {
		h.classic = make([]uint64, len(o.classic))
	}
	for i, c := range o.classic {
		h.classic[i] += c
	}
	h.sum += o.sum
	h.zero += o.zero
	h.native = combine(h.native, o.native, func(a, b uint64) uint64 { return a + b })
	h.limit()
}

// since returns what h counted beyond an earlier state of itself. Not known:
// the earlier state is none of h's, something in it is more.
func (h *histogram) since(base histogram) (beyond histogram, known bool) {
	beyond, base = h.clone(), base.clone()
	beyond.reduce(base.schema)
	base.reduce(beyond.schema)
	if base.classic == nil {
		return beyond, true
	}
	known = h.classic != nil && beyond.zero >= base.zero
	subtract := func(a, b uint64) uint64 {
		known = known && a >= b
		return a - min(a, b)
	}
	for i := range beyond.classic {
		beyond.classic[i] = subtract(beyond.classic[i], base.classic[i])
	}
	beyond.zero = subtract(beyond.zero, base.zero)
	beyond.native = combine(beyond.native, base.native, subtract)
	beyond.sum = max(0, beyond.sum-base.sum)
	return beyond, known
}

// combine puts two lists of buckets together, both by index.
func combine(a, b []bucket, with func(a, b uint64) uint64) []bucket {
	all := make([]bucket, 0, max(len(a), len(b)))
	put := func(index int32, count uint64) {
		if count > 0 {
			all = append(all, bucket{index, count})
		}
	}
	for len(a) > 0 || len(b) > 0 {
		switch {
		case len(b) == 0 || len(a) > 0 && a[0].index < b[0].index:
			put(a[0].index, with(a[0].count, 0))
			a = a[1:]
		case len(a) == 0 || b[0].index < a[0].index:
			put(b[0].index, with(0, b[0].count))
			b = b[1:]
		default:
			put(a[0].index, with(a[0].count, b[0].count))
			a, b = a[1:], b[1:]
		}
	}
	return all
}

func (h *histogram) clone() histogram {
	c := *h
	c.classic, c.native = slices.Clone(h.classic), slices.Clone(h.native)
	return c
}

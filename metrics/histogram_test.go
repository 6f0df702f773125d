package metrics

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"google.golang.org/protobuf/proto"
)

// theirs is client_golang's own histogram, with the settings that ours has.
func theirs(bounds []float64) prometheus.Histogram {
	return prometheus.NewHistogram(prometheus.HistogramOpts{
		Name: "perch_attempt_duration_seconds", Help: "h", Buckets: bounds,
		NativeHistogramBucketFactor: 1.1, NativeHistogramMaxBucketNumber: maxNative, NativeHistogramMaxExemplars: -1,
	})
}

// written is what it exposes, without its birth, which ours does not tell.
func written(t *testing.T, h prometheus.Histogram) *dto.Histogram {
	t.Helper()
	var out dto.Metric
	if err := h.Write(&out); err != nil {
		t.Fatal(err)
	}
	out.Histogram.CreatedTimestamp = nil
	return out.GetHistogram()
}

func counting(bounds []float64, values ...float64) *histogram {
	h := &histogram{schema: finest}
	for _, v := range values {
		h.observe(v, bounds)
	}
	return h
}

// some returns n durations between a nanosecond and widest times as much.
func some(r *rand.Rand, n int, widest float64) []float64 {
	values := make([]float64, n)
	for i := range values {
		values[i] = math.Round(math.Exp(r.Float64()*math.Log(widest))) / 1e9
	}
	return values
}

// What ours exposes is what client_golang's would, bucket by bucket, also
// where there are too many native buckets.
func TestHistogramIsClientGolangs(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	bounds := attemptBuckets()
	cases := map[string][]float64{
		"none": nil, "zero": {0}, "the smallest": {0x1p-128, 0x1.0000000000001p-128, math.SmallestNonzeroFloat64},
		"powers and bounds":   append(slices.Clone(bounds), 1, 2, 4, .5, .25, .125, 1024, 0.7071067811865475, 0.9170040432046711),
		"the largest":         {math.MaxFloat64, 1e300},
		"small gaps":          {1, 1.25, 1.5, 2, 3, 8},
		"an hour of requests": some(r, 3000, 3600e9),
		"over the bound":      some(r, 500, 1e18),
		"far over it":         append(some(r, 300, 1e18), 1e-30, 1e-20, 1e30, 1e100, 1e200, 1e300),
	}
	for name, values := range cases {
		t.Run(name, func(t *testing.T) {
			want := theirs(bounds)
			for _, v := range values {
				want.Observe(v)
			}
			got, wanted := counting(bounds, values...).expose(bounds), written(t, want)
			if !proto.Equal(got, wanted) {
				t.Errorf("got  %v\nwant %v", got, wanted)
			}
		})
	}
}

// A clock that ran backwards must not take from a sum that only grows.
func TestHistogramCountsNoNonsense(t *testing.T) {
	h := counting([]float64{1}, -1, math.NaN(), math.Inf(1), math.Inf(-1))
	if h.count() != 4 || h.sum != 0 || h.zero != 4 {
		t.Errorf("got %d observations, a sum of %v, %d zeros: want 4, 0, 4", h.count(), h.sum, h.zero)
	}
}

// Adding two histograms is observing both, at the lower resolution of the two;
// taking one away again leaves the other.
func TestAddAndSince(t *testing.T) {
	bounds := phaseBuckets()
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 3))
		a, b := some(r, r.IntN(60), 1e12), some(r, 1+r.IntN(60), 1e12)
		x, y := counting(bounds, a...), counting(bounds, b...)
		x.reduce(finest - int32(r.IntN(4)))
		y.reduce(finest - int32(r.IntN(4)))
		sum := x.clone()
		sum.add(*y)
		whole := counting(bounds, append(slices.Clone(a), b...)...)
		whole.reduce(min(x.schema, y.schema))
		sameHistogram(t, &sum, whole)
		left, known := sum.since(*x)
		if !known {
			t.Fatalf("seed %d: %+v is not known to go on from %+v", seed, sum, *x)
		}
		want := y.clone()
		want.reduce(left.schema)
		sameHistogram(t, &left, &want)
		if _, known := x.since(sum); known {
			t.Errorf("seed %d: the earlier one goes on from the later one", seed)
		}
	}
}

// sameHistogram compares all but the last digits of the sums.
func sameHistogram(t *testing.T, got, want *histogram) {
	t.Helper()
	if got.schema != want.schema || got.zero != want.zero || got.count() != want.count() ||
		!slices.Equal(got.native, want.native) || math.Abs(got.sum-want.sum) > 1e-9*(1+math.Abs(want.sum)) {
		t.Errorf("got %+v, want %+v", *got, *want)
	}
	for i := range got.classic {
		if want.classic != nil && got.classic[i] != want.classic[i] {
			t.Errorf("classic bucket %d: got %d, want %d", i, got.classic[i], want.classic[i])
		}
	}
}

// Two that are wide apart have more buckets together than there may be.
func TestAddKeepsTheBound(t *testing.T) {
	bounds := phaseBuckets()
	low, high := &histogram{schema: finest}, &histogram{schema: finest}
	for i := range maxNative {
		low.observe(math.Exp2(float64(i)/8+1./16-10), bounds)
		high.observe(math.Exp2(float64(i)/8+1./16+10), bounds)
	}
	if len(low.native) < maxNative || low.schema != finest {
		t.Fatalf("%d buckets of schema %d: the test wants %d full ones", len(low.native), low.schema, maxNative)
	}
	low.add(*high)
	if len(low.native) > maxNative || low.schema != finest-1 || low.count() != 2*maxNative {
		t.Errorf("%d buckets of schema %d hold %d", len(low.native), low.schema, low.count())
	}
}

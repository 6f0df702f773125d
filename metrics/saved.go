package metrics

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	dto "github.com/prometheus/client_model/go"
)

// savedVersion is written, and the only one that is read.
const savedVersion = 1

// maxSaved bounds what is read; a config of 200 targets saves half a megabyte.
const maxSaved = 16 << 20

// most is the largest count there can be: beyond it, adding one to a float64
// changes nothing.
const most = 1 << 53

// saved is what a run leaves to the next. Vectors come by name and series by
// their labels, so that the same values are the same bytes.
type saved struct {
	Version int           `json:"v"`
	Vectors []savedVector `json:"vectors"`
}

// savedVector is a vector with the series that have something to remember.
type savedVector struct {
	Name   string        `json:"name"`
	Type   string        `json:"type"`
	Labels []string      `json:"labels,omitempty"`
	Bounds []float64     `json:"bounds,omitempty"` // of a histogram's classic buckets
	Zero   float64       `json:"zero,omitempty"`   // of a histogram: the width of the native zero bucket
	Series []savedSeries `json:"series"`
}

// savedSeries is one series: its labels' values in the order of the vector's
// labels, and its value or its histogram.
type savedSeries struct {
	Labels    []string        `json:"l,omitempty"`
	Value     float64         `json:"n,omitempty"`
	Histogram *savedHistogram `json:"h,omitempty"`
}

// savedHistogram holds each bucket's own count.
type savedHistogram struct {
	Sum     float64  `json:"s"`
	Classic []uint64 `json:"b"` // the last is without a bound
	Schema  int32    `json:"e"`
	Zero    uint64   `json:"z,omitempty"`
	Index   []int32  `json:"i,omitempty"` // of the native buckets
	Count   []uint64 `json:"c,omitempty"` // for each index
}

func (s savedSeries) key() string {
	values := make([]string, len(s.Labels))
	for i, l := range s.Labels {
		values[i] = clean(l)
	}
	return strings.Join(values, separator)
}

// decodeSaved reads a baseline; an empty one is that of a first run. What its
// vectors hold is not checked yet.
func decodeSaved(raw json.RawMessage) (saved, error) {
	if len(raw) == 0 {
		return saved{Version: savedVersion}, nil
	}
	if len(raw) > maxSaved {
		return saved{}, fmt.Errorf("decoding: %d bytes, at most %d are ever written", len(raw), maxSaved)
	}
	var s saved
	if err := json.Unmarshal(raw, &s); err != nil {
		return saved{}, fmt.Errorf("decoding: %w", err)
	}
	if s.Version != savedVersion {
		return saved{}, fmt.Errorf("decoding: version %d, want %d", s.Version, savedVersion)
	}
	for i := range s.Vectors[min(1, len(s.Vectors)):] {
		if s.Vectors[i].Name >= s.Vectors[i+1].Name {
			return saved{}, fmt.Errorf("decoding: %q comes before %q, want each name once, sorted", s.Vectors[i].Name, s.Vectors[i+1].Name)
		}
	}
	return s, nil
}

// fits says why a vector's baseline cannot go on as v, if it cannot: its shape
// is another one, or it holds what was never counted. A reset is what every
// reader of counters expects; a mix of two meanings is not.
func (s savedVector) fits(v *vector) error {
	switch {
	case s.Type != typeName(v.kind):
		return fmt.Errorf("it is a %s now and was a %.20q", typeName(v.kind), s.Type)
	case !slices.Equal(s.Labels, v.labels):
		return fmt.Errorf("its labels are %q now and were others", v.labels)
	case !slices.Equal(s.Bounds, v.bounds):
		return errors.New("its classic buckets are others now")
	case v.kind == dto.MetricType_HISTOGRAM && s.Zero != zeroWidth:
		return errors.New("its zero bucket has another width now")
	}
	return s.check()
}

// check refuses series that no run has written.
func (s savedVector) check() error {
	before := ""
	for i, each := range s.Series {
		key := each.key()
		if len(each.Labels) != len(s.Labels) {
			return fmt.Errorf("series %d has %d labels, want %d", i, len(each.Labels), len(s.Labels))
		}
		if i > 0 && key <= before {
			return fmt.Errorf("series %d is not after the one before it", i)
		}
		before = key
		if (each.Histogram != nil) != (s.Type == typeName(dto.MetricType_HISTOGRAM)) {
			return fmt.Errorf("series %d is no %.20q", i, s.Type)
		}
		if s.Type == typeName(dto.MetricType_COUNTER) && (each.Value < 0 || each.Value > most) {
			return fmt.Errorf("series %d counts %v", i, each.Value)
		}
		if each.Histogram == nil {
			continue
		}
		if err := each.Histogram.check(len(s.Bounds)); err != nil {
			return fmt.Errorf("series %d: %w", i, err)
		}
	}
	return nil
}

func (s savedHistogram) check(bounds int) error {
	if len(s.Classic) != bounds+1 || len(s.Index) != len(s.Count) || len(s.Index) > maxNative {
		return fmt.Errorf("%d classic buckets, %d native ones with %d counts: want %d, and as many counts as buckets, at most %d",
			len(s.Classic), len(s.Index), len(s.Count), bounds+1, maxNative)
	}
	if s.Schema < coarsest || s.Schema > finest {
		return fmt.Errorf("schema %d, want %d to %d", s.Schema, coarsest, finest)
	}
	classic, fine := total(s.Classic)
	native, fineToo := total(append(slices.Clone(s.Count), s.Zero))
	if !fine || !fineToo || classic != native {
		return errors.New("its classic and its native buckets do not hold the same")
	}
	if s.Sum < 0 || s.Sum > most {
		return fmt.Errorf("a sum of %v", s.Sum)
	}
	lowest, highest := nativeIndex(zeroWidth), nativeIndex(math.MaxFloat64)
	for i, index := range s.Index {
		if i > 0 && index <= s.Index[i-1] || s.Count[i] == 0 {
			return errors.New("its native buckets are not sorted, or empty")
		}
		if index < coarser(lowest, finest-s.Schema) || index > coarser(highest, finest-s.Schema) {
			return fmt.Errorf("native bucket %d holds nothing that can be measured", index)
		}
	}
	return nil
}

// total adds counts up; not fine: they are more than can be counted.
func total(counts []uint64) (sum uint64, fine bool) {
	for _, c := range counts {
		if c > most || sum > most {
			return 0, false
		}
		sum += c
	}
	return sum, sum <= most
}

func (s savedHistogram) histogram() histogram {
	h := histogram{sum: s.Sum, classic: s.Classic, schema: s.Schema, zero: s.Zero}
	for i, index := range s.Index {
		h.native = append(h.native, bucket{index, s.Count[i]})
	}
	return h
}

func (h *histogram) saved() *savedHistogram {
	s := &savedHistogram{Sum: h.sum, Classic: h.classic, Schema: h.schema, Zero: h.zero}
	for _, b := range h.native {
		s.Index, s.Count = append(s.Index, b.index), append(s.Count, b.count)
	}
	return s
}

// typeName is a vector's type as Prometheus writes it.
func typeName(kind dto.MetricType) string { return strings.ToLower(kind.String()) }

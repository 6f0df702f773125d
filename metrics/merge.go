package metrics

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	dto "github.com/prometheus/client_model/go"
)

// Merge returns what two runs leave that both went on from base: each wrote a
// Snapshot, mine the later. What either counted is counted. A gauge is mine if
// I changed it or took it away, else theirs. Of a vector whose shape differs
// (two versions of perch), mine is taken. A base that Restore would not have
// taken is none; mine and theirs must be whole.
func Merge(base, mine, theirs json.RawMessage) (json.RawMessage, error) {
	m, err := wholeSaved(mine)
	if err != nil {
		return nil, fmt.Errorf("merging metrics: mine: %w", err)
	}
	t, err := wholeSaved(theirs)
	if err != nil {
		return nil, fmt.Errorf("merging metrics: theirs: %w", err)
	}
	b, err := decodeSaved(base)
	if err != nil {
		b = saved{}
	}
	from, their, my := byName(b), byName(t), byName(m)
	out := saved{Version: savedVersion, Vectors: []savedVector{}}
	for _, name := range union(my, their) {
		if v := mergeVector(from[name], my[name], their[name]); len(v.Series) > 0 {
			out.Vectors = append(out.Vectors, v)
		}
	}
	raw, err := json.Marshal(out)
	if err != nil {
		return nil, fmt.Errorf("merging metrics: %w", err)
	}
	return raw, nil
}

// wholeSaved reads a snapshot and refuses one of which a part cannot be used.
func wholeSaved(raw json.RawMessage) (saved, error) {
	s, err := decodeSaved(raw)
	if err != nil {
		return saved{}, err
	}
	for _, v := range s.Vectors {
		if err := v.check(); err != nil {
			return saved{}, fmt.Errorf("%.80q: %w", v.Name, err)
		}
	}
	return s, nil
}

func byName(s saved) map[string]savedVector {
	all := map[string]savedVector{}
	for _, v := range s.Vectors {
		all[v.Name] = v
	}
	return all
}

func union[V any](a, b map[string]V) []string {
	names := append(slices.Collect(maps.Keys(a)), slices.Collect(maps.Keys(b))...)
	slices.Sort(names)
	return slices.Compact(names)
}

// alike reports whether two vectors' series mean the same.
func (s savedVector) alike(o savedVector) bool {
	return s.Type == o.Type && slices.Equal(s.Labels, o.Labels) && slices.Equal(s.Bounds, o.Bounds) && s.Zero == o.Zero
}

func mergeVector(base, mine, theirs savedVector) savedVector {
	out := mine
	switch {
	case mine.Name == "": // I have nothing of it
		out = theirs
	case theirs.Name != "" && !mine.alike(theirs):
		return mine
	}
	if !base.alike(out) || base.check() != nil {
		base = savedVector{}
	}
	from, my, their := bySeries(base), bySeries(mine), bySeries(theirs)
	out.Series = nil
	for _, key := range union(my, their) {
		if s, stays := mergeSeries(out.Type, from[key], my[key], their[key]); stays {
			out.Series = append(out.Series, s)
		}
	}
	return out
}

func bySeries(v savedVector) map[string]*savedSeries {
	all := map[string]*savedSeries{}
	for i := range v.Series {
		all[v.Series[i].key()] = &v.Series[i]
	}
	return all
}

// mergeSeries merges one series; nil is none. At least one of mine and theirs
// is some.
func mergeSeries(kind string, base, mine, theirs *savedSeries) (merged savedSeries, stays bool) {
	if mine == nil && alike(base, theirs) || theirs == nil && alike(base, mine) {
		return savedSeries{}, false // one took it away, the other left it as it was
	}
	switch kind {
	case typeName(dto.MetricType_COUNTER):
		merged = *cmp.Or(mine, theirs)
		merged.Value = mergeCounts(value(base), value(mine), value(theirs))
		return merged, true
	case typeName(dto.MetricType_HISTOGRAM):
		merged = *cmp.Or(mine, theirs)
		h := mergeHistograms(counted(base), counted(mine), counted(theirs))
		merged.Histogram = h.saved()
		return merged, true
	}
	if alike(base, mine) { // untouched by me
		mine = theirs
	}
	if mine == nil {
		return savedSeries{}, false
	}
	return *mine, true
}

// mergeCounts adds both increments to base. Who has less than base began anew:
// all that it has is its increment, and what the other has is kept beside it.
func mergeCounts(base, mine, theirs float64) float64 {
	if mine >= base && theirs >= base {
		return theirs + (mine - base)
	}
	return theirs + mine
}

func alike(a, b *savedSeries) bool {
	if a == nil || b == nil {
		return a == b
	}
	if a.Histogram == nil || b.Histogram == nil {
		return a.Value == b.Value
	}
	x, y := a.Histogram, b.Histogram
	return x.Sum == y.Sum && x.Schema == y.Schema && x.Zero == y.Zero && slices.Equal(x.Classic, y.Classic) &&
		slices.Equal(x.Index, y.Index) && slices.Equal(x.Count, y.Count)
}

func value(s *savedSeries) float64 {
	if s == nil {
		return 0
	}
	return s.Value
}

func counted(s *savedSeries) histogram {
	if s == nil {
		return histogram{schema: finest}
	}
	return s.Histogram.histogram()
}

// mergeHistograms is mergeCounts for histograms.
func mergeHistograms(base, mine, theirs histogram) histogram {
	mine, theirs = mine.clone(), theirs.clone()
	if beyond, known := mine.since(base); known {
		if _, known := theirs.since(base); known {
			mine = beyond
		}
	}
	theirs.add(mine)
	return theirs
}

package metrics

import (
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	dto "github.com/prometheus/client_model/go"
)

// vector is one metric with all its series. client_golang's vectors are not
// used: what they hold cannot be restored where it is a histogram, they tell
// every run as the birth of its counters (which a Prometheus that looks at it
// takes for a reset), and they take six times the memory.
// It may be used by many goroutines.
type vector struct {
	name, help string
	kind       dto.MetricType
	labels     []string // sorted, as they are exposed
	order      []int    // for each of labels its place among the values that callers give
	bounds     []float64
	memory     memory

	mu         sync.Mutex
	values     map[string]float64    // of a counter or a gauge, by key
	histograms map[string]*histogram // of a histogram, by key
	exemplars  map[string]exemplar   // of a counter, by key
}

// memory says what the next run is told of a vector.
type memory int

const (
	forgotten  memory = iota // this run's alone
	remembered               // every value
	nonzero                  // all but zeros, which follow from the config or from another series
)

// separator stands between the label values of a key. It sorts before all
// else, so that keys sort as their values do.
const separator = "\x00"

func newVector(name, help string, kind dto.MetricType, labels []string) *vector {
	v := &vector{name: name, help: help, kind: kind, labels: slices.Sorted(slices.Values(labels))}
	for _, l := range v.labels {
		v.order = append(v.order, slices.Index(labels, l))
	}
	if kind == dto.MetricType_HISTOGRAM {
		v.histograms = map[string]*histogram{}
	} else {
		v.values, v.exemplars = map[string]float64{}, map[string]exemplar{}
	}
	return v
}

// gauge is of this run alone.
func gauge(name, help string, labels ...string) *vector {
	return newVector(name, help, dto.MetricType_GAUGE, labels)
}

// lasting is a gauge that keeps its last value in the runs that measure none.
func lasting(name, help string, labels ...string) *vector {
	v := gauge(name, help, labels...)
	v.memory = remembered
	return v
}

func counter(name, help string, labels ...string) *vector {
	v := newVector(name, help, dto.MetricType_COUNTER, labels)
	v.memory = nonzero
	return v
}

// histogramOf is classic and native at once: a Prometheus that takes native
// histograms gets 8 buckets for each power of two, others the few classic
// ones. Beyond a bound the native part loses resolution; it is never reset.
func histogramOf(bounds []float64, name, help string, labels ...string) *vector {
	v := newVector(name, help, dto.MetricType_HISTOGRAM, labels)
	v.bounds, v.memory = bounds, nonzero
	return v
}

// key joins label values, given as the vector's maker named the labels.
func (v *vector) key(values []string) string {
	var few [8]string // on the stack: a key is made for all that is counted
	ordered := few[:0]
	for _, at := range v.order {
		ordered = append(ordered, clean(values[at]))
	}
	return strings.Join(ordered, separator)
}

// split is the way back: the values of the sorted labels.
func (v *vector) split(key string) []string {
	if len(v.labels) == 0 {
		return nil
	}
	return strings.Split(key, separator)
}

// clean makes a label's value of any text: Prometheus takes UTF-8 alone.
func clean(value string) string {
	if utf8.ValidString(value) && !strings.Contains(value, separator) {
		return value
	}
	return strings.ReplaceAll(strings.ToValidUTF8(value, "\uFFFD"), separator, "\uFFFD")
}

// exist makes a series of a counter or histogram, at zero.
func (v *vector) exist(values ...string) {
	if v.kind == dto.MetricType_COUNTER {
		v.add(0, values...)
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.histogram(v.key(values))
}

// histogram returns a series that it makes if need be; v is locked.
func (v *vector) histogram(key string) *histogram {
	h := v.histograms[key]
	if h == nil {
		h = &histogram{schema: finest}
		v.histograms[key] = h
	}
	return h
}

func (v *vector) add(by float64, values ...string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.values[v.key(values)] += by
}

// addOne counts one more, of which e is the newest.
func (v *vector) addOne(e exemplar, values ...string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	key := v.key(values)
	v.values[key]++
	if e.trace != "" {
		v.exemplars[key] = e.of(1)
	}
}

func (v *vector) set(to float64, values ...string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.values[v.key(values)] = to
}

// drop makes a gauge's value unknown.
func (v *vector) drop(values ...string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	delete(v.values, v.key(values))
}

// observe counts a duration; a zero e is no exemplar.
func (v *vector) observe(seconds float64, e exemplar, values ...string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	h := v.histogram(v.key(values))
	at := h.observe(seconds, v.bounds)
	h.exemplify(at, e.of(max(0, seconds)))
}

// has reports whether a gauge or counter has a series.
func (v *vector) has(values ...string) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	_, there := v.values[v.key(values)]
	return there
}

package trace

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	dto "github.com/prometheus/client_model/go"

	"perch.example/trace/tracetest"
)

func metric(labels ...string) *dto.Metric {
	m := &dto.Metric{}
	for pair := range slices.Chunk(labels, 2) {
		m.Label = append(m.Label, &dto.LabelPair{Name: &pair[0], Value: &pair[1]})
	}
	return m
}

func family(name string, kind dto.MetricType, all ...*dto.Metric) *dto.MetricFamily {
	return &dto.MetricFamily{Name: &name, Help: new("What it is."), Type: &kind, Metric: all}
}

func counter(name string, value float64, labels ...string) *dto.MetricFamily {
	m := metric(labels...)
	m.Counter = &dto.Counter{Value: &value}
	return family(name, dto.MetricType_COUNTER, m)
}

func these(all ...*dto.MetricFamily) Families { return slices.Values(all) }

func gauge(name string, value float64) *dto.MetricFamily {
	m := metric()
	m.Gauge = &dto.Gauge{Value: &value}
	return family(name, dto.MetricType_GAUGE, m)
}

// observed is a histogram that has seen these: its classic bounds are 0.1 and 1, its
// native schema 3.
func observed(name string, seconds ...float64) *dto.MetricFamily {
	bounds, classic := []float64{0.1, 1}, []uint64{0, 0}
	native, zero, sum := map[int32]int64{}, uint64(0), 0.0
	for _, s := range seconds {
		sum += s
		for i, b := range bounds {
			if s <= b {
				classic[i]++
			}
		}
		if s == 0 {
			zero++
		} else {
			native[int32(math.Ceil(math.Log2(s)*8))]++
		}
	}
	h := &dto.Histogram{SampleCount: new(uint64(len(seconds))), SampleSum: &sum, Schema: new(int32(3)), ZeroThreshold: new(0x1p-128), ZeroCount: &zero}
	for i := range bounds {
		h.Bucket = append(h.Bucket, &dto.Bucket{UpperBound: &bounds[i], CumulativeCount: &classic[i]})
	}
	next, before := int32(0), int64(0)
	for i := int32(-1000); i < 1000; i++ {
		if native[i] == 0 {
			continue
		}
		h.PositiveSpan = append(h.PositiveSpan, &dto.BucketSpan{Offset: new(i - next), Length: new(uint32(1))})
		h.PositiveDelta = append(h.PositiveDelta, native[i]-before)
		next, before = i+1, native[i]
	}
	m := metric()
	m.Histogram = h
	return family(name, dto.MetricType_HISTOGRAM, m)
}

// sending sends to a receiver that fails as it is told.
type sending struct {
	*Exporter
	v      *tracetest.Receiver
	answer tracetest.Answer
}

func newSending(t *testing.T, as Histograms) *sending {
	t.Helper()
	s := &sending{}
	s.v = &tracetest.Receiver{Answer: func(int, *http.Request) tracetest.Answer { return s.answer }}
	s.Exporter = exporter(t, Options{Endpoint: "https://otlp.example", Client: &http.Client{Transport: direct{s.v}}, Source: source(t), Histograms: as})
	return s
}

func (s *sending) points(name string) []tracetest.Point {
	var all []tracetest.Point
	for _, p := range s.v.Points() {
		if p.Name == name {
			all = append(all, p)
		}
	}
	return all
}

// TestDeltas: what grew since it was last sent, in the time in which it grew; what
// stands still is not sent, a gauge always is.
func TestDeltas(t *testing.T) {
	s, c := newSending(t, Exponential), &Counts{}
	c.Start(these(counter("perch_a_total", 5), counter("perch_b_total", 7)), at(0))
	step := func(now time.Time, a float64, wait ...float64) {
		t.Helper()
		families := these(counter("perch_a_total", a), counter("perch_b_total", 7), observed("perch_wait_seconds", wait...), gauge("perch_open", a), gauge("perch_nan", math.NaN()))
		if err := s.Metrics(t.Context(), c, families, now); err != nil {
			t.Fatal(err)
		}
	}
	step(at(time.Minute), 8, 0.05)
	step(at(2*time.Minute), 8, 0.05)
	step(at(3*time.Minute), 2, 0.05, 3) // it began anew
	a := s.points("perch_a_total")
	if len(a) != 2 || a[0].Value != 3 || !a[0].From.Equal(at(0)) || !a[0].To.Equal(at(time.Minute)) || !a[0].Delta || a[0].Kind != "sum" {
		t.Errorf("a: %+v", a)
	}
	if len(a) == 2 && (a[1].Value != 2 || !a[1].From.Equal(at(2*time.Minute)) || !a[1].To.Equal(at(3*time.Minute))) {
		t.Errorf("a after it began anew: %+v", a[1])
	}
	if got := s.points("perch_b_total"); len(got) != 0 {
		t.Errorf("b stood still: %+v", got)
	}
	w := s.points("perch_wait_seconds")
	if len(w) != 2 || w[1].Count != 1 || w[1].Sum != 3 || w[1].Kind != "exponential" || !w[1].Delta || w[1].Unit != "s" {
		t.Fatalf("wait: %+v", w)
	}
	if low, high := bucket(w[1]); !(low < 3 && 3 <= high) || len(w[1].Buckets) != 1 {
		t.Errorf("3 s is in the bucket of %v to %v: %+v", low, high, w[1])
	}
	if got := s.points("perch_open"); len(got) != 3 || got[2].Value != 2 || got[2].Kind != "gauge" || len(s.points("perch_nan")) != 0 {
		t.Errorf("gauges: %+v", got)
	}
}

// bucket is between which values the first bucket lies, as OTLP says it.
func bucket(p tracetest.Point) (low, high float64) {
	base := math.Pow(2, math.Pow(2, -float64(p.Scale)))
	return math.Pow(base, float64(p.Offset)), math.Pow(base, float64(p.Offset+1))
}

func TestExplicit(t *testing.T) {
	s, c := newSending(t, Explicit), &Counts{}
	if err := s.Metrics(t.Context(), c, these(observed("perch_wait_seconds", 0.05, 0.5, 0.6, 7, 0)), at(0)); err != nil {
		t.Fatal(err)
	}
	p := s.v.Points()[0]
	if p.Kind != "histogram" || !slices.Equal(p.Buckets, []uint64{2, 2, 1}) || !slices.Equal(p.Bounds, []float64{0.1, 1}) || p.Count != 5 || !p.Delta {
		t.Errorf("%+v", p)
	}
}

// TestWideHistogram: buckets that lie far apart come at a lower resolution, all of
// them counted.
func TestWideHistogram(t *testing.T) {
	s, c := newSending(t, Exponential), &Counts{}
	seconds := []float64{1e-9, 1e-6, 0.001, 1, 60, 86400, 0}
	if err := s.Metrics(t.Context(), c, these(observed("perch_wait_seconds", seconds...)), at(0)); err != nil {
		t.Fatal(err)
	}
	p := s.v.Points()[0]
	sum := p.Zero
	for _, n := range p.Buckets {
		sum += n
	}
	if sum != 7 || len(p.Buckets) > widest || p.Scale >= 3 || p.Zero != 1 {
		t.Errorf("%+v", p)
	}
}

// TestNothingIsLost: over many runs, with pushes that fail, state that is written and
// read, and counters that begin anew, what was taken is what was counted.
func TestNothingIsLost(t *testing.T) {
	for seed := range uint64(10) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) { loseNothing(t, rand.New(rand.NewPCG(seed, 1))) })
	}
}

func loseNothing(t *testing.T, r *rand.Rand) {
	s, c := newSending(t, Exponential), &Counts{}
	var counted, total float64
	var seen, all []float64
	var from time.Time
	families := func() Families {
		return these(counter("perch_a_total", counted, "target", "x"), observed("perch_wait_seconds", seen...), gauge("perch_open", 1))
	}
	c.Start(families(), at(0))
	for i := range 40 {
		now := at(time.Duration(i+1) * time.Minute)
		grow := float64(r.IntN(3))
		counted, total = counted+grow, total+grow
		if wait := r.Float64() * 3; r.IntN(2) == 0 {
			seen, all = append(seen, wait), append(all, wait)
		}
		s.answer.Status = []int{200, 200, 401}[r.IntN(3)]
		if i == 39 {
			s.answer.Status = 200
		}
		err := s.Metrics(t.Context(), c, families(), now)
		if (err != nil) != (s.answer.Status == 401) {
			t.Fatal(err)
		}
		if r.IntN(3) > 0 {
			continue
		}
		raw, err := c.Unsent(families(), now, 1<<20) // the next run goes on
		if err != nil {
			t.Fatal(err)
		}
		c = &Counts{}
		if err := c.Restore(raw); err != nil {
			t.Fatal(err)
		}
		if r.IntN(4) == 0 {
			counted, seen = 0, nil
		}
		c.Start(families(), now)
	}
	var gotTotal, gotSum float64
	var gotCount uint64
	for _, p := range s.v.Points() {
		switch p.Kind {
		case "sum":
			gotTotal += p.Value
			if p.From.Before(from) || !p.From.Before(p.To) {
				t.Errorf("from %s to %s, after one to %s", p.From, p.To, from)
			}
			from = p.To
		case "exponential":
			gotCount, gotSum = gotCount+p.Count, gotSum+p.Sum
		}
	}
	want := 0.0
	for _, w := range all {
		want += w
	}
	if gotTotal != total || gotCount != uint64(len(all)) || math.Abs(gotSum-want) > 1e-9 {
		t.Errorf("taken %v, %d, %v; counted %v, %d, %v", gotTotal, gotCount, gotSum, total, len(all), want)
	}
}

// TestPartOfIt: of many series the requests that were taken are not sent again, and
// what is refused for good is given up.
func TestPartOfIt(t *testing.T) {
	s, c := newSending(t, Exponential), &Counts{}
	var families []*dto.MetricFamily
	for i := range 3*mostPoints - 5 {
		families = append(families, counter(fmt.Sprintf("perch_%05d_total", i), 1))
	}
	n := 0
	s.v.Answer = func(int, *http.Request) tracetest.Answer {
		n++
		return map[int]tracetest.Answer{1: {Status: 400}, 3: {Status: 401}}[n]
	}
	err := s.Metrics(t.Context(), c, these(families...), at(0))
	if err == nil || !strings.Contains(err.Error(), "400") || !strings.Contains(err.Error(), "401") || len(c.unsent) != mostPoints-5 || len(s.v.Points()) != mostPoints {
		t.Errorf("%v; %d unsent, %d taken", err, len(c.unsent), len(s.v.Points()))
	}
	if err := s.Metrics(t.Context(), c, these(families...), at(1)); err != nil || len(c.unsent) != 0 || len(s.v.Points()) != 2*mostPoints-5 {
		t.Errorf("%v; %d unsent, %d taken", err, len(c.unsent), len(s.v.Points()))
	}
}

// TestNoRoom: what the state has no room for is not kept there, and that is said: only
// this process can still send it.
func TestNoRoom(t *testing.T) {
	c := &Counts{}
	raw, err := c.Unsent(these(counter("perch_a_total", 1)), at(0), 10)
	if raw != nil || err == nil || !strings.Contains(err.Error(), "at most") {
		t.Errorf("%s, %v", raw, err)
	}
	if raw, err := c.Unsent(these(counter("perch_a_total", 1)), at(1), 1000); raw == nil || err != nil {
		t.Errorf("with room: %s, %v", raw, err)
	}
}

func TestRestoreRefuses(t *testing.T) {
	for _, text := range []string{
		`{`, `{"v":2}`, `{"v":1,"series":[null]}`, `{"v":1,"from":"2026-11-30T12:00:00Z","series":[{"n":"a","c":-1}]}`,
		`{"v":1,"from":"2026-11-30T12:00:00Z","series":[{"n":"a","c":1,"l":["x"]}]}`, `{"v":1,"series":[{"n":"a","c":1}]}`,
		`{"v":1,"from":"2026-11-30T12:00:00Z","series":[{"n":"a","h":{"n":2,"s":1,"b":[1],"k":[1,0],"e":3}}]}`,
		`{"v":1,"from":"2026-11-30T12:00:00Z","series":[{"n":"a","h":{"n":1,"s":1,"b":[1],"k":[1,0],"e":3,"i":[5,5],"v":[1,0]}}]}`,
	} {
		c := &Counts{}
		if err := c.Restore(json.RawMessage(text)); err == nil || c.unsent != nil || !strings.Contains(err.Error(), "left out") {
			t.Errorf("%s: %v, %v", text, c.unsent, err)
		}
	}
	if err := (&Counts{}).Restore(nil); err != nil {
		t.Error(err)
	}
}

// FuzzRestore: what a state holds is taken whole or not at all; what is taken can be
// sent, and comes out as it went in.
func FuzzRestore(f *testing.F) {
	c := &Counts{}
	c.Start(these(), at(0))
	raw, err := c.Unsent(these(counter("perch_a_total", 2, "target", "x"), observed("perch_wait_seconds", 0, 0.3, 9)), at(1), 1<<20)
	if err != nil {
		f.Fatal(err)
	}
	f.Add([]byte(raw))
	f.Add([]byte(`{"v":1}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		c := &Counts{}
		if c.Restore(raw) != nil {
			return
		}
		c.Start(these(), at(0))
		for b := range batches(c.unsent.sorted(), these(), window{at(0), at(1)}, Exponential) {
			_ = encoded(t, b)
		}
		first, err := c.Unsent(these(), at(1), 1<<30)
		if err != nil {
			t.Fatal(err)
		}
		again := &Counts{}
		if err := again.Restore(first); err != nil {
			t.Fatalf("%v: %s", err, first)
		}
	})
}

// FuzzFamilies: whatever a registry holds is counted without a panic, and is never
// less than nothing.
func FuzzFamilies(f *testing.F) {
	f.Add(1.0, uint64(3), int32(2), uint32(3), int64(1), int32(3))
	f.Add(math.Inf(1), uint64(0), int32(-5), uint32(70), int64(-4), int32(-4))
	f.Add(math.NaN(), uint64(math.MaxUint64), int32(math.MaxInt32), uint32(2), int64(math.MaxInt64), int32(99))
	f.Fuzz(func(t *testing.T, value float64, count uint64, offset int32, length uint32, delta int64, schema int32) {
		h := metric("target", "\xff")
		bound := value / 2
		h.Histogram = &dto.Histogram{
			SampleCount: &count, SampleSum: &value, Schema: &schema, Bucket: []*dto.Bucket{{UpperBound: &bound, CumulativeCount: new(count / 3)}},
			PositiveSpan: []*dto.BucketSpan{{Offset: &offset, Length: new(length % 1000)}}, PositiveDelta: []int64{delta, -delta, 1},
		}
		now := these(counter("perch_a_total", value), family("perch_h_seconds", dto.MetricType_HISTOGRAM, h), gauge("perch_g", value))
		c := &Counts{}
		c.take(now, at(0))
		c.take(these(counter("perch_a_total", value/2), observed("perch_h_seconds", 1)), at(1))
		for _, p := range c.unsent {
			if p.Hist == nil && !(p.Value > 0) {
				t.Errorf("%+v", p)
			}
		}
		for b := range batches(c.unsent.sorted(), now, window{at(0), at(1)}, Exponential) {
			_ = encoded(t, b)
		}
	})
}

// encoded is how large a batch is.
func encoded(t *testing.T, b batch) (size int) {
	t.Helper()
	for _, m := range b.metrics {
		size += len(message(t, m))
	}
	if len(b.points) > mostPoints {
		t.Errorf("%d points in one request", len(b.points))
	}
	return size
}

package metrics

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	dto "github.com/prometheus/client_model/go"
)

// A baseline of which a vector cannot be used costs that vector and no other.
func TestAVectorThatCannotGoOnStartsAnew(t *testing.T) {
	m := New(shop(t))
	m.Observe(incident())
	for name, c := range map[string]struct {
		vector string
		change func(*savedVector)
		says   string
	}{
		"bounds":         {"perch_phase_duration_seconds", func(v *savedVector) { v.Bounds = []float64{.1, 1, 2} }, "classic buckets are others"},
		"labels":         {"perch_attempts_total", func(v *savedVector) { v.Labels = []string{"connection", "probe", "why", "target"} }, "its labels are"},
		"type":           {"perch_attempts_total", func(v *savedVector) { v.Type = "gauge" }, "it is a counter now and was a \"gauge\""},
		"zero bucket":    {"perch_phase_duration_seconds", func(v *savedVector) { v.Zero = 1e-6 }, "zero bucket"},
		"negative":       {"perch_attempts_total", func(v *savedVector) { v.Series[0].Value = -1 }, "counts -1"},
		"too much":       {"perch_attempts_total", func(v *savedVector) { v.Series[0].Value = 1e300 }, "counts 1e+300"},
		"order":          {"perch_attempts_total", func(v *savedVector) { v.Series[0], v.Series[1] = v.Series[1], v.Series[0] }, "not after"},
		"twice":          {"perch_attempts_total", func(v *savedVector) { v.Series[1] = v.Series[0] }, "not after"},
		"fewer values":   {"perch_attempts_total", func(v *savedVector) { v.Series[0].Labels = v.Series[0].Labels[:2] }, "2 labels, want 4"},
		"no histogram":   {"perch_phase_duration_seconds", func(v *savedVector) { v.Series[0].Histogram = nil }, "is no \"histogram\""},
		"a histogram":    {"perch_attempts_total", func(v *savedVector) { v.Series[0].Histogram = &savedHistogram{} }, "is no \"counter\""},
		"schema":         {"perch_phase_duration_seconds", func(v *savedVector) { v.Series[0].Histogram.Schema = 4 }, "schema 4"},
		"low schema":     {"perch_phase_duration_seconds", func(v *savedVector) { v.Series[0].Histogram.Schema = -5 }, "schema -5"},
		"fewer buckets":  {"perch_phase_duration_seconds", func(v *savedVector) { v.Series[0].Histogram.Classic = nil }, "0 classic buckets"},
		"lost counts":    {"perch_phase_duration_seconds", func(v *savedVector) { v.Series[0].Histogram.Count = nil }, "with 0 counts"},
		"other counts":   {"perch_phase_duration_seconds", func(v *savedVector) { v.Series[0].Histogram.Zero++ }, "do not hold the same"},
		"overflow":       {"perch_phase_duration_seconds", func(v *savedVector) { overflow(v.Series[0].Histogram) }, "do not hold the same"},
		"far bucket":     {"perch_phase_duration_seconds", func(v *savedVector) { v.Series[0].Histogram.Index[0] = -1 << 30 }, "can be measured"},
		"wide gap":       {"perch_phase_duration_seconds", func(v *savedVector) { last(v.Series[0].Histogram, 1<<30) }, "can be measured"},
		"unsorted":       {"perch_phase_duration_seconds", func(v *savedVector) { h := v.Series[len(v.Series)-1].Histogram; last(h, h.Index[0]) }, "not sorted"},
		"negative sum":   {"perch_phase_duration_seconds", func(v *savedVector) { v.Series[0].Histogram.Sum = -1 }, "a sum of -1"},
		"the largest":    {"perch_phase_duration_seconds", func(v *savedVector) { v.Series[0].Histogram.Sum = math.MaxFloat64 }, "a sum of"},
		"an empty bound": {"perch_phase_duration_seconds", func(v *savedVector) { empty(v.Series[0].Histogram) }, "or empty"},
	} {
		t.Run(name, func(t *testing.T) {
			var s saved
			if err := json.Unmarshal(snapshot(t, m), &s); err != nil {
				t.Fatal(err)
			}
			for i := range s.Vectors {
				if s.Vectors[i].Name == c.vector {
					c.change(&s.Vectors[i])
				}
			}
			n := New(shop(t))
			err := n.Restore(encoded(t, s))
			if err == nil || !strings.Contains(err.Error(), c.says) || !strings.Contains(err.Error(), c.vector) {
				t.Errorf("error %v: want the vector's name and %q", err, c.says)
			}
			anew, other := exposed(t, New(shop(t))), exposed(t, m)
			for key, value := range exposed(t, n) {
				want := other[key]
				if strings.HasPrefix(key, c.vector) {
					want = anew[key]
				}
				if value != want && !strings.HasPrefix(key, "perch_incident") {
					t.Errorf("%s: got %s, want %q", key, value, want)
				}
			}
		})
	}
}

func overflow(h *savedHistogram) {
	h.Classic = []uint64{1 << 63, 1 << 63, 0, 0}
	h.Index, h.Count, h.Zero = []int32{0}, []uint64{0}, 0
}

func last(h *savedHistogram, index int32) { h.Index[len(h.Index)-1] = index }

func empty(h *savedHistogram) { h.Zero, h.Count[0] = h.Count[0], 0 }

func encoded(t testing.TB, s saved) json.RawMessage {
	t.Helper()
	raw, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func TestABaselineThatIsNoneIsSaid(t *testing.T) {
	for raw, says := range map[string]string{
		"{":       "decoding",
		`[]`:      "decoding",
		`null`:    "version 0",
		`{}`:      "version 0",
		`{"v":2}`: "version 2, want 1",
		`{"v":1,"vectors":[{"name":"b"},{"name":"a"}]}`:                              "sorted",
		`{"v":1,"vectors":[{"name":"a"},{"name":"a"}]}`:                              "sorted",
		`{"v":1,"vectors":[{"name":"perch_runs_total","series":[{"n":1e999}]}]}`:     "decoding",
		`{"v":1,"vectors":[{"name":"perch_runs_total","series":[{"n":"1"}]}]}`:       "decoding",
		`{"v":1,"vectors":[` + strings.Repeat(" ", maxSaved) + `]}`:                  "at most",
		`{"v":1,"vectors":[{"name":"perch_x","series":[{"h":{"b":[-1],"s":1.5}}]}]}`: "decoding",
	} {
		m := New(shop(t))
		if err := m.Restore(json.RawMessage(raw)); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%.80s: error %v, want %q", raw, err, says)
		}
		if exposition(t, m) != exposition(t, New(shop(t))) {
			t.Errorf("%.80s: something was restored", raw)
		}
	}
}

// FuzzRestore: whatever stands in the state, a run goes on, and shows nothing
// that no run can have counted.
func FuzzRestore(f *testing.F) {
	o := shop(f)
	m := New(o)
	m.Observe(incident())
	f.Add([]byte(snapshot(f, m)))
	f.Add([]byte(`{"v":1,"vectors":[{"name":"perch_run_duration_seconds","type":"gauge","series":[{"n":-1}]}]}`))
	f.Add([]byte(`{"v":1,"vectors":[{"name":"perch_runs_total","type":"counter","labels":["verdict"],"series":[{"l":["pass"],"n":9007199254740992}]}]}`))
	f.Add([]byte(`{"v":1,"vectors":[{"name":"perch_scheduling_delay_seconds","type":"histogram","bounds":[0.0001,0.001,0.01,0.1,1],"zero":2.938735877055719e-39,` +
		`"series":[{"h":{"s":1,"b":[1,0,0,0,0,1],"e":-4,"z":1,"i":[1],"c":[1]}}]}]}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		m := New(o)
		failed := m.Restore(raw) != nil
		m.Observe(incident())
		all, err := m.Gatherer().Gather()
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range all {
			for _, s := range f.GetMetric() {
				sound(t, f.GetName(), s)
				failed = failed || s.GetCounter().GetValue() > most || s.GetHistogram().GetSampleSum() > most
			}
		}
		n := New(o)
		if err := n.Restore(snapshot(t, m)); err != nil && !failed {
			t.Fatalf("what was restored and saved again is refused: %v", err)
		}
	})
}

func sound(t *testing.T, name string, s *dto.Metric) {
	t.Helper()
	if c := s.GetCounter(); c != nil && !(c.GetValue() >= 0 && c.GetValue() <= 2*most) {
		t.Fatalf("%s: a counter of %v", name, c.GetValue())
	}
	h := s.GetHistogram()
	if h == nil {
		return
	}
	if !(h.GetSampleSum() >= 0 && h.GetSampleSum() <= 2*most) || len(h.GetPositiveDelta()) > 3*maxNative {
		t.Fatalf("%s: a sum of %v, %d buckets", name, h.GetSampleSum(), len(h.GetPositiveDelta()))
	}
	var below uint64
	for _, b := range h.GetBucket() {
		if b.GetCumulativeCount() < below || b.GetCumulativeCount() > h.GetSampleCount() {
			t.Fatalf("%s: buckets that do not add up: %v", name, h)
		}
		below = b.GetCumulativeCount()
	}
	native, count := h.GetZeroCount(), int64(0)
	for _, d := range h.GetPositiveDelta() {
		if count += d; count < 0 {
			t.Fatalf("%s: a bucket of %d", name, count)
		}
		native += uint64(count)
	}
	if native != h.GetSampleCount() {
		t.Fatalf("%s: %d in native buckets, %d observations", name, native, h.GetSampleCount())
	}
}

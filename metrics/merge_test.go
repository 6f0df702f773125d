package metrics

import (
	"bytes"
	"encoding/json"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
)

// small is a snapshot of one vector.
func small(kind string, series ...savedSeries) saved {
	v := savedVector{Name: "perch_x", Type: kind, Labels: []string{"target"}, Series: series}
	if kind == "histogram" {
		v.Bounds, v.Zero = []float64{1}, zeroWidth
	}
	if len(series) == 0 {
		return saved{Version: savedVersion, Vectors: []savedVector{}}
	}
	return saved{Version: savedVersion, Vectors: []savedVector{v}}
}

func number1(target string, n float64) savedSeries {
	return savedSeries{Labels: []string{target}, Value: n}
}

// observed holds values of 2^i seconds, at a schema.
func observed(target string, schema int32, powers ...int) savedSeries {
	h := &histogram{schema: finest}
	for _, p := range powers {
		h.observe(math.Exp2(float64(p)), []float64{1})
	}
	h.reduce(schema)
	return savedSeries{Labels: []string{target}, Histogram: h.saved()}
}

func TestMerge(t *testing.T) {
	one := func(n float64) saved { return small("counter", number1("a", n)) }
	level := func(n float64) saved { return small("gauge", number1("a", n)) }
	histo := func(schema int32, powers ...int) saved { return small("histogram", observed("a", schema, powers...)) }
	none := small("")
	other := one(4)
	other.Vectors[0].Labels = []string{"probe"}
	for name, c := range map[string]struct{ base, mine, theirs, want saved }{
		"both counted":                     {one(5), one(7), one(6), one(8)},
		"from nothing":                     {none, one(2), one(3), one(5)},
		"only they":                        {one(5), one(5), one(6), one(6)},
		"I began anew":                     {one(5), one(1), one(6), one(7)},
		"they began anew":                  {one(5), one(6), one(1), one(7)},
		"both began anew":                  {one(5), one(1), one(2), one(3)},
		"I dropped it":                     {one(5), none, one(5), none},
		"they dropped it":                  {one(5), one(5), none, none},
		"I dropped it while they counted":  {one(5), none, one(6), one(6)},
		"two series":                       {none, small("counter", number1("b", 1)), one(2), small("counter", number1("a", 2), number1("b", 1))},
		"a gauge is mine":                  {level(1), level(2), level(3), level(2)},
		"unless I left it":                 {level(1), level(1), level(3), level(3)},
		"or they know it alone":            {none, none, level(3), level(3)},
		"I took it away":                   {level(1), none, level(3), none},
		"they took it away":                {level(1), level(1), none, none},
		"zero is a value":                  {level(0), level(0), level(3), level(3)},
		"other labels":                     {one(5), one(7), other, one(7)},
		"other labels before":              {other, one(7), one(6), one(13)},
		"histograms":                       {histo(3, 0), histo(3, 0, 1, 1), histo(3, 0, -5), histo(3, 0, 1, 1, -5)},
		"histograms from nothing":          {none, histo(3, 1), histo(3, -5), histo(3, 1, -5)},
		"mine is coarser":                  {histo(3, 0), histo(1, 0, 1, 7), histo(3, 0, -5), histo(1, 0, 1, 7, -5)},
		"theirs is coarser":                {histo(3, 0), histo(3, 0, 1, 7), histo(-1, 0, -5), histo(-1, 0, 1, 7, -5)},
		"all are coarser":                  {histo(0, 0), histo(0, 0, 1, 7), histo(-1, 0, -5), histo(-1, 0, 1, 7, -5)},
		"a histogram that I began anew":    {histo(3, 0, 1), histo(3, 2), histo(3, 0, 1, 1), histo(3, 0, 1, 1, 2)},
		"a histogram that they began anew": {histo(3, 0, 1), histo(3, 0, 1, 1), histo(3, 2), histo(3, 0, 1, 1, 2)},
		"a histogram that I left":          {histo(3, 0), histo(3, 0), histo(3, 0, 1), histo(3, 0, 1)},
		"a histogram that both left":       {histo(3, 0), histo(3, 0), histo(3, 0), histo(3, 0)},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Merge(encoded(t, c.base), encoded(t, c.mine), encoded(t, c.theirs))
			if err != nil {
				t.Fatal(err)
			}
			if want := encoded(t, c.want); !bytes.Equal(got, want) {
				t.Errorf("got %s\nwant %s", got, want)
			}
		})
	}
}

func TestMergeOfWhatCannotBeRead(t *testing.T) {
	fine := encoded(t, small("counter", number1("a", 7)))
	broken := json.RawMessage(`{"v":1,"vectors":[{"name":"perch_x","type":"counter","labels":["target"],"series":[{"l":["a"],"n":-1}]}]}`)
	for _, base := range []json.RawMessage{nil, []byte("{"), broken} { // those runs began at zero too
		got, err := Merge(base, fine, fine)
		if err != nil || !bytes.Equal(got, encoded(t, small("counter", number1("a", 14)))) {
			t.Errorf("base %s: got %s, %v", base, got, err)
		}
	}
	for _, bad := range []json.RawMessage{[]byte("{"), broken} {
		if _, err := Merge(nil, bad, fine); err == nil || !strings.Contains(err.Error(), "mine") {
			t.Errorf("mine %s: %v", bad, err)
		}
		if _, err := Merge(nil, fine, bad); err == nil || !strings.Contains(err.Error(), "theirs") {
			t.Errorf("theirs %s: %v", bad, err)
		}
	}
	if got, err := Merge(nil, nil, fine); err != nil || !bytes.Equal(got, fine) {
		t.Errorf("theirs alone: %s, %v", got, err)
	}
	if got, err := Merge(fine, fine, fine); err != nil || !bytes.Equal(got, fine) {
		t.Errorf("nobody did anything: %s, %v", got, err)
	}
}

// Two runs that went on from one base leave what one after the other would
// have: every count, and each gauge of the later one.
func TestMergeLosesNoIncrement(t *testing.T) {
	o := shop(t)
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 7))
		first := New(o)
		first.Observe(random(r, o))
		theirs, mine, after := next(t, first, o), next(t, first, o), next(t, first, o)
		a, b := random(r, o), random(r, o)
		theirs.Observe(a)
		mine.Observe(b)
		after.Observe(a)
		after.Observe(b)
		merged, err := Merge(snapshot(t, first), snapshot(t, mine), snapshot(t, theirs))
		if err != nil {
			t.Fatal(err)
		}
		got := New(o)
		if err := got.Restore(merged); err != nil {
			t.Fatal(err)
		}
		have, wanted := exposed(t, got), exposed(t, after)
		for key, value := range wanted {
			if !counts(key) {
				continue
			}
			if math.Abs(float(t, have[key])-float(t, value)) > 1e-9*(1+float(t, value)) {
				t.Errorf("seed %d: %s: got %s, want %s", seed, key, have[key], value)
			}
		}
		key := `perch_run_duration_seconds{}` // both set it
		if mine := exposed(t, mine); have[key] != mine[key] {
			t.Errorf("seed %d: %s: got %s, want the later run's %s", seed, key, have[key], mine[key])
		}
	}
}

// counts reports whether a series is a counter's or a histogram's.
func counts(key string) bool {
	name, _, _ := strings.Cut(key, "{")
	for _, end := range []string{"_total", "_bucket", "_sum", "_count"} {
		if strings.HasSuffix(name, end) {
			return true
		}
	}
	return false
}

// FuzzMerge: what two runs wrote, or anything else, never panics, and what
// comes out can be restored.
func FuzzMerge(f *testing.F) {
	o := shop(f)
	m := New(o)
	m.Observe(incident())
	a := snapshot(f, m)
	m.Observe(incident())
	b := snapshot(f, m)
	f.Add([]byte(a), []byte(b), []byte(b))
	f.Add([]byte(b), []byte(a), []byte(b))
	f.Add([]byte(`{"v":1}`), []byte(`{"v":1,"vectors":[{"name":"x"}]}`), []byte(``))
	f.Fuzz(func(t *testing.T, base, mine, theirs []byte) {
		got, err := Merge(base, mine, theirs)
		if err != nil {
			return
		}
		if _, err := decodeSaved(got); err != nil {
			t.Fatalf("%s: %v", got, err)
		}
		n := New(o)
		_ = n.Restore(got) // may be refused where counts are near their end
		all, err := n.Gatherer().Gather()
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range all {
			for _, s := range f.GetMetric() {
				sound(t, f.GetName(), s)
			}
		}
	})
}

func float(t *testing.T, s string) float64 {
	t.Helper()
	f, err := strconv.ParseFloat(s, 64)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

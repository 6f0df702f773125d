//go:build peers

package grafana

import (
	"bytes"
	"fmt"
	"image"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// TestPicturesShowTheDashboards draws every dashboard from its JSON, as a real
// Prometheus that holds the story answers its queries. The pictures in docs are
// these.
func TestPicturesShowTheDashboards(t *testing.T) {
	data := t.TempDir()
	held := filepath.Join(t.TempDir(), "story.txt")
	if err := os.WriteFile(held, openMetrics(t), 0o644); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("promtool", "tsdb", "create-blocks-from", "openmetrics", held, data).CombinedOutput(); err != nil {
		t.Fatalf("promtool: %v: %.2000s", err, out)
	}
	p := startServer(t, "global: {}\n", data)
	s := span{from: dawn(), to: dawn().Add(lasts), scrape: scraped}
	const largest = 300 << 10
	for _, b := range boards(t) {
		drawn := picture(t, b, p, s)
		if len(drawn) > largest {
			t.Errorf("%s: %d bytes, want at most %d", b.File, len(drawn), largest)
		}
		path := filepath.Join("..", "docs", "dashboards", strings.TrimSuffix(b.File, ".json")+".png")
		if *update {
			if err := os.WriteFile(path, drawn, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		before, err := os.ReadFile(path)
		if err != nil || !samePicture(t, before, drawn) {
			t.Errorf("%s is not what the dashboard shows (%v); run go test -tags peers ./grafana -run Pictures -update, and look at it", path, err)
		}
	}
}

// samePicture compares what is seen: another Go may pack it otherwise.
func samePicture(t *testing.T, a, b []byte) bool {
	t.Helper()
	var pictures [2]image.Image
	for i, raw := range [][]byte{a, b} {
		decoded, err := png.Decode(bytes.NewReader(raw))
		if err != nil {
			t.Fatal(err)
		}
		pictures[i] = decoded
	}
	if pictures[0].Bounds() != pictures[1].Bounds() {
		return false
	}
	for y := range pictures[0].Bounds().Dy() {
		for x := range pictures[0].Bounds().Dx() {
			if pictures[0].At(x, y) != pictures[1].At(x, y) {
				return false
			}
		}
	}
	return true
}

// scraped is how often the story's Prometheus looks.
const scraped = between / 2

// openMetrics is the story as promtool reads it: each series as often as it
// would have been scraped.
func openMetrics(t *testing.T) []byte {
	t.Helper()
	lines := map[string]*bytes.Buffer{}
	teller := newTeller()
	for _, at := range story() {
		teller.run(at)
		families, err := teller.metrics.Gatherer().Gather()
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range families {
			into := lines[f.GetName()]
			if into == nil {
				into = &bytes.Buffer{}
				lines[f.GetName()] = into
			}
			for _, m := range f.GetMetric() {
				var labels []string
				for _, l := range m.GetLabel() {
					labels = append(labels, l.GetName()+"="+strconv.Quote(l.GetValue()))
				}
				write := func(suffix string, value float64, further ...string) {
					for _, when := range []time.Time{at, at.Add(scraped)} {
						fmt.Fprintf(into, "%s%s{%s} %v %d\n", f.GetName(), suffix, strings.Join(append(slices.Clone(labels), further...), ","), value, when.Unix())
					}
				}
				switch {
				case m.GetHistogram() != nil:
					h := m.GetHistogram()
					for _, b := range h.GetBucket() {
						write("_bucket", float64(b.GetCumulativeCount()), `le="`+strconv.FormatFloat(b.GetUpperBound(), 'f', -1, 64)+`"`)
					}
					write("_bucket", float64(h.GetSampleCount()), `le="+Inf"`)
					write("_sum", h.GetSampleSum())
					write("_count", float64(h.GetSampleCount()))
				case m.GetCounter() != nil:
					write("", m.GetCounter().GetValue())
				default:
					write("", m.GetGauge().GetValue())
				}
			}
		}
	}
	var all bytes.Buffer
	var names []string
	for name := range lines {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		_, _ = lines[name].WriteTo(&all)
	}
	all.WriteString("# EOF\n")
	return all.Bytes()
}

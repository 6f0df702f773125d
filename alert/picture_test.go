package alert

import (
	"bytes"
	"image"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"perch.example/probes"
)

// maxPicture is what a picture may weigh: it is uploaded within a run's deadline.
const maxPicture = 48 << 10

func chartOf(hold, closed time.Duration, v probes.Verdict, r probes.Reason) ChartRung {
	return ChartRung{Hold: hold, Closed: closed, Verdict: v, Reason: r}
}

// pictures are the charts whose looks are kept.
func pictures() map[string]Charts {
	many := Charts{Expected: time.Minute}
	for n := range 30 {
		r := chartOf(time.Duration(n+1)*3*time.Second, 0, probes.VerdictPass, probes.ReasonOK)
		if r.Hold > time.Minute {
			r = chartOf(r.Hold, time.Minute+time.Duration(n)*40*ms, probes.VerdictPass, probes.ReasonIdleFIN)
		}
		if n == 7 || n == 25 {
			r.Verdict, r.Reason = probes.VerdictDegraded, probes.ReasonIdleRST
		}
		many.Ladder = append(many.Ladder, r)
		many.Latency = append(many.Latency,
			ChartAttempt{Connection: probes.ConnectionFresh, Elapsed: time.Duration(120+n*7%40) * ms, RTT: 110 * ms, OK: true},
			ChartAttempt{Connection: probes.ConnectionReused, Elapsed: time.Duration(115+n*11%30) * ms, RTT: 110 * ms, OK: n < 20})
	}
	return map[string]Charts{
		"incident": charts(incident().Outcomes),
		"mended":   charts(mended().Outcomes),
		"worst":    worstCharts(),
		"one":      {Ladder: []ChartRung{chartOf(55*time.Second, 0, probes.VerdictFail, probes.ReasonNoResponse)}, Latency: []ChartAttempt{{Connection: probes.ConnectionFresh, Elapsed: 30 * time.Second}}},
		"many":     many,
		"hours": {
			Expected: time.Hour, Band: &probes.Band{From: 350 * time.Second, Open: true},
			Ladder: []ChartRung{
				chartOf(time.Minute, 0, probes.VerdictPass, probes.ReasonOK), chartOf(5*time.Minute, 0, probes.VerdictPass, probes.ReasonOK),
				chartOf(10*time.Minute, 0, probes.VerdictFail, probes.ReasonBlackhole), chartOf(time.Hour, 0, probes.VerdictFail, probes.ReasonBlackhole),
				chartOf(2*time.Hour, 0, probes.VerdictIncomplete, probes.ReasonCanceled),
			},
			Latency: []ChartAttempt{{Connection: probes.ConnectionFresh, Elapsed: 4 * ms, RTT: 900 * time.Microsecond, OK: true}, {Connection: probes.ConnectionReused, Elapsed: 30 * time.Second, RTT: 900 * time.Microsecond}, {Connection: probes.ConnectionControl, Elapsed: 5 * ms, RTT: 900 * time.Microsecond, OK: true}},
		},
		"brief": {
			Ladder: []ChartRung{
				chartOf(50*ms, 0, probes.VerdictPass, probes.ReasonOK), chartOf(200*ms, 180*ms, probes.VerdictDegraded, probes.ReasonGoawayUnprocessed),
				chartOf(400*ms, 181*ms, probes.VerdictFail, probes.Reason("a reason that is much longer than any that there is today, by far")),
				chartOf(600*ms, 0, probes.VerdictSkipped, probes.ReasonNoKeepAlive), chartOf(800*ms, 0, probes.VerdictFail, probes.Reason("a reason that is much longer than any that there is today, by far")),
			},
			Latency: []ChartAttempt{{Connection: probes.ConnectionFresh, Elapsed: 400 * time.Microsecond, OK: true}, {Connection: probes.ConnectionReused, Elapsed: 20 * time.Microsecond}},
		},
	}
}

// worstCharts have all the rungs and attempts that are kept, no two alike.
func worstCharts() Charts {
	c := Charts{Expected: 61 * time.Minute, Band: &probes.Band{From: 17 * time.Second, To: 3333 * time.Second}}
	for n := range maxRungs {
		hold := time.Duration(1234+n*n*n*140) * ms
		c.Ladder = append(c.Ladder, chartOf(hold, hold*9/10, probes.VerdictDegraded, probes.ReasonIdleFIN))
	}
	for n := range maxAttempts {
		kind := []probes.Connection{probes.ConnectionFresh, probes.ConnectionReused, probes.ConnectionControl}[n%3]
		c.Latency = append(c.Latency, ChartAttempt{Connection: kind, Elapsed: time.Duration(1+n*n*n) * time.Millisecond / 7, RTT: 3 * ms, OK: n%2 == 0})
	}
	return c
}

// drawn are the pictures of charts, by the end of their names.
func drawn(t testing.TB, c Charts) map[string][]byte {
	t.Helper()
	ladder, err := drawLadder(c)
	if err != nil {
		t.Fatal(err)
	}
	latency, err := drawLatency(c)
	if err != nil {
		t.Fatal(err)
	}
	return map[string][]byte{"ladder": ladder, "latency": latency}
}

func TestPictures(t *testing.T) {
	for name, c := range pictures() {
		for kind, got := range drawn(t, c) {
			if len(got) > maxPicture {
				t.Errorf("%s %s: %d bytes, want at most %d", name, kind, len(got), maxPicture)
			}
			sameLook(t, filepath.Join("testdata", kind+"-"+name+".png"), got)
		}
		for kind, text := range map[string]string{"ladder": altLadder(c), "latency": altLatency(c)} {
			golden(t, kind+"-"+name+".txt", []byte(text+"\n"))
		}
	}
}

// TestPictureSamples keeps what the documentation shows in step.
func TestPictureSamples(t *testing.T) {
	for kind, got := range drawn(t, charts(incident().Outcomes)) {
		sameLook(t, filepath.Join("..", "docs", "alerts", kind+".png"), got)
	}
}

// sameLook compares pixels, not bytes: another version of the compressor makes
// other bytes of the same picture. A machine that rounds otherwise may differ
// at the edges of letters.
func sameLook(t *testing.T, path string, got []byte) {
	t.Helper()
	if updating() {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Equal(want, got) {
		return
	}
	if far := differing(t, decoded(t, want), decoded(t, got)); far > 0 {
		t.Errorf("%s: %d pixels differ; -update writes it anew", path, far)
	}
}

func decoded(t *testing.T, data []byte) image.Image {
	t.Helper()
	img, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	return img
}

// differing counts pixels that are further apart than one rounding.
func differing(t *testing.T, a, b image.Image) int {
	t.Helper()
	const near = edgeStep * 0x101
	if a.Bounds() != b.Bounds() {
		t.Fatalf("sizes %v and %v", a.Bounds(), b.Bounds())
	}
	if one, ok := a.(*image.Paletted); ok {
		// The same bytes under the same colours need no look at each.
		if two, ok := b.(*image.Paletted); ok && bytes.Equal(one.Pix, two.Pix) && slices.Equal(one.Palette, two.Palette) {
			return 0
		}
	}
	count := 0
	apart := func(x, y uint32) bool { return max(x, y)-min(x, y) > near }
	for y := range a.Bounds().Dy() {
		for x := range a.Bounds().Dx() {
			r, g, bl, _ := a.At(x, y).RGBA()
			r2, g2, bl2, _ := b.At(x, y).RGBA()
			if apart(r, r2) || apart(g, g2) || apart(bl, bl2) {
				count++
			}
		}
	}
	return count
}

func TestNothingToDraw(t *testing.T) {
	for name, c := range map[string]Charts{"empty": {}, "no time": {Latency: []ChartAttempt{{Connection: probes.ConnectionFresh}}}, "only lines": {Expected: time.Minute, Band: &probes.Band{Open: true}}} {
		for kind, got := range drawn(t, c) {
			if got != nil {
				t.Errorf("%s: a %s of %d bytes, want none", name, kind, len(got))
			}
		}
		if text := altLadder(c) + altLatency(c); text != "" {
			t.Errorf("%s: described as %q, want nothing", name, text)
		}
	}
}

// TestPictureWithoutColour: what worked and what failed must differ in grey too.
func TestPictureWithoutColour(t *testing.T) {
	draw := func(v probes.Verdict) image.Image {
		data, err := drawLadder(Charts{Ladder: []ChartRung{chartOf(time.Second, 0, v, "x")}})
		if err != nil {
			t.Fatal(err)
		}
		return decoded(t, data)
	}
	dark := func(img image.Image) map[image.Point]bool {
		points := map[image.Point]bool{}
		top := int(ladderTop(Charts{}))
		for y := top * pictureScale; y < (top+30)*pictureScale; y++ {
			for x := ladderLeft * pictureScale; x < (ladderRight+34)*pictureScale; x++ { // bar and sign, without the word
				if r, g, b, _ := img.At(x, y).RGBA(); r+g+b < 3*0xc000 {
					points[image.Pt(x, y)] = true
				}
			}
		}
		return points
	}
	verdicts := []probes.Verdict{probes.VerdictPass, probes.VerdictDegraded, probes.VerdictFail, probes.VerdictSkipped}
	looks := map[probes.Verdict]map[image.Point]bool{}
	for i, v := range verdicts {
		looks[v] = dark(draw(v))
		for _, w := range verdicts[:i] {
			a, b, only := looks[v], looks[w], 0
			for p := range a {
				if !b[p] {
					only++
				}
			}
			for p := range b {
				if !a[p] {
					only++
				}
			}
			if only < 40 {
				t.Errorf("%s and %s differ in %d dark pixels only", v, w, only)
			}
		}
	}
}

func TestChartsOfIncident(t *testing.T) {
	c := charts(incident().Outcomes)
	want := []ChartRung{
		chartOf(500*ms, 0, probes.VerdictPass, probes.ReasonOK), chartOf(1500*ms, 1001*ms, probes.VerdictFail, probes.ReasonIdleFIN), chartOf(2500*ms, 1000*ms, probes.VerdictPass, probes.ReasonIdleFIN),
	}
	if len(c.Ladder) != len(want) {
		t.Fatalf("%d rungs, want %d", len(c.Ladder), len(want))
	}
	for i := range want {
		if c.Ladder[i] != want[i] {
			t.Errorf("rung %d: %+v, want %+v", i, c.Ladder[i], want[i])
		}
	}
	if c.Expected != time.Minute || c.Band == nil || *c.Band != (probes.Band{From: 891 * ms, To: 2 * time.Second}) {
		t.Errorf("expected %v, band %v", c.Expected, c.Band)
	}
	if len(c.Latency) != 8 || c.roundTrip() != 110*ms {
		t.Errorf("%d attempts, round trip %v", len(c.Latency), c.roundTrip())
	}
}

// TestChartsOfOneLadder: rungs of two probes in one picture would be a ladder
// that nobody climbed.
func TestChartsOfOneLadder(t *testing.T) {
	other := rung(3 * time.Second)
	other.Probe = "other"
	silent := closedRung(4*time.Second, 2*time.Second)
	silent.Close.How, silent.Verdict = probes.HowSilent, probes.VerdictFail
	got := charts([]probes.Outcome{other, single("stock-api", "calendar", probes.VerdictPass, "", ""), silent, rung(time.Second)}).Ladder
	if len(got) != 2 || got[0].Hold != time.Second || got[1].Hold != 4*time.Second {
		t.Fatalf("the ladder is %+v, want the failing probe's", got)
	}
	if got[1].Closed != 0 {
		t.Errorf("a silent end is told as a close at %v", got[1].Closed)
	}
}

func TestChartsAreBounded(t *testing.T) {
	var outcomes []probes.Outcome
	for n := range 1000 {
		o := rung(time.Duration(n+1) * time.Second)
		if n%100 == 50 {
			o = closedRung(o.Hold, time.Second)
			o.Verdict = probes.VerdictFail
		}
		outcomes = append(outcomes, o)
	}
	c := charts(outcomes)
	if len(c.Ladder) != maxRungs || len(c.Latency) != maxAttempts {
		t.Fatalf("%d rungs and %d attempts, want %d and %d", len(c.Ladder), len(c.Latency), maxRungs, maxAttempts)
	}
	failed := 0
	for i, r := range c.Ladder {
		if r.Verdict == probes.VerdictFail {
			failed++
		}
		if i > 0 && r.Hold <= c.Ladder[i-1].Hold {
			t.Errorf("rung %d (%v) stands behind %v", i, r.Hold, c.Ladder[i-1].Hold)
		}
	}
	if failed != 10 || c.Ladder[0].Hold != time.Second || c.Ladder[maxRungs-1].Hold != 1000*time.Second {
		t.Errorf("%d failed rungs of 10 kept, from %v to %v", failed, c.Ladder[0].Hold, c.Ladder[maxRungs-1].Hold)
	}
}

func TestAltIsBounded(t *testing.T) {
	c := Charts{}
	for n := range maxRungs {
		c.Ladder = append(c.Ladder, chartOf(time.Duration(n+1)*time.Second, 0, probes.VerdictFail, probes.Reason(strings.Repeat("long ", 40))))
	}
	if text := altLadder(c); size(text) > maxAlt || !strings.HasSuffix(text, "…") {
		t.Errorf("%d characters: %q", size(text), text)
	}
}

func FuzzPicture(f *testing.F) {
	f.Add(int64(time.Second), int64(ms), int64(time.Minute), int64(0), int64(math.MaxInt64), "fail", "eof", true)
	f.Add(int64(-1), int64(math.MinInt64), int64(-5), int64(7), int64(3), "", "\x00\xff", false)
	f.Add(int64(math.MaxInt64), int64(math.MaxInt64), int64(math.MaxInt64), int64(1), int64(2), "pass", "ok", true)
	f.Fuzz(func(t *testing.T, hold, closed, expected, from, to int64, verdict, reason string, open bool) {
		c := Charts{
			Expected: time.Duration(expected), Band: &probes.Band{From: time.Duration(from), To: time.Duration(to), Open: open},
			Ladder:  []ChartRung{chartOf(time.Duration(hold), time.Duration(closed), probes.Verdict(verdict), probes.Reason(reason)), chartOf(time.Second, 1, probes.VerdictPass, "")},
			Latency: []ChartAttempt{{Connection: probes.ConnectionFresh, Elapsed: time.Duration(hold), RTT: time.Duration(closed), OK: open}, {Connection: probes.ConnectionReused, Elapsed: time.Duration(to)}},
		}
		for kind, data := range drawn(t, c) {
			if data == nil && kind == "ladder" {
				t.Errorf("no %s", kind)
			}
			if data == nil {
				continue
			}
			if b := decoded(t, data).Bounds(); b.Dx() != pictureWidth*pictureScale || b.Dy() > 2000 || len(data) > maxPicture {
				t.Errorf("%s: %v, %d bytes", kind, b, len(data))
			}
		}
		if len(altLadder(c)) == 0 {
			t.Error("a picture without a description")
		}
	})
}

func BenchmarkPicture(b *testing.B) {
	for name, c := range pictures() {
		for kind, draw := range map[string]func(Charts) ([]byte, error){"ladder": drawLadder, "latency": drawLatency} {
			b.Run(kind+"-"+name, func(b *testing.B) {
				b.ReportAllocs()
				size := 0
				for b.Loop() {
					data, err := draw(c)
					if err != nil {
						b.Fatal(err)
					}
					size = len(data)
				}
				b.ReportMetric(float64(size), "bytes/picture")
			})
		}
	}
}

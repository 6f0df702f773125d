//go:build soak

package soak

import (
	"context"
	"fmt"
	"os"
	"slices"
	"testing"
	"time"
)

// sample is what a process was seen to hold at one moment.
type sample struct {
	at time.Time

	goroutines, descriptors int
	resident, live          int64 // bytes; of the heap, what lived through the last collection
}

// samples are taken each second until ctx ends.
func takeSamples(ctx context.Context, t *testing.T, pid int, told control) []sample {
	var all []sample
	for pause(ctx, time.Second) {
		open, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
		if err != nil {
			t.Errorf("counting descriptors: %v", err)
			return all
		}
		resident, _ := residentOf(t, pid)
		if goroutines, live := told.holds(); goroutines > 0 {
			all = append(all, sample{time.Now(), goroutines, len(open), resident, live})
		}
	}
	return all
}

// slope is by how much y grows with each x, by least squares, and y's mean.
func slope(x, y []float64) (each, mean float64) {
	var sumX, sumY, sumXX, sumXY float64
	n := float64(len(x))
	for i := range x {
		sumX, sumY, sumXX, sumXY = sumX+x[i], sumY+y[i], sumXX+x[i]*x[i], sumXY+x[i]*y[i]
	}
	if d := n*sumXX - sumX*sumX; d != 0 {
		each = (n*sumXY - sumX*sumY) / d
	}
	return each, sumY / max(n, 1)
}

// takeCalm is the least that it holds, of some moments, while nothing that it needs is
// amiss, its spans were sent just now, and its garbage is collected: what waits for a
// receiver, or is being answered just now, is memory, and no growth.
func takeCalm(t *testing.T, pid int, told control, otlp *accepting) sample {
	t.Helper()
	otlp.awaitSpans(t)
	const moments, apart = 4, 300 * time.Millisecond
	var least sample
	for n := range moments {
		if n > 0 {
			time.Sleep(apart)
		}
		live := told.collect(t)
		resident, _ := residentOf(t, pid)
		if n == 0 {
			least = sample{at: time.Now(), resident: resident, live: live}
		}
		least.resident, least.live = min(least.resident, resident), min(least.live, live)
	}
	return least
}

// measure is one thing of a sample that must not grow.
type measure struct {
	name  string
	of    func(sample) float64
	least float64 // may be more, whatever the mean
}

func counts() []measure {
	return []measure{
		{"goroutines", func(s sample) float64 { return float64(s.goroutines) }, 25},
		{"descriptors", func(s sample) float64 { return float64(s.descriptors) }, 25},
	}
}

func memory() []measure {
	return []measure{
		{"resident MiB", func(s sample) float64 { return float64(s.resident) / (1 << 20) }, 12},
		{"live MiB", func(s sample) float64 { return float64(s.live) / (1 << 20) }, 4},
	}
}

// grown is by how much the least of the second half is more than the least of the
// first: what comes and goes is gone at some moment of each, and what is lost for good never is.
func grown(y []float64) float64 {
	half := len(y) / 2
	return slices.Min(y[half:]) - slices.Min(y[:half])
}

// checkGrowth reports the slopes from warm on, and fails where the least that is held grew.
func checkGrowth(t *testing.T, all []sample, warm time.Time, of []measure) {
	t.Helper()
	var x []float64
	kept := all[:0:0]
	for _, s := range all {
		if s.at.After(warm) {
			kept = append(kept, s)
			x = append(x, s.at.Sub(warm).Hours())
		}
	}
	if len(kept) < 2 {
		t.Fatalf("%d samples after the warm-up: too few", len(kept))
	}
	hours := x[len(x)-1] - x[0]
	for _, what := range of {
		var y []float64
		for _, s := range kept {
			y = append(y, what.of(s))
		}
		each, mean := slope(x, y)
		t.Logf("%-12s %7.1f on average of %d, %6.1f at most, %6.1f at least; slope %+.2f an hour: %+.2f in these %s; the least grew by %+.1f",
			what.name, mean, len(y), slices.Max(y), slices.Min(y), each, each*hours, time.Duration(hours*float64(time.Hour)).Round(time.Second), grown(y))
		if more := grown(y); more > max(what.least, 0.1*mean) {
			t.Errorf("at least %.1f more %s were held in the second half of %.2f h, of %.1f on average", more, what.name, hours, mean)
		}
	}
}

package report

import (
	"bytes"
	"testing"
)

// BenchmarkStatusPage makes the page of 200 targets, of which every fourth fails.
func BenchmarkStatusPage(b *testing.B) {
	s := crowdedStatus(200, 4)
	for b.Loop() {
		statusPage(b, s)
	}
}

// The page's work grows with the targets, and no faster: counted, for on a busy machine no clock tells it.
func TestStatusGrowsWithItsTargets(t *testing.T) {
	work := func(targets int) float64 {
		s := crowdedStatus(targets, 4)
		return testing.AllocsPerRun(1, func() { statusPage(t, s) })
	}
	few, many := work(50), work(200)
	if many > 4.4*few {
		t.Errorf("%.0f allocations for 50 targets, %.0f for 200", few, many)
	}
	if !bytes.Contains(statusPage(t, crowdedStatus(200, 4)), []byte("payment-api-199")) {
		t.Error("the last of 200 targets is not there")
	}
}

package report

import (
	"testing"
	"time"

	"perch.example/probes"
)

// What a ladder found, in one sentence: ends that nobody saw, and holds that contradict each other.
func TestMeasuredInWords(t *testing.T) {
	for _, tt := range []struct {
		result probes.IdleResult
		want   string
	}{
		{probes.IdleResult{Survived: 3 * time.Second}, "idle connections live for 3 s at least"},
		{probes.IdleResult{Died: 4 * time.Second, How: probes.HowSilent}, "idle connections die in silence within 4 s"},
		{probes.IdleResult{Survived: 3 * time.Second, Died: 4 * time.Second, How: probes.HowRST}, "idle connections die (RST) between 3 s and 4 s"},
		{probes.IdleResult{Survived: 4 * time.Second, Died: 3 * time.Second, How: probes.HowRST}, "some idle connections die (RST) within 3 s, others live for 4 s"},
		{probes.IdleResult{Survived: 3 * time.Second, Died: 3 * time.Second}, "some idle connections die within 3 s, others live for 3 s"},
		{probes.IdleResult{Survived: 2 * time.Second, Died: 4 * time.Second, Measured: 3 * time.Second, How: probes.HowFIN}, "the path closes idle connections after 3 s (FIN); 2 s still worked"},
	} {
		if got := measured(tt.result); got != tt.want {
			t.Errorf("%q, want %q", got, tt.want)
		}
	}
}

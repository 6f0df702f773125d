package plan

import (
	"testing"
	"time"
)

// What earlier runs sent counts in the first windows, and is no reason to
// refuse a run that fits by itself.
func TestEarlierRunsCountInTheFirstWindows(t *testing.T) {
	c := of(target("api", exchange("a", 0), exchange("b", 0))) // 1/s: two in 2 s, kept as 2.1 s
	for _, tt := range []struct {
		name  string
		sent  []Sent
		first time.Duration // the earliest that the first and the second may start
		next  time.Duration
	}{
		{"nothing", nil, 0, 0},
		{"one", []Sent{{1, 100 * time.Millisecond}}, 0, 2 * time.Second},
		{"a full window", []Sent{{2, 100 * time.Millisecond}}, 2 * time.Second, 2 * time.Second},
		{"more than a window may have", []Sent{{1 << 40, 0}}, 2100 * time.Millisecond, 2100 * time.Millisecond},
		{"long ago", []Sent{{2, 3 * time.Second}}, 0, 0},
		{"one by one", []Sent{{1, 1500 * time.Millisecond}, {1, 100 * time.Millisecond}}, 600 * time.Millisecond, 2 * time.Second},
	} {
		p, err := New(c, Options{Seed: 1, Sent: map[string][]Sent{"api": tt.sent}})
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		if len(p.Steps) != 2 {
			t.Fatalf("%s: %d steps, want 2", tt.name, len(p.Steps))
		}
		slack := 100 * time.Millisecond // the spread's
		for i, from := range []time.Duration{tt.first, tt.next} {
			if got := p.Steps[i].Start; got < from || got > from+slack {
				t.Errorf("%s: step %d starts at %s, want from %s on", tt.name, i+1, got, from)
			}
		}
	}
}

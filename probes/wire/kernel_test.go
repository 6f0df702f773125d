package wire

import (
	"testing"
	"time"
)

// TestLastLook: a look behind which the machine stood still is looked again, but
// not for ever.
func TestLastLook(t *testing.T) {
	for name, tt := range map[string]struct {
		slow, want int
	}{"at once": {0, 1}, "stood still": {2, 3}, "for ever": {1 << 30, maxLooks}} {
		looks := 0
		s, ended := lastLook(func() *Snapshot {
			looks++
			s := &Snapshot{At: time.Now(), Queued: looks}
			if looks <= tt.slow {
				s.At = s.At.Add(-time.Second)
			}
			return s
		})
		// A busy machine may stand still behind any of them.
		if looks < tt.want || looks > maxLooks || s.Queued != looks || ended.Before(s.At) {
			t.Errorf("%s: %d looks, want %d; got the look %d", name, looks, tt.want, s.Queued)
		}
	}
}

package runner

import (
	"testing"
	"testing/synctest"
	"time"
)

// Whoever wakes after a stall learns of it, also before the sampler has woken. The
// bubble's clock stands still meanwhile: the machine's own stalls are none of it.
func TestStallsAreKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		l := &lateness{due: start.Add(time.Hour)}
		if d := l.since(start); d != 0 {
			t.Errorf("a stall of %s before anything was late", d)
		}
		l.due = start.Add(-3 * time.Second) // the sampler has not woken yet
		if d := l.since(start.Add(-4 * time.Second)); d != 3*time.Second {
			t.Errorf("a stall of %s, want 3 s", d)
		}
		if d := l.took(l.due); d != 3*time.Second {
			t.Errorf("a sample of %s, want 3 s", d)
		}
		l.next()
		if d := l.since(start.Add(-4 * time.Second)); d != 3*time.Second {
			t.Errorf("a stall of %s once it was sampled, want 3 s", d)
		}
		if d := l.since(time.Now()); d != 0 {
			t.Errorf("a stall of %s that was over before", d)
		}
		for range 3 * mostStalls {
			l.took(time.Now().Add(-time.Second))
			l.took(time.Now().Add(-time.Millisecond)) // late, no stall
		}
		if len(l.stalls) != mostStalls || l.stalls[0].late != time.Second {
			t.Errorf("%d stalls are kept, want %d", len(l.stalls), mostStalls)
		}
	})
}

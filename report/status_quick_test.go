//go:build unix && !race

package report

import (
	"bytes"
	"syscall"
	"testing"
	"time"
)

// A page of 200 targets is made in 100 ms of CPU time: the best of some, for other
// tests may run beside.
func TestStatusIsQuick(t *testing.T) {
	s := crowdedStatus(200, 4)
	best := time.Hour
	for range 5 {
		before := cpuTime(t)
		page := statusPage(t, s)
		best = min(best, cpuTime(t)-before)
		if !bytes.Contains(page, []byte("payment-api-199")) {
			t.Fatal("the last target is not there")
		}
	}
	t.Logf("%s", best)
	if most := 100 * time.Millisecond; best > most {
		t.Errorf("it took %s of CPU time, want less than %s", best, most)
	}
}

func cpuTime(t *testing.T) time.Duration {
	t.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

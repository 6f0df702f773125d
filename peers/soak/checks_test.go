//go:build soak

package soak

import (
	"testing"
	"time"

	"perch.example/lab"
	"perch.example/probes"
)

// checkSchedules holds what arrived against each steady probe's own grid.
func (w *world) checkSchedules(t *testing.T, began, ended time.Time) {
	t.Helper()
	var all []time.Duration
	left := 0
	missed := map[string]int{} // by second
	for i := range steady {
		at := w.plain.came.of(steadyPath(i))
		late, none, out := lateness(at, time.Second, w.stood)
		for _, tick := range none {
			missed[tick.Format("15:04:05")]++
		}
		all, left = append(all, late...), left+out
	}
	p50, p99 := quantile(all, 0.5), quantile(all, 0.99)
	t.Logf("schedules: %d arrivals of %d targets within %s of their grid at the median, %s at the 99th percentile, %s at most; ticks without one, by the second: %v",
		len(all), steady, p50.Round(time.Microsecond), p99.Round(time.Microsecond), quantile(all, 1).Round(time.Millisecond), missed)
	t.Logf("around stalls of the machine itself, %.1f%% of the time, nothing is judged: %d ticks", 100*w.stood.total().Seconds()/ended.Sub(began).Seconds(), left)
	if due := steady * ended.Sub(began).Seconds(); float64(len(all)) < 0.1*due {
		t.Errorf("%d ticks of about %.0f could be judged: the machine was too busy to say anything", len(all), due)
	}
	if p99 > onTime {
		t.Errorf("the 99th percentile is %s off, want %s", p99, onTime)
	}
}

// checkReasons: each way of the lab's was seen as what it is, and nothing else, and
// what works was never seen to fail.
func (w *world) checkReasons(t *testing.T, last series) {
	t.Helper()
	got := last.reasons()
	for _, m := range w.lab {
		for reason, n := range got[m.name()] {
			if !m.may(reason) {
				t.Errorf("%s: %v attempts ended as %s, want %s", m.name(), n, reason, m.Reason)
			}
		}
		if m.must() && got[m.name()][m.Reason] == 0 {
			t.Errorf("%s: not once %s: %v", m.name(), m.Reason, got[m.name()])
		}
		delete(got, m.name())
	}
	w.bursts.checkReasons(t, got)
	for target, reasons := range got {
		for reason, n := range reasons {
			if reason != string(probes.ReasonOK) && reason != string(probes.ReasonCanceled) {
				t.Errorf("%s: %v attempts ended as %s, want ok", target, n, reason)
			}
		}
	}
}

// checkBudgets: no second saw more requests than the config allows.
func (w *world) checkBudgets(t *testing.T) {
	t.Helper()
	for i := range steady {
		if most := busiest(w.plain.came.of(steadyPath(i)), time.Second, w.stood); most > 2 {
			t.Errorf("steady-%d got %d requests within a second, want 2 at most", i, most)
		}
	}
	for _, m := range w.lab {
		if most := busiest(arrivedAt(m.server), time.Second, w.stood); most > labBudget {
			t.Errorf("%s got %d requests within a second, want %d at most", m.name(), most, labBudget)
		}
	}
	w.bursts.checkBudgets(t, w.stood)
}

// arrivedAt are the instants at which requests reached a server of the lab's.
func arrivedAt(server *lab.Server) []time.Time {
	var at []time.Time
	for _, r := range server.Requests() {
		at = append(at, r.At)
	}
	return at
}

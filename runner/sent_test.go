package runner_test

import (
	"testing"
	"testing/synctest"
	"time"

	"perch.example/plan"
	"perch.example/runner"
)

// The last gate knows what earlier runs sent, whatever the plan booked: more
// than a window allows does not leave, and what is counted is this run's alone.
func TestTheLastGateKnowsEarlierRuns(t *testing.T) {
	for _, tt := range []struct {
		name string
		sent []plan.Sent
		wait time.Duration // before the first request leaves
	}{
		{"nothing", nil, 0},
		{"one", []plan.Sent{{Requests: 1, Ago: 0}}, 0},
		{"two at once", []plan.Sent{{Requests: 2, Ago: 0}}, 2 * time.Second},
		{"two apart, in any order", []plan.Sent{{Requests: 1, Ago: 500 * time.Millisecond}, {Requests: 1, Ago: time.Second}}, time.Second},
		{"many", []plan.Sent{{Requests: 1 << 40, Ago: time.Second}}, time.Second},
		{"long ago", []plan.Sent{{Requests: 2, Ago: time.Minute}}, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newSite(t, nil)
				began := time.Now()
				out := play(t, t.Context(), s, func(o *runner.Options) { o.Sent = map[string][]plan.Sent{"api": tt.sent} },
					newTarget("api", 1, 1, exchanges(1)...))
				hits := times(s.seen())
				if len(hits) != 1 || hits[0].Sub(began) < tt.wait || hits[0].Sub(began) > tt.wait+500*time.Millisecond {
					t.Errorf("%d requests, at %v after %s, want one after %s", len(hits), hits, hits[0].Sub(began), tt.wait)
				}
				if use := out.result.Budget[0]; use.Requests != 1 || len(use.Last) != 1 || !use.Last[0].Equal(hits[0]) {
					t.Errorf("counted %+v", use)
				}
			})
		})
	}
}

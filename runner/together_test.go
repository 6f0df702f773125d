package runner

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"perch.example/plan"
	"perch.example/probes"
)

// Three connections, warmed one after the other, that a server ends after a
// second: each gets its reuse and its control, at the smallest budget. A control
// that has no room before its own instant keeps that instant.
func TestTogetherGivesEachItsControl(t *testing.T) {
	for _, rate := range []float64{0.5, 1, 2, 3, 5} {
		for apart := 500 * time.Millisecond; apart <= 5*time.Second; apart += 500 * time.Millisecond {
			endsApart(t, rate, apart)
		}
	}
}

func endsApart(t *testing.T, rate float64, apart time.Duration) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		b := newDesk(rate)
		var steps []*slots
		after := time.Duration(0)
		for n := range 3 {
			hold := time.Duration(n+1) * time.Minute
			at := b.cal.Earliest(after, plan.Shape(&probes.Spec{Kind: probes.KindIdle, Timeouts: probes.Timeouts{Connect: time.Second, Response: time.Second}}, hold)...)
			steps = append(steps, step(b, at, hold))
			after = at + apart
		}
		var rungs sync.WaitGroup
		for n, s := range steps {
			rungs.Go(func() {
				until(s, s.warm.at)
				warm := sends(t, s, probes.RoleWarm)
				s.HoldUntil(b.start.Add(warm + time.Duration(n+1)*time.Minute))
				time.Sleep(time.Second)
				if err := s.Together(t.Context()); err != nil {
					t.Error(err)
					return
				}
				for _, role := range []probes.Role{probes.RoleReuse, probes.RoleControl} {
					time.Sleep(time.Millisecond) // what waking up takes, then the exchange
					if err := s.Send(t.Context(), role); err != nil {
						t.Errorf("at %v/s, %s apart: rung %d, %s: %v", rate, apart, n+1, role, err)
					}
				}
			})
		}
		rungs.Wait()
		if b.waited != 0 {
			t.Errorf("at %v/s, %s apart: the last gate made somebody wait %s", rate, apart, b.waited)
		}
	})
}

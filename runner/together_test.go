package runner

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"perch.example/plan"
	"perch.example/probes"
)

// Three connections that a server ends one after the other each get their reuse
// and its control, at the smallest budget: a control that has no room before
// its own instant keeps that instant.
func TestTogetherGivesEachItsControl(t *testing.T) {
	for _, rate := range []float64{0.5, 1, 2, 3, 5} {
		for apart := time.Duration(0); apart < 3*time.Second; apart += 50 * time.Millisecond {
			endsApart(t, rate, apart)
		}
	}
}

func endsApart(t *testing.T, rate float64, apart time.Duration) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		b := newDesk(rate)
		var rungs []*slots
		for n := range 3 {
			rungs = append(rungs, step(b, b.cal.Earliest(0, plan.At(0)), time.Duration(n+1)*time.Minute))
			sends(t, rungs[n], probes.RoleWarm)
			rungs[n].HoldUntil(b.start.Add(time.Duration(n+1) * time.Minute))
		}
		time.Sleep(10 * time.Second)
		var ended sync.WaitGroup
		for n, s := range rungs {
			ended.Go(func() {
				time.Sleep(time.Duration(n) * apart)
				if err := s.Together(t.Context()); err != nil {
					t.Error(err)
					return
				}
				for _, role := range []probes.Role{probes.RoleReuse, probes.RoleControl} {
					if err := s.Send(t.Context(), role); err != nil {
						t.Errorf("at %v/s, %s apart: rung %d, %s: %v", rate, apart, n+1, role, err)
					}
					time.Sleep(time.Duration(3-n) * time.Millisecond) // the first exchange takes longest
				}
			})
		}
		ended.Wait()
		if b.waited != 0 {
			t.Errorf("at %v/s: the last gate made somebody wait %s", rate, b.waited)
		}
	})
}

package state

import (
	"errors"
	"strings"
	"testing"
	"time"

	coordination "k8s.io/api/coordination/v1"

	"perch.example/internal/kubefake"
)

func takenBy(fake *kubefake.Server, other string) {
	fake.EditLease(func(l *coordination.Lease) { l.Spec.HolderIdentity = &other })
}

// Another perch takes the Lease in the middle of a run, between two renewals:
// the next save says so, once.
func TestTheLeaseIsTakenUnseen(t *testing.T) {
	bubble(t, func(t *testing.T, fake *kubefake.Server, s site) {
		run, d := s.begin(t)
		must(t, run.Save(t.Context(), d))
		time.Sleep(time.Second)
		takenBy(fake, "pod-b_x")
		err := run.Save(t.Context(), full())
		var lost *LostError
		if !errors.As(err, &lost) || lost.Holder != "pod-b_x" || !strings.Contains(err.Error(), "it is saved") {
			t.Errorf("saving: %v, want a LostError that names the other one", err)
		}
		if d, err := s.read(t.Context()); err != nil || len(d.Due) == 0 {
			t.Errorf("it is not saved: %+v, %v", d, err)
		}
		must(t, run.Close(t.Context()))
		if holder := holderOf(fake.Lease()); holder != "pod-b_x" {
			t.Errorf("the other one's Lease was taken from it: %q", holder)
		}
	})
}

// Taken after the last save: the release says it.
func TestTheLeaseIsTakenBeforeItsRelease(t *testing.T) {
	for name, seen := range map[string]time.Duration{"found by the release": time.Second, "found by a renewal": 15 * time.Second} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, fake *kubefake.Server, s site) {
				run, d := s.begin(t)
				must(t, run.Save(t.Context(), d))
				takenBy(fake, "pod-b_x")
				time.Sleep(seen)
				err := run.Close(t.Context())
				var lost *LostError
				if !errors.As(err, &lost) || lost.Holder != "pod-b_x" {
					t.Errorf("closing: %v, want a LostError", err)
				}
				must(t, run.Close(t.Context()))
			})
		})
	}
}

// The release is carried out, its answer lost, and the next perch quick: no loss.
func TestTheNextPerchIsQuick(t *testing.T) {
	bubble(t, func(t *testing.T, fake *kubefake.Server, s site) {
		run, _ := s.begin(t)
		updated, looked := false, false
		fake.SetFault(func(c kubefake.Call) kubefake.Fault {
			switch {
			case c == kubefake.UpdateLease && !updated:
				updated = true
				return kubefake.Fault{Lose: true}
			case c == kubefake.GetLease && !looked: // so that the next perch comes before the look
				looked = true
				go takenBy(fake, "pod-b_x")
				return kubefake.Fault{Drop: true}
			}
			return kubefake.Fault{}
		})
		must(t, run.Close(t.Context()))
		if holder := holderOf(fake.Lease()); holder != "pod-b_x" || !looked {
			t.Errorf("held by %q, looked %v", holder, looked)
		}
	})
}

// While the API server cannot be asked, a Lease that did not run out is ours.
func TestTheLeaseCannotBeSeen(t *testing.T) {
	bubble(t, func(t *testing.T, fake *kubefake.Server, s site) {
		run, d := s.begin(t)
		fake.SetFault(func(c kubefake.Call) kubefake.Fault { return kubefake.Fault{Drop: c == kubefake.GetLease} })
		must(t, run.Save(t.Context(), d))
	})
}

// A laptop sleeps: the monotonic clock stands still. A clock is set back: the
// wall's says too little.
func TestALeaseRunsOutByEitherClock(t *testing.T) {
	now := time.Now()
	ago := func(d time.Duration) time.Time { return now.Add(-d) }
	for name, tt := range map[string]struct {
		renewed moment
		want    bool
	}{
		"neither":          {moment{ago(29 * time.Second), ago(29 * time.Second)}, false},
		"by the wall":      {moment{ago(time.Second), ago(time.Hour)}, true},
		"by the monotonic": {moment{ago(30 * time.Second), ago(-time.Hour)}, true},
	} {
		l := lease{api: &api{config: ConfigMapConfig{}.withDefaults()}}
		l.renewed.Store(&tt.renewed)
		if got := l.ranOut(now); got != tt.want {
			t.Errorf("%s: ran out %v, want %v", name, got, tt.want)
		}
	}
}

// A Lease that says it lasts an hour is left no longer than a run waits.
func TestALeaseThatLastsTooLong(t *testing.T) {
	bubble(t, func(t *testing.T, fake *kubefake.Server, s site) {
		fake.EditLease(func(l *coordination.Lease) {
			other, seconds := "dead_x", int32(3600)
			l.Spec.HolderIdentity, l.Spec.LeaseDurationSeconds = &other, &seconds
		})
		c := fakeConfig(fake, "pod-a")
		object := fake.Lease()
		if hint := lockedBy(c.withDefaults(), object).Error(); !strings.Contains(hint, "free 50s after") || !strings.Contains(hint, "1h0m0s") {
			t.Errorf("it says %q, want both durations", hint)
		}
		began := time.Now()
		s.begin(t)
		if waited := time.Since(began); waited < 50*time.Second || waited > 55*time.Second {
			t.Errorf("it was taken after %s, want soon after 50 s", waited)
		}
	})
}

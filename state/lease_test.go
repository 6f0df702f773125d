package state

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	coordination "k8s.io/api/coordination/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"

	"perch.example/internal/kubefake"
)

func TestASecondPerchWaitsForItsTurn(t *testing.T) {
	bubble(t, func(t *testing.T, fake *kubefake.Server, s site) {
		first, d := s.begin(t)
		second := siteOf(fake)
		began := time.Now()
		go func() {
			time.Sleep(45 * time.Second) // longer than a Lease lasts: it is renewed
			d.AddRequests("api", began, 3)
			if err := first.Save(t.Context(), d); err != nil {
				t.Error(err)
			}
			if err := first.Close(t.Context()); err != nil {
				t.Error(err)
			}
		}()
		run, d2 := second.begin(t)
		if waited := time.Since(began); waited < 45*time.Second || waited > 49*time.Second {
			t.Errorf("its turn came after %s, want soon after 45 s", waited)
		}
		if got := d2.RequestsToday("api", began); got != 3 {
			t.Errorf("it loaded %d requests, want what the first saved", got)
		}
		must(t, run.Close(t.Context()))
		spec := fake.Lease().Spec
		if *spec.HolderIdentity != "" || *spec.LeaseTransitions != 2 || *spec.LeaseDurationSeconds != 30 {
			t.Errorf("the Lease is left as %+v", spec)
		}
	})
}

func TestASecondPerchGivesUp(t *testing.T) {
	bubble(t, func(t *testing.T, fake *kubefake.Server, s site) {
		s.begin(t)
		for name, tt := range map[string]struct{ wait, within, want time.Duration }{
			"as it is":               {0, time.Hour, 60 * time.Second},
			"as long as it is told":  {2 * time.Minute, time.Hour, 2 * time.Minute},
			"never too short to see": {time.Second, time.Hour, 36 * time.Second},
			"until its own end":      {0, 5 * time.Second, 5 * time.Second},
		} {
			ctx, cancel := context.WithTimeout(t.Context(), tt.within)
			began := time.Now()
			c := fakeConfig(fake, "pod-b")
			c.Wait = tt.wait
			var first time.Duration // of when it was told who has it
			c.Waiting = func(e *LockedError) {
				if first == 0 && strings.HasPrefix(e.Holder, "pod-a_") {
					first = time.Since(began) + 1
				}
			}
			_, err := OpenConfigMap(ctx, c, Options{})
			cancel()
			var locked *LockedError
			if !errors.As(err, &locked) || !strings.HasPrefix(locked.Holder, "pod-a_") || locked.Lock != "lease shop/perch-state" || !strings.Contains(err.Error(), locked.Holder) {
				t.Errorf("%s: %v, want a LockedError that names pod-a", name, err)
			}
			if first == 0 || first > time.Second {
				t.Errorf("%s: it was told after %s who has it", name, first)
			}
			if waited := time.Since(began); waited < tt.want || waited > tt.want+time.Second {
				t.Errorf("%s: it waited for %s, want %s", name, waited, tt.want)
			}
		}
	})
}

// A killed perch's Lease is taken once it has not changed for as long as it
// lasts by our own clock, whatever the times in it say.
func TestAKilledPerchsLeaseIsTaken(t *testing.T) {
	for name, skew := range map[string]time.Duration{"the same clock": 0, "a day ahead": 24 * time.Hour, "a day behind": -24 * time.Hour} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, fake *kubefake.Server, s site) {
				run, _ := s.begin(t)
				s.crash(run)
				fake.EditLease(func(l *coordination.Lease) {
					at := meta.NewMicroTime(time.Now().Add(skew))
					l.Spec.RenewTime = &at
				})
				time.Sleep(time.Hour) // how long it lies there is not known to the next one
				began := time.Now()
				s.begin(t)
				if waited := time.Since(began); waited < 30*time.Second || waited > 34*time.Second {
					t.Errorf("it was taken after %s, want soon after 30 s", waited)
				}
			})
		})
	}
}

func TestTheLeaseIsHeldThroughTrouble(t *testing.T) {
	for name, fault := range map[string]kubefake.Fault{
		"away": {Drop: true}, "answers are lost": {Lose: true}, "hanging": {Hang: true}, "overloaded": {Status: 429, RetryAfter: "1"},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, fake *kubefake.Server, s site) {
				run, d := s.begin(t)
				fake.SetFault(func(kubefake.Call) kubefake.Fault { return fault })
				time.Sleep(20 * time.Second)
				fake.SetFault(nil)
				time.Sleep(20 * time.Second)
				must(t, run.Save(t.Context(), d))
				// Somebody labels it: that is no other holder.
				fake.EditLease(func(l *coordination.Lease) { l.Labels = map[string]string{"team": "stock"} })
				must(t, run.Reserve(t.Context(), Reservation{Most: map[string]int{"api": 1}, Now: time.Now(), Last: time.Now()}))
				must(t, run.Close(t.Context()))
				if holder := holderOf(fake.Lease()); holder != "" || fake.Lease().Labels["team"] == "" {
					t.Errorf("left with holder %q, labels %v", holder, fake.Lease().Labels)
				}
			})
		})
	}
}

// A release whose answer is lost was carried out: that is no error.
func TestALostAnswerToTheRelease(t *testing.T) {
	bubble(t, func(t *testing.T, fake *kubefake.Server, s site) {
		run, _ := s.begin(t)
		fake.SetFault(func(c kubefake.Call) kubefake.Fault { return kubefake.Fault{Lose: c == kubefake.UpdateLease} })
		must(t, run.Close(t.Context()))
		if holder := holderOf(fake.Lease()); holder != "" {
			t.Errorf("still held by %q", holder)
		}
	})
}

// A claim whose answer is lost was carried out: it is ours, not another's.
func TestALostAnswerToTheClaim(t *testing.T) {
	bubble(t, func(t *testing.T, fake *kubefake.Server, s site) {
		lost := false
		fake.SetFault(func(c kubefake.Call) kubefake.Fault {
			if c != kubefake.UpdateLease || lost {
				return kubefake.Fault{}
			}
			lost = true
			return kubefake.Fault{Lose: true}
		})
		began := time.Now()
		run, d := s.begin(t)
		if waited := time.Since(began); waited > 5*time.Second {
			t.Errorf("it waited for itself for %s", waited)
		}
		must(t, run.Save(t.Context(), d))
	})
}

// Nobody has it, and the API server does not let us have it either.
func TestALeaseThatCannotBeTaken(t *testing.T) {
	bubble(t, func(t *testing.T, fake *kubefake.Server, s site) {
		fake.SetFault(func(c kubefake.Call) kubefake.Fault {
			if c == kubefake.UpdateLease {
				return kubefake.Fault{Status: 500}
			}
			return kubefake.Fault{}
		})
		_, err := s.open(t.Context(), Options{})
		var locked *LockedError
		if err == nil || errors.As(err, &locked) || !strings.Contains(err.Error(), "etcdserver") {
			t.Errorf("opening: %v, want the API server's own words, and nothing of another perch", err)
		}
	})
}

// Whoever lost the Lease still saves, joined with what the other one wrote,
// and says so.
func TestTheLeaseIsLost(t *testing.T) {
	bubble(t, func(t *testing.T, fake *kubefake.Server, s site) {
		now := time.Now()
		run, d := s.begin(t)
		must(t, run.Reserve(t.Context(), Reservation{Most: map[string]int{"api": 10}, Now: now, Last: now}))
		fake.SetFault(func(kubefake.Call) kubefake.Fault { return kubefake.Fault{Drop: true} })
		time.Sleep(35 * time.Second)
		fake.SetFault(nil)
		// Another perch was not cut off, and took it.
		fake.EditLease(func(l *coordination.Lease) { other := "pod-b_x"; l.Spec.HolderIdentity = &other })
		must(t, s.edit(t.Context(), func(d *Document) error { d.AddRequests("api", now, 100); return nil }))

		d.AddRequests("api", now, 3)
		err := run.Save(t.Context(), d)
		var lost *LostError
		if !errors.As(err, &lost) || lost.Holder != "pod-b_x" || !strings.Contains(err.Error(), "it is saved") {
			t.Errorf("saving: %v, want a LostError that names the other one", err)
		}
		if got, err := s.read(t.Context()); err != nil || got.RequestsToday("api", now) != 103 {
			t.Errorf("%d requests are counted (%v), want both's", got.RequestsToday("api", now), err)
		}
		if err := run.Reserve(t.Context(), Reservation{Most: map[string]int{"api": 1}}); !errors.As(err, &lost) || strings.Contains(err.Error(), "cannot be reached") {
			t.Errorf("reserving: %v, want a LostError and nothing else", err)
		}
		must(t, run.Close(t.Context()))
		if holder := holderOf(fake.Lease()); holder != "pod-b_x" {
			t.Errorf("the other one's Lease was taken from it: %q", holder)
		}
	})
}

// A laptop that slept, or a network that was cut: it is still ours when nobody
// took it, and that is asked, not guessed.
func TestALeaseThatRanOutUnseenIsAskedFor(t *testing.T) {
	bubble(t, func(t *testing.T, fake *kubefake.Server, s site) {
		run, d := s.begin(t)
		fake.SetFault(func(c kubefake.Call) kubefake.Fault {
			return kubefake.Fault{Drop: c == kubefake.UpdateLease || c == kubefake.GetLease}
		})
		time.Sleep(35 * time.Second)
		var lost *LostError
		if err := run.Save(t.Context(), d); !errors.As(err, &lost) || lost.Err == nil {
			t.Errorf("while it cannot be asked: %v, want a LostError that says why", err)
		}
		fake.SetFault(nil)
		must(t, run.Save(t.Context(), d))
	})
}

func TestReservationsInTheLease(t *testing.T) {
	bubble(t, func(t *testing.T, fake *kubefake.Server, s site) {
		now := time.Now()
		// Somebody wrote rubbish there.
		fake.EditLease(func(l *coordination.Lease) {
			l.Annotations = map[string]string{reservationKey: `{"most":[]}`, "other": "x"}
		})
		run, d := s.begin(t)
		if len(d.Daily) != 0 {
			t.Errorf("rubbish counts as %v", d.Daily)
		}
		must(t, run.Reserve(t.Context(), Reservation{Most: map[string]int{"api": 10}, Now: now, Last: now.Add(time.Minute)}))
		if note := fake.Lease().Annotations[reservationKey]; !strings.Contains(note, `"api":10`) {
			t.Errorf("the Lease says %q", note)
		}
		again, err := run.Load(t.Context()) // its own reservation is no earlier run's
		if err != nil || len(again.Daily) != 0 {
			t.Errorf("loaded again: %+v, %v", again, err)
		}
		// Closed without a save: what may have been sent stays counted.
		must(t, run.Close(t.Context()))
		run, d = s.begin(t)
		if got := d.RequestsToday("api", now); got != 10 {
			t.Errorf("%d requests are counted, want 10", got)
		}
		must(t, run.Save(t.Context(), d))
		must(t, run.Close(t.Context()))
		if notes := fake.Lease().Annotations; !reflect.DeepEqual(notes, map[string]string{"other": "x"}) {
			t.Errorf("after a save the Lease says %v", notes)
		}
	})
}

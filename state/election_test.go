package state

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	coordination "k8s.io/api/coordination/v1"

	"perch.example/internal/kubefake"
)

// replica is one of several that want the Lease.
type replica struct {
	config ConfigMapConfig
	cut    atomic.Bool // from the API server: what it calls hangs
	unseen atomic.Int64
	lost   chan error
	opened chan *ConfigMap
	stop   context.CancelFunc
	failed error // of opening, once opened is closed
}

// RoundTrip leads to the API server unless the replica is cut off.
func (r *replica) RoundTrip(q *http.Request) (*http.Response, error) {
	if !r.cut.Load() {
		return r.config.Rest.Transport.RoundTrip(q)
	}
	<-q.Context().Done()
	return nil, q.Context().Err()
}

// stand makes a replica that stands by for the Lease from now on.
func stand(t *testing.T, fake *kubefake.Server, identity string) *replica {
	t.Helper()
	r := &replica{config: fakeConfig(fake, identity), lost: make(chan error, 9), opened: make(chan *ConfigMap, 1)}
	c := r.config
	rest := *c.Rest
	rest.Transport = r
	c.Rest = &rest
	c.Election = &Election{Unseen: func(error) { r.unseen.Add(1) }, Lost: func(err error) { r.lost <- err }}
	ctx, cancel := context.WithCancel(t.Context())
	r.stop = cancel
	go func() {
		defer close(r.opened)
		m, err := OpenConfigMap(ctx, c, Options{})
		r.failed = err
		if err == nil {
			r.opened <- m
		}
	}()
	t.Cleanup(cancel)
	return r
}

// leads waits until the replica has the Lease, and says how long that took.
func (r *replica) leads(t *testing.T, within time.Duration) (*ConfigMap, time.Duration) {
	t.Helper()
	began := time.Now()
	select {
	case m := <-r.opened:
		if m == nil {
			t.Fatalf("%s: %v", r.config.Identity, r.failed)
		}
		return m, time.Since(began)
	case <-time.After(within):
		t.Fatalf("%s does not lead after %s", r.config.Identity, within)
	}
	return nil, 0
}

// kill ends the process of the Lease: nothing renews it, nothing lets it go.
func kill(m *ConfigMap) {
	m.lease.stop()
	<-m.lease.done
}

func election(t *testing.T, test func(t *testing.T, fake *kubefake.Server, first *ConfigMap, leader, standby *replica)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		fake := kubefake.New("shop", "perch-state")
		leader := stand(t, fake, "pod-a")
		first, took := leader.leads(t, time.Minute)
		if took > time.Second {
			t.Errorf("nobody had it, and it took %s", took)
		}
		standby := stand(t, fake, "pod-b")
		time.Sleep(time.Minute)
		if len(standby.opened) > 0 || !first.Sure(time.Now()) {
			t.Fatal("the standby took what is renewed")
		}
		test(t, fake, first, leader, standby)
	})
}

func TestAStandbyTakesOverFromAKilledLeader(t *testing.T) {
	election(t, func(t *testing.T, _ *kubefake.Server, first *ConfigMap, _, standby *replica) {
		kill(first)
		second, took := standby.leads(t, time.Minute)
		// Looks are a tenth of the Lease's 15 s apart at most: one sees the last renewal,
		// from which the 15 s count, and one that they are over.
		if took > 18*time.Second || took < 10*time.Second {
			t.Errorf("it took %s, want about the Lease's 15 s", took)
		}
		must(t, second.Close(t.Context()))
	})
}

func TestAStandbyTakesOverFromALeaderThatStops(t *testing.T) {
	election(t, func(t *testing.T, _ *kubefake.Server, first *ConfigMap, _, standby *replica) {
		must(t, first.Close(t.Context()))
		if first.Sure(time.Now()) {
			t.Error("it is sure of what it let go")
		}
		second, took := standby.leads(t, time.Minute)
		if took > 2*time.Second {
			t.Errorf("it took %s", took)
		}
		must(t, second.Close(t.Context()))
	})
}

// A leader that is cut off is not sure any more well before another one may lead,
// whatever hangs meanwhile, and stays so when it is back.
func TestALeaderThatIsCutOffStopsBeforeAnotherLeads(t *testing.T) {
	election(t, func(t *testing.T, _ *kubefake.Server, first *ConfigMap, leader, standby *replica) {
		leader.cut.Store(true)
		began := time.Now()
		for first.Sure(time.Now()) {
			time.Sleep(10 * time.Millisecond)
		}
		stopped := time.Since(began)
		if stopped > 10*time.Second || stopped < 7*time.Second {
			t.Errorf("it was sure for %s, want at most 10 s", stopped)
		}
		second, _ := standby.leads(t, time.Minute)
		if gap := time.Since(began) - stopped; gap < 4*time.Second {
			t.Errorf("another one led %s after it stopped: too close", gap)
		}
		leader.cut.Store(false)
		time.Sleep(time.Minute)
		if first.Sure(time.Now()) || !second.Sure(time.Now()) {
			t.Error("two are sure, or none")
		}
		var lost *LostError
		if err := <-leader.lost; !errors.As(err, &lost) {
			t.Errorf("it was told %v", err)
		}
		if len(leader.lost) > 0 || len(standby.lost) > 0 {
			t.Error("it was told twice, or the other one, too")
		}
		if err := first.Close(t.Context()); err != nil && !errors.As(err, &lost) {
			t.Error(err)
		}
		must(t, second.Close(t.Context()))
	})
}

// While the API server is away nobody leads, and nobody gives up.
func TestAnAPIServerThatIsAwayEndsNoStandby(t *testing.T) {
	for name, fault := range map[string]kubefake.Fault{"away": {Drop: true}, "hanging": {Hang: true}, "overloaded": {Status: 503}} {
		t.Run(name, func(t *testing.T) {
			election(t, func(t *testing.T, fake *kubefake.Server, first *ConfigMap, leader, standby *replica) {
				fake.SetFault(func(kubefake.Call) kubefake.Fault { return fault })
				time.Sleep(10 * time.Minute)
				if first.Sure(time.Now()) || len(standby.opened) > 0 {
					t.Error("somebody leads")
				}
				if standby.unseen.Load() < 100 || len(leader.lost) != 1 {
					t.Errorf("the standby said %d times that it cannot see; the leader %d times that it lost", standby.unseen.Load(), len(leader.lost))
				}
				fake.SetFault(nil)
				second, took := standby.leads(t, time.Minute)
				if took > 20*time.Second {
					t.Errorf("it leads %s after the API server is back", took)
				}
				must(t, second.Close(t.Context()))
			})
		})
	}
}

// A call that hangs for a while costs no leader its Lease.
func TestOneHangingRenewalCostsNothing(t *testing.T) {
	election(t, func(t *testing.T, _ *kubefake.Server, first *ConfigMap, leader, standby *replica) {
		for range 20 {
			leader.cut.Store(true)
			time.Sleep(4 * time.Second)
			leader.cut.Store(false)
			time.Sleep(6 * time.Second)
			if !first.Sure(time.Now()) || len(standby.opened) > 0 {
				t.Fatal("the Lease was lost")
			}
		}
		must(t, first.Close(t.Context()))
	})
}

// Somebody else's hand takes the Lease: it is seen at the next renewal.
func TestALeaderWhoseLeaseIsTakenStops(t *testing.T) {
	election(t, func(t *testing.T, fake *kubefake.Server, first *ConfigMap, leader, standby *replica) {
		standby.stop()
		fake.EditLease(func(l *coordination.Lease) { other := "pod-x_1"; l.Spec.HolderIdentity = &other })
		time.Sleep(4 * time.Second)
		if first.Sure(time.Now()) {
			t.Error("it is sure of what another one has")
		}
		if err := <-leader.lost; !strings.Contains(err.Error(), "pod-x_1") {
			t.Errorf("it was told %v", err)
		}
	})
}

// Waiting longer helps nobody without the right.
func TestAStandbyWithoutTheRightGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fake := kubefake.New("shop", "perch-state")
		fake.Refuse(kubefake.GetLease)
		r := stand(t, fake, "pod-a")
		if m := <-r.opened; m != nil || r.failed == nil || !strings.Contains(r.failed.Error(), "lease") {
			t.Errorf("it got %v, %v", m, r.failed)
		}
	})
}

// A Lease of a perch that is no replica lasts 30 s, and is honoured so long.
func TestAStandbyHonoursALongerLease(t *testing.T) {
	bubble(t, func(t *testing.T, fake *kubefake.Server, s site) {
		run, _ := s.begin(t)
		s.crash(run)
		standby := stand(t, fake, "pod-b")
		m, took := standby.leads(t, 2*time.Minute)
		if took < 30*time.Second || took > 33*time.Second {
			t.Errorf("it was taken after %s, want soon after 30 s", took)
		}
		must(t, m.Close(t.Context()))
	})
}

func TestAStandbyThatIsToldToStop(t *testing.T) {
	election(t, func(t *testing.T, _ *kubefake.Server, first *ConfigMap, _, standby *replica) {
		standby.stop()
		if m := <-standby.opened; m != nil || standby.failed == nil {
			t.Errorf("it got %v, %v", m, standby.failed)
		}
		must(t, first.Close(t.Context()))
	})
}

package runner

import (
	"testing"
	"testing/synctest"
	"time"

	"perch.example/plan"
	"perch.example/probes"
)

// describing books a rung whose method server reflection describes.
func describing(b share, start, hold time.Duration) *slots {
	spec := &probes.Spec{
		Kind: probes.KindIdle, Timeouts: probes.Timeouts{Connect: time.Second, Response: time.Second},
		GRPC: &probes.GRPC{Method: "shop.Stock/List"},
	}
	s := plan.Step{Spec: spec, Hold: hold}
	if !b.place(&s, start) {
		panic("the step of the test does not fit")
	}
	mine, why := b.admit(s, b.tally)
	if why != "" {
		panic(why)
	}
	return mine
}

// Reflection's request has a booking of its own, the rest of the step keeps its.
func TestDescribe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newDesk(1)
		s := describing(b, time.Second, 10*time.Second)
		if s.promised != 4 {
			t.Errorf("%d requests are promised, want 4", s.promised)
		}
		release, err := s.Dial(t.Context(), probes.RoleDescribe)
		if err != nil {
			t.Fatal(err)
		}
		if at := sends(t, s, probes.RoleDescribe); at != time.Second {
			t.Errorf("reflection left at %s", at)
		}
		release()
		until(s, 1400*time.Millisecond)
		if at := sends(t, s, probes.RoleWarm); at != 1400*time.Millisecond {
			t.Errorf("the warm-up left at %s", at)
		}
		reuse := b.start.Add(11500 * time.Millisecond)
		if !s.HoldUntil(reuse) || s.reuse.slot == 0 || s.control.slot == 0 {
			t.Fatalf("its reuse and control have no place: %+v", s)
		}
		if at := sends(t, s, probes.RoleReuse); at != 11500*time.Millisecond {
			t.Errorf("the reuse left at %s", at)
		}
		if b.denied != 0 || b.waited != 0 {
			t.Errorf("%d denied, %s waited", b.denied, b.waited)
		}
	})
}

// One that needs more than the booked request finds a gap before it dials, and the
// step comes along.
func TestDescribeTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newDesk(1)
		s := describing(b, 0, 10*time.Second)
		sends(t, s, probes.RoleDescribe)
		if err := s.Send(t.Context(), probes.RoleDescribe); err == nil {
			t.Fatal("two requests left at once, and a third is booked: one too many in 2 s")
		}
		release, err := s.Dial(t.Context(), probes.RoleAgain)
		if err != nil {
			t.Fatal(err)
		}
		second := sends(t, s, probes.RoleAgain)
		release()
		if second < 2*time.Second || second > 2500*time.Millisecond {
			t.Errorf("the second left at %s", second)
		}
		warm := sends(t, s, probes.RoleWarm)
		if warm < second || !s.HoldUntil(time.Now().Add(10*time.Second)) {
			t.Errorf("the warm-up left at %s, its reuse: %+v", warm, s.reuse)
		}
	})
}

// What was remembered needs no request: its booking is given back with the step.
func TestDescribedAlready(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newDesk(1)
		s := describing(b, 0, 10*time.Second)
		sends(t, s, probes.RoleWarm)
		s.release()
		if b.promised != 0 || b.sent != 1 {
			t.Errorf("%d promised, %d sent", b.promised, b.sent)
		}
		if at := b.cal.Earliest(0, plan.At(0)); at != 0 {
			t.Errorf("the next gap is at %s: its bookings are still there", at)
		}
	})
}

package plan

import (
	"math/rand/v2"
	"testing"
	"time"

	"perch.example/probes"
)

// Steps of several plans are placed one after the other, for long: at no instant
// are more connections open than may be, no window has more bookings than are
// allowed, and what is remembered stays small.
func TestPlaceForWeeks(t *testing.T) {
	const most = 3
	rng := rand.New(rand.NewPCG(1, 1))
	cal, open := NewCalendar(2), NewOpen(most)
	all := NewOpen(most) // never forgets
	timeouts := probes.Timeouts{Connect: time.Second, Response: time.Second}
	off := time.Duration(0)
	for range 2000 {
		off += time.Duration(rng.IntN(int(10 * time.Minute)))
		cal.Forget(off)
		open.Forget(off)
		s := Step{Spec: &probes.Spec{Kind: probes.KindHTTP, Timeouts: timeouts}}
		if rng.IntN(2) == 0 {
			s.Spec.Kind, s.Hold = probes.KindIdle, time.Duration(3*int(time.Second)+rng.IntN(int(15*time.Minute)))
		}
		if !cal.Place(&s, off, open) || s.Start < off || s.Warm == 0 {
			t.Fatalf("at %s: %+v was not placed", off, s)
		}
		all.Lay(s)
		if len(cal.booked) > 30 || len(cal.load) > 60 || len(open.load) > 30 {
			t.Fatalf("at %s: %d bookings in %d levels, and %d levels of connections are remembered", off, len(cal.booked), len(cal.load), len(open.load))
		}
	}
	if got := all.load.max(); got != most {
		t.Errorf("%d connections are open at once, want %d and no more", got, most)
	}
	cal.Forget(off + time.Hour)
	open.Forget(off + time.Hour)
	if len(cal.booked)+len(cal.load)+len(open.load) != 0 {
		t.Errorf("an hour later %d bookings and %d, %d levels are remembered", len(cal.booked), len(cal.load), len(open.load))
	}
}

// What can never fit takes nothing.
func TestPlaceNever(t *testing.T) {
	cal, open := NewCalendar(2), NewOpen(1)
	s := Step{Spec: &probes.Spec{Kind: probes.KindIdle, Timeouts: probes.Timeouts{Connect: time.Second, Response: time.Second}}, Hold: time.Minute}
	if cal.Place(&s, 0, open) || len(cal.booked)+len(open.load) != 0 {
		t.Errorf("a rung, which takes two connections, was placed where one may be open: %+v", s)
	}
}

package runner

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/time/rate"

	"perch.example/plan"
	"perch.example/probes"
)

// newDesk is a target's budget that begins now, with the bookings given, and one
// wave's part in it.
func newDesk(rate float64, taken ...plan.Booking) share {
	cal := plan.NewCalendar(rate)
	for _, b := range taken {
		if _, ok := cal.Book(b); !ok {
			panic("the bookings of the test do not fit")
		}
	}
	t := probes.Target{Name: "api", RateLimit: probes.Rate(rate), Share: 1, MaxConnections: 2}
	b := newBudget(t, cal, 1000, time.Now())
	return share{b, b.enter()}
}

// step books a step of the budget's own calendar at an instant.
func step(b share, start, hold time.Duration) *slots {
	spec := &probes.Spec{Kind: probes.KindHTTP, Timeouts: probes.Timeouts{Connect: time.Second, Response: time.Second}}
	if hold > 0 {
		spec.Kind = probes.KindIdle
	}
	s := plan.Step{Spec: spec, Hold: hold, Start: start}
	shape := plan.Shape(spec, hold)
	for i := range shape {
		shape[i].From += start
		shape[i].To += start
	}
	booked, ok := b.cal.Book(shape...)
	if !ok {
		panic("the step of the test does not fit")
	}
	s.Warm = booked[0]
	if hold > 0 {
		s.Reuse, s.Control = booked[1], booked[2]
	}
	mine, why := b.admit(s, b.tally)
	if why != "" {
		panic(why)
	}
	return mine
}

// sends returns when the request left, since the budget's start.
func sends(t *testing.T, s *slots, role probes.Role) time.Duration {
	t.Helper()
	if err := s.Send(t.Context(), role); err != nil {
		t.Fatalf("%s: %v", role, err)
	}
	return time.Since(s.budget.start)
}

func until(s *slots, off time.Duration) { time.Sleep(time.Until(s.budget.start.Add(off))) }

// A request leaves at the instant that was booked for it, a control sooner.
func TestSendKeepsItsInstant(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newDesk(5)
		s := step(b, 100*time.Millisecond, time.Second)
		if at := sends(t, s, probes.RoleWarm); at != 100*time.Millisecond {
			t.Errorf("the warm-up left at %s", at)
		}
		if !s.HoldUntil(b.start.Add(1150 * time.Millisecond)) {
			t.Fatal("no room for the reuse")
		}
		if at := sends(t, s, probes.RoleReuse); at != 1150*time.Millisecond {
			t.Errorf("the reuse left at %s", at)
		}
		until(s, 1160*time.Millisecond)
		if at := sends(t, s, probes.RoleControl); at != 1160*time.Millisecond {
			t.Errorf("the control left at %s", at)
		}
		if b.waited != 0 || b.denied != 0 || b.sent != 3 || b.promised != 0 {
			t.Errorf("waited %s, denied %d, sent %d, still promised %d", b.waited, b.denied, b.sent, b.promised)
		}
	})
}

// When the limiter has to wait, that is counted.
func TestWaitingIsCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newDesk(5)
		b.limiter = rate.NewLimiter(2, 1) // stricter than the calendar
		for range 3 {
			sends(t, step(b, 0, 0), probes.RoleWarm)
		}
		if b.waited != time.Second || time.Since(b.start) != time.Second {
			t.Errorf("%s were counted of %s", b.waited, time.Since(b.start))
		}
		use := b.useLocked(b.tally, probes.Target{Name: "api", RateLimit: 50, Share: 0.1})
		if use.Target != "api" || use.LimitPerSecond != 5 || use.Requests != 3 || use.PeakPerSecond != 2 || use.Waited != time.Second || use.Denied != 0 {
			t.Errorf("%+v", use)
		}
	})
}

// Whatever the calendar says, no window of W sees more than is allowed, and
// the wait is counted.
func TestLastGateCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newDesk(2)
		b.limiter = rate.NewLimiter(rate.Inf, 1)
		for i, want := range []time.Duration{0, 0, 1010 * time.Millisecond, 1010 * time.Millisecond, 2020 * time.Millisecond} {
			s := &slots{budget: b.budget, tally: b.tally, promised: 1}
			b.promised++
			slot := plan.Slot(1000 + i)
			b.cal.Force(slot, plan.At(time.Since(b.start))) // overbooked
			s.warm = place{slot: slot, at: time.Since(b.start)}
			if at := sends(t, s, probes.RoleWarm); at != want {
				t.Errorf("request %d left at %s, want %s", i, at, want)
			}
		}
		if b.waited != 2020*time.Millisecond {
			t.Errorf("%s were counted", b.waited)
		}
	})
}

// What waits at the last gate is looked at again when its turn comes.
func TestRefusedWhileWaiting(t *testing.T) {
	for name, happens := range map[string]func(b share, cancel context.CancelCauseFunc){
		"left alone until": func(b share, _ context.CancelCauseFunc) {
			b.learn(probes.Attempt{Started: time.Now(), RetryAfter: time.Minute, Connection: probes.ConnectionReused})
		},
		"3 failed fresh": func(b share, _ context.CancelCauseFunc) {
			for range 3 {
				b.count(probes.Attempt{Reason: probes.ReasonRefused, Connection: probes.ConnectionFresh})
			}
		},
		"the deadline": func(_ share, cancel context.CancelCauseFunc) { cancel(errors.New("the deadline")) },
	} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			b := newDesk(5)
			s := step(b, time.Second, 0)
			time.AfterFunc(500*time.Millisecond, func() { happens(b, cancel) })
			err := s.Send(ctx, probes.RoleWarm)
			if err == nil || !strings.Contains(err.Error(), name) || b.sent != 0 {
				t.Errorf("%s: %v, %d sent", name, err, b.sent)
			}
			s.release()
			if b.promised != 0 || !b.cal.Fits(plan.At(time.Second), plan.At(time.Second), plan.At(time.Second), plan.At(time.Second), plan.At(time.Second)) {
				t.Errorf("%s: %d are still promised, or booked", name, b.promised)
			}
		})
	}
}

// A redirect on an open connection waits a second for a gap, one that is yet to
// be opened, and a second try, wait for half a minute.
func TestGaps(t *testing.T) {
	full := func(upTo time.Duration) []plan.Booking { // both of each window
		var all []plan.Booking
		for at := time.Duration(0); at < upTo; at += 2100 * time.Millisecond {
			all = append(all, plan.At(at), plan.At(at))
		}
		return all
	}
	for _, c := range []struct {
		name   string
		taken  []plan.Booking
		role   probes.Role
		dial   bool // first
		leaves time.Duration
		why    string
		later  bool
	}{
		{"a redirect at once", nil, probes.RoleRedirect, false, 0, "", false},
		{"a redirect within a second", []plan.Booking{plan.At(-1200 * time.Millisecond), plan.At(-1200 * time.Millisecond)}, probes.RoleRedirect, false, 900 * time.Millisecond, "", false},
		{"a redirect, not soon", full(time.Second), probes.RoleRedirect, false, 0, "the budget has no gap within 1s", true},
		{"a redirect, not at all soon", full(35 * time.Second), probes.RoleRedirect, false, 0, "the budget has no gap within 1s", false},
		{"a redirect on a new connection", full(20 * time.Second), probes.RoleRedirect, true, 21 * time.Second, "", false},
		{"a second try", full(20 * time.Second), probes.RoleAgain, true, 21 * time.Second, "", false},
		{"a second try, too late", full(35 * time.Second), probes.RoleAgain, true, 0, "the budget has no gap within 30s", false},
		{"a control without a booking", full(20 * time.Second), probes.RoleControl, true, 21 * time.Second, "", false},
	} {
		synctest.Test(t, func(t *testing.T) {
			b := newDesk(1, c.taken...)
			s := &slots{budget: b.budget, tally: b.tally, begun: true}
			var err error
			if c.dial {
				var release func()
				release, err = s.Dial(t.Context(), c.role)
				if err == nil {
					defer release()
					if at := time.Since(b.start); at != c.leaves-firstLead {
						t.Errorf("%s: dialled at %s", c.name, at)
					}
				}
			}
			if err == nil {
				err = s.Send(t.Context(), c.role)
			}
			var d *probes.Denied
			switch {
			case c.why == "" && (err != nil || time.Since(b.start) != c.leaves):
				t.Errorf("%s: left at %s, %v", c.name, time.Since(b.start), err)
			case c.why != "" && (!errors.As(err, &d) || d.Why != c.why || d.Later != c.later || (b.denied == 1) == c.later || b.sent != 0):
				t.Errorf("%s: %v (%+v), %d denied", c.name, err, d, b.denied)
			}
			if b.waited != 0 {
				t.Errorf("%s: waited %s at the last gate", c.name, b.waited)
			}
		})
	}
}

// A reuse that missed its instant by little leaves at once, else in the next
// gap, whenever that is.
func TestReuseThatIsLate(t *testing.T) {
	for late, leaves := range map[time.Duration]time.Duration{
		0:                     10 * time.Second,
		30 * time.Millisecond: 10030 * time.Millisecond, // within 2% of the window
		time.Second:           14300 * time.Millisecond, // others have 12.2 s for themselves
	} {
		synctest.Test(t, func(t *testing.T) {
			b := newDesk(1)
			s := step(b, 0, 10*time.Second)
			sends(t, s, probes.RoleWarm)
			if !s.HoldUntil(b.start.Add(10 * time.Second)) {
				t.Fatal("no room")
			}
			if _, ok := b.cal.Book(plan.At(12200*time.Millisecond), plan.At(12200*time.Millisecond)); !ok {
				t.Fatal("no room for others")
			}
			until(s, 10*time.Second+late)
			if at := sends(t, s, probes.RoleReuse); at != leaves {
				t.Errorf("%s late, the reuse left at %s, want %s", late, at, leaves)
			}
		})
	}
}

// A slow dial takes its reuse and control along, or gives up.
func TestCatchUp(t *testing.T) {
	for _, c := range []struct {
		name   string
		late   time.Duration
		others time.Duration // when two others leave; 0: none
		leaves time.Duration // 0: it gives up
	}{
		{"in time", -10 * time.Millisecond, 0, time.Second},
		{"within its booking", 150 * time.Millisecond, 0, 1150 * time.Millisecond},
		{"later, with room", 500 * time.Millisecond, 0, 1500 * time.Millisecond},
		{"later, soon after the others", 3600 * time.Millisecond, 3301 * time.Millisecond, 5401 * time.Millisecond},
		{"later, long before there is room", 2500 * time.Millisecond, 3301 * time.Millisecond, 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			b := newDesk(1)
			s := step(b, time.Second, 30*time.Second)
			if c.others > 0 {
				if _, ok := b.cal.Book(plan.At(c.others), plan.At(c.others)); !ok {
					t.Fatal("no room for others")
				}
			}
			until(s, time.Second+c.late)
			err := s.Send(t.Context(), probes.RoleWarm)
			var d *probes.Denied
			if c.leaves == 0 {
				if !errors.As(err, &d) || !strings.Contains(d.Why, "took longer to open") || b.denied != 1 || b.sent != 0 {
					t.Errorf("%s: %v", c.name, err)
				}
				return
			}
			if at := time.Since(b.start); err != nil || at != c.leaves {
				t.Errorf("%s: left at %s, %v", c.name, at, err)
			}
			if !s.HoldUntil(time.Now().Add(30*time.Second)) || s.reuse.slot == 0 || s.control.slot == 0 {
				t.Errorf("%s: its reuse and control did not come along: %+v", c.name, s)
			}
		})
	}
}

// A reuse that ran into its timeout leaves its control without its booking: it
// waits for a gap before it dials, not with an open connection.
func TestControlAfterATimeout(t *testing.T) {
	for name, c := range map[string]struct {
		others        []time.Duration
		dials, leaves time.Duration
	}{
		"room at once": {nil, 15 * time.Second, 15 * time.Second},
		"others now":   {[]time.Duration{15 * time.Second, 15 * time.Second}, 17100*time.Millisecond - firstLead, 17100 * time.Millisecond},
	} {
		synctest.Test(t, func(t *testing.T) {
			b := newDesk(1)
			s := step(b, 0, 10*time.Second)
			sends(t, s, probes.RoleWarm)
			if !s.HoldUntil(b.start.Add(10 * time.Second)) {
				t.Fatal("no room")
			}
			sends(t, s, probes.RoleReuse)
			for _, at := range c.others {
				if _, ok := b.cal.Book(plan.At(at)); !ok {
					t.Fatal("no room for others")
				}
			}
			until(s, 15*time.Second)
			release, err := s.Dial(t.Context(), probes.RoleControl)
			if err != nil {
				t.Fatal(err)
			}
			defer release()
			dialled := time.Since(b.start)
			if at := sends(t, s, probes.RoleControl); dialled != c.dials || at != c.leaves || b.waited != 0 {
				t.Errorf("%s: dialled at %s, left at %s, waited %s", name, dialled, at, b.waited)
			}
		})
	}
}

package runner

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"perch.example/plan"
	"perch.example/probes"
)

// HoldUntil books what it can: the control gives way before the reuse does.
func TestHoldUntil(t *testing.T) {
	const hold = 10 * time.Second
	for _, c := range []struct {
		name    string
		reuse   time.Duration   // when it will leave; 10 to 10.5 s are booked
		others  []time.Duration // leave then, two are allowed in 2 s
		room    bool
		control bool
	}{
		{"within its booking", hold + 100*time.Millisecond, nil, true, true},
		{"after its booking", hold + time.Second, nil, true, true},
		{"after its booking, others beside it", hold + time.Second, []time.Duration{13150 * time.Millisecond, 13150 * time.Millisecond}, true, false},
		{"after its booking, others in its place", hold + 4*time.Second, []time.Duration{14 * time.Second, 14 * time.Second}, false, false},
		{"its control has room only at another place", hold + 700*time.Millisecond, []time.Duration{12750 * time.Millisecond}, true, false},
	} {
		synctest.Test(t, func(t *testing.T) {
			b := newDesk(1)
			s := step(b, 0, hold)
			sends(t, s, probes.RoleWarm)
			for _, at := range c.others {
				if _, ok := b.cal.Book(plan.At(at)); !ok {
					t.Fatalf("%s: no room for others at %s", c.name, at)
				}
			}
			if got := s.HoldUntil(b.start.Add(c.reuse)); got != c.room {
				t.Fatalf("%s: room %v", c.name, got)
			}
			if !c.room {
				return
			}
			if got := s.control.slot != 0; got != c.control {
				t.Errorf("%s: the control is booked: %v", c.name, got)
			}
			if s.reuse.at != c.reuse || s.control.at != c.reuse+plan.ControlDelay {
				t.Errorf("%s: the reuse is at %s, its control at %s", c.name, s.reuse.at, s.control.at)
			}
			if at := sends(t, s, probes.RoleReuse); at != c.reuse {
				t.Errorf("%s: the reuse left at %s", c.name, at)
			}
		})
	}
}

// Where the control's old booking was in the reuse's way, it is booked anew.
func TestHoldUntilBooksTheControlAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newDesk(3) // three in a second, and the calendar's 5%
		s := step(b, 0, 10*time.Second)
		sends(t, s, probes.RoleWarm)
		// With the control's old end at 10.6 s, these two and the reuse are four.
		if _, ok := b.cal.Book(plan.At(10580*time.Millisecond), plan.At(11556*time.Millisecond)); !ok {
			t.Fatal("no room for others")
		}
		old := s.control.slot
		if !s.HoldUntil(b.start.Add(11600*time.Millisecond)) || s.control.slot == 0 || s.control.slot == old {
			t.Errorf("the control was slot %d and is %d", old, s.control.slot)
		}
	})
}

// Together moves a reuse and its control to where both can leave.
func TestTogether(t *testing.T) {
	for name, c := range map[string]struct {
		others         []time.Duration
		reuse, control time.Duration
	}{
		"at once":          {nil, 5 * time.Second, 5020 * time.Millisecond},
		"after the others": {[]time.Duration{5 * time.Second, 5500 * time.Millisecond}, 7500 * time.Millisecond, 7600 * time.Millisecond},
	} {
		synctest.Test(t, func(t *testing.T) {
			b := newDesk(1)
			s := step(b, 0, time.Minute)
			sends(t, s, probes.RoleWarm)
			if !s.HoldUntil(b.start.Add(time.Minute)) {
				t.Fatal("no room")
			}
			for _, at := range c.others {
				b.cal.Book(plan.At(at))
			}
			until(s, 5*time.Second)
			if err := s.Together(t.Context()); err != nil {
				t.Fatal(err)
			}
			reuse := sends(t, s, probes.RoleReuse)
			time.Sleep(20 * time.Millisecond)
			control := sends(t, s, probes.RoleControl)
			if reuse != c.reuse || control != c.control || b.waited != 0 {
				t.Errorf("%s: left at %s and %s, waited %s", name, reuse, control, b.waited)
			}
			if !b.cal.Fits(plan.At(time.Minute), plan.At(time.Minute)) {
				t.Errorf("%s: the minute is still booked", name)
			}
		})
	}
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		b := newDesk(1, plan.At(0), plan.At(0))
		s := &slots{budget: b.budget, tally: b.tally}
		time.AfterFunc(time.Second, func() { cancel(errors.New("the deadline")) })
		if err := s.Together(ctx); err == nil || err.Error() != "the deadline" || time.Since(b.start) != time.Second {
			t.Errorf("%v after %s", err, time.Since(b.start))
		}
	})
}

// A connection waits for one of the target's places, and gives it back once.
func TestDialWaitsForAPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newDesk(5) // two connections
		s := step(b, 0, 0)
		dial := func() func() {
			release, err := s.Dial(t.Context(), probes.RoleWarm)
			if err != nil {
				t.Fatal(err)
			}
			return release
		}
		first, _ := dial(), dial()
		time.AfterFunc(time.Second, first)
		third := dial()
		if waited := time.Since(b.start); waited != time.Second {
			t.Errorf("the third connection waited %s", waited)
		}
		first() // again: does not free another's
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, errors.New("the deadline"))
		defer cancel()
		if _, err := s.Dial(ctx, probes.RoleWarm); err == nil || err.Error() != "the deadline" {
			t.Errorf("the fourth: %v", err)
		}
		third()
		if _, err := s.Dial(ctx, probes.RoleWarm); err == nil {
			t.Error("a run that has ended opened a connection")
		}
		if b.open.open != 1 {
			t.Errorf("%d are open", b.open.open)
		}
	})
}

// What could not leave is not dialled.
func TestDialIsRefused(t *testing.T) {
	for why, spoil := range map[string]func(share){
		"asked to be left alone":    func(b share) { b.blocked = time.Now().Add(time.Minute) },
		"3 failed fresh exchanges":  func(b share) { b.failures = 3 },
		"the daily limit is used u": func(b share) { b.left = 0 },
	} {
		for _, role := range []probes.Role{probes.RoleWarm, probes.RoleControl, probes.RoleAgain, probes.RoleRedirect} {
			synctest.Test(t, func(t *testing.T) {
				b := newDesk(5)
				s := &slots{budget: b.budget, tally: b.tally}
				spoil(b)
				_, err := s.Dial(t.Context(), role)
				var d *probes.Denied
				if !errors.As(err, &d) || !strings.Contains(d.Why, why) || d.Later || b.open.open != 0 || b.denied != 1 {
					t.Errorf("%s: %v, %d open, %d denied", role, err, b.open.open, b.denied)
				}
			})
		}
	}
}

// A step is promised what it may need, whatever else is sent meanwhile; what
// it did not need is given back.
func TestPromises(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newDesk(100)
		b.left = 4
		rung := step(b, 0, time.Second) // promised three
		one := step(b, 0, 0)
		sends(t, one, probes.RoleWarm)
		var d *probes.Denied
		if err := one.Send(t.Context(), probes.RoleAgain); !errors.As(err, &d) || d.Why != usedUp {
			t.Errorf("a second try took what was promised: %v", err)
		}
		if _, why := b.admit(plan.Step{Spec: &probes.Spec{Kind: probes.KindHTTP}}, b.tally); why != usedUp {
			t.Errorf("a step took what was promised: %q", why)
		}
		sends(t, rung, probes.RoleWarm)
		rung.HoldUntil(b.start.Add(time.Second))
		sends(t, rung, probes.RoleReuse)
		if _, why := b.admit(plan.Step{Spec: &probes.Spec{Kind: probes.KindHTTP}}, b.tally); why != usedUp {
			t.Errorf("a step took the control: %q", why)
		}
		rung.release()
		rung.release() // gives nothing back twice
		if b.promised != 0 || b.sent != 3 {
			t.Errorf("%d sent, %d promised", b.sent, b.promised)
		}
		last, why := b.admit(plan.Step{Spec: &probes.Spec{Kind: probes.KindHTTP}}, b.tally)
		if why != "" {
			t.Fatalf("the control that was not needed is lost: %s", why)
		}
		sends(t, last, probes.RoleWarm)
		if err := last.Send(t.Context(), probes.RoleRedirect); !errors.As(err, &d) || d.Why != usedUp || b.sent != 4 {
			t.Errorf("a redirect passed the limit: %v", err)
		}
	})
}

// Only what is still ahead is given back: what left counts in the windows to
// come.
func TestReleaseKeepsWhatLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newDesk(1)
		s := step(b, 0, 10*time.Second)
		sends(t, s, probes.RoleWarm)
		s.release()
		if b.cal.Fits(plan.At(time.Second), plan.At(time.Second)) {
			t.Error("the warm-up that left is forgotten")
		}
		if !b.cal.Fits(plan.At(10*time.Second), plan.At(10*time.Second)) {
			t.Error("the reuse that never left is still booked")
		}
	})
}

func TestLearn(t *testing.T) {
	fresh := func(r probes.Reason) probes.Attempt {
		return probes.Attempt{Reason: r, Connection: probes.ConnectionFresh}
	}
	well := map[probes.Reason]bool{
		probes.ReasonStatus: true, probes.ReasonSlow: true, probes.ReasonExpectation: true, probes.ReasonRedirected: true,
		probes.ReasonTooLarge: true, probes.ReasonNoKeepAlive: true, probes.ReasonOK: true,
		probes.ReasonCanceled: true, probes.ReasonSkipped: true, probes.ReasonInternal: true,
	}
	for _, r := range probes.Reasons() {
		b := newDesk(1)
		b.count(probes.Attempt{Reason: r, Connection: probes.ConnectionFresh, NoToken: true}) // nothing was sent
		b.count(fresh(r))
		reused := fresh(r)
		reused.Connection = probes.ConnectionReused
		b.count(reused)
		if (b.failures == 0) != well[r] || b.failures > 1 {
			t.Errorf("%s: %d failures", r, b.failures)
		}
		b.count(fresh(probes.ReasonOK))
		if b.failures != 0 {
			t.Errorf("%s: a success resets nothing", r)
		}
	}
}

// The longest of what was asked for counts, from the answer's end.
func TestLearnRetryAfter(t *testing.T) {
	b, began := newDesk(1), time.Now()
	for _, after := range []time.Duration{time.Minute, time.Second, 0} {
		b.learn(probes.Attempt{Started: began, Elapsed: time.Second, RetryAfter: after, Connection: probes.ConnectionReused})
	}
	if got := b.blocked.Sub(began); got != 61*time.Second {
		t.Errorf("left alone for %s", got)
	}
}

// A year is an hour, of this run's and of what an earlier one noted: a target
// that is not looked at cannot be told of.
func TestLearnAbsurdRetryAfter(t *testing.T) {
	b, began := newDesk(1), time.Now()
	b.learn(probes.Attempt{Started: began, Elapsed: time.Second, RetryAfter: 7 * 24 * time.Hour, Connection: probes.ConnectionFresh})
	if got := b.blocked.Sub(began); got != time.Hour+time.Second {
		t.Errorf("left alone for %s, want an hour", got)
	}
	for noted, want := range map[time.Duration]time.Duration{11 * 30 * 24 * time.Hour: time.Hour, time.Minute: time.Minute, -time.Hour: -time.Hour} {
		b.noted(began.Add(noted), began)
		if got := b.blocked.Sub(began); got != want {
			t.Errorf("noted for %s: left alone for %s, want %s", noted, got, want)
		}
	}
}

// Dials begin as long before their request as the slowest took, and a half.
func TestLead(t *testing.T) {
	b := newDesk(1)
	for _, c := range []struct {
		phases probes.Phases
		want   time.Duration
	}{
		{probes.Phases{}, firstLead},
		{probes.Phases{Connect: 100 * time.Millisecond, Wait: time.Hour}, firstLead},
		{probes.Phases{DNS: 200 * time.Millisecond, Connect: 200 * time.Millisecond, TLS: 200 * time.Millisecond}, 900 * time.Millisecond},
		{probes.Phases{Connect: 100 * time.Millisecond}, 900 * time.Millisecond},
		{probes.Phases{Connect: time.Minute}, longestLead},
	} {
		b.count(probes.Attempt{Connection: probes.ConnectionFresh, Reason: probes.ReasonOK, Phases: c.phases})
		if got := b.lead(); got != c.want {
			t.Errorf("after %+v: %s, want %s", c.phases, got, c.want)
		}
	}
}

func TestPeak(t *testing.T) {
	var p peak
	if p.perSecond() != 0 {
		t.Error("nothing was sent")
	}
	at := time.Unix(0, 0)
	for i, ms := range []int{0, 10, 999, 1000, 1009, 1010, 5000} {
		p.add(at.Add(time.Duration(ms) * time.Millisecond))
		if want := []float64{1, 2, 3, 3, 4, 4, 4}[i]; p.perSecond() != want {
			t.Errorf("after %d ms: %g, want %g", ms, p.perSecond(), want)
		}
	}
	if len(p.last) != 1 {
		t.Errorf("%d instants are kept", len(p.last))
	}
}

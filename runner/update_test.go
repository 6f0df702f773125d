package runner_test

import (
	"fmt"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"perch.example/plan"
	"perch.example/probes"
	"perch.example/runner"
)

// A policy that comes while connections are held is asked before their next byte: what
// it does not allow does not leave, and is no failure of the API's.
func TestAStricterPolicyHoldsAtOnce(t *testing.T) {
	other := []netip.Prefix{netip.MustParsePrefix("203.0.113.0/24")}
	for name, c := range map[string]struct {
		policy probes.Policy
		leaves int // of the warm-up and the reuse
	}{
		"another host":    {probes.Policy{Hosts: []string{"192.0.2.9"}}, 1},
		"no GET":          {probes.Policy{Methods: []string{"HEAD"}}, 1},
		"shorter holds":   {probes.Policy{MaxHold: 10 * time.Second}, 1},
		"other networks":  {probes.Policy{Networks: other}, 1},
		"denied networks": {probes.Policy{DeniedNetworks: other}, 1}, // where the connection leads is not asked again
		"all of it":       {probes.Policy{Hosts: []string{"192.0.2.1"}, MaxHold: time.Hour}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newSite(t, nil)
				target := newTarget("api", 1, 20, newProbe(probes.KindIdle, time.Minute))
				o := runner.Options{Targets: []probes.Target{target}, Dial: s.dial}
				r := runner.New(o)
				time.AfterFunc(30*time.Second, func() {
					o.Policy = &c.policy
					r.Update(o)
				})
				_, all := wave(t, r, target)
				if n := len(s.seen()); n != c.leaves {
					t.Errorf("%d requests left, want %d", n, c.leaves)
				}
				if len(all) != 1 {
					t.Fatalf("%d observations", len(all))
				}
				for _, a := range all[0].Attempts {
					if a.Reason != probes.ReasonOK {
						t.Errorf("an attempt ended with %s", a.Reason)
					}
				}
				if denied := strings.Contains(all[0].CutDetail, "polic"); denied != (c.leaves == 1) {
					t.Errorf("it was cut: %q", all[0].CutDetail)
				}
			})
		})
	}
}

// Limits that are lowered or raised hold at once, beside what has left before; nothing
// that was sent is forgotten, also of a target that was gone in between.
func TestNewLimitsHoldAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, nil)
		target := newTarget("api", 1, 5, exchanges(5)...)
		o := runner.Options{Targets: []probes.Target{target}, Dial: s.dial}
		r := runner.New(o)
		wave(t, r, target)
		var waves sync.WaitGroup
		for range 4 { // booked by the old limit, 5/s
			waves.Go(func() { wave(t, r, target) })
		}
		synctest.Wait()
		slower := target
		slower.RateLimit, slower.DailyLimit, slower.MaxConnections = 0.5, 13, 1
		o.Targets = []probes.Target{slower}
		r.Update(o)
		since := time.Now()
		waves.Wait()
		cal := plan.NewCalendar(slower.Budget())
		var at []time.Time
		for _, h := range s.seen() {
			if h.at.After(since) {
				at = append(at, h.at)
			}
		}
		if n := busiest(at, cal.Window()); n > cal.Allowed() {
			t.Errorf("%d requests left within %s, want at most %d", n, cal.Window(), cal.Allowed())
		}
		if n := len(s.seen()); n > 13 {
			t.Errorf("%d requests left, the day allows 13", n)
		}

		before := len(s.seen())
		o.Targets = nil
		r.Update(o)
		if _, all := wave(t, r, target); len(s.seen()) != before || len(all) != 5 || !strings.Contains(all[0].CutDetail, "not in the config any more") {
			t.Errorf("what is gone was probed: %d requests, %+v", len(s.seen())-before, all)
		}
		o.Targets = []probes.Target{slower}
		r.Update(o)
		for range 3 {
			wave(t, r, target)
		}
		if n := len(s.seen()); n > 13 {
			t.Errorf("%d requests left once it was there again, the day allows 13", n)
		}
		quick := target
		quick.RateLimit = 50
		o.Targets = []probes.Target{quick}
		r.Update(o)
		before, since = len(s.seen()), time.Now()
		wave(t, r, quick)
		if n := len(s.seen()) - before; n != 5 || time.Since(since) > 2*time.Second {
			t.Errorf("with a larger limit %d requests left in %s", n, time.Since(since))
		}
		if s.open != 0 {
			t.Errorf("%d connections stayed open", s.open)
		}
	})
}

// Targets that come and go leave nothing behind once their day is over.
func TestUpdatesLeaveNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, nil)
		o := runner.Options{Dial: s.dial}
		r := runner.New(o)
		for n := range 50 {
			target := newTarget(fmt.Sprintf("api-%d", n), 1, 5, exchanges(1)...)
			o.Targets = []probes.Target{target}
			r.Update(o)
			wave(t, r, target)
			if !r.Knows(target.Name) {
				t.Error("it does not know what it sent")
			}
		}
		if !r.Knows("api-0") {
			t.Error("what the day has seen is forgotten")
		}
		time.Sleep(25 * time.Hour)
		o.Targets = nil
		r.Update(o)
		for n := range 50 {
			if r.Knows(fmt.Sprintf("api-%d", n)) {
				t.Errorf("api-%d is still known a day later", n)
			}
		}
	})
}

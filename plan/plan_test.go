package plan

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"perch.example/config"
	"perch.example/probes"
)

// target returns a target as the config's defaults make it, with its probes.
func target(name string, specs ...probes.Spec) probes.Target {
	t := probes.Target{
		Name: name, URL: address("https://" + name + ".example/v1"),
		RateLimit: 20, Share: 0.05, DailyLimit: 5000, MaxConnections: 16,
	}
	for _, s := range specs {
		s.Target, s.URL, s.Timeouts = name, t.URL, timeouts()
		t.Probes = append(t.Probes, s)
	}
	return t
}

func exchange(name string, every time.Duration) probes.Spec {
	return probes.Spec{Probe: name, Kind: probes.KindHTTP, Every: every}
}

func idle(name string, every time.Duration, holds ...time.Duration) probes.Spec {
	return probes.Spec{Probe: name, Kind: probes.KindIdle, Every: every, Holds: holds}
}

func of(targets ...probes.Target) config.Config {
	return config.Config{Name: "shop", Targets: targets, Metrics: config.Metrics{MaxSeries: 20000}}
}

// shop is contract.md's example.
func shop() config.Config {
	calendar := exchange("calendar", 5*time.Minute)
	calendar.Retry = probes.Retry{Attempts: 2, Backoff: 200 * time.Millisecond}
	ladder := idle("calendar-idle", 15*time.Minute, 30*time.Second, 59*time.Second, 61*time.Second, 120*time.Second)
	ladder.KeepAlive = time.Minute
	stock := target("stock-api", calendar, ladder)
	stock.Share, stock.MaxConnections = 0.1, 8
	return of(stock, target("prices", exchange("list", 0)))
}

func TestALadderAloneStartsAtOnce(t *testing.T) {
	c := shop()
	c.Targets = c.Targets[:1]
	for seed := range uint64(20) {
		p, err := New(c, Options{Seed: seed, Only: []string{"stock-api/calendar-idle"}})
		if err != nil {
			t.Fatal(err)
		}
		var starts, holds []time.Duration
		for _, s := range p.Steps {
			starts, holds = append(starts, s.Start), append(holds, s.Hold)
		}
		wantStarts := []time.Duration{0, 5 * time.Second, 10 * time.Second, 15 * time.Second}
		wantHolds := []time.Duration{120 * time.Second, 61 * time.Second, 59 * time.Second, 30 * time.Second}
		if !slices.Equal(starts, wantStarts) || !slices.Equal(holds, wantHolds) {
			t.Errorf("seed %d: starts %v of holds %v, want %v of %v", seed, starts, holds, wantStarts, wantHolds)
		}
	}
}

func TestTheSeedDecides(t *testing.T) {
	var c config.Config
	for i := range 10 {
		c.Targets = append(c.Targets, target(fmt.Sprint("t", i), exchange("a", time.Hour), exchange("b", time.Hour)))
	}
	starts := func(seed uint64) []time.Duration {
		p, err := New(c, Options{Seed: seed})
		if err != nil {
			t.Fatal(err)
		}
		var all []time.Duration
		for _, s := range p.Steps {
			all = append(all, s.Start)
			if s.Spec != &c.Targets[slices.IndexFunc(c.Targets, func(t probes.Target) bool { return t.Name == s.Spec.Target })].Probes[0] &&
				s.Spec.Probe == "a" {
				t.Errorf("step %d does not point at its spec", s.Index)
			}
		}
		return all
	}
	if !slices.Equal(starts(1), starts(1)) {
		t.Error("the same seed gives two plans")
	}
	if slices.Equal(starts(1), starts(2)) {
		t.Error("two seeds give the same plan")
	}
	if last := starts(1)[19]; last > time.Second {
		t.Errorf("20 exchanges are spread over %v, want 50ms for each", last)
	}
}

func TestTheSpreadIsBounded(t *testing.T) {
	tests := []struct {
		name   string
		probes int
		every  time.Duration
		limit  time.Duration
	}{
		{"few", 5, time.Hour, 200 * time.Millisecond},
		{"many", 1000, time.Hour, 10 * time.Second},
		{"a short every", 100, 10 * time.Second, time.Second},
		{"no every", 1000, 0, 10 * time.Second},
	}
	for _, test := range tests {
		var c config.Config
		for i := range test.probes {
			one := target(fmt.Sprint("t", i), exchange("a", test.every))
			one.DailyLimit = 1e6
			c.Targets = append(c.Targets, one)
		}
		p, err := New(c, Options{Seed: 7})
		if err != nil {
			t.Fatal(err)
		}
		last := p.Steps[len(p.Steps)-1].Start
		if p.Steps[0].Start != 0 || last > test.limit || last < test.limit*8/10 {
			t.Errorf("%s: starts from %v to %v, want 0 to about %v", test.name, p.Steps[0].Start, last, test.limit)
		}
	}
}

func TestNotDueTakesNothingButItsPartOfTheDay(t *testing.T) {
	c := shop()
	p, err := New(c, Options{Due: func(s probes.Spec) bool { return s.Probe != "calendar-idle" }})
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"stock-api/calendar-idle"}; !slices.Equal(p.NotDue, want) {
		t.Errorf("not due %v, want %v", p.NotDue, want)
	}
	if len(p.Steps) != 2 || p.LongestHold != 0 || p.Requests != 2 {
		t.Errorf("%d steps, longest hold %v, %d requests, want 2, 0, 2", len(p.Steps), p.LongestHold, p.Requests)
	}
	if got := p.Targets[0].Daily; got != 2*288+12*96 {
		t.Errorf("daily %d, want what both probes send", got)
	}
	none, err := New(c, Options{Due: func(probes.Spec) bool { return false }})
	if err != nil || len(none.Steps) != 0 || none.Calendar("stock-api") != nil {
		t.Errorf("nothing due: %v, %v", none, err)
	}
}

func TestOnly(t *testing.T) {
	tests := []struct {
		only []string
		want []string
	}{
		{[]string{"prices"}, []string{"prices/list"}},
		{[]string{"stock-api/calendar"}, []string{"stock-api/calendar"}},
		{[]string{"*"}, []string{"stock-api/calendar", "stock-api/calendar-idle", "prices/list"}},
		{[]string{"*/cal*"}, []string{"stock-api/calendar", "stock-api/calendar-idle"}},
		{[]string{"p*", "stock-api/calendar-????"}, []string{"stock-api/calendar-idle", "prices/list"}},
	}
	for _, test := range tests {
		p, err := New(shop(), Options{Only: test.only})
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]bool{}
		for _, s := range p.Steps {
			got[s.Spec.ID()] = true
		}
		want := map[string]bool{}
		for _, id := range test.want {
			want[id] = true
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("only %v: %v, want %v", test.only, got, want)
		}
	}
}

func TestTooManyConnectionsStartLater(t *testing.T) {
	c := of(target("api", idle("a", 0, time.Minute, time.Minute, time.Minute, time.Minute)))
	c.Targets[0].MaxConnections = 3 // one held, one held and its control
	p, err := New(c, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if p.PeakOpen > 3 || p.Targets[0].PeakOpen > 3 {
		t.Errorf("%d open at once, want at most 3", p.PeakOpen)
	}
	if p.Wall < 2*time.Minute || p.Wall > 3*time.Minute {
		t.Errorf("wall time %v, want two after the other", p.Wall)
	}
}

func TestCalendarHoldsThePlan(t *testing.T) {
	p, err := New(shop(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	cal := p.Calendar("stock-api")
	for _, s := range p.Steps {
		if s.Spec.Target != "stock-api" {
			continue
		}
		slots := []Slot{s.Warm, s.Reuse, s.Control}
		for i, want := range movedBy(s.Start, Shape(s.Spec, s.Hold)) {
			if got := cal.booked[slots[i]]; got != want {
				t.Errorf("step %d, booking %d: %v, want %v", s.Index, i, got, want)
			}
		}
		if s.Hold == 0 && (s.Reuse != 0 || s.Control != 0 || s.Rungs != 0) {
			t.Errorf("a single exchange has a rung's slots: %+v", s)
		}
		if s.Hold != 0 && s.Rungs != 4 {
			t.Errorf("step %d: %d rungs, want 4", s.Index, s.Rungs)
		}
	}
	if p.Calendar("unknown") != nil {
		t.Error("an unknown target has a calendar")
	}
}

// randomConfig returns targets with random limits and probes; its plan may be
// refused.
func randomConfig(r *rand.Rand) config.Config {
	var c config.Config
	for i := range 1 + r.IntN(4) {
		var specs []probes.Spec
		for k := range 1 + r.IntN(4) {
			s := exchange(fmt.Sprint("p", k), time.Duration(r.IntN(3))*time.Hour)
			if r.IntN(2) == 0 {
				s.Kind = probes.KindIdle
				for range r.IntN(8) {
					s.Holds = append(s.Holds, time.Duration(1000+r.IntN(60_000))*time.Millisecond)
				}
				s.KeepAlive = time.Duration(r.IntN(2)*(1+r.IntN(60))) * time.Second
			}
			specs = append(specs, s)
		}
		one := target(fmt.Sprint("t", i), specs...)
		one.RateLimit, one.Share = 20, 0.025+r.Float64()*0.975
		one.MaxConnections = 1 + r.IntN(20)
		c.Targets = append(c.Targets, one)
	}
	return c
}

func TestEveryPlanKeepsItsLimits(t *testing.T) {
	planned := 0
	for seed := range uint64(300) {
		c := randomConfig(rand.New(rand.NewPCG(seed, 8)))
		p, err := New(c, Options{Seed: seed})
		if err != nil {
			continue
		}
		planned++
		for i, one := range c.Targets {
			checkLimits(t, seed, one, p, p.Targets[i])
		}
		for i, s := range p.Steps {
			if s.Index != i || s.Start < 0 || i > 0 && s.Start < p.Steps[i-1].Start || s.end() > p.Wall {
				t.Fatalf("seed %d: step %d out of order: %+v", seed, i, s)
			}
		}
	}
	if planned < 100 {
		t.Errorf("only %d of 300 configs gave a plan", planned)
	}
}

// checkWindows checks that no window sees more of a target's requests than is allowed.
func checkWindows(t *testing.T, seed uint64, one probes.Target, p *Plan) {
	t.Helper()
	var bookings []Booking
	for _, s := range p.Steps {
		if s.Spec.Target == one.Name {
			bookings = append(bookings, movedBy(s.Start, Shape(s.Spec, s.Hold))...)
		}
	}
	cal := NewCalendar(one.Budget())
	if got := busiestWindow(bookings, cal.guarded); got > cal.allowed {
		t.Fatalf("seed %d: %s: %d in a window, allowed %d", seed, one.Name, got, cal.allowed)
	}
}

func checkLimits(t *testing.T, seed uint64, one probes.Target, p *Plan, cost TargetCost) {
	t.Helper()
	checkWindows(t, seed, one, p)
	var open []Booking
	warmed := map[string][]time.Duration{}
	rungs := map[string][]time.Duration{}
	for _, s := range p.Steps {
		if s.Spec.Target != one.Name {
			continue
		}
		open = append(open, Booking{s.Start, s.end() - 1})
		if s.Spec.Kind == probes.KindIdle {
			open = append(open, Booking{s.Start + s.Hold, s.end() - 1})
			warmed[s.Spec.ID()] = append(warmed[s.Spec.ID()], s.Start)
			rungs[s.Spec.ID()] = append(rungs[s.Spec.ID()], s.Hold)
		}
	}
	if got := busiestWindow(open, 1); got > one.MaxConnections || got != cost.PeakOpen {
		t.Fatalf("seed %d: %s: %d open, said %d, allowed %d", seed, one.Name, got, cost.PeakOpen, one.MaxConnections)
	}
	for i := range one.Probes {
		s := &one.Probes[i]
		starts := warmed[s.ID()]
		for k := 1; k < len(starts); k++ {
			if gap := starts[k] - starts[k-1]; gap < apart(s, rungsOf(rungs[s.ID()]...)) {
				t.Fatalf("seed %d: %s: rungs warmed %v apart, want %v", seed, s.ID(), gap, apart(s, rungsOf(rungs[s.ID()]...)))
			}
		}
	}
}

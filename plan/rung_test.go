package plan

import (
	"fmt"
	"math/rand/v2"
	"net/url"
	"slices"
	"testing"
	"time"

	"perch.example/probes"
)

func timeouts() probes.Timeouts {
	return probes.Timeouts{DNS: 2 * time.Second, Connect: 2 * time.Second, TLS: 2 * time.Second, Response: 5 * time.Second}
}

func address(s string) *url.URL {
	u, err := url.Parse(s)
	if err != nil {
		panic(err)
	}
	return u
}

// randomLoad returns a desk with n placed steps: rungs of random holds, each of
// its own probe, and one single exchange in five.
func randomLoad(r *rand.Rand, rate float64, n int) *desk {
	d := &desk{target: &probes.Target{MaxConnections: 1000}, cal: NewCalendar(rate), open: NewOpen(1000)}
	scheme := []string{"http", "https"}[r.IntN(2)]
	for i := range n {
		spec := &probes.Spec{
			Kind: probes.KindIdle, Probe: fmt.Sprint(i), Timeouts: timeouts(),
			URL: address(scheme + "://api.example"), KeepAlive: time.Minute,
		}
		j := &job{spec: spec, due: true, next: time.Duration(r.IntN(1000)) * time.Millisecond}
		if r.IntN(5) == 0 {
			spec.Kind = probes.KindHTTP
		} else {
			j.rungs = []rung{{hold: d.cal.guarded + time.Duration(r.IntN(60_000))*time.Millisecond}}
		}
		d.jobs = append(d.jobs, j)
	}
	d.place()
	return d
}

func TestOnTimeNothingEverWaits(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 4))
		d := randomLoad(r, 0.5+49.5*r.Float64()*r.Float64(), 1+r.IntN(60))
		s := &simulation{r: r, cal: d.cal.Clone()}
		s.run(d.steps)
		if got := busiestWindow(s.left, s.cal.window); got > s.cal.allowed {
			t.Errorf("seed %d: %d requests in a window, allowed %d", seed, got, s.cal.allowed)
		}
		if got, want := s.cal.Peak(), busiestWindow(s.left, time.Second); got != float64(want) {
			t.Errorf("seed %d: peak %v, want %d", seed, got, want)
		}
		if s.warmWaits+s.skipped+s.uncontrolled != 0 {
			t.Errorf("seed %d: %d warm-ups waited, %d reuses and %d controls lost their booking",
				seed, s.warmWaits, s.skipped, s.uncontrolled)
		}
		for _, off := range s.off {
			if off.Abs() > 10*time.Millisecond {
				t.Errorf("seed %d: a hold was off by %v", seed, off)
			}
		}
	}
}

func TestLateOnesNeverBreakTheBudget(t *testing.T) {
	late, lost := 0, 0
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 5))
		d := randomLoad(r, 0.5+49.5*r.Float64()*r.Float64(), 1+r.IntN(60))
		s := &simulation{r: r, cal: d.cal.Clone(), slow: 0.3}
		s.run(d.steps)
		if got := busiestWindow(s.left, s.cal.window); got > s.cal.allowed {
			t.Errorf("seed %d: %d requests in a window, allowed %d", seed, got, s.cal.allowed)
		}
		if s.skipped > s.late {
			t.Errorf("seed %d: %d reuses lost their booking, but only %d were late", seed, s.skipped, s.late)
		}
		for _, off := range s.off {
			if off.Abs() > 10*time.Millisecond {
				t.Errorf("seed %d: a hold was off by %v", seed, off)
			}
		}
		late, lost = late+s.late, lost+s.skipped
	}
	if late == 0 {
		t.Error("no rung was late: nothing was tested")
	}
	t.Logf("%d of %d late rungs found no room for their reuse", lost, late)
}

// The load that the prototype was measured with: 48 rungs at 5/s. Its run ended
// 1.6 s after the longest hold.
func TestFortyEightRungsAtFiveASecond(t *testing.T) {
	var ends []time.Duration
	for seed := range uint64(51) {
		r := rand.New(rand.NewPCG(seed, 6))
		d := &desk{target: &probes.Target{MaxConnections: 100}, cal: NewCalendar(5), open: NewOpen(100)}
		spec := &probes.Spec{Kind: probes.KindIdle, Timeouts: timeouts(), URL: address("http://api.example")}
		var longest time.Duration
		for range 48 {
			hold := 2*time.Second + time.Duration(r.IntN(118_000))*time.Millisecond
			longest = max(longest, hold)
			d.jobs = append(d.jobs, &job{spec: spec, due: true, rungs: []rung{{hold: hold}}})
		}
		d.place()
		s := &simulation{r: r, cal: d.cal.Clone()}
		s.run(d.steps)
		if got := busiestWindow(s.left, time.Second); got > 5 {
			t.Errorf("seed %d: %d requests in a second", seed, got)
		}
		ends = append(ends, s.end-longest)
	}
	slices.Sort(ends)
	t.Logf("the last request left %v (median), %v (worst of %d loads) after the longest hold", ends[25], ends[50], len(ends))
	if median := ends[25]; median > 1600*time.Millisecond {
		t.Errorf("the last request left %v after the longest hold, want at most 1.6s", median)
	}
}

func TestShape(t *testing.T) {
	spec := &probes.Spec{Kind: probes.KindIdle, Timeouts: timeouts(), URL: address("http://api.example")}
	secure := &probes.Spec{Kind: probes.KindIdle, Timeouts: timeouts(), URL: address("https://api.example")}
	quick := &probes.Spec{Kind: probes.KindIdle, URL: address("https://api.example"), Timeouts: probes.Timeouts{
		DNS: 10 * time.Millisecond, Connect: 20 * time.Millisecond, TLS: 30 * time.Millisecond, Response: 40 * time.Millisecond,
	}}
	tests := []struct {
		name           string
		spec           *probes.Spec
		opening, reach time.Duration
	}{
		{"plain", spec, 200 * time.Millisecond, 500 * time.Millisecond},
		{"TLS", secure, 450 * time.Millisecond, 750 * time.Millisecond},
		{"timeouts below the reach", quick, 60 * time.Millisecond, 100 * time.Millisecond},
	}
	for _, test := range tests {
		shape := Shape(test.spec, time.Minute)
		want := []Booking{
			{0, test.opening},
			{time.Minute, time.Minute + test.reach},
			{time.Minute + ControlDelay, time.Minute + test.reach + ControlDelay},
		}
		if len(shape) != 3 || shape[0] != want[0] || shape[1] != want[1] || shape[2] != want[2] {
			t.Errorf("%s: %v, want %v", test.name, shape, want)
		}
	}
	single := *spec
	single.Kind = probes.KindHTTP
	if shape := Shape(&single, 0); len(shape) != 1 || shape[0] != (Booking{0, 200 * time.Millisecond}) {
		t.Errorf("a single exchange: %v, want one booking of 200ms", shape)
	}
}

func TestRebook(t *testing.T) {
	c := NewCalendar(2)
	c.Book(At(0), At(0))
	slots, _ := c.Book(At(5*time.Second), At(8*time.Second))
	at := c.Rebook(500*time.Millisecond, slots, []Booking{At(0), At(3 * time.Second)})
	if at != 1050*time.Millisecond || c.booked[slots[0]] != At(at) || c.booked[slots[1]] != At(at+3*time.Second) {
		t.Errorf("rebooked at %v: %v, want both at 1.05s and 4.05s", at, c.booked)
	}
	if got := c.Rebook(0, slots, []Booking{At(0), At(0), At(0)}); got != Never || c.booked[slots[0]] != At(at) {
		t.Errorf("an impossible shape was rebooked at %v: %v", got, c.booked)
	}
}

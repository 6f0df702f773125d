package plan

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"perch.example/probes"
)

// pooled is a target at 20/s x share that is called in two bursts, a minute long and
// five apart.
func pooled(requests, connections int, share float64, others ...probes.Spec) probes.Target {
	burst := probes.Spec{Probe: "burst", Kind: probes.KindBurst, PoolOrder: probes.PoolLIFO, Burst: &probes.Shape{
		Requests: requests, Over: time.Minute, Connections: connections, Bursts: 2, Gap: 5 * time.Minute,
	}}
	one := target("api", append(others, burst)...)
	one.Share, one.DailyLimit, one.MaxConnections = share, 100_000, 24
	return one
}

func TestBurstsAreBookedOneByOne(t *testing.T) {
	p := mustPlan(t, of(pooled(60, 20, 0.15)), Options{})
	s := p.Steps[0]
	if len(p.Steps) != 1 || len(s.Next) != 119 || len(s.Controls) != 2 || p.Requests != 120 || p.MaxRequests != 122 || p.PeakOpen != 20 {
		t.Errorf("%d steps; %d calls booked, %d controls; %d to %d requests, %d open", len(p.Steps), 1+len(s.Next), len(s.Controls), p.Requests, p.MaxRequests, p.PeakOpen)
	}
	// The last call leaves 6m59s after the first.
	if want := 7*time.Minute - time.Second + Reach(s.Spec); p.Wall != want || p.LongestWall <= want {
		t.Errorf("takes %s to %s, want %s", p.Wall, p.LongestWall, want)
	}
	cal := p.Calendar("api")
	for i, slot := range append([]Slot{s.Warm}, s.Next...) {
		if b := cal.booked[slot]; b.From != s.Spec.Burst.Offset(i) || b.To != b.From+Opening(s.Spec) {
			t.Errorf("call %d is booked at %v", i+1, b)
		}
	}
	if len(s.Slots()) != 4+119+2 {
		t.Errorf("%d slots", len(s.Slots()))
	}
	var text bytes.Buffer
	if err := p.Text(&text); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"2 bursts of 60 over 1m (one each 1s), through 20 connections (lifo), 5m idle between", "120 to 122", "20 of 24"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("no %q in\n%s", want, text.String())
		}
	}
}

// Whatever else is planned, no window sees more than is allowed, and no more
// connections are open.
func TestBurstsKeepTheBudget(t *testing.T) {
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 7))
		ladder := idle("idle", 0, time.Duration(2000+r.IntN(20_000))*time.Millisecond, 10*time.Second)
		one := pooled(2+r.IntN(60), 2, 0.2+r.Float64()*0.8, ladder, exchange("a", 0), exchange("b", 0))
		one.MaxConnections = 3 + r.IntN(4)
		p := mustPlan(t, of(one), Options{Seed: seed})
		checkWindows(t, seed, one, p)
		if cost := p.Targets[0]; cost.PeakOpen > one.MaxConnections || len(p.Steps) != 5 {
			t.Fatalf("seed %d: %d open, %d steps", seed, cost.PeakOpen, len(p.Steps))
		}
	}
}

// What is refused names its numbers and what would fit, and that does fit.
func TestBurstsThatDoNotFit(t *testing.T) {
	often := pooled(60, 20, 0.15)
	often.Probes[0].Every = 5 * time.Minute
	once := pooled(60, 20, 0.15)
	once.Probes[0].Every, once.Probes[0].Burst.Bursts = 30*time.Second, 1
	daily := pooled(60, 20, 0.15)
	daily.Probes[0].Every, daily.DailyLimit = 10*time.Minute, 5000
	quick := pooled(60, 20, 0.15)
	quick.Probes[0].Burst.Over = time.Second
	for _, c := range []struct {
		name   string
		target probes.Target
		o      Options
		want   string
	}{
		{"the budget", pooled(60, 20, 0.05), Options{}, "api/burst: 60 requests over 1m are one each 1s, and with a control beside them more than the budget of 1/s (rate_limit 20/s x share 5%), which allows 2 in 2.1s: over 2m33s, or up to 23 requests, or a share of 15%, would fit"},
		{"the budget, and a pool that fewer would not fill", pooled(60, 24, 0.05), Options{}, "over 2m33s, or a share of 15%, would fit"},
		{"a quick burst", quick, Options{}, "60 requests over 1s are one each 17ms"},
		{"every", often, Options{}, "api/burst: its 2 bursts take 7m, every is 5m: every 7m would fit"},
		{"every, of one", once, Options{}, "its burst takes 1m, every is 30s: every 1m would fit"},
		{"the day", daily, Options{}, "api: its probes send up to 17568 requests a day, daily_limit is 5000: every 36m for api/burst, or a daily_limit of 17568, would fit"},
		{"today", pooled(60, 20, 0.15), Options{DailyUsed: func(string) int { return 99_900 }}, "this run sends up to 122 requests, of the daily_limit of 100000 there are 100 left today"},
		{"the deadline", pooled(60, 20, 0.15), Options{Deadline: 5 * time.Minute}, "api/burst: its last step starts at 0s and ends 7m after the run's start, the deadline is 5m: a deadline of 7m would fit"},
	} {
		_, err := New(of(c.target), c.o)
		var refusal *Refusal
		if !errors.As(err, &refusal) || len(refusal.Problems) != 1 || !strings.Contains(refusal.Error(), c.want) {
			t.Errorf("%s:\n%v\nwant %s", c.name, err, c.want)
		}
	}
	slower := pooled(60, 20, 0.05)
	slower.Probes[0].Burst.Over = 153 * time.Second
	for name, fits := range map[string]probes.Target{"over": slower, "requests": pooled(23, 20, 0.05), "share": pooled(60, 20, 0.15)} {
		if _, err := New(of(fits), Options{}); err != nil {
			t.Errorf("what was said to fit, another %s, does not: %v", name, err)
		}
	}
}

// The largest burst there is plans in no time.
func TestBurstOfAThousandCalls(t *testing.T) {
	one := pooled(500, 24, 1)
	one.Probes = append(one.Probes, one.Probes[0])
	one.Probes[1].Probe = "again"
	began := time.Now()
	p := mustPlan(t, of(one), Options{})
	if took := time.Since(began); len(p.Steps) != 2 || took > 5*time.Second {
		t.Errorf("%d steps after %s", len(p.Steps), took)
	}
}

// A policy bounds for how long a pool keeps its connections.
func TestBurstsObeyThePolicy(t *testing.T) {
	c := of(pooled(60, 20, 0.15))
	c.Policy = &probes.Policy{MaxHold: 5 * time.Minute}
	_, err := New(c, Options{})
	if err == nil || !strings.Contains(err.Error(), "its pool keeps connections for 6m59s, from the first call to the last, and the policy allows 5m") {
		t.Errorf("%v", err)
	}
}

// A pool that is full too late is a note: what dies while it fills is the replay's doing.
func TestBurstFillsLate(t *testing.T) {
	for keep, said := range map[time.Duration]bool{0: false, 19 * time.Second: true, 10 * time.Second: true, 20 * time.Second: false} {
		target := pooled(60, 20, 0.15)
		target.Probes[0].KeepAlive = keep
		p, err := New(of(target), Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(strings.Join(p.Notes, "\n"), "api/burst: its pool of 20 is full 19s after the first call, and keep_alive is "); got != said {
			t.Errorf("keep_alive %s: %q", keep, p.Notes)
		}
	}
}

package plan

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"perch.example/config"
	"perch.example/probes"
)

// busy is a target at 20/s x share with a probe of n requests on one connection.
func busy(n int, gap time.Duration, share float64, others ...probes.Spec) probes.Target {
	many := exchange("limit", 0)
	many.Requests, many.Gap, many.Retry.Attempts, many.Redirects = n, gap, 2, 3
	one := target("api", append(others, many)...)
	one.Share, one.DailyLimit = share, 100_000
	return one
}

func TestManyRequestsAreBooked(t *testing.T) {
	for _, c := range []struct {
		n          int
		gap, share float64
		wall       string
	}{
		{100, 0, 0.05, "3m18.75s"}, // 1/s: one each 2 s
		{100, 0, 0.5, "20.55s"},    // 10/s: one each 200 ms
		{5, 10, 0.05, "40.75s"},
	} {
		p := mustPlan(t, of(busy(c.n, time.Duration(c.gap*float64(time.Second)), c.share)), Options{})
		s := p.Steps[0]
		if len(p.Steps) != 1 || len(s.Next) != c.n-1 || p.Requests != c.n || p.MaxRequests != c.n+1 {
			t.Errorf("%d requests: %d steps, %d booked, %d to %d", c.n, len(p.Steps), 1+len(s.Next), p.Requests, p.MaxRequests)
		}
		if got := short(p.Wall); got != c.wall {
			t.Errorf("%d requests each %g s at %g/s take %s, want %s", c.n, c.gap, c.share*20, got, c.wall)
		}
		if s.Spec.Retry.Attempts != 0 || s.Spec.Redirects != 0 {
			t.Errorf("a second try or redirects on another connection: %+v", s.Spec)
		}
	}
}

// Half of the budget stays for others, whatever else is planned, and no window sees
// more than is allowed.
func TestManyRequestsKeepTheBudget(t *testing.T) {
	for seed := range uint64(100) {
		r := rand.New(rand.NewPCG(seed, 3))
		ladder := idle("idle", 0, time.Duration(2000+r.IntN(20_000))*time.Millisecond, 10*time.Second)
		ladder.Unused = r.IntN(2) == 0
		one := busy(2+r.IntN(60), time.Duration(r.IntN(3000))*time.Millisecond, 0.1+r.Float64()*0.9, ladder, exchange("a", 0), exchange("b", 0))
		p := mustPlan(t, of(one), Options{Seed: seed})
		checkWindows(t, seed, one, p)
		if cost := p.Targets[0]; cost.PeakOpen > one.MaxConnections {
			t.Fatalf("seed %d: %d open", seed, cost.PeakOpen)
		}
	}
}

func TestManyRequestsThatDoNotFit(t *testing.T) {
	rare := busy(1000, 0, 0.05)
	rare.Probes[0].Every = 10 * time.Minute
	over := busy(1000, 0, 0.05)
	over.DailyLimit = 800
	over.Probes[0].Every = time.Hour
	for _, c := range []struct {
		name   string
		config config.Config
		o      Options
		want   string
	}{
		{"every", of(rare), Options{}, "its 1000 requests take 33m19s, one each 2s, every is 10m: every 33m19s, or up to 300 requests, would fit"},
		{"a day", of(over), Options{}, "daily_limit is 800"},
		{"the deadline", of(busy(1000, 0, 0.05)), Options{Deadline: time.Minute}, "the deadline is 1m"},
	} {
		_, err := New(c.config, c.o)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}

// Each rung has one more connection, which carries nothing before it is held.
func TestUnusedRungs(t *testing.T) {
	ladder := idle("idle", 0, 10*time.Second, 20*time.Second)
	ladder.Unused = true
	p := mustPlan(t, of(target("api", ladder)), Options{})
	holds := map[bool][]time.Duration{}
	for _, s := range p.Steps {
		holds[s.Unused] = append(holds[s.Unused], s.Hold)
		if s.Rungs != 4 || s.Unused != strings.HasPrefix(s.From, "unused, ") || s.Reuse == 0 || s.Control == 0 {
			t.Errorf("%+v", s)
		}
	}
	if len(holds[true]) != 2 || len(holds[false]) != 2 || p.Requests != 8 || p.MaxRequests != 12 {
		t.Errorf("%v, %d to %d requests", holds, p.Requests, p.MaxRequests)
	}
	var text bytes.Buffer
	if err := p.Text(&text); err != nil || strings.Count(text.String(), "unused, holds") != 2 {
		t.Errorf("%v\n%s", err, &text)
	}
}

// TestOneMistakeIsToldOnce: what a day would take follows from requests that do not fit,
// and an idle probe that does not say what for is told so before anything else.
func TestOneMistakeIsToldOnce(t *testing.T) {
	rare := busy(5000, 0, 0.05)
	rare.Probes[0].Every = 5 * time.Minute
	bare := target("api", probes.Spec{Probe: "up", Kind: probes.KindIdle, Every: 5 * time.Minute})
	bare.DailyLimit = 1000
	for name, c := range map[string]struct {
		config config.Config
		want   string
	}{
		"requests": {of(rare), "up to 150 requests, would fit"},
		"idle":     {of(bare), ": keep_alive, or a few holds, for api/up, which has neither and so "},
	} {
		_, err := New(c.config, Options{})
		var r *Refusal
		if !errors.As(err, &r) || len(r.Problems) != 1 || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want one problem with %q", name, err, c.want)
		}
	}
}

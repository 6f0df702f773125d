package plan

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"perch.example/config"
	"perch.example/probes"
)

// laddered is a target with a made ladder around a keep_alive of a minute.
func laddered(every time.Duration, client *probes.Client) probes.Target {
	one := target("api", probes.Spec{Probe: "a", Kind: probes.KindIdle, Every: every, KeepAlive: time.Minute})
	one.Share, one.Client = 0.15, client
	one.Probes[0].Client = client
	return one
}

func held(p *Plan) []string {
	var all []string
	for _, s := range p.Steps {
		if s.Spec.Kind == probes.KindIdle {
			all = append(all, short(s.Hold))
		}
	}
	slices.Sort(all)
	return all
}

func TestWhatALadderLeavesOut(t *testing.T) {
	apache := &probes.Client{Kind: "apache-httpclient-4.5"}
	ends := map[string]time.Duration{"api/a": time.Second}
	with := func(one probes.Target, change func(*probes.Target)) config.Config {
		change(&one)
		return of(one)
	}
	same := func(*probes.Target) {}
	tests := []struct {
		name    string
		config  config.Config
		options Options
		want    []string
		note    string
	}{
		{
			"all of it fits", with(laddered(10*time.Minute, apache), same), Options{Ends: ends},
			[]string{"1.5s", "1.9s", "1m1s", "2.1s", "2m", "30s", "59s"}, "",
		},
		{
			"the daily limit: what lies beside goes first, where the application fails stays", with(laddered(5*time.Minute, apache), same), Options{Ends: ends},
			[]string{"1.5s", "1.9s", "1m1s", "2.1s", "59s"},
			"api/a: no rung of 30s (half of keep_alive 1m), 2m (twice keep_alive 1m): api would send 6048 requests a day with all of them, 5000 are allowed: " +
				"every 6m4s for api/a, or a daily_limit of 6048, would fit",
		},
		{
			"a smaller one", with(laddered(5*time.Minute, apache), func(one *probes.Target) { one.DailyLimit = 2600 }), Options{Ends: ends},
			[]string{"1.5s", "1m1s", "59s"},
			"api/a: no rung of 1.9s (just below validate_after 2s), 2.1s (just above validate_after 2s), 30s (half of keep_alive 1m), 2m (twice keep_alive 1m): " +
				"api would send 6048 requests a day with all of them, 2600 are allowed: every 11m43s for api/a, or a daily_limit of 6048, would fit",
		},
		{
			"the budget of a day", with(laddered(210*time.Second, nil), func(one *probes.Target) { one.RateLimit, one.Share, one.DailyLimit = 1, 0.04, 1e6 }), Options{},
			[]string{"1m1s", "59s"},
			"api/a: no rung of 30s (half of keep_alive 1m): the budget of 0.04/s is too small for so short a hold: a rate_limit of 3/s with a share of 100% would fit\n" +
				"api/a: no rung of 2m (twice keep_alive 1m): api would send 3708 requests a day with all of them, 3456 are allowed: " +
				"every 3m45s for api/a, or a share of 4.3%, would fit",
		},
		{
			"a short every", with(laddered(2*time.Minute, apache), func(one *probes.Target) { one.DailyLimit = 1e6 }), Options{},
			[]string{"1.9s", "1m1s", "2.1s", "30s", "59s"},
			"api/a: no rung of 2m (twice keep_alive 1m): every 2m leaves room for 1m48s",
		},
		{
			"a deadline", with(laddered(10*time.Minute, apache), same), Options{Deadline: 90 * time.Second},
			[]string{"1.9s", "1m1s", "2.1s", "30s", "59s"},
			"api/a: no rung of 2m (twice keep_alive 1m): the deadline of 1m30s leaves room for 1m28.4s",
		},
		{
			"a budget too small for short holds", with(laddered(10*time.Minute, apache), func(one *probes.Target) { one.Share = 0.05 }), Options{Ends: ends},
			[]string{"1m1s", "2m", "30s", "59s"},
			"api/a: no rung of 1.5s (danger band 1s to 2s, last run), 1.9s (just below validate_after 2s), 2.1s (just above validate_after 2s): " +
				"the budget of 1/s is too small for so short a hold: a share of 15% would fit",
		},
		{
			"one connection after the other", with(laddered(4*time.Minute, apache), func(one *probes.Target) { one.MaxConnections, one.DailyLimit = 2, 1e6 }), Options{Ends: ends},
			[]string{"1.5s", "1.9s", "1m1s", "2.1s", "30s", "59s"},
			"api/a: no rung of 2m (twice keep_alive 1m): the ladder would not be over in time: a longer every or deadline, or more max_connections, would fit",
		},
	}
	for _, test := range tests {
		p, err := New(test.config, test.options)
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		if got := held(p); !slices.Equal(got, test.want) {
			t.Errorf("%s: holds %v, want %v", test.name, got, test.want)
		}
		if got := strings.Join(p.Notes, "\n"); got != test.note {
			t.Errorf("%s: notes\n%s\nwant\n%s", test.name, got, test.note)
		}
	}
}

// The config's own holds stay, and the plan says where they are blind.
func TestHoldsOutsideOfTheMeasuredBand(t *testing.T) {
	incident := func(client *probes.Client, holds ...time.Duration) config.Config {
		c := of(laddered(10*time.Minute, client))
		c.Targets[0].Probes[0].Holds = holds
		return c
	}
	apache := &probes.Client{Kind: "apache-httpclient-4.5"}
	blind := &probes.Client{Kind: "apache-httpclient-4.5", ValidateAfter: probes.Limit{Mode: probes.LimitNone}, MaxIdle: probes.Limit{Mode: probes.LimitNone}}
	tests := []struct {
		name   string
		config config.Config
		end    time.Duration
		note   string
	}{
		{
			"mission.md's incident", incident(apache, seconds(30, 59, 61, 120)...), time.Second,
			"api/a: no hold lies in the danger band 1s to 2s of the last run, where apache-httpclient-4.5 uses what is closed: add 1.5s",
		},
		{"no early close", incident(apache, seconds(30, 59, 61, 120)...), 0, ""},
		{"a hold inside", incident(apache, seconds(1.8, 30)...), time.Second, ""},
		{"a client that looks by then", incident(apache, seconds(30)...), 40 * time.Second, ""},
		{"no client", incident(nil, seconds(30)...), time.Second, ""},
		{
			"a band without end", incident(blind, seconds(1, 2)...), 10 * time.Second,
			"api/a: no hold lies in the danger band from 10s of the last run, where apache-httpclient-4.5 uses what is closed: add 20s",
		},
	}
	for _, test := range tests {
		p, err := New(test.config, Options{Ends: map[string]time.Duration{"api/a": test.end, "other/a": time.Second}})
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		if got := strings.Join(p.Notes, "\n"); got != test.note {
			t.Errorf("%s: notes %q, want %q", test.name, got, test.note)
		}
		if len(p.Steps) != len(test.config.Targets[0].Probes[0].Holds) {
			t.Errorf("%s: %d steps of %v", test.name, len(p.Steps), test.config.Targets[0].Probes[0].Holds)
		}
	}
}

// What the last run saw must not make a plan impossible that was possible
// before: it would end the runs of a night.
func TestMeasuringNeverRefusesAPlan(t *testing.T) {
	planned, grown := 0, 0
	for seed := range uint64(600) {
		r := rand.New(rand.NewPCG(seed, 10))
		var c config.Config
		ends := map[string]time.Duration{}
		for i := range 1 + r.IntN(3) {
			one := target(fmt.Sprint("t", i))
			for k := range 1 + r.IntN(2) {
				l := randomLadder(r)
				if r.IntN(2) == 0 && l.spec.KeepAlive > 2*time.Second { // as in the incident
					l.spec.Client, l.end = &probes.Client{Kind: "apache-httpclient-4.5"}, time.Duration(200+r.IntN(1700))*time.Millisecond
				}
				s := l.spec
				s.Target, s.Probe, s.Kind, s.URL, s.Timeouts = one.Name, fmt.Sprint("p", k), probes.KindIdle, one.URL, timeouts()
				s.Every = time.Duration(r.IntN(20)) * time.Minute
				if l.end > 0 {
					ends[s.ID()] = l.end
				}
				one.Probes = append(one.Probes, s)
			}
			one.Share, one.DailyLimit, one.MaxConnections = 0.1+r.Float64()*0.9, 500+r.IntN(10000), 2+r.IntN(14)
			c.Targets = append(c.Targets, one)
		}
		o := Options{Seed: seed}
		if r.IntN(2) == 0 {
			o.Deadline = time.Duration(1+r.IntN(1200)) * time.Second
		}
		before, err := New(c, o)
		if err != nil {
			continue
		}
		planned++
		o.Ends = ends
		p, err := New(c, o)
		if err != nil {
			t.Fatalf("seed %d: refused once something was measured: %v", seed, err)
		}
		if slices.ContainsFunc(p.Steps, func(s Step) bool { return strings.HasSuffix(s.From, ", last run") }) {
			grown++
		}
		for _, s := range p.Steps {
			if s.From == "" {
				t.Fatalf("seed %d: a hold of %v comes from nowhere", seed, s.Hold)
			}
		}
		for i, one := range c.Targets {
			checkLimits(t, seed, one, p, p.Targets[i])
			if p.Targets[i].Daily > one.DailyLimit || o.Deadline > 0 && max(before.Wall, p.Wall) > o.Deadline {
				t.Fatalf("seed %d: %+v, wall %v, beyond its limits", seed, p.Targets[i], p.Wall)
			}
		}
	}
	if planned < 150 || grown < 30 {
		t.Errorf("only %d of 600 configs gave a plan, %d with a rung from the last run", planned, grown)
	}
}

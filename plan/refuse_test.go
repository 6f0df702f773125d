package plan

import (
	"errors"
	"strings"
	"testing"
	"time"

	"perch.example/config"
	"perch.example/probes"
)

func TestRefusals(t *testing.T) {
	withConnections := func(n int, one probes.Target) probes.Target { one.MaxConnections = n; return one }
	withDaily := func(n int, one probes.Target) probes.Target { one.DailyLimit = n; return one }
	withRate := func(limit probes.Rate, share float64, one probes.Target) probes.Target {
		one.RateLimit, one.Share = limit, share
		return one
	}
	minutes := time.Minute
	tests := []struct {
		name    string
		config  config.Config
		options Options
		want    string
	}{
		{
			"a pattern that matches nothing",
			shop(), Options{Only: []string{"stock", "prices/*", "stock-api/[x"}},
			"--only stock: matches nothing, known are: stock-api/calendar, stock-api/calendar-idle, prices/list\n" +
				`--only stock-api/[x: not a pattern: a [ needs its ], a \ a character after it`,
		},
		{
			"no connection for the control",
			of(withConnections(1, target("api", idle("a", 0, 30*time.Second)))), Options{},
			"api/a: a rung needs 2 open connections (the held one, and its control's), max_connections is 1: max_connections 2 would fit",
		},
		{
			"a rate too small for a short hold",
			of(target("api", idle("a", 0, time.Second, 30*time.Second))), Options{},
			"api/a: a hold of 1s needs 3 requests within 2.1s (warm-up, reuse and control), the budget of 1/s (rate_limit 20/s x share 5%) allows 2: " +
				"holds from 2.45s, or a share of 15%, would fit",
		},
		{
			"a rate limit too small for a short hold",
			of(withRate(2, 0.1, target("api", idle("a", 0, 5*time.Second)))), Options{},
			"api/a: a hold of 5s needs 3 requests within 10.5s (warm-up, reuse and control), the budget of 0.2/s (rate_limit 2/s x share 10%) allows 2: " +
				"holds from 10.85s, or a rate_limit of 3/s with a share of 100%, would fit",
		},
		{
			"the daily limit",
			of(withDaily(500, target("api", exchange("a", 5*minutes), idle("b", 30*minutes, 30*time.Second, 60*time.Second)))), Options{},
			"api: its probes send up to 576 requests a day, daily_limit is 500: every 6m48s for api/a, or a daily_limit of 576, would fit",
		},
		{
			"the daily limit, whichever probe is made rarer",
			of(withDaily(100, target("api", exchange("a", 10*minutes), exchange("b", 10*minutes)))), Options{},
			"api: its probes send up to 288 requests a day, daily_limit is 100: a daily_limit of 288 would fit",
		},
		{
			"the budget of a day",
			of(withRate(1, 0.001, target("api", exchange("a", 10*minutes)))), Options{},
			"api: its probes send up to 144 requests a day, the budget of 0.001/s gives 86: every 16m45s for api/a, or a share of 0.2%, would fit",
		},
		{
			"today's requests are used up",
			shop(), Options{DailyUsed: func(target string) int { return map[string]int{"stock-api": 4990, "prices": 6000}[target] }},
			"stock-api: this run sends up to 14 requests, of the daily_limit of 5000 there are 10 left today: tomorrow (UTC), or a daily_limit of 5004, would fit\n" +
				"prices: this run sends up to 1 request, of the daily_limit of 5000 there are 0 left today: tomorrow (UTC), or a daily_limit of 6001, would fit",
		},
		{
			"a whole day has too few",
			of(withDaily(3, target("api", idle("a", 0, 30*time.Second, time.Minute)))), Options{},
			"api: this run sends up to 6 requests, daily_limit is 3: a daily_limit of 6 would fit",
		},
		{
			"a whole day has too few, and today fewer",
			of(withDaily(3, target("api", idle("a", 0, 30*time.Second, time.Minute)))), Options{DailyUsed: func(string) int { return 2 }},
			"api: this run sends up to 6 requests, of the daily_limit of 3 there are 1 left today, and a whole day has too few: a daily_limit of 8, or from tomorrow (UTC) on one of 6, would fit",
		},
		{
			"a hold longer than the deadline",
			shop(), Options{Deadline: minutes},
			"stock-api/calendar-idle: a hold of 2m does not end within the deadline of 1m: holds up to 48.4s, or a deadline of 2m2s, would fit",
		},
		{
			"a deadline shorter than any hold",
			shop(), Options{Deadline: time.Second},
			"stock-api/calendar-idle: a hold of 2m does not end within the deadline of 1s: a deadline of 2m2s would fit",
		},
		{
			"one after the other, beyond the deadline",
			of(withConnections(2, target("api", idle("a", 0, 30*time.Second, 31*time.Second)))), Options{Deadline: minutes},
			"api/a: its last step starts at 33.85s and ends 1m6s after the run's start, the deadline is 1m: a deadline of 1m6s would fit",
		},
		{
			"rungs longer than every",
			of(withDaily(8640, target("api", idle("a", minutes, 30*time.Second, 90*time.Second)))), Options{},
			"api/a: its rungs take 1m32s, every is 1m: every 1m32s, or holds up to 58s, would fit",
		},
		{
			"every shorter than any hold",
			of(withDaily(1e6, target("api", idle("a", time.Second, 30*time.Second)))), Options{},
			"api: its probes send up to 259200 requests a day, the budget of 1/s gives 86400: every 3s for api/a, or a share of 15%, would fit\n" +
				"api/a: its rungs take 32s, every is 1s: every 32s would fit",
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			p, err := New(test.config, test.options)
			var refusal *Refusal
			if p != nil || !errors.As(err, &refusal) {
				t.Fatalf("got %v, %v, want a refusal", p, err)
			}
			if err.Error() != test.want {
				t.Errorf("got\n%s\nwant\n%s", err, test.want)
			}
			if got := strings.Count(err.Error(), "\n") + 1; got != len(refusal.Problems) {
				t.Errorf("%d lines for %d problems", got, len(refusal.Problems))
			}
		})
	}
}

// What a refusal says would fit must fit.
func TestWhatWouldFitFits(t *testing.T) {
	tests := []struct {
		name   string
		change func(*config.Config, *Options)
	}{
		{"a longer hold", func(c *config.Config, _ *Options) {
			c.Targets = []probes.Target{target("api", idle("a", 0, 2450*time.Millisecond))}
		}},
		{"a larger share", func(c *config.Config, _ *Options) {
			c.Targets = []probes.Target{target("api", idle("a", 0, time.Second))}
			c.Targets[0].Share = 0.15
		}},
		{"two connections", func(c *config.Config, _ *Options) {
			c.Targets[0].MaxConnections = 2
			c.Targets[0].Probes[1].Every = time.Hour
		}},
		{"the daily limit", func(c *config.Config, _ *Options) { c.Targets[0].DailyLimit = 2*288 + 12*96 }},
		{"rarer", func(c *config.Config, _ *Options) {
			c.Targets = []probes.Target{target("api", exchange("a", 6*time.Minute+48*time.Second), idle("b", 30*time.Minute, 30*time.Second, time.Minute))}
			c.Targets[0].DailyLimit = 500
		}},
		{"what is left today", func(_ *config.Config, o *Options) {
			o.DailyUsed = func(string) int { return 4986 }
		}},
		{"a whole day", func(c *config.Config, _ *Options) {
			c.Targets = []probes.Target{target("api", idle("a", 0, 30*time.Second, time.Minute))}
			c.Targets[0].DailyLimit = 6
		}},
		{"a whole day, and what is used", func(c *config.Config, o *Options) {
			c.Targets = []probes.Target{target("api", idle("a", 0, 30*time.Second, time.Minute))}
			c.Targets[0].DailyLimit = 8
			o.DailyUsed = func(string) int { return 2 }
		}},
		{"the deadline", func(_ *config.Config, o *Options) { o.Deadline = 2*time.Minute + 2*time.Second }},
		{"holds within every", func(c *config.Config, _ *Options) {
			c.Targets = []probes.Target{target("api", idle("a", time.Minute, 30*time.Second, 58*time.Second))}
			c.Targets[0].DailyLimit = 8640
		}},
	}
	for _, test := range tests {
		c, o := shop(), Options{}
		test.change(&c, &o)
		if _, err := New(c, o); err != nil {
			t.Errorf("%s: %v", test.name, err)
		}
	}
}

func TestAMadeLadderLeavesOutWhatCannotFit(t *testing.T) {
	c := of(target("api", probes.Spec{Probe: "a", Kind: probes.KindIdle, KeepAlive: 3 * time.Second}))
	p, err := New(c, Options{})
	if err != nil {
		t.Fatal(err)
	}
	want := "api/a: no rung of 1.5s (half of keep_alive 3s): the budget of 1/s is too small for so short a hold: a share of 15% would fit"
	if len(p.Steps) != 3 || len(p.Notes) != 1 || p.Notes[0] != want {
		t.Errorf("%d steps, notes %q, want 3 and %q", len(p.Steps), p.Notes, want)
	}
}

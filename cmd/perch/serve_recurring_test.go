package main

import (
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"perch.example/probes"
)

// A secret that goes away is said once for all probes that need it, again each ten
// minutes, and once when it is there again; what it keeps from being done counts each
// time.
func TestServeSaysAMissingSecretOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		text := strings.ReplaceAll(many(3, 10*time.Second), "rate_limit:", "headers: [{name: Authorization, from: {env: TOKEN}}], rate_limit:")
		s := newStation(t, text)
		s.prepare(text, &shelf{})
		var gone atomic.Bool
		s.service.sys.env = func(name string) (string, bool) {
			return "https://slack.example/services/T/B/x", name == "HOOK" || name == "TOKEN" && !gone.Load()
		}
		said := func(errors, again int) {
			t.Helper()
			log := s.log.String()
			if n := strings.Count(log, "level=ERROR"); n != errors || strings.Count(log, "TOKEN") < n {
				t.Errorf("%d errors, want %d of TOKEN", n, errors)
			}
			if n := strings.Count(log, "perch can do again what it could not"); n != again {
				t.Errorf("said %d times that it is there again, want %d", n, again)
			}
		}
		s.begin()
		time.Sleep(2 * time.Minute)
		said(0, 0)
		gone.Store(true)
		time.Sleep(15 * time.Second)
		said(1, 0)
		asked := s.allAsked()
		time.Sleep(24 * time.Minute)
		said(3, 0)
		if n := s.allAsked() - asked; n != 0 {
			t.Errorf("%d requests without their secret", n)
		}
		s.wants("/metrics", 200, `perch_problems_total{part="internal",perch="shop",vantage="test"} 43`) // 3 in 10 s
		s.wants("/metrics", 200, `target="api-2",vantage="test",verdict="incomplete"} 14`)
		gone.Store(false)
		time.Sleep(15 * time.Second)
		said(3, 1)
		want(t, "the log", s.log.String(), "for=24m")
		gone.Store(true)
		time.Sleep(15 * time.Second)
		said(4, 1)
		if err := s.stop(); err != nil {
			t.Error(err)
		}
	})
}

// A bug's stack is another one each time, and no other problem; a wave that was cut short
// or left out shows nothing of what is over; of a probe that is gone nothing is said.
func TestRecurring(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log logged
		s := &service{log: slog.New(slog.NewTextHandler(&log, nil)), recurring: map[string]*recurring{}}
		wave := func(id string, all ...probes.Observation) {
			time.Sleep(time.Second)
			s.sayRecurring(&played{loop: &loop{id: id}, seen: all})
		}
		said := func(when string, lines ...string) {
			t.Helper()
			var got []string
			for line := range strings.Lines(log.String()) {
				_, rest, _ := strings.Cut(line, "level=")
				got = append(got, strings.TrimSpace(rest))
			}
			if len(got) != len(lines) {
				t.Fatalf("%s: %d lines, want %d:\n%s", when, len(got), len(lines), log.String())
			}
			for n, line := range lines {
				if !strings.Contains(got[n], line) {
					t.Errorf("%s: %s, want %s", when, got[n], line)
				}
			}
		}
		bug := func(stack string) probes.Observation {
			return probes.Observation{Target: "api", Probe: "a", Cut: probes.CutInternal, Problem: "a bug in perch: x\n" + stack}
		}
		misfit := probes.Observation{Target: "api", Probe: "b", Cut: probes.CutConfig, Problem: "no method"}
		wave("api/a", bug("goroutine 1"))
		wave("api/a", bug("goroutine 2"), probes.Observation{})
		wave("api/b", misfit)
		begun := []string{`ERROR msg="perch could not do its own part" part=internal error="api/a: a bug in perch: x\ngoroutine 1"`, `part=config error="api/b: no method"`}
		said("begun", begun...)
		wave("api/a", probes.Observation{Cut: probes.CutSkipped})
		wave("api/a")
		wave("api/other", probes.Observation{})
		said("nothing is over", begun...)
		wave("api/b", misfit, bug("goroutine 3"))
		wave("api/a", probes.Observation{})
		said("one of two is well", begun...)
		wave("api/b", probes.Observation{})
		wave("api/b", probes.Observation{})
		if len(s.recurring) != 0 || strings.Count(log.String(), "perch can do again what it could not") != 2 {
			t.Errorf("%d left\n%s", len(s.recurring), log.String())
		}
		before := log.String()
		wave("api/a", bug("goroutine 4"))
		s.forgetRecurring(map[string]bool{"api/b": true})
		if len(s.recurring) != 0 || strings.Count(log.String(), "\n") != strings.Count(before, "\n")+1 {
			t.Errorf("of a probe that is gone: %d left\n%s", len(s.recurring), log.String())
		}
	})
}

// Problems that differ in a number are one; of those that differ each time no more than
// mostRecurring are kept, and what comes beyond is not said.
func TestRecurringIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log logged
		s := &service{log: slog.New(slog.NewTextHandler(&log, nil)), recurring: map[string]*recurring{}}
		wave := func(problem string) {
			s.sayRecurring(&played{loop: &loop{id: "api/a"}, seen: []probes.Observation{{Target: "api", Probe: "a", Cut: probes.CutInternal, Problem: problem}}})
		}
		said := func(want int) {
			t.Helper()
			if n := strings.Count(log.String(), "level=ERROR"); n != want || len(s.recurring) != want {
				t.Errorf("said %d, kept %d, want %d", n, len(s.recurring), want)
			}
		}
		for n := range 1000 {
			wave(fmt.Sprintf("no token after %d ms", n))
		}
		said(1)
		for n := range 1000 {
			wave(fmt.Sprintf("no file f%d", n))
		}
		said(mostRecurring)
		s.sayRecurring(&played{loop: &loop{id: "api/a"}, seen: []probes.Observation{{Target: "api", Probe: "a"}}})
		if len(s.recurring) != 0 {
			t.Errorf("%d left", len(s.recurring))
		}
		want(t, "the log", log.String(), `was="no token after 0 ms"`)
	})
}

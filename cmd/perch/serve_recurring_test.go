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

// A secret that goes away is said once for each target that needs it, again each ten
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
		said(3, 0)
		asked := s.allAsked()
		time.Sleep(24 * time.Minute)
		said(9, 0)
		if n := s.allAsked() - asked; n != 0 {
			t.Errorf("%d requests without their secret", n)
		}
		s.wants("/metrics", 200, `perch_problems_total{part="internal",perch="shop",vantage="test"} 43`) // 3 in 10 s
		s.wants("/metrics", 200, `target="api-2",vantage="test",verdict="incomplete"} 14`)
		gone.Store(false)
		time.Sleep(15 * time.Second)
		said(9, 3)
		want(t, "the log", s.log.String(), "for=24m")
		gone.Store(true)
		time.Sleep(15 * time.Second)
		said(12, 3)
		if err := s.stop(); err != nil {
			t.Error(err)
		}
	})
}

// recorder is a service that has met nothing, and what it logs.
func recorder() (*service, *logged) {
	var log logged
	return &service{log: slog.New(slog.NewTextHandler(&log, nil)), recurring: map[string]*recurring{}}, &log
}

// met has a service look at a wave of a probe's, a second after the one before.
func met(s *service, target, probe string, all ...probes.Observation) {
	time.Sleep(time.Second)
	for i := range all {
		all[i].Target, all[i].Probe = target, probe
	}
	s.sayRecurring(&played{loop: &loop{id: target + "/" + probe, spec: &probes.Spec{Target: target, Probe: probe}}, seen: all})
}

func misfit(problem string) probes.Observation {
	return probes.Observation{Cut: probes.CutConfig, Problem: problem}
}

func ended(r probes.Reason) probes.Observation {
	return probes.Observation{Attempts: []probes.Attempt{{Reason: r}}}
}

// A bug's stack is another one each time, and no other problem; a wave that was cut short, left
// out or not answered shows nothing of what is over; one with a rung that is always left out
// does; of a probe that is gone nothing is said.
func TestRecurring(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, log := recorder()
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
		left, ok := probes.Observation{Cut: probes.CutSkipped}, ended(probes.ReasonOK)
		met(s, "api", "a", misfit("a bug in perch: x\ngoroutine 1"))
		met(s, "api", "a", misfit("a bug in perch: x\ngoroutine 2"), ok)
		met(s, "api", "b", misfit("a bug in perch: x\ngoroutine 3"))
		met(s, "shop", "a", misfit("no method"))
		all := []string{`ERROR msg="perch could not do its own part" part=config error="api/a: a bug in perch: x\ngoroutine 1"`, `error="shop/a: no method"`}
		said("begun", all...)
		met(s, "shop", "a", left)
		met(s, "shop", "a")
		met(s, "shop", "a", ended(probes.ReasonConnectFailed))
		met(s, "shop", "other", ok)
		met(s, "api", "a", ok)
		said("nothing is over", all...)
		met(s, "shop", "a", left, ok)
		met(s, "api", "b", ok)
		all = append(all, `INFO msg="perch can do again what it could not" target=shop was="no method" for=6s`, `target=api was="a bug in perch: x"`)
		met(s, "api", "b", ok)
		said("over", all...)
		met(s, "api", "a", misfit("gone"))
		s.forgetRecurring(map[string]bool{"api/b": true})
		if said("of a probe that is gone", append(all, "api/a: gone")...); len(s.recurring) != 0 {
			t.Errorf("%d left", len(s.recurring))
		}
	})
}

// A peer that has perch meet another problem with each wave gets a line a minute, and
// each target one entry.
func TestRecurringIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, log := recorder()
		for n := range 600 {
			met(s, "api", "a", misfit("no method m"+strings.Repeat("x", n)))
		}
		if n := strings.Count(log.String(), "level=ERROR"); n != 10 || len(s.recurring) != 1 {
			t.Errorf("said %d times in 10 minutes, want 10; kept %d", n, len(s.recurring))
		}
		for n := range 600 {
			met(s, "shop", "a", misfit(fmt.Sprintf("no token after %d ms", n)))
		}
		if n := strings.Count(log.String(), "no token"); n != 1 {
			t.Errorf("the same with another duration was said %d times", n)
		}
	})
}

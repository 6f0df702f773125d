package main

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"perch.example/alert"
	"perch.example/probes"
)

func TestCompany(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	incident := func(target string, state alert.State, since time.Duration) alert.Incident {
		i := alert.Incident{Target: target, State: state}
		if state == alert.StateFiring {
			i.Fired = now.Add(-since)
		}
		return i
	}
	fails := func(targets ...string) []probes.Outcome {
		var all []probes.Outcome
		for _, target := range targets {
			all = append(all, probes.Outcome{Target: target, Verdict: probes.VerdictFail, Every: 40 * time.Second})
		}
		return all
	}
	accepted := fails("b")
	accepted[0].Accepted = &probes.Accepted{}
	slow := fails("b")
	slow[0].Every = time.Hour
	for name, tt := range map[string]struct {
		before   []alert.Incident
		outcomes []probes.Outcome
		wait     time.Duration // 0: it is told at once
	}{
		"alone":                     {nil, fails("a", "a"), 0},
		"two at once":               {nil, fails("a", "b"), 40 * time.Second},
		"a minute at most":          {nil, append(fails("a"), slow...), time.Minute},
		"beside one that pends":     {[]alert.Incident{incident("b", alert.StatePending, 0)}, fails("a"), 40 * time.Second},
		"beside one told just now":  {[]alert.Incident{incident("b", alert.StateFiring, 50*time.Second)}, fails("a"), 40 * time.Second},
		"beside one told long ago":  {[]alert.Incident{incident("b", alert.StateFiring, 61*time.Second)}, fails("a"), 0},
		"an old one fails again":    {[]alert.Incident{incident("b", alert.StateFiring, time.Hour)}, fails("a", "b"), 0},
		"beside one that is over":   {[]alert.Incident{incident("b", alert.StateResolved, 0)}, fails("a"), 0},
		"beside what is accepted":   {nil, append(fails("a"), accepted...), 0},
		"its own pending one":       {[]alert.Incident{incident("a", alert.StatePending, 0)}, fails("a"), 0},
		"beside one that passes":    {nil, append(fails("a"), probes.Outcome{Target: "b", Verdict: probes.VerdictPass}), 0},
		"its own in another family": {[]alert.Incident{incident("a", alert.StateFiring, time.Second)}, fails("a"), 0},
	} {
		wait, beside := company(alert.Memory{Incidents: tt.before}, probes.Run{Finished: now, Outcomes: tt.outcomes})
		if !beside {
			wait = 0
		}
		if wait != tt.wait {
			t.Errorf("%s: waits %s, want %s", name, wait, tt.wait)
		}
	}
}

// What waits for others is the notice alone: what is found beside another target in
// trouble is on the page, in the log and in the metrics as it comes.
func TestServeShowsAtOnceWhatIsToldWithOthers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		text := many(6, time.Minute)
		s := newStation(t, text)
		s.prepare(text, &shelf{})
		s.begin()
		time.Sleep(5 * time.Minute)
		s.answers("/1", http.StatusServiceUnavailable)
		s.answers("/4", http.StatusServiceUnavailable)
		untold := false
		for range 240 {
			time.Sleep(500 * time.Millisecond)
			page := s.ask("GET", "/").body
			for n := range 6 {
				hits := s.asked(fmt.Sprintf("/%d", n))
				last := hits[len(hits)-1]
				ran := func(ago time.Duration) bool { // a wave has two requests, a moment apart
					return strings.Contains(page, "Ran "+last.Add(-ago).UTC().Format("2006-01-02 15:04:05"))
				}
				if time.Since(last) > 2*time.Second && !ran(0) && !ran(time.Second) {
					t.Fatalf("%s after it, the page does not say that api-%d ran at %s", time.Since(last), n, last)
				}
			}
			open := strings.Count(page, "firing</span>")
			if open == 2 && s.messages() == 1 {
				untold = true
				want(t, "the page", page, "it is told within a minute, with others that may follow")
				want(t, "the log", s.log.String(), "it is told within a minute, with others that may follow")
				time.Sleep(11 * time.Second) // the metrics are shown as they are saved
				s.wants("/metrics", 200, `perch_incident_open{family="reachability",perch="shop",target="api-1",vantage="test"} 1`)
				s.wants("/metrics", 200, `perch_incident_open{family="reachability",perch="shop",target="api-4",vantage="test"} 1`)
			}
		}
		if !untold || s.messages() != 2 {
			t.Errorf("%d messages, want 2, the second later than its result: %t", s.messages(), untold)
		}
		if page := s.ask("GET", "/").body; strings.Count(page, "<dd>told</dd>") != 2 {
			t.Error("the page does not say that both are told")
		}
		if err := s.stop(); err != nil {
			t.Error(err)
		}
	})
}

// What opens, and mends before it was told, is told with both: its opening first.
func TestServeTellsWhatMendsMeanwhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		text := many(3, 20*time.Second)
		s := newStation(t, text)
		s.prepare(text, &shelf{})
		s.begin()
		time.Sleep(5 * time.Minute)
		s.answers("/0", http.StatusServiceUnavailable)
		for s.messages() == 0 {
			time.Sleep(time.Second)
		}
		s.answers("/1", http.StatusServiceUnavailable)
		for !strings.Contains(s.log.String(), "api-1 (reachability) is firing") {
			time.Sleep(100 * time.Millisecond)
		}
		s.answers("/1", http.StatusOK)
		s.answers("/0", http.StatusOK)
		time.Sleep(3 * time.Minute)
		var titles []string
		for _, m := range regexp.MustCompile(`(FIRING|RESOLVED) (api-[0-9])`).FindAllString(strings.Join(s.heard(), "\n"), -1) {
			if len(titles) == 0 || titles[len(titles)-1] != m {
				titles = append(titles, m)
			}
		}
		if got := strings.Join(titles, ", "); strings.Count(got, "api-1") != 2 || !strings.Contains(got, "FIRING api-1") || strings.Index(got, "FIRING api-1") > strings.Index(got, "RESOLVED api-1") {
			t.Errorf("told %s", got)
		}
		if err := s.stop(); err != nil {
			t.Error(err)
		}
	})
}

// What waits to be told is told before perch ends.
func TestServeTellsWhatGathersAtItsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		text := many(2, time.Minute)
		s, store := newStation(t, text), &shelf{}
		s.prepare(text, store)
		s.answers("/0", http.StatusServiceUnavailable)
		s.answers("/1", http.StatusServiceUnavailable)
		s.begin()
		for strings.Count(s.log.String(), "is firing") < 2 {
			time.Sleep(100 * time.Millisecond)
		}
		if s.messages() != 1 {
			t.Fatalf("%d messages before its end", s.messages())
		}
		if err := s.stop(); err != nil {
			t.Error(err)
		}
		if s.messages() != 2 {
			t.Errorf("%d messages, want both", s.messages())
		}
	})
}

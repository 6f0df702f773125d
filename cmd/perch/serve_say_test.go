package main

import (
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"perch.example/alert"
	"perch.example/plan"
	"perch.example/probes"
)

// In mode report the log has a line for each notice, and none of its pages.
func TestServeSaysWhatItWouldSend(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		text := strings.Replace(serving, "alerts: {", "alerts: {mode: report, ", 1)
		s := newStation(t, text)
		s.prepare(text, &shelf{})
		s.answers("/often", 404)
		s.begin()
		time.Sleep(3*time.Minute + 30*time.Second)
		if err := s.stop(); err != nil {
			t.Error(err)
		}
		log := s.log.String()
		want(t, "the log", log, `"nothing is sent; this would be"`, "alerts.mode is report", `title="FIRING api: `, `summary="`)
		if n := strings.Count(log, "this would be"); n != 1 {
			t.Errorf("said %d times of one incident", n)
		}
		if strings.Contains(log, `\n`) || s.messages() != 0 {
			t.Errorf("%d messages, and the log:\n%s", s.messages(), log)
		}
	})
}

// Without a state nothing is remembered: what would be sent is said when it begins, not
// with each failed run, and anew when it begins again; the end is no loss.
func TestServeWithoutAState(t *testing.T) {
	for name, c := range map[string]struct{ change, why string }{
		"and nobody to tell": {"slack: {webhook: {from: {env: HOOK}}}", "the config names no destination; and there is no state"},
		"and somebody":       {"", "the config names no state"},
	} {
		synctest.Test(t, func(t *testing.T) {
			stateless := "metrics: {push: {url: \"http://push.example\"}, textfile: \"${DIR}/perch.prom\"}"
			text := strings.NewReplacer("state: {file: \"${DIR}/state\"}", "", stateless, "", c.change, "").Replace(serving)
			s := newStation(t, text)
			said := func(when string, times int) {
				t.Helper()
				if n := strings.Count(s.log.String(), "this would be"); n != times {
					t.Errorf("%s, %s: said %d times, want %d", name, when, n, times)
				}
			}
			s.answers("/often", 404)
			s.begin()
			time.Sleep(10 * time.Minute)
			said("while it lasts", 1)
			s.answers("/often", 200)
			time.Sleep(2 * time.Minute)
			s.answers("/often", 404)
			time.Sleep(5 * time.Minute)
			said("when it begins again", 2)
			if err := s.stop(); err != nil {
				t.Error(err)
			}
			want(t, "the log", s.log.String(), c.why, `saved="no state is configured"`)
			if s.messages() != 0 {
				t.Errorf("%s: %d messages", name, s.messages())
			}
		})
	}
}

// What would be sent is over when none of its probes fails any more: a wave that was cut
// short does not show that, and of a probe that is gone nothing is kept.
func TestFreshlyUnsent(t *testing.T) {
	s := &service{previewed: map[string]map[string]bool{}}
	wave := func(probe string, v probes.Verdict) int {
		w := &pass{kept: &kept{}}
		if v == probes.VerdictFail {
			w.unsent = []alert.Notice{{ID: "api/connection preview", About: []alert.About{{Probes: []string{"api/" + probe}}}}}
		}
		return len(s.freshlyUnsent(w, probes.Run{Outcomes: []probes.Outcome{
			{Target: "api", Probe: probe, Verdict: probes.VerdictPass}, {Target: "api", Probe: probe, Verdict: v},
		}}))
	}
	for n, step := range []struct {
		probe   string
		verdict probes.Verdict
		want    int
	}{
		{"a", probes.VerdictFail, 1},
		{"a", probes.VerdictFail, 0},
		{"b", probes.VerdictFail, 0},
		{"a", probes.VerdictPass, 0},
		{"b", probes.VerdictIncomplete, 0},
		{"a", probes.VerdictFail, 0}, // b has not been well
		{"b", probes.VerdictDegraded, 0},
		{"a", probes.VerdictPass, 0},
		{"b", probes.VerdictFail, 1},
	} {
		if got := wave(step.probe, step.verdict); got != step.want {
			t.Errorf("step %d: %d said, want %d", n, got, step.want)
		}
	}
	s.dropPreviewed(func(id string) bool { return id == "api/b" })
	if len(s.previewed) != 0 {
		t.Errorf("left %v", s.previewed)
	}
}

// A note is logged once, though its numbers move with what was measured; another
// probe's is another.
func TestNotesAreSaidOnce(t *testing.T) {
	var log logged
	s := &service{log: slog.New(slog.NewTextHandler(&log, nil)), notes: map[string]bool{}}
	for _, note := range []string{
		"api/a: no rung of 1.001s (danger band 1s to 2s, last run): the budget of 0.04/s is too small",
		"api/a: no rung of 1.004s (danger band 1.01s to 2s, last run): the budget of 0.04/s is too small",
		"api-2/a: no rung of 1.004s (danger band 1.01s to 2s, last run): the budget of 0.04/s is too small",
		"api/a: no rung of 1.004s (danger band 1.01s to 2s, last run): every 2m leaves room for 1m48s",
	} {
		s.sayNotes(&plan.Plan{Notes: []string{note}})
	}
	if n := strings.Count(log.String(), "no rung of"); n != 3 {
		t.Errorf("said %d times:\n%s", n, log.String())
	}
}

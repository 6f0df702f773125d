package main

import (
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"perch.example/plan"
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

package main

import (
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"perch.example/state"
)

// TestAYearOfRetryAfterIsHeardOf: a target that refuses for a year is asked
// again after an hour, so that the incident fires, and no run until then looks
// as if somebody had looked.
func TestAYearOfRetryAfterIsHeardOf(t *testing.T) {
	t.Parallel()
	var asked atomic.Int32
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		w.Header().Set("Retry-After", "31536000")
		w.WriteHeader(http.StatusTooManyRequests)
	}))
	defer api.Close()
	text := strings.Replace(remembering, "STATE", "{file: ${DIR}/state}", 1)
	path := configFile(t, api.URL, strings.Replace(text, "fire_after: 1", "fire_after: 2", 1))
	sys := system{env: func(string) (string, bool) { return "", false }, readFile: os.ReadFile}
	cfg, err := loadConfig(sys, path, nil)
	if err != nil {
		t.Fatal(err)
	}
	note := func(change func(until time.Time) time.Time) {
		t.Helper()
		if err := editState(t.Context(), sys, cfg, func(d *state.Document) error {
			d.SetLeaveAlone("api", change(d.LeaveAlone["api"]))
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	run := func(code int, said ...string) {
		t.Helper()
		r := perch(t.Context(), nil, "run", "--config", path, "--all")
		if r.code != code {
			t.Fatalf("exit status %d, want %d\n%s%s", r.code, code, r.stdout, r.stderr)
		}
		want(t, "the report", r.stdout, said...)
	}
	within := func(until time.Time) time.Time {
		t.Helper()
		if left := time.Until(until); left <= 0 || left > time.Hour {
			t.Errorf("noted: for another %s, want an hour at most", left)
		}
		return until
	}
	run(exitFindings, "rate_limited")
	note(within)
	note(func(time.Time) time.Time { return time.Now().AddDate(0, 11, 0) }) // a wrong clock did
	run(exitOK, "SKIPPED  1 of 1 probe skipped", "left alone as asked (Retry-After): api until ", "is pending")
	note(within)
	note(func(time.Time) time.Time { return time.Now().Add(-time.Second) }) // the hour is over
	run(exitFindings, "api (limits) is firing")
	if n := asked.Load(); n != 2 {
		t.Errorf("the API was asked %d times, want twice", n)
	}
}

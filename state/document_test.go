package state

import (
	"encoding/json"
	"testing"
	"time"
)

func at(text string) time.Time {
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		panic(err)
	}
	return t
}

func TestIsDue(t *testing.T) {
	last := at("2026-03-01T10:00:00Z")
	tests := []struct {
		name  string
		every time.Duration
		since time.Duration
		want  bool
	}{
		{"on time", 5 * time.Minute, 5 * time.Minute, true},
		{"a cron that starts 2 s early", 5 * time.Minute, 4*time.Minute + 58*time.Second, true},
		{"just within the tolerance", 5 * time.Minute, 4*time.Minute + 30*time.Second, true},
		{"just outside", 5 * time.Minute, 4*time.Minute + 29*time.Second, false},
		{"a tenth of a short interval", 10 * time.Second, 9 * time.Second, true},
		{"less than a tenth early", 10 * time.Second, 8900 * time.Millisecond, false},
		{"at most 30 s of a long one", 24 * time.Hour, 24*time.Hour - 31*time.Second, false},
		{"at once again", 5 * time.Minute, 0, false},
		{"no interval", 0, 0, true},
		{"the clock was set back", 5 * time.Minute, -time.Hour, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var d Document
			d.MarkRun("a/b", last)
			if got := d.IsDue("a/b", tt.every, last.Add(tt.since)); got != tt.want {
				t.Errorf("IsDue %s after the last run, every %s: %v, want %v", tt.since, tt.every, got, tt.want)
			}
		})
	}
	if !(Document{}).IsDue("a/b", time.Hour, last) {
		t.Error("a probe that never ran is not due")
	}
}

// TestJitterNeverSkips runs a week of a five-minute CronJob whose starts jitter
// by up to 15 s either way: every run must find its probe due.
func TestJitterNeverSkips(t *testing.T) {
	var d Document
	d.MarkRun("a/b", at("2026-03-01T00:00:00Z"))
	for n := 1; n <= 7*24*12; n++ {
		jitter := time.Duration(n*7919%31-15) * time.Second
		now := at("2026-03-01T00:00:00Z").Add(time.Duration(n)*5*time.Minute + jitter)
		if !d.IsDue("a/b", 5*time.Minute, now) {
			t.Fatalf("run %d at %s was skipped, the last was at %s", n, now, d.Due["a/b"])
		}
		d.MarkRun("a/b", now)
	}
}

func TestPrune(t *testing.T) {
	now := at("2026-03-02T12:00:00Z")
	var d Document
	for _, id := range []string{"shop/calendar", "shop/gone", "shopping/calendar"} {
		d.MarkRun(id, now)
		d.SetEarlyCloses(id, map[time.Duration]time.Duration{time.Second: time.Millisecond}, nil)
	}
	d.AddRequests("yesterday", now.AddDate(0, 0, -1), 1)
	d.AddRequests("today", now, 1)
	d.AddRequests("tomorrow", now.AddDate(0, 0, 1), 1)
	d.AddRequests("wrong-clock", now.AddDate(1, 0, 0), 1)
	for range 3 {
		d.Prune([]string{"shop/calendar"}, now)
	}

	if len(d.Due) != 1 || d.Due["shop/calendar"].IsZero() {
		t.Errorf("due times after pruning: %v, want shop/calendar's only", d.Due)
	}
	if len(d.EarlyCloses) != 1 || d.EarlyCloses["shop/calendar"] == nil {
		t.Errorf("early closes after pruning: %v, want shop/calendar's only", d.EarlyCloses)
	}
	for target, want := range map[string]bool{"yesterday": false, "today": true, "tomorrow": true, "wrong-clock": true} {
		if _, got := d.Daily[target]; got != want {
			t.Errorf("count of %s kept: %v, want %v", target, got, want)
		}
	}
	if got := d.Daily["wrong-clock"]; got != (Daily{"2026-03-02", 1}) {
		t.Errorf("a wrong clock's count is %+v, want today's", got)
	}
}

func TestSettersOwnWhatTheyKeep(t *testing.T) {
	closes := map[time.Duration]time.Duration{time.Minute: time.Second}
	section := json.RawMessage(`{"a":1}`)
	var d Document
	d.SetEarlyCloses("a/b", closes, nil)
	d.SetSection("alert", section)
	closes[time.Minute], section[2] = 0, 'z'
	if d.EarlyCloses["a/b"][time.Minute] != time.Second || string(d.Sections["alert"]) != `{"a":1}` {
		t.Error("the document changed with its caller's values")
	}
	d.SetEarlyCloses("a/b", nil, nil)
	d.SetSection("alert", nil)
	if len(d.EarlyCloses) != 0 || len(d.Sections) != 0 {
		t.Error("setting nothing did not remove")
	}
}

package alert

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"perch.example/probes"
)

// TestOneRunOfAWrongClock: what it noted does not silence the runs after it.
func TestOneRunOfAWrongClock(t *testing.T) {
	a := newTelling("slack")
	a.o.RemindEvery = 24 * time.Hour
	lucky := single("lucky", "p", probes.VerdictDegraded, probes.DiagnosisEarlyClose, probes.FamilyConnection)
	bad := runOf(append(incident().Outcomes, lucky)...)
	a.run(t, 0, bad, "slack")
	a.run(t, 4*365*24*time.Hour, bad, "slack")
	a.now = noon()
	a.to["slack"].got = nil
	for range 49 {
		a.run(t, time.Hour, bad, "slack")
	}
	if got := a.to["slack"].kinds(); strings.Count(got, "digest") != 2 || strings.Count(got, "reminder") != 2 {
		t.Errorf("in the two days after it were told %q, want two digests and two reminders", got)
	}
}

// TestFlappingEndsAfterAWrongClock: it is over once no run failed for an hour.
func TestFlappingEndsAfterAWrongClock(t *testing.T) {
	a := newTelling("slack")
	for range 3 {
		a.run(t, 5*time.Minute, incident(), "slack")
		a.run(t, 5*time.Minute, mended(), "slack")
	}
	if open := a.m.Open(); len(open) != 1 || len(open[0].Flapping) == 0 {
		t.Fatalf("open are %+v, want one that flaps", open)
	}
	a.m.Incidents[len(a.m.Incidents)-1].Failing = a.now.AddDate(1, 0, 0)
	for range 3 {
		a.run(t, time.Hour, mended(), "slack")
	}
	if open := a.m.Open(); len(open) > 0 {
		t.Errorf("still open: %+v", open)
	}
}

// TestFailuresFarApart are not several in a row.
func TestFailuresFarApart(t *testing.T) {
	const day = 24 * time.Hour
	tests := []struct {
		name         string
		every, apart time.Duration
		fires        bool
	}{
		{"a week, of runs whose distance is not known", 0, 7 * day, true},
		{"a month and more", 0, 31 * day, false},
		{"a year", 0, 365 * day, false},
		{"a week, of hourly ones", time.Hour, 7 * day, true},
		{"nine days, of hourly ones", time.Hour, 9 * day, false},
		{"a month, of monthly ones", 30 * day, 31 * day, true},
		{"half a year, of monthly ones", 30 * day, 181 * day, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a := newTelling("slack")
			a.o.FireAfter = 2
			bad := incident()
			for n := range bad.Outcomes {
				bad.Outcomes[n].Every = tt.every
			}
			a.run(t, 0, bad, "slack")
			a.run(t, tt.apart, bad, "slack")
			if got := len(a.to["slack"].got) > 0; got != tt.fires {
				t.Errorf("fired: %v, want %v", got, tt.fires)
			}
			a.run(t, time.Hour, bad, "slack")
			if got := a.to["slack"].kinds(); got != "firing" {
				t.Errorf("after one more were told %q", got)
			}
		})
	}
}

// TestManyTargetsFlap: as few do, and the memory does not grow with each
// opening.
func TestManyTargetsFlap(t *testing.T) {
	const targets = 150
	bad, well := several(targets, probes.VerdictFail, nil), several(targets, probes.VerdictPass, nil)
	a := newTelling("slack")
	for range 5 {
		a.run(t, 5*time.Minute, bad, "slack")
		a.run(t, 5*time.Minute, well, "slack")
		if content, err := json.Marshal(a.m); err != nil || len(content) > 800<<10 {
			t.Fatalf("the memory takes %d bytes (%v)", len(content), err)
		}
	}
	if got := a.to["slack"].kinds(); got != "firing resolved firing resolved flapping" {
		t.Errorf("told %q", got)
	}
	if i := a.m.Open()[0]; i.Failed != 5 || i.Counted != 10 || !i.Since.Equal(noon().Add(5*time.Minute)) {
		t.Errorf("it counts %d of %d runs since %s", i.Failed, i.Counted, i.Since)
	}
	a.run(t, 2*time.Hour, well, "slack")
	a.run(t, time.Minute, well, "slack")
	if len(a.m.Openings) > 0 {
		t.Errorf("%d openings are remembered after two hours", len(a.m.Openings))
	}
}

// TestAStateThatNobodyKnows mutes nothing, and what has no probes is dropped.
func TestAStateThatNobodyKnows(t *testing.T) {
	tests := map[string]string{
		"another state": `{"incidents":[{"number":1,"target":"stock-api","family":"connection","state":"weird","probes":["stock-api/calendar-idle"],"last":"2026-03-02T11:55:00Z"}]}`,
		"no state":      `{"incidents":[{"number":1,"target":"stock-api","family":"connection"}]}`,
	}
	for name, doc := range tests {
		a := newTelling("slack")
		if err := json.Unmarshal([]byte(doc), &a.m); err != nil {
			t.Fatal(err)
		}
		a.run(t, 0, incident(), "slack")
		if got := a.to["slack"].kinds(); got != "firing" {
			t.Errorf("%s: told %q", name, got)
		}
	}
	a := newTelling("slack")
	const known = `{"incidents":[
		{"number":1,"target":"gone","family":"connection","state":"firing","announced":true,"last":"2026-03-02T11:55:00Z"},
		{"number":2,"target":"gone","family":"latency","state":"pending","last":"2026-03-02T11:55:00Z"}]}`
	if err := json.Unmarshal([]byte(known), &a.m); err != nil {
		t.Fatal(err)
	}
	a.o.Known = []string{"stock-api/calendar-idle"}
	a.run(t, 0, mended(), "slack")
	if got := a.to["slack"].got; len(got) != 1 || !strings.Contains(Text(got[0]), "no longer has what was looked at there") {
		t.Errorf("told %+v", got)
	}
	if len(a.m.Open()) > 0 || len(a.m.Incidents) != 1 {
		t.Errorf("remembered are %+v", a.m.Incidents)
	}
}

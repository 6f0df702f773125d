package alert

import (
	"slices"
	"strings"
	"testing"
	"time"

	"perch.example/probes"
)

// spaced are options of runs that are further apart than five minutes.
func spaced(apart time.Duration, change func(*Options)) func(int) Options {
	return func(n int) Options {
		o := options(0)
		o.Now = noon().Add(time.Duration(n) * apart)
		if change != nil {
			change(&o)
		}
		return o
	}
}

func sequence(steps string) []probes.Run {
	var all []probes.Run
	for _, c := range []byte(steps) {
		all = append(all, runs()[c])
	}
	return all
}

func TestReminders(t *testing.T) {
	tests := []struct {
		name, runs string
		every      time.Duration
		want       string
	}{
		{"every day, of runs 6 h apart", "FFFFFFFFFF", 24 * time.Hour, ".F...m...m"},
		{"at a failed run, not at a good one", "FFFFFgFgFF", 24 * time.Hour, ".F....m..."},
		{"not at a run that does not count", "FFFFF-iF", 24 * time.Hour, ".F.....m"},
		{"never", "FFFFFFFFFF", 0, ".F........"},
		{"4 h at most while unreachable", "RRRR", 24 * time.Hour, ".Fmm"},
		{"less than that where the config says so", "RRRR", time.Hour, ".Fmm"},
		{"never is never, also while unreachable", "RRRR", 0, ".F.."},
		{"none after the end", "FFggFg", 12 * time.Hour, ".F.R.."},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, told := decideAll(spaced(6*time.Hour, func(o *Options) { o.RemindEvery = tt.every }), sequence(tt.runs)...)
			if got := shorthand(told); got != tt.want {
				t.Errorf("runs %s told %s, want %s", tt.runs, got, tt.want)
			}
		})
	}
}

// TestAReminderIsShort and says since when, how often, and what changed.
func TestAReminderIsShort(t *testing.T) {
	later := incident()
	for i := range later.Outcomes {
		if c := later.Outcomes[i].Close; c != nil {
			c.Age = 700 * ms
		}
	}
	_, told := decideAll(spaced(24*time.Hour, func(o *Options) { o.RemindEvery = 24 * time.Hour }), incident(), incident(), later)
	text := strings.Join(strings.Fields(Text(told[2][0])), " ")
	for _, want := range []string{
		"STILL FIRING stock-api: idle connections are closed too early", "Open for 2 d ", "Runs 3 of 3 failed", "team-stock",
		"The path changed: idle connections are closed after 0.7 s now, and were after 1 s before.", "FIN by peer at 0.7 s", "perch silence add",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in\n%s", want, text)
		}
	}
	if lines := strings.Count(Text(told[2][0]), "\n"); lines > 30 {
		t.Errorf("%d lines are not short", lines)
	}
}

// TestAReminderReplacesOneThatWaits: with Slack away for a day nobody needs
// all of them, and the one that is told is the newest.
func TestAReminderReplacesOneThatWaits(t *testing.T) {
	var m Memory
	var notices []Notice
	for n, run := range sequence("RRRRR") {
		o := spaced(4*time.Hour, func(o *Options) { o.RemindEvery = 4 * time.Hour })(n)
		m, notices = Decide(m, run, o)
		if n == 1 {
			m = m.told(notices[0].ID, "slack")
		}
	}
	if len(notices) != 1 || notices[0].Kind != KindReminder || notices[0].Waited != 0 {
		t.Errorf("told %+v, want the last reminder", notices)
	}
}

// TestNoReminderOfWhatWaits: an opening that could not be told yet says that it
// is open; the next reminder is due as long after it as after one that was told.
func TestNoReminderOfWhatWaits(t *testing.T) {
	var m Memory
	var notices []Notice
	for n, run := range sequence("RRRRR") {
		o := spaced(4*time.Hour, func(o *Options) { o.RemindEvery = 4 * time.Hour })(n)
		m, notices = Decide(m, run, o)
		var got []Kind
		for _, notice := range notices {
			got = append(got, notice.Kind)
		}
		want := map[int][]Kind{1: {KindFiring}, 2: {KindFiring}, 3: {KindFiring}, 4: {KindReminder}}[n]
		if !slices.Equal(got, want) {
			t.Errorf("run %d tells %v, want %v", n, got, want)
		}
		if n == 3 {
			m = m.told(notices[0].ID, "slack")
		}
	}
}

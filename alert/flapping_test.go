package alert

import (
	"strings"
	"testing"
	"time"
)

func TestFlapping(t *testing.T) {
	calm := strings.Repeat("g", 12)
	tests := []struct {
		name, runs  string
		fire, solve int
		want        string
	}{
		{"the third within an hour is one", "FgFgF", 1, 1, "FRFRL"},
		{"and tells nothing until an hour is over", "FgFgFgFgF" + calm, 1, 1, "FRFRL...." + strings.Repeat(".", 11) + "R"},
		{"an hour since the last failure", "FgFgFggFggF" + calm, 1, 1, "FRFRL......" + strings.Repeat(".", 11) + "R"},
		{"resolve_after counts as well", "FgggFgggF" + strings.Repeat("-", 12) + "ggg", 1, 3, "F..RF..RL" + strings.Repeat(".", 14) + "R"},
		{"afterwards it is a plain one", "FgFgF" + calm + "F", 1, 1, "FRFRL" + strings.Repeat(".", 11) + "RF"},
		{"two are not enough", "FgF", 1, 1, "FRF"},
		{"the first was longer ago", "F" + "g" + strings.Repeat("-", 9) + "Fg" + "F", 1, 1, "FR" + strings.Repeat(".", 9) + "FR" + "F"},
		{"with the usual options", "FFggFFggFF", 2, 2, ".F.R.F.R.L"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, told := decideAll(func(n int) Options {
				o := options(n)
				o.FireAfter, o.ResolveAfter = tt.fire, tt.solve
				return o
			}, sequence(tt.runs)...)
			if got := shorthand(told); got != tt.want {
				t.Errorf("runs %s told %s, want %s", tt.runs, got, tt.want)
			}
		})
	}
}

// TestFlappingIsExplained: when it opened before, and when it is over. Only
// reminders are told in between, and no sharper evidence.
func TestFlappingIsExplained(t *testing.T) {
	remind := func(n int) Options {
		o := options(n)
		o.FireAfter, o.ResolveAfter, o.RemindEvery = 1, 1, 30*time.Minute
		return o
	}
	_, told := decideAll(remind, sequence("FgFgFFFFFFF")...)
	if got := shorthand(told); got != "FRFRL.....m" {
		t.Fatalf("told %s, want FRFRL.....m", got)
	}
	if got := told[4][0].Summary; !strings.HasPrefix(got, "Flapping: it opened 3 times within an hour, 3 of 5 runs failed. ") {
		t.Errorf("the summary is %q", got)
	}
	if a := told[4][0].About[0]; !a.Since.Equal(noon()) || a.Failed != 3 || a.Counted != 5 {
		t.Errorf("machines are told %+v", a)
	}
	text := strings.Join(strings.Fields(Text(told[4][0])), " ")
	for _, want := range []string{"FLAPPING shop: ", "Since 2026-03-02 12:00 UTC · Runs 3 of 5 failed", "It opened 3 times within an hour: at 12:00, 12:10 and 12:20 UTC.", "until no run has failed for 1 h"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in\n%s", want, text)
		}
	}
	text = strings.Join(strings.Fields(Text(told[10][0])), " ")
	for _, want := range []string{"STILL FLAPPING shop: ", "It is over when no run has failed for 1 h."} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in\n%s", want, text)
		}
	}
}

// TestWhatFlappedIsCountedOnce: one that flapped, and left the config, holds the
// runs of those before it.
func TestWhatFlappedIsCountedOnce(t *testing.T) {
	begin := noon()
	early := Incident{Since: begin, Fired: begin, Failed: 1, Counted: 2}
	flapped := Incident{Since: begin, Fired: begin.Add(20 * time.Minute), Failed: 3, Counted: 5, Flapping: []time.Time{begin, begin.Add(10 * time.Minute)}}
	i := Incident{Since: begin.Add(30 * time.Minute), Failed: 1, Counted: 1}
	i.flap([]Incident{early, early, flapped})
	if i.Failed != 4 || i.Counted != 6 || !i.Since.Equal(begin) || len(i.Flapping) != 3 {
		t.Errorf("it is %+v", i)
	}
	i.flap(nil)
	if i.Failed != 4 || i.Counted != 6 {
		t.Errorf("with none before it is %+v", i)
	}
}

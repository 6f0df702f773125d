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
	text := strings.Join(strings.Fields(Text(told[4][0])), " ")
	for _, want := range []string{"FLAPPING shop: ", "It opened 3 times within an hour: at 12:00, 12:10 and 12:20 UTC.", "until no run has failed for 1 h"} {
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

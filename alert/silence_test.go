package alert

import (
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"perch.example/probes"
)

func TestSilenceMatches(t *testing.T) {
	tests := []struct {
		match, id string
		want      bool
	}{
		{"stock-api/calendar", "stock-api/calendar", true},
		{"stock-api/calendar", "stock-api/calendar-idle", false},
		{"stock-api", "stock-api/calendar", true},
		{"stock-api", "stock-api-2/calendar", false},
		{"stock-api/*", "stock-api/calendar", true},
		{"stock-*", "stock-api/calendar", true},
		{"*/calendar", "stock-api/calendar", true},
		{"*/calendar", "stock-api/quote", false},
		{"*", "stock-api/calendar", true},
		{"stock-ap?", "stock-api/calendar", true},
		{"stock-ap?/cal*ar", "stock-api/calendar", true},
		{"stock-api?", "stock-api/calendar", false},
		{"s?o*k*/*end*", "stock-api/calendar", true},
		{"*a*b", "stock-api/calendar", false},
		{"日本?/*", "日本語/a", true},
		{"", "stock-api/calendar", false},
		{"*", "", true},
		{strings.Repeat("*a", 200) + "b", strings.Repeat("a", 5000), false}, // in no time
	}
	for _, tt := range tests {
		if got := (Silence{Match: tt.match}).Matches(tt.id); got != tt.want {
			t.Errorf("%.40q matches %.40q: %v, want %v", tt.match, tt.id, got, tt.want)
		}
	}
}

// FuzzSilenceMatch compares with the regular expression that says the same.
func FuzzSilenceMatch(f *testing.F) {
	for _, s := range [][2]string{{"stock-*", "stock-api/calendar"}, {"*a?b*", "xaab/ab"}, {"?", "\n"}, {"**", ""}, {"a*/b", "a/b/b"}} {
		f.Add(s[0], s[1])
	}
	f.Fuzz(func(t *testing.T, pattern, text string) {
		if !utf8.ValidString(pattern) || !utf8.ValidString(text) {
			return
		}
		expression := strings.NewReplacer(`\*`, ".*", `\?`, ".").Replace(regexp.QuoteMeta(pattern))
		want := regexp.MustCompile(`(?s)\A` + expression + `\z`).MatchString(text)
		if got := matches(pattern, text); got != want {
			t.Errorf("%q matches %q: %v, want %v", pattern, text, got, want)
		}
	})
}

func TestSilenceActive(t *testing.T) {
	now := noon()
	for name, tt := range map[string]struct {
		s    Silence
		want bool
	}{
		"within":            {Silence{From: now.Add(-time.Hour), Until: now.Add(time.Hour)}, true},
		"from now":          {Silence{From: now, Until: now.Add(time.Hour)}, true},
		"since ever":        {Silence{Until: now.Add(time.Hour)}, true},
		"later":             {Silence{From: now.Add(time.Minute), Until: now.Add(time.Hour)}, false},
		"until now":         {Silence{From: now.Add(-time.Hour), Until: now}, false},
		"without an end":    {Silence{From: now.Add(-time.Hour)}, false},
		"turned the corner": {Silence{From: now.Add(time.Hour), Until: now.Add(-time.Hour)}, false},
	} {
		if got := tt.s.Active(now); got != tt.want {
			t.Errorf("%s: active %v, want %v", name, got, tt.want)
		}
	}
}

// between silences what is named from one run to before another.
func between(match string, from, until int) Silence {
	return Silence{Match: match, From: options(from).Now, Until: options(until).Now, Reason: "partner maintenance"}
}

func TestSilences(t *testing.T) {
	tests := []struct {
		name, runs string
		silences   []Silence
		want       string
	}{
		{"begins and ends in it: never told", "FFFggg", []Silence{between("shop", 0, 9)}, "......"},
		{"still failing after it: told then", "FFFFF", []Silence{between("shop/*", 0, 3)}, "...F."},
		{"told at a failed run only", "FFFgFgg", []Silence{between("shop", 0, 3)}, "....F.R"},
		{"mended when it is over: never told", "FFFgg", []Silence{between("shop", 0, 3)}, "....."},
		{"the end falls into it: told after it", "FFFgg-g", []Silence{between("shop", 3, 6)}, ".F....R"},
		{"told after it, though it fails again", "FFgggFFF", []Silence{between("shop", 3, 6)}, ".F....+."},
		{"another target's", "FF", []Silence{between("stop", 0, 9)}, ".F"},
		{"one of two probes", "PPF", []Silence{between("shop/idle", 0, 9)}, ".F."},
		{"the other of two probes", "PPO", []Silence{between("shop/other", 0, 9)}, "..."},
		{"a probe that is heard joins in", "PPF", []Silence{between("shop/other", 0, 9)}, "..F"},
		{"two silences, one each", "OFF", []Silence{between("shop/other", 0, 9), between("shop/idle", 0, 9)}, "..."},
		{"one follows the other", "FFFFF", []Silence{between("shop", 0, 2), between("shop", 2, 4)}, "....F"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m, told := decideAll(func(n int) Options {
				o := options(n)
				o.Silences = tt.silences
				return o
			}, sequence(tt.runs)...)
			if got := shorthand(told); got != tt.want {
				t.Errorf("runs %s told %s, want %s", tt.runs, got, tt.want)
			}
			if len(m.Outbox)+len(m.Muted) != 0 {
				t.Errorf("left over: %+v, %+v", m.Outbox, m.Muted)
			}
		})
	}
}

// TestWhatASilenceHidIsSaid: since when, and why; at the opening and at the end.
func TestWhatASilenceHidIsSaid(t *testing.T) {
	silenced := func(from, until int) func(int) Options {
		return func(n int) Options {
			o := options(n)
			o.Silences = []Silence{between("shop/*", from, until)}
			return o
		}
	}
	_, told := decideAll(silenced(0, 3), sequence("FFFF")...)
	text := strings.Join(strings.Fields(Text(told[3][0])), " ")
	if want := "Silenced from 2026-03-02 12:05 UTC until 2026-03-02 12:15 UTC (partner maintenance)"; !strings.Contains(text, want) {
		t.Errorf("%q is missing in\n%s", want, text)
	}
	_, told = decideAll(silenced(3, 6), sequence("FFggggg")...)
	n := told[6][0]
	text = strings.Join(strings.Fields(Text(n)), " ")
	if want := "It ended at 2026-03-02 12:15 UTC, while it was silenced until 2026-03-02 12:30 UTC (partner maintenance)"; !strings.Contains(text, want) {
		t.Errorf("%q is missing in\n%s", want, text)
	}
	if strings.Contains(text, "Late:") {
		t.Errorf("what was silenced is said to be late:\n%s", text)
	}
}

// TestTheEndWaitsInReportModeToo, and in the state.
func TestTheEndWaitsInReportModeToo(t *testing.T) {
	o := func(n int) Options {
		o := options(n)
		o.Silences = []Silence{between("shop", 3, 6)}
		return o
	}
	m, told := decideAll(o, sequence("FFgg")...)
	if got := shorthand(told); got != ".F.." || len(m.Muted) != 1 {
		t.Fatalf("told %s, %d muted; want .F.. and 1", got, len(m.Muted))
	}
	report := o(7)
	report.Mode = ModeReport
	m, shown := Decide(remember(t, m), runs()['g'], report)
	if len(shown) != 0 || len(m.Muted) != 1 {
		t.Errorf("report mode showed %+v and keeps %d", shown, len(m.Muted))
	}
	m, sent := Decide(remember(t, m), runs()['g'], o(8))
	if len(sent) != 1 || sent[0].Kind != KindResolved || len(m.Muted) != 0 || len(sent[0].Ways) != 1 {
		t.Errorf("notify mode told %+v and keeps %d", sent, len(m.Muted))
	}
}

// TestSilencedReminders: neither they nor sharper evidence are told in a
// silence; what is due is told after it.
func TestSilencedReminders(t *testing.T) {
	other := runOf(single("shop", "idle", probes.VerdictFail, probes.DiagnosisStalled, probes.FamilyConnection))
	all := sequence("FFFFFF")
	all = append(all, other, other, other, other)
	_, told := decideAll(func(n int) Options {
		o := options(n)
		o.RemindEvery, o.Silences = 10*time.Minute, []Silence{between("shop", 3, 5), between("shop", 6, 8)}
		return o
	}, all...)
	if got := shorthand(told); got != ".F...m..s." {
		t.Errorf("told %s, want .F...m..s.", got)
	}
}

package k8s

import (
	"strings"
	"testing"
	"time"

	"perch.example/config"
	"perch.example/plan"
)

func TestCron(t *testing.T) {
	for text, want := range map[string]struct {
		gap  time.Duration
		runs int
	}{
		"*/10 * * * *":              {10 * time.Minute, 144},
		"6-59/10 * * * *":           {10 * time.Minute, 144},
		"* * * * *":                 {time.Minute, 1440},
		"*/7 * * * *":               {4 * time.Minute, 216}, // 56, then 0
		"0,50 * * * *":              {10 * time.Minute, 48},
		"30 2 * * *":                {24 * time.Hour, 1},
		"5 3-23/6 * * MON-FRI":      {6 * time.Hour, 4},
		"0 23,1 1 jan,7 ?":          {2 * time.Hour, 2},
		"10/20 * * * *":             {20 * time.Minute, 72},
		"  1   2   3   4   5  ":     {24 * time.Hour, 1},
		"0 0 * * 0,6":               {24 * time.Hour, 1},
		"59 23 31 12 6":             {24 * time.Hour, 1},
		"0-4 0 * * *":               {time.Minute, 5},
		"0 0,1,12 * * *":            {time.Hour, 3},
		"0 0 29 2 *":                {24 * time.Hour, 1}, // each fourth year
		"0 0 31 2 mon":              {24 * time.Hour, 1}, // Mondays in February
		"0 0 31 2-3 *":              {24 * time.Hour, 1},
		"0 0 31 2 */2":              {24 * time.Hour, 1},
		"3-57/9 2-22/4 */2 */3 */2": {9 * time.Minute, 42},
	} {
		got, err := parseCron(text)
		if err != nil || got.gap() != want.gap || got.runs() != want.runs {
			t.Errorf("%q: gap %s, %d runs a day (%v), want %s and %d", text, got.gap(), got.runs(), err, want.gap, want.runs)
		}
	}
}

func TestBadCron(t *testing.T) {
	for text, says := range map[string]string{
		"":                    "five fields",
		"* * * *":             "five fields",
		"* * * * * *":         "five fields",
		"@hourly":             "five fields",
		"60 * * * *":          `the minute is "60": want numbers from 0 to 59`,
		"-1 * * * *":          "the minute",
		"+1 * * * *":          "the minute",
		"*/0 * * * *":         "the minute",
		"*/ * * * *":          "the minute",
		"1,,2 * * * *":        "the minute",
		"0 24 * * *":          "the hour",
		"0 5-3 * * *":         "the hour",
		"0 0 0 * *":           "the day of the month",
		"0 0 31 2 *":          "never run",
		"0 0 30,31 feb *":     "never run",
		"0 0 31 2,4-6/2,11 ?": "never run",
		"0 0 31 2 */1":        "never run",
		"0 0 32 * *":          "the day of the month",
		"0 0 * 13 *":          "the month",
		"0 0 * jun *  extra":  "five fields",
		"0 0 * mon *":         "the month",
		"0 0 * * 7":           "the day of the week",
		"0 0 * * L":           "the day of the week",
		"0 99999999999 * * *": "the hour",
	} {
		if _, err := parseCron(text); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v, want %q", text, err, says)
		}
	}
}

func FuzzCron(f *testing.F) {
	for _, text := range []string{"*/10 * * * *", "5 3-23/6 * * MON-FRI", "0,50 * 1-9,30 jan ?", "1/2 3 4 5 6", "* * * * 7"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		c, err := parseCron(text)
		if err != nil {
			return
		}
		gap, runs := c.gap(), c.runs()
		if runs < 1 || runs > 1440 || gap < time.Minute || gap > day {
			t.Fatalf("%q: gap %s, %d runs", text, gap, runs)
		}
		if time.Duration(runs)*gap > day {
			t.Fatalf("%q: %d runs at least %s apart are more than a day", text, runs, gap)
		}
	})
}

// scheduleOf is the schedule of a config whose shortest every is this.
func scheduleOf(every time.Duration, flag, namespace string, state config.State) (schedule, *maker) {
	m := &maker{
		cfg: config.Config{Name: "shop", Vantage: "prod", State: state}, plan: &plan.Plan{Every: every},
		o: Options{Name: "perch", Namespace: namespace, Schedule: flag},
	}
	return m.schedule(), m
}

func TestSchedule(t *testing.T) {
	kept := config.State{ConfigMap: "perch-state"}
	for _, c := range []struct {
		every     time.Duration
		flag      string
		gap       time.Duration
		note      string // empty: none
		refused   string
		stateless bool
	}{
		{every: 0, gap: 10 * time.Minute},
		{every: time.Minute, gap: time.Minute},
		{every: 5 * time.Minute, gap: 5 * time.Minute},
		{every: 7 * time.Minute, gap: 10 * time.Minute, note: "the shortest every is 7m, which cron cannot say evenly: a run starts each 10m; every: 6m or 10m is kept exactly"},
		{every: 90 * time.Second, gap: 2 * time.Minute, note: "every: 1m or 2m is kept"},
		{every: 45 * time.Minute, gap: time.Hour, note: "every: 30m or 1h"},
		{every: 2 * time.Hour, gap: 2 * time.Hour},
		{every: 24 * time.Hour, gap: 24 * time.Hour},
		{every: 48 * time.Hour, gap: 24 * time.Hour, note: "the shortest every is 48h: a run starts each day, and probes what is due then"},
		{every: 48 * time.Hour, stateless: true, refused: "without a state a run a day would send everything each day"},
		{every: 59 * time.Second, refused: "the shortest every is 59s, and a CronJob starts once a minute at most: want --kind deployment, or every: 1m"},
		{every: 5 * time.Minute, flag: "15m", gap: 15 * time.Minute, note: "--schedule \"15m\": the shortest every is 5m, and a run starts each 15m at most"},
		{every: 15 * time.Minute, flag: "5m", gap: 5 * time.Minute},
		{flag: "7m", refused: "--schedule 7m: cron cannot say this interval evenly, want 6m or 10m"},
		{flag: "30s", refused: "want 1m"},
		{flag: "-5m", refused: "want 1m"},
		{flag: "25h", refused: "want 24h"},
		{flag: "soon", refused: `--schedule "soon": want cron's five fields`},
		{flag: "0 4 * * *", gap: 24 * time.Hour},
		{flag: "0 4 1-31 */1 0-6", gap: 24 * time.Hour},
		{every: 24 * time.Hour, flag: "0 4 1 * *", gap: 24 * time.Hour, note: `--schedule "0 4 1 * *": on the days that it leaves out nothing is probed`},
		{flag: "*/5 * * * mon-fri", gap: 5 * time.Minute, note: "on the days that it leaves out"},
		{flag: "*/5 * * 1-11 *", gap: 5 * time.Minute, note: "on the days that it leaves out"},
		{every: 5 * time.Minute, flag: "0  4 * * *", gap: 24 * time.Hour, note: "the shortest every is 5m, and a run starts each 24h at most"},
	} {
		state := kept
		if c.stateless {
			state = config.State{}
		}
		s, m := scheduleOf(c.every, c.flag, "", state)
		if c.refused != "" {
			if len(m.refused) != 1 || !strings.Contains(m.refused[0].Error(), c.refused) {
				t.Errorf("every %s, --schedule %q: refused %v, want %q", c.every, c.flag, m.refused, c.refused)
			}
			continue
		}
		got, err := parseCron(s.text)
		if err != nil || len(m.refused) > 0 || s.gap != c.gap || got.gap() != s.gap || got.runs() != s.runs {
			t.Errorf("every %s, --schedule %q: %q with gap %s, %d runs (%v, %v), want %s", c.every, c.flag, s.text, s.gap, s.runs, err, m.refused, c.gap)
		}
		if all := strings.Join(m.notes, "\n"); (all == "") != (c.note == "") || !strings.Contains(all, c.note) {
			t.Errorf("every %s, --schedule %q: notes %q, want %q", c.every, c.flag, all, c.note)
		}
	}
}

// TestAFleetIsSpread: perches in different namespaces start at different minutes,
// and one of them at the same each time.
func TestAFleetIsSpread(t *testing.T) {
	for _, every := range intervals()[1:] {
		at := map[string]int{}
		for _, namespace := range strings.Fields("a b c d e f g h i j k l m n o p q r s t u v w x y z aa bb cc dd") {
			s, _ := scheduleOf(every, "", namespace, config.State{})
			again, _ := scheduleOf(every, "", namespace, config.State{})
			if s != again {
				t.Fatalf("%s: %q, then %q", namespace, s.text, again.text)
			}
			at[s.text]++
		}
		if places := min(10, int(every/time.Minute)); len(at) < places/2+1 {
			t.Errorf("each %s: 30 perches start at %d different minutes", every, len(at))
		}
	}
}

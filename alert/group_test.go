package alert

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"perch.example/probes"
)

// fleet is a run in which each of those targets meets the incident, or after
// its end the mended path.
func fleet(bad string, targets ...string) probes.Run {
	run := runOf()
	for _, name := range targets {
		from := mended().Outcomes
		if strings.Contains(bad, name) {
			from = incident().Outcomes
		}
		for _, o := range from {
			o.Target = name
			run.Outcomes = append(run.Outcomes, o)
		}
	}
	return run
}

// kinds writes what each run told as "kind x incidents".
func kinds(told [][]Notice) string {
	var all []string
	for _, notices := range told {
		var words []string
		for _, n := range notices {
			words = append(words, fmt.Sprintf("%s x%d", n.Kind, len(n.About)))
		}
		all = append(all, strings.Join(words, " "))
	}
	return strings.Join(all, ",")
}

func TestGroups(t *testing.T) {
	four := []string{"a", "b", "c", "d"}
	all := func(bad ...string) []probes.Run {
		var out []probes.Run
		for _, b := range bad {
			out = append(out, fleet(b, four...))
		}
		return out
	}
	daily := func(n int) Options {
		o := options(0)
		o.Now, o.RemindEvery = noon().Add(time.Duration(n)*12*time.Hour), 12*time.Hour
		return o
	}
	silenced := func(n int) Options {
		o := options(n)
		o.Silences = []Silence{{Match: "b", Until: noon().Add(time.Hour)}}
		return o
	}
	tests := []struct {
		name string
		o    func(int) Options
		runs []probes.Run
		want string
	}{
		{"four in one run are one", options, all("abcd", "abcd"), ",firing x4"},
		{"three are", options, all("abc", "abc"), ",firing x3"},
		{"two are not", options, all("ab", "ab"), ",firing x1 firing x1"},
		{"they end together", options, all("abcd", "abcd", "", ""), ",firing x4,,resolved x4"},
		{"one ends before the others", options, all("abcd", "abcd", "bcd", "bcd", "", ""), ",firing x4,,resolved x1,,resolved x3"},
		{"two of them end", options, all("abcd", "abcd", "cd", "cd"), ",firing x4,,resolved x1 resolved x1"},
		{"what opened apart ends apart", options, all("ab", "abc", "abcd", "abcd", "", ""), ",firing x1 firing x1,firing x1,firing x1,,resolved x1 resolved x1 resolved x1 resolved x1"},
		{"they are reminded of together", daily, all("abcd", "abcd", "abcd"), ",firing x4,reminder x4"},
		{"a silenced one is not among them", silenced, all("abc", "abc"), ",firing x1 firing x1"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m, told := decideAll(tt.o, tt.runs...)
			if got := kinds(told); got != tt.want {
				t.Errorf("told %s, want %s", got, tt.want)
			}
			var ids []string
			for _, notices := range told {
				for _, n := range notices {
					if slices.Contains(ids, n.ID) {
						t.Errorf("%s is told twice", n.ID)
					}
					ids = append(ids, n.ID)
				}
			}
			if len(m.Outbox) > 0 {
				t.Errorf("left over: %+v", m.Outbox)
			}
		})
	}
}

// TestGroupsHaveOneThread, and stay in it; what differs in channel, severity
// or trouble is told apart.
func TestGroupsHaveOneThread(t *testing.T) {
	four := []string{"a", "b", "c", "d"}
	_, told := decideAll(options, fleet("abcd", four...), fleet("abcd", four...), fleet("abc", four...), fleet("abc", four...), fleet("", four...), fleet("", four...))
	thread := told[1][0].Thread
	if thread == "" || told[3][0].Thread != thread || told[5][0].Thread != thread {
		t.Errorf("threads %q, %q, %q; want one", thread, told[3][0].Thread, told[5][0].Thread)
	}
	for name, change := range map[string]func(*probes.Outcome){
		"channel":  func(o *probes.Outcome) { o.Notice.Channel = "#b" },
		"severity": func(o *probes.Outcome) { o.Notice.Severity = "info" },
		"trouble":  func(o *probes.Outcome) { o.ByClient = true },
	} {
		run := fleet("abc", "a", "b", "c")
		for i := range run.Outcomes {
			if run.Outcomes[i].Target == "b" {
				change(&run.Outcomes[i])
			}
		}
		if _, told := decideAll(options, run, run); len(told[1]) != 3 {
			t.Errorf("with another %s %s was told, want three", name, kinds(told))
		}
	}
}

// TestAGroupIsRead: every target, and the evidence of one of them, once.
func TestAGroupIsRead(t *testing.T) {
	run := fleet("abcd", "a", "b", "c", "d")
	_, told := decideAll(options, run, run)
	text := strings.Join(strings.Fields(Text(told[1][0])), " ")
	for _, want := range []string{
		"FIRING 4 targets: idle connections are closed too early", "a: 2 of 2 runs failed since 2026-03-02 12:00 UTC; owner team-stock", "d: 2 of 2 runs",
		"at a, as an example", "perch silence add a --for 2h", "perch run --only a/calendar-idle --all", "var-target=a&var-target=b&var-target=c&var-target=d",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in\n%s", want, text)
		}
	}
	if n := strings.Count(text, "setKeepAliveStrategy"); n != 1 {
		t.Errorf("the advice is told %d times", n)
	}
	bad := fleet("abcd", "a", "b", "c", "d")
	_, told = decideAll(options, bad, bad, fleet("", "a", "b", "c", "d"), fleet("", "a", "b", "c", "d"))
	ended := strings.Join(strings.Fields(Text(told[3][0])), " ")
	for _, want := range []string{"RESOLVED 4 targets (idle", "d: 2 of 4 runs failed since 2026-03-02 12:00 UTC; over after 15 min: the path changed; owner team-stock"} {
		if !strings.Contains(ended, want) {
			t.Errorf("%q is missing in\n%s", want, ended)
		}
	}
	_, told = decideAll(options, run, run)
	if want := "a, b, c and 1 more target: The application's HTTP client"; !strings.HasPrefix(told[1][0].Summary, want) {
		t.Errorf("the summary is %q, want %q first", told[1][0].Summary, want)
	}
}

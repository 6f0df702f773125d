package alert

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"perch.example/probes"
)

// six are incidents at six targets, of several severities, troubles and
// families: six are told apart, since no three are alike.
func six(fails string) probes.Run {
	troubles := []struct {
		d probes.Diagnosis
		f probes.Family
		s string
	}{
		{probes.DiagnosisUnreachable, probes.FamilyReachability, "ticket"}, {probes.DiagnosisUnreachable, probes.FamilyReachability, "page"},
		{probes.DiagnosisSlow, probes.FamilyLatency, "info"}, {probes.DiagnosisSlow, probes.FamilyLatency, "info"},
		{probes.DiagnosisContract, probes.FamilyContract, "ticket"}, {probes.DiagnosisContract, probes.FamilyContract, ""},
	}
	run := runOf()
	for n, tt := range troubles {
		name := string(rune('a' + n))
		o := single(name, "p", probes.VerdictPass, "", "")
		if strings.Contains(fails, name) {
			o = single(name, "p", probes.VerdictFail, tt.d, tt.f)
		}
		o.Notice.Severity = tt.s
		run.Outcomes = append(run.Outcomes, o)
	}
	return run
}

// away folds runs while nobody can be told, one every so often.
func away(t *testing.T, every time.Duration, change func(*Options), runs ...probes.Run) (Memory, []Notice) {
	t.Helper()
	var m Memory
	var due []Notice
	for n, run := range runs {
		o := options(0)
		o.Now, o.FireAfter, o.ResolveAfter = noon().Add(time.Duration(n)*every), 1, 1
		if change != nil {
			change(&o)
		}
		run.Started = o.Now
		m, due = Decide(remember(t, m), run, o)
	}
	return m, due
}

// list writes notices as "kind incidents".
func list(notices []Notice) string {
	var all []string
	for _, n := range notices {
		var names []string
		for _, a := range n.About {
			names = append(names, a.Target)
		}
		all = append(all, string(n.Kind)+" "+strings.Join(names, ""))
	}
	return strings.Join(all, ", ")
}

// TestABacklogPages: with the destination away for more than a day what opened
// meanwhile is named with its severity and state, and what still fires is told
// in full right behind it, in the same run.
func TestABacklogPages(t *testing.T) {
	hushed := func(o *Options) {
		o.Silences = []Silence{{Match: "b", From: noon().Add(time.Hour), Until: noon().Add(240 * time.Hour)}}
	}
	for _, tt := range []struct {
		name, runs, want, severity string
		change                     func(*Options)
	}{
		{"all still fire", "abcdef abcdef abcdef abcdef", "backlog abcdef, reminder a, reminder b, reminder c, reminder d, reminder e, reminder f", "page", nil},
		{"some are over", "abcdef abcdef cde cde", "backlog abcdef, reminder c, reminder d, reminder e", "page", nil},
		{"all are over", "cd cd - -", "backlog cd", "info", nil},
		{"one is silenced now", "ab ab ab ab", "backlog ab, reminder a", "page", hushed},
		{"what is younger stays as it is", "cf cf cf cdf", "backlog cf, reminder c, reminder f, firing d", "info", nil},
	} {
		var runs []probes.Run
		for _, fails := range strings.Fields(tt.runs) {
			runs = append(runs, six(fails))
		}
		_, due := away(t, 9*time.Hour, tt.change, runs...)
		if got := list(due); got != tt.want {
			t.Errorf("%s: due are %s, want %s", tt.name, got, tt.want)
			continue
		}
		if due[0].Severity != tt.severity || documentOf(due[0]).Severity != tt.severity {
			t.Errorf("%s: the severity is %q, want %q", tt.name, due[0].Severity, tt.severity)
		}
		for n, e := range due[0].Backlog.Entries {
			if a := due[0].About[n]; a.Name != e.Name || a.Family == "" || (a.State == StateResolved) != !e.Ended.IsZero() || a.Ended.IsZero() != e.Ended.IsZero() {
				t.Errorf("%s: %+v of %+v", tt.name, a, e)
			}
		}
		for _, n := range due[1:] {
			if n.Kind == KindReminder && (!n.Whole || n.Severity != n.About[0].Severity || !strings.HasPrefix(n.Title, "STILL FIRING ") || n.Thread != n.About[0].Name) {
				t.Errorf("%s: %+v", tt.name, n)
			}
		}
	}
}

// TestWhatIsToldWholeIsWhole: all that an opening says.
func TestWhatIsToldWholeIsWhole(t *testing.T) {
	n := wholeReminder(t)
	text := wordsOf(n)
	for _, want := range []string{
		"STILL FIRING stock-api: idle connections are closed too early", "could not be told for more than 24 h, and stands in a backlog alone",
		"The application's HTTP client, apache-httpclient-4.5 as declared, throws", "IN: the pool kept it too long.", "What to change 1. Set Apache", "The ladder:", "Runs 4 of 4 failed", "it counts as a run",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in\n%s", want, text)
		}
	}
	if shown := shownAfter(n, Receipt{}); shown == nil || len(shown.Sections) != len(n.Sections) {
		t.Errorf("as a thread's first message its evidence is not kept: %+v", shown)
	}
	if !strings.HasPrefix(n.Summary, "Open for 1 d 3 h, 4 of 4 runs failed. The application's HTTP client") {
		t.Errorf("the summary is %q", n.Summary)
	}
}

// wholeReminder is the incident's, beside another whose opening waited as long.
func wholeReminder(t testing.TB) Notice {
	t.Helper()
	run := incident()
	run.Outcomes = append(run.Outcomes, six("a").Outcomes[0])
	var m Memory
	var due []Notice
	for n := range 4 {
		o := options(0)
		o.Now, o.FireAfter = noon().Add(time.Duration(n)*9*time.Hour), 1
		run.Started = o.Now
		m, due = Decide(m, run, o)
	}
	if got := list(due); got != "backlog stock-apia, reminder stock-api, reminder a" {
		t.Fatalf("due are %s", got)
	}
	return due[1]
}

// TestToldWholeOnce: to the destination that had the backlog, until it has it;
// what does not fail in the run that has the backlog is told as soon as it does.
func TestToldWholeOnce(t *testing.T) {
	two := func(o *Options) { o.Destinations = []string{"slack", "hook"} }
	m, due := away(t, 9*time.Hour, func(o *Options) { two(o) }, six("ab"), six("ab"), six("ab"))
	for _, n := range due {
		m = m.told(n.ID, "slack") // in time
	}
	step := func(run probes.Run, hours int) []Notice {
		o := options(0)
		two(&o)
		o.Now, o.FireAfter, o.ResolveAfter = noon().Add(time.Duration(hours)*time.Hour), 1, 2
		run.Started = o.Now
		var told []Notice
		m, told = Decide(remember(t, m), run, o)
		return told
	}
	skipped := six("ab")
	skipped.Outcomes = skipped.Outcomes[1:] // a is not due
	first := step(skipped, 27)
	if got := list(first); got != "backlog ab, reminder b" {
		t.Fatalf("first due are %s", got)
	}
	for _, n := range first {
		if len(n.Ways) != 1 || n.Ways[0].Destination != "hook" {
			t.Errorf("%s goes to %+v", n.ID, n.Ways)
		}
	}
	m = m.untold(first[0].ID, "hook", nil, false)
	m = m.untold(first[1].ID, "hook", nil, true)
	again := step(six("ab"), 28)
	if got := list(again); got != "backlog ab, reminder a, reminder b" || again[0].Backlog.Others != 0 {
		t.Fatalf("then due are %s, %d others", got, again[0].Backlog.Others)
	}
	if again[1].PossibleRepeat || !again[2].PossibleRepeat {
		t.Errorf("the doubt about b's is lost, or a's came: %t, %t", again[1].PossibleRepeat, again[2].PossibleRepeat)
	}
	if again[2].ID == first[1].ID {
		t.Error("two notices have one id")
	}
	for _, n := range again {
		m = m.told(n.ID, "hook")
	}
	if got := list(step(six("ab"), 29)); got != "" {
		t.Errorf("told again: %s", got)
	}
}

// TestNothingOvertakesABacklog: while it is not told, what follows of its
// incidents waits; what is of others does not.
func TestNothingOvertakesABacklog(t *testing.T) {
	m, due := away(t, 9*time.Hour, nil, six("cf"), six("cf"), six("cf"), six("cdf"))
	to := &refuser{not: due[0].ID}
	m, _ = Deliver(t.Context(), m, []Destination{{Name: "slack", Sender: to}}, noon().Add(27*time.Hour))
	if got := strings.Join(to.told, ", "); got != "firing d" {
		t.Errorf("told %s, want what opened since", got)
	}
	if got := list(m.Outbox); got != "backlog cf, reminder c, reminder f" {
		t.Errorf("left are %s", got)
	}
}

// refuser takes every notice but one, for what it says.
type refuser struct {
	not  string
	told []string
}

func (r *refuser) Wants(Kind) bool { return true }

func (r *refuser) Send(_ context.Context, n Notice, so Receipt) (Receipt, error) {
	if n.ID == r.not {
		return so, &SendError{Status: 400, Content: true}
	}
	r.told = append(r.told, list([]Notice{n}))
	return so, nil
}

// TestAStormBehindABacklog: forty incidents of one trouble are one notice, of
// many troubles one each; all are within the limits, and so is the memory.
func TestAStormBehindABacklog(t *testing.T) {
	storm := func(troubles int) probes.Run {
		all := []probes.Diagnosis{probes.DiagnosisSlow, probes.DiagnosisStalled, probes.DiagnosisSilentDrop, probes.DiagnosisMassClose, probes.DiagnosisContract, probes.DiagnosisUnstable, probes.DiagnosisNoKeepAlive, probes.DiagnosisUndeclaredClose, probes.DiagnosisStaleConnection, probes.DiagnosisEarlyClose}
		run := runOf()
		for n := range 40 {
			for _, o := range incident().Outcomes {
				o.Target = fmt.Sprintf("target-with-a-rather-long-name-%02d", n)
				if o.Verdict == probes.VerdictFail {
					o.Diagnosis = all[n%troubles]
					o.Notice.Severity = fmt.Sprint("s", n%(2*troubles)) // of one severity and trouble are two
				}
				run.Outcomes = append(run.Outcomes, o)
			}
		}
		return run
	}
	for troubles, want := range map[int]int{1: 2, 10: 40} {
		run := storm(troubles)
		m, due := away(t, 9*time.Hour, nil, run, run, run, run)
		if len(due) != 1+want || due[0].Kind != KindBacklog || len(due[0].About) != 40 {
			t.Fatalf("%d troubles: due are %s", troubles, list(due))
		}
		for _, n := range due {
			if n.Kind != KindBacklog && !n.Whole {
				t.Errorf("%s is not whole", n.ID)
			}
			checkBounds(t, n)
		}
		ids := map[string]bool{}
		for _, n := range m.Outbox {
			ids[n.ID] = true
		}
		if len(ids) != len(m.Outbox) {
			t.Errorf("%d troubles: %d notices have %d ids", troubles, len(m.Outbox), len(ids))
		}
	}
}

// checkBounds holds a notice to what Slack takes.
func checkBounds(t *testing.T, n Notice) {
	t.Helper()
	whole := size(n.Title) + size(n.Summary)
	for _, s := range n.Sections {
		whole += size(s.Heading)
		part := 0
		for _, line := range s.Lines {
			part += size(line) + perLine(s.Form)
		}
		for _, f := range s.Facts {
			part += size(f.Name + f.Value)
		}
		if part > 3000 {
			t.Errorf("%s: %q takes %d", n.ID, s.Heading, part)
		}
		whole += part
	}
	if size(n.Title) > maxTitle || size(n.Summary) > maxSummary || whole > 10000 {
		t.Errorf("%s takes %d, its title %d, its summary %d", n.ID, whole, size(n.Title), size(n.Summary))
	}
}

func TestHighest(t *testing.T) {
	for want, all := range map[string][]string{
		"": {"", ""}, "info": {"", "info"}, "ticket": {"info", "ticket", ""}, "page": {"ticket", "page", "info"},
	} {
		var about []About
		for _, s := range all {
			about = append(about, About{Severity: s})
		}
		if got := highest(about); got != want {
			t.Errorf("of %q it is %q, want %q", all, got, want)
		}
	}
	if got := highest([]About{{Severity: "loud"}}); got != "" {
		t.Errorf("of one that is not known: %q", got)
	}
}

func TestBacklogCounts(t *testing.T) {
	for want, n := range map[string][3]int{
		": 1 incident opened and may still be open, 2 incidents opened and ended, 3 incidents ended, told before as opened": {1, 2, 3},
		": 2 incidents opened and ended": {0, 2, 0}, "": {0, 0, 0},
	} {
		if got := backlogCounts(n[0], n[1], n[2]); got != want {
			t.Errorf("%v: %q, want %q", slices.Clone(n[:]), got, want)
		}
	}
}

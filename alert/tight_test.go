package alert

import (
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"perch.example/probes"
)

// tall is the incident with a ladder of many rungs, each with its own numbers
// in its advice.
func tall() probes.Run {
	run := incident()
	for _, hold := range []time.Duration{1600 * ms, 1800 * ms} {
		o := banded()
		o.Hold, o.Advice = hold, slices.Clone(o.Advice)
		for i := range o.Advice {
			o.Advice[i] = strings.ReplaceAll(o.Advice[i], "750", "740")
		}
		run.Outcomes = append(run.Outcomes, o)
	}
	return run
}

// TestANoticeIsRead: the incident's notice fits a screen, and more rungs cost a
// row each.
func TestANoticeIsRead(t *testing.T) {
	const most = 59
	lines := func(run probes.Run) int {
		notices := Preview(run, options(0))
		if len(notices) != 1 {
			t.Fatalf("%d notices, want 1", len(notices))
		}
		return strings.Count(Text(notices[0]), "\n")
	}
	short, long := lines(incident()), lines(tall())
	if short > most || long != short+2 {
		t.Errorf("3 rungs take %d lines, 5 take %d; want at most %d, and 2 more", short, long, most)
	}
}

// TestCommandsCanBePasted: the config that was given stands in them, as one
// word of a shell's, and they are never cut.
func TestCommandsCanBePasted(t *testing.T) {
	ids := func(n int) []string {
		return slices.Repeat([]string{"stock-api/calendar-idle"}, n)
	}
	for _, tt := range []struct {
		name, config string
		probes       []string
		want         string
	}{
		{"the default config", "", ids(1), "perch run --only stock-api/calendar-idle --all"},
		{"a path", "deploy/perch.yaml", ids(1), "perch run --config deploy/perch.yaml --only stock-api/calendar-idle --all"},
		{"a blank", "my configs/it's.yaml", ids(1), `perch run --config 'my configs/it'\''s.yaml' --only stock-api/calendar-idle --all`},
		{"a shell's signs", "$(id).yaml", ids(1), "perch run --config '$(id).yaml' --only stock-api/calendar-idle --all"},
		{"many probes", "", ids(40), "perch run --only stock-api --all"},
	} {
		i := Incident{Target: "stock-api", Probes: tt.probes}
		if got := command(i, Options{Config: tt.config}); got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.name, got, tt.want)
		}
	}
	o := options(0)
	o.Config = "deploy/perch.yaml"
	if text := Text(Preview(incident(), o)[0]); !strings.Contains(text, "`perch run --config deploy/perch.yaml --only stock-api/calendar-idle --all`") {
		t.Errorf("the notice does not name the config:\n%s", text)
	}
}

// TestRoundTripsWithinOneMachineAreLeftOut: "round trip 0 ms" says nothing.
func TestRoundTripsWithinOneMachineAreLeftOut(t *testing.T) {
	for rtt, want := range map[time.Duration]string{
		0: "idle_fin in 0.07 ms", 30 * time.Microsecond: "idle_fin in 0.07 ms",
		110 * ms: "idle_fin in 0.07 ms (round trip 110 ms)",
	} {
		a := exchange(probes.ConnectionReused, probes.ReasonIdleFIN, 70*time.Microsecond)
		a.RTT = rtt
		if got := result(a); got != want {
			t.Errorf("round trip %v: got %q, want %q", rtt, got, want)
		}
	}
	a := exchange(probes.ConnectionReused, probes.ReasonIdleFIN, 70*time.Microsecond)
	a.RTT, a.MinRTT = 5*ms, 11*time.Microsecond
	if got := result(a); got != "idle_fin in 0.07 ms" {
		t.Errorf("a smoothed round trip that acknowledgements made long: got %q", got)
	}
	if got := latency(time.Microsecond); got != "< 0.01 ms" {
		t.Errorf("got %q", got)
	}
}

// TestStories: each kind of end has its cells.
func TestStories(t *testing.T) {
	silent := rung(time.Minute)
	silent.Attempts[1] = exchange(probes.ConnectionReused, probes.ReasonBlackhole, 5*time.Second)
	reset := closedRung(time.Minute, time.Second)
	reset.Close.How, reset.ClosedBy = probes.HowRST, "unknown"
	refused := rung(time.Minute)
	refused.Attempts = []probes.Attempt{exchange(probes.ConnectionFresh, probes.ReasonRefused, ms)}
	skipped := rung(time.Minute)
	skipped.Attempts = nil
	for _, tt := range []struct {
		o    probes.Outcome
		want []string
	}{
		{rung(time.Minute), []string{"stayed open", "200 in 128 ms", "-"}},
		{silent, []string{"looked open", "blackhole in 5 s (round trip 110 ms)", "-"}},
		{reset, []string{"RST by unknown at 1 s", "idle_fin in 0.3 ms (round trip 110 ms)", "200 in 349 ms"}},
		{refused, []string{"opening request: no connection (refused) in 1 ms (round trip 110 ms)"}},
		{skipped, []string{"not tried"}},
	} {
		if got := story(tt.o); !slices.Equal(got, tt.want) {
			t.Errorf("got %q, want %q", got, tt.want)
		}
	}
}

func TestANumberKeepsItsUnit(t *testing.T) {
	b := sheet{columns: width}
	wrap(&b, "", "", strings.Repeat("x", width-5)+" 1.503 s idle")
	if want := strings.Repeat("x", width-5) + "\n1.503 s idle\n"; b.String() != want {
		t.Errorf("got %q, want %q", b.String(), want)
	}
}

// TestANoticeFitsANarrowTerminal: all but its title, a ladder's rows
// and what has no blank to be broken at, a class or an address.
func TestANoticeFitsANarrowTerminal(t *testing.T) {
	notices := Preview(incident(), options(0))
	if len(notices) != 1 {
		t.Fatalf("%d notices, want 1", len(notices))
	}
	const columns = 80
	text := TextIn(notices[0], columns)
	fixed := map[string]bool{notices[0].Title: true} // one line, wherever it is shown
	for _, s := range notices[0].Sections {
		for _, line := range s.Lines {
			fixed["  "+line] = s.Form == FormFixed
		}
	}
	for _, l := range notices[0].Links {
		fixed["  "+l.Name+": "+l.URL] = true
	}
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if n := utf8.RuneCountInString(line); n > columns && !fixed[line] && len(strings.Fields(line)) > 1 {
			t.Errorf("%d columns: %q", n, line)
		}
	}
	if got := TextIn(notices[0], 0); got != Text(notices[0]) {
		t.Errorf("an unknown width is not the usual one:\n%s", got)
	}
	if strings.Join(strings.Fields(text), " ") != strings.Join(strings.Fields(Text(notices[0])), " ") {
		t.Error("the narrow text says something else")
	}
}

// TestChecksBesideServe: no perch run can run beside a perch that has the state
// to itself, so what it tells names none.
func TestChecksBesideServe(t *testing.T) {
	o := options(0)
	o.FireAfter, o.Config, o.Beside = 1, "/etc/perch/config", "kubectl -n shop exec deploy/perch -- /perch"
	run := incident()
	for i := range run.Outcomes {
		run.Outcomes[i].Every = 5 * time.Minute
	}
	_, notices := Decide(Memory{}, run, o)
	text := strings.Join(strings.Fields(Text(notices[0])), " ") // lines are broken anywhere
	for _, want := range []string{
		"`kubectl -n shop exec deploy/perch -- /perch idle https://api.partner.example/v1/calendar --max 10s` measures this path's idle timeout now",
		"perch serve runs it again by itself, within 5m",
		"`kubectl -n shop exec deploy/perch -- /perch silence add --config /etc/perch/config stock-api/calendar-idle --for 2h",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing:\n%s", want, text)
		}
	}
	if strings.Contains(text, "perch run --") {
		t.Errorf("it names a run that would be refused:\n%s", text)
	}
	refused := single("stock-api", "calendar", probes.VerdictFail, probes.DiagnosisUnreachable, probes.FamilyReachability)
	_, notices = Decide(Memory{}, runOf(refused), o)
	if text := Text(notices[0]); !strings.Contains(text, "perch serve runs it again by itself; its log") || strings.Contains(text, "perch idle") {
		t.Errorf("a target that refuses:\n%s", text)
	}
}

// TestChecksGoTheProbesWay: perch idle over another protocol would measure another
// timeout.
func TestChecksGoTheProbesWay(t *testing.T) {
	o := options(0)
	o.FireAfter = 1
	run := incident()
	for i := range run.Outcomes {
		run.Outcomes[i].Notice.Idle = []string{"--protocol", "h2", "--ca-file", "/etc/my ca.pem"}
	}
	_, notices := Decide(Memory{}, run, o)
	text := strings.Join(strings.Fields(Text(notices[0])), " ")
	if want := "perch idle https://api.partner.example/v1/calendar --protocol h2 --ca-file '/etc/my ca.pem'` measures"; !strings.Contains(text, want) {
		t.Errorf("%q is missing:\n%s", want, text)
	}
	for i := range run.Outcomes {
		run.Outcomes[i].Notice.URL, run.Outcomes[i].Notice.Query = "https://api.partner.example/v1/calendar?key=secret", true
	}
	_, notices = Decide(Memory{}, run, o)
	text = strings.Join(strings.Fields(Text(notices[0])), " ")
	if want := "/v1/calendar --protocol h2 --ca-file '/etc/my ca.pem'`, its URL with the probe's query added, measures"; !strings.Contains(text, want) || strings.Contains(text, "secret") {
		t.Errorf("%q is missing, or the query is told:\n%s", want, text)
	}
	for i := range run.Outcomes {
		run.Outcomes[i].Notice.URL = ""
	}
	_, notices = Decide(Memory{}, run, o)
	if text := Text(notices[0]); strings.Contains(text, "perch idle") {
		t.Errorf("it would measure another way:\n%s", text)
	}
}

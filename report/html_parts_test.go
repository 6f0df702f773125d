package report

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"perch.example/probes"
)

// eventsTold are events as "at what words".
func eventsTold(c wireConnection) []string {
	var out []string
	for _, e := range c.events() {
		out = append(out, fmt.Sprintf("%s %s: %s", age(e.at), e.what, e.words))
	}
	return out
}

func TestConnectionsTellWhatHappened(t *testing.T) {
	unused := dropped(time.Minute)
	unused.Unused = true
	unused.Attempts = unused.Attempts[1:]
	unused.Attempts[0].Phases = probes.Phases{Connect: 110 * ms}
	cut := rungOK(time.Minute)
	cut.Attempts = cut.Attempts[:1]
	cut.Close = &probes.Close{Age: 3 * time.Second, How: probes.HowRST}
	down := serviceDown().Outcomes[0]
	burst := burstOf(20, 2)
	closed := closedRung(1500*ms, 1001*ms)
	for _, tt := range []struct {
		name string
		o    *probes.Outcome
		want [][]string
	}{
		{"a close, then the reuse, then a control", &closed, [][]string{
			{
				"0 ms dns: look up the name", "2 ms dial: dial 192.0.2.10:443", "0.112 s tls: TLS handshake", "0.226 s request: GET", "0.357 s answer: 200 in 131 ms",
				"0.357 s idle: held idle for 1.5 s", "1.358 s close: FIN at 1.001 s idle", "1.857 s request: GET, reusing it", "1.877 s failure: idle_fin in 20 ms",
			},
			{"0 ms dial: dial 192.0.2.10:443", "0.11 s tls: TLS handshake", "0.223 s request: GET, the control", "0.35 s answer: 200 in 127 ms"},
		}},
		{"it carried nothing before", &unused, [][]string{
			{"0 ms dial: dial 192.0.2.10:443", "0.11 s idle: held idle for 60 s", "60.11 s request: GET, reusing it", "65.11 s failure: blackhole in 5 s"},
			{"0 ms dial: dial 192.0.2.10:443", "0.11 s tls: TLS handshake", "0.223 s request: GET, the control", "0.352 s answer: 200 in 129 ms"},
		}},
		{"a close, and no reuse", &cut, [][]string{{
			"0 ms dns: look up the name", "2 ms dial: dial 192.0.2.10:443", "0.112 s tls: TLS handshake", "0.226 s request: GET", "0.357 s answer: 200 in 131 ms",
			"0.357 s idle: held idle for 3 s", "3.357 s close: RST at 3 s idle",
		}}},
		{"no connection", &down, [][]string{
			{"0 ms dns: look up the name", "2 ms dial: dial 192.0.2.10:443", "2.3 ms failure: refused"},
			{"0 ms dns: look up the name", "2 ms dial: dial 192.0.2.10:443", "2.3 ms failure: refused"},
		}},
	} {
		var got [][]string
		for _, c := range wireConnections(tt.o) {
			got = append(got, eventsTold(c))
		}
		if fmt.Sprint(got) != fmt.Sprint(tt.want) {
			t.Errorf("%s: got\n%q, want\n%q", tt.name, got, tt.want)
		}
	}
	all := wireConnections(&burst)
	if len(all) != 8 {
		t.Errorf("the burst has %d connections, want 4, and 4 after the gap", len(all))
	}
	for i, c := range all {
		if (c.close != nil) != (i < 4) {
			t.Errorf("connection %d: its close is %v", i, c.close)
		}
	}
}

func TestDrawingOfAConnectionStaysInside(t *testing.T) {
	for name, run := range htmlRuns() {
		for i := range run.Outcomes {
			for _, c := range wireConnections(&run.Outcomes[i]) {
				h := newHTMLConnection(&run.Outcomes[i], c)
				sum := 0.0
				for _, s := range h.Segments {
					if s.Class != string(eventClose) {
						sum += number(t, s.Width)
					}
					if end := number(t, s.From) + number(t, s.Width); end > 100.1 {
						t.Errorf("%s: %s ends at %.2f%%", name, s.Class, end)
					}
				}
				if sum < 99.5 || sum > 100.5 {
					t.Errorf("%s: the parts make %.2f%%", name, sum)
				}
				if len(h.Signs) != len(h.Events) {
					t.Errorf("%s: %d signs, %d events", name, len(h.Signs), len(h.Events))
				}
			}
		}
	}
}

func number(t *testing.T, percent string) float64 {
	t.Helper()
	var f float64
	if _, err := fmt.Sscanf(percent, "%f%%", &f); err != nil || f < 0 || f > 100 {
		t.Errorf("%q is no share", percent)
	}
	return f
}

func TestLadderIsDrawnToOneScale(t *testing.T) {
	story := storyRun()
	var v probeView
	for _, target := range targets(story) {
		for _, p := range target.probes {
			if p.id == "stock-api/calendar-idle" {
				v = p
			}
		}
	}
	l := newHTMLLadder(v)
	// 5 s, which were expected, and 2% more.
	at := func(d time.Duration) string { return percent(100 * d.Seconds() / 5.1) }
	if l.Rungs[1].Open != at(1001*ms) || l.Rungs[1].End != l.Rungs[1].Open || l.Rungs[1].Dead.To != at(1500*ms) || l.Rungs[1].Alive != "" {
		t.Errorf("the rung that was closed: %+v", l.Rungs[1])
	}
	if l.Rungs[0].Alive != at(500*ms+300*us) || l.Rungs[0].End != "" || l.Rungs[0].Dead != nil {
		t.Errorf("the rung that lived: %+v", l.Rungs[0])
	}
	if l.Band == nil || l.Band.From != at(890*ms) || l.Band.To != at(2*time.Second) {
		t.Errorf("the danger band: %+v", l.Band)
	}
	var marks []string
	for _, line := range l.Lines {
		marks = append(marks, line.At+" "+line.Words+" "+line.Anchor)
	}
	if want := []string{at(time.Second) + " measured: closed after 1 s start", at(5*time.Second) + " expected 5 s end"}; !slices.Equal(marks, want) {
		t.Errorf("got %q, want %q", marks, want)
	}
	silent := newHTMLLadder(probeView{outcomes: []*probes.Outcome{&story.Outcomes[4], &story.Outcomes[5]}})
	if u := silent.Rungs[1].Unseen; u == nil || silent.Rungs[1].Open != u.From || silent.Rungs[1].End != u.To {
		t.Errorf("the rung that died in silence: %+v", silent.Rungs[1])
	}
}

// What is marked across the rungs is drawn beside their bars, and through no word.
func TestLadderLinesLeaveTheWords(t *testing.T) {
	v := targets(incident())[0].probes[0]
	for _, target := range targets(incident()) {
		for _, p := range target.probes {
			if p.first().Kind == probes.KindIdle && len(ladderMarks(p)) > 0 {
				v = p
			}
		}
	}
	l := newHTMLLadder(v)
	if len(l.Lines) == 0 || len(l.Rungs) < 2 {
		t.Fatal("nothing is marked")
	}
	for _, line := range l.Lines {
		if len(line.Parts) != len(l.Rungs)+1 || line.Parts[len(line.Parts)-1].To != l.Axis {
			t.Errorf("%+v", line)
		}
		for _, part := range line.Parts {
			for _, r := range l.Rungs {
				if part.From < r.Text+4 && part.To > r.Text-12 {
					t.Errorf("%+v goes through the words at %d", part, r.Text)
				}
			}
		}
	}
}

// A sentence goes on after code that has lines of its own, without the mark before it.
func TestProseAfterLongCode(t *testing.T) {
	code := strings.Repeat("setKeepAlive()", 6)
	for text, want := range map[string]string{
		"Set `" + code + "`. The path closes.": "The path closes.",
		"Set `" + code + "`.":                  "",
		"Set `short`. The path closes.":        ". The path closes.",
		"Set `" + code + "`, in Spring Boot.":  "in Spring Boot.",
		"Set `short`, in Spring Boot.":         ", in Spring Boot.",
	} {
		got := ""
		if all := prose(text); !all[len(all)-1].Code {
			got = all[len(all)-1].Text
		}
		if got != want {
			t.Errorf("%s: ends with %q, want %q", text, got, want)
		}
	}
}

func TestLadderScaleLeavesOutWhatIsFar(t *testing.T) {
	o := rungOK(time.Second)
	o.KeepAlive = time.Minute
	l := newHTMLLadder(probeView{outcomes: []*probes.Outcome{&o}})
	if got := l.Lines[0]; got.At != "100%" || got.Words != "expected 60 s →" || got.Anchor != "end" {
		t.Errorf("got %+v", got)
	}
	if number(t, l.Rungs[0].Open) < 90 {
		t.Errorf("the bar is %s", l.Rungs[0].Open)
	}
}

func TestTicksAreRound(t *testing.T) {
	for scale, want := range map[time.Duration]string{
		5100 * ms: "idle 0, 2 s, 4 s", 122 * time.Second: "idle 0, 60 s, 2 min", 6 * time.Minute: "idle 0, 2 min, 4 min, 6 min",
		30 * ms: "idle 0, 10 ms, 20 ms, 30 ms", 2 * time.Hour: "idle 0, 30 min, 1 h, 90 min, 2 h", 0: "",
	} {
		var got []string
		for _, tick := range (axis{scale}).ticks() {
			got = append(got, tick.Words)
		}
		if strings.Join(got, ", ") != want {
			t.Errorf("%s: got %q, want %q", scale, got, want)
		}
	}
}

func TestBurstRows(t *testing.T) {
	o := burstOf(20, 3)
	o.Attempts[len(o.Attempts)-1].Reason = probes.ReasonStatus
	o.Burst.Calls[0].Attempt = -1
	b := newHTMLBurst(&o)
	if len(b.Rows) != 3 || b.Rows[1].Dead != 4 || b.Rows[1].Fresh != 4 || b.Rows[1].Reused != 16 || b.Rows[2].Failed != 1 || b.Rows[1].Which != "calls 1 to 4, after 5 s idle" {
		t.Errorf("got %+v", b.Rows)
	}
	var second []htmlCell
	for _, c := range b.Cells {
		if c.Y == burstHeight {
			second = append(second, c)
		}
	}
	if want := []htmlCell{{"cell-dead", "0%", "20%", burstHeight}, {"cell-fresh", "20%", "20%", burstHeight}, {"cell-reused", "40%", "60%", burstHeight}}; !slices.Equal(second, want) {
		t.Errorf("got %+v, want %+v", second, want)
	}
	if last := b.Cells[len(b.Cells)-1]; last.Class != "cell-failed" {
		t.Errorf("got %+v", last)
	}
	if newHTMLBurst(&probes.Outcome{}) != nil || newHTMLBurst(&probes.Outcome{Burst: &probes.BurstSeen{}}) != nil {
		t.Error("a burst of no calls is shown")
	}
	many := burstOf(2, 70)
	if b := newHTMLBurst(&many); len(b.Rows) != mostBursts || b.Left != "20 bursts are not shown here." {
		t.Errorf("%d rows, %q", len(b.Rows), b.Left)
	}
}

func TestPredictionsOfAllRungs(t *testing.T) {
	a, b := burstOf(20, 1), rungOK(time.Second)
	b.Predicted = []probes.Prediction{{Source: "calls.txt", Client: "httpx", Calls: 10}}
	got := predictions([]*probes.Outcome{&b, &a})
	if len(got) != 3 || got[0].Dead != "none (0 of 10)" || got[1].Dead != "19% (230 of 1200)" || got[1].Client != "apache-httpclient-4.5, a pool of 20, LIFO; the path ends idle ones after 1 s" {
		t.Errorf("got %+v", got)
	}
}

func TestHTMLWriteErrorsAreReturned(t *testing.T) {
	for what, err := range map[string]error{"HTML": HTML(broken{}, incident()), "JUnit": JUnit(broken{}, incident())} {
		if err == nil || err.Error() != "writing the report: pipe closed" {
			t.Errorf("%s: got %v", what, err)
		}
	}
}

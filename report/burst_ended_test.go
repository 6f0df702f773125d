package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"perch.example/probes"
)

// endedEarly is a burst probe that was refused its fifth call of six.
func endedEarly() probes.Outcome {
	o := burstOutcome(2)
	o.Attempts, o.Burst.Calls = o.Attempts[:4], o.Burst.Calls[:4]
	o.Burst.Ended, o.Burst.Refused = "the target asked to be left alone (Retry-After)", 1
	return o
}

// TestBurstThatEndedEarly: each report says why, after which call, and how many were not made.
func TestBurstThatEndedEarly(t *testing.T) {
	run := baseRun(time.Second)
	run.Outcomes = []probes.Outcome{endedEarly()}
	const want = "Ended early, after call 1 of burst 2: the target asked to be left alone (Retry-After); 2 calls of 6 were not made."
	var html, document bytes.Buffer
	if err := HTML(&html, run); err != nil {
		t.Fatal(err)
	}
	if err := JSON(&document, run); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"text": burstText(t, run.Outcomes[0], 220), "HTML": html.String(), "JUnit": junit(t, run), "status page": strings.Join(burstLines(&run.Outcomes[0]), "\n")} {
		if !strings.Contains(text, want) {
			t.Errorf("%s does not say %q:\n%s", name, want, text)
		}
	}
	var d struct{ Outcomes []struct{ Burst burstJSON } }
	if err := json.Unmarshal(document.Bytes(), &d); err != nil {
		t.Fatal(err)
	}
	if b := d.Outcomes[0].Burst; b.NotMade != 2 || b.Ended != run.Outcomes[0].Burst.Ended || fmt.Sprint(b.Bursts[1].Which) != "[1]" {
		t.Errorf("%+v", b)
	}
	none := endedEarly()
	none.Attempts, none.Burst.Calls = nil, nil
	run.Outcomes = []probes.Outcome{none}
	html.Reset()
	if err := HTML(&html, run); err != nil || !strings.Contains(html.String(), "Ended early: the target") {
		t.Errorf("a burst without a call does not say why: %v", err)
	}
	if text := burstText(t, burstOutcome(2), 220); strings.Contains(text, "Ended early") {
		t.Errorf("a whole burst ended early:\n%s", text)
	}
}

// TestDeadAfter: dead connections that had been idle for unlike times are not told by the shortest.
func TestDeadAfter(t *testing.T) {
	o := burstOutcome(2)
	o.Attempts[5].IdleTime = 13*time.Second + 668*ms
	if text := burstText(t, o, 220); !strings.Contains(text, "calls 1 to 3, after 1.5 s to 13.668 s idle") {
		t.Error(text)
	}
}

// TestBurstIn80Columns: no line of a burst is wider than the terminal.
func TestBurstIn80Columns(t *testing.T) {
	o := endedEarly()
	o.Burst.Shape = probes.Shape{Requests: 500, Connections: 500, Bursts: 2, Gap: time.Hour}
	o.Burst.Calls, o.Attempts = nil, nil
	for i := range 1000 {
		a := reuse(probes.ReasonIdleFIN, 0, 200*us, 12*time.Hour+15*ms)
		if i%2 == 1 {
			a = warm()
		}
		o.Burst.Calls = append(o.Burst.Calls, probes.BurstCall{Burst: i/500 + 1, Number: i%500 + 1, Attempt: i})
		o.Attempts = append(o.Attempts, a)
	}
	for line := range strings.SplitSeq(burstText(t, o, 80), "\n") {
		if len([]rune(line)) > 80 {
			t.Errorf("%d columns: %q", len([]rune(line)), line)
		}
	}
	run := baseRun(time.Second)
	run.Outcomes = []probes.Outcome{o}
	var html bytes.Buffer
	if err := HTML(&html, run); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(html.String(), `<rect class="cell-`); n != 1000 {
		t.Errorf("%d of 1000 calls are drawn", n)
	}
}

// TestJUnitTimeOfABurst is from the first call's opening to the last answer, however long its connections idled.
func TestJUnitTimeOfABurst(t *testing.T) {
	o := burstOutcome(2)
	at := time.Date(2026, 3, 2, 10, 0, 0, 0, time.UTC)
	for i := range o.Attempts {
		o.Attempts[i].Started, o.Attempts[i].Elapsed = at.Add(time.Duration(i)*time.Second), 500*ms
	}
	o.Attempts[0].Phases = probes.Phases{DNS: 100 * ms, Connect: 100 * ms, TLS: 50 * ms}
	run := baseRun(time.Second)
	run.Outcomes = []probes.Outcome{o}
	if text := junit(t, run); !strings.Contains(text, `name="calendar-burst" classname="stock-api.calendar-burst" time="5.750"`) {
		t.Errorf("not 5.75 s:\n%s", text)
	}
}

// TestOneCommonClient is no declared one, though it is alone.
func TestOneCommonClient(t *testing.T) {
	o := burstOutcome(2)
	p := aPrediction()
	p.Common = true
	o.Predicted = []probes.Prediction{p}
	if text := burstText(t, o, 300); !strings.Contains(text, "these meet a dead connection, by client: apache-httpclient-4.5 33% fail, 33% meet one. Others meet none.") {
		t.Error(text)
	}
}

// TestBurstThatTheClientCopesWith says why dead connections are no failure.
func TestBurstThatTheClientCopesWith(t *testing.T) {
	o := burstOutcome(2)
	o.Verdict, o.Client.Experiences = probes.VerdictPass, "notices that it is dead"
	if text := burstText(t, o, 300); !strings.Contains(text, "3 of 3 reused connections were dead, and apache-httpclient-4.5 notices that it is dead") {
		t.Error(text)
	}
}

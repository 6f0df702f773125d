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

// burstOutcome is so many bursts of three calls on three connections; from the second one on they are dead.
func burstOutcome(bursts int) probes.Outcome {
	o := probes.Outcome{
		Target: "stock-api", Probe: "calendar-burst", Kind: probes.KindBurst, Verdict: probes.VerdictFail, Reason: probes.ReasonIdleFIN,
		Diagnosis: probes.DiagnosisEarlyClose, Family: probes.FamilyConnection, Message: "3 of 3 calls of burst 2 drew a dead connection",
		Client: &probes.ClientOutcome{Kind: "apache-httpclient-4.5", Band: &probes.Band{From: time.Second, To: 2 * time.Second}},
		Burst:  &probes.BurstSeen{Order: probes.PoolLIFO, Shape: probes.Shape{Requests: 3, Connections: 3, Bursts: bursts, Gap: 1500 * ms}},
	}
	for b := 1; b <= bursts; b++ {
		for n := 1; n <= 3; n++ {
			a := warm()
			if b > 1 {
				a = reuse(probes.ReasonIdleFIN, 0, 200*us, 1500*ms)
			}
			o.Burst.Calls = append(o.Burst.Calls, probes.BurstCall{Burst: b, Number: n, Connection: n, Attempt: len(o.Attempts)})
			o.Attempts = append(o.Attempts, a)
		}
	}
	return o
}

func aPrediction() probes.Prediction {
	return probes.Prediction{
		Source: "the declared shape", Client: "apache-httpclient-4.5", Order: probes.PoolLIFO, Connections: 20, Timeout: time.Second,
		Calls: 60, Fresh: 40, Dead: 20, Failed: 20, Gaps: 39, InBand: 12,
	}
}

func burstText(t *testing.T, o probes.Outcome, width int) string {
	t.Helper()
	run := baseRun(time.Second)
	run.Outcomes = []probes.Outcome{o}
	var b bytes.Buffer
	if err := Text(&b, run, Style{Width: width}); err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(b.String(), unbroken, " ")
}

// TestTextOfABurst: a line a burst, and what follows for the application.
func TestTextOfABurst(t *testing.T) {
	o := burstOutcome(2)
	o.Predicted = []probes.Prediction{aPrediction()}
	text := burstText(t, o, 220)
	for _, want := range []string{
		"6 calls in 2 bursts through 3 connections (LIFO): 3 of 3 reused connections were dead",
		"burst  calls  fresh  reused  dead  failed  which calls",
		"    1      3      3       0     0       0",
		"    2      3      0       3     3       0  calls 1 to 3, after 1.5 s",
		"Predicted from the declared shape: of the application's 60 calls (apache-httpclient-4.5, a pool of 20, LIFO) 33% meet a dead connection and 33% fail for it; 31% of its 39 gaps lie in the danger band (1 s to 2 s).",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
}

// TestTextOfABurstIsBounded: hundreds of bursts are a few lines.
func TestTextOfABurstIsBounded(t *testing.T) {
	text := burstText(t, burstOutcome(300), 100)
	if lines := strings.Count(text, "\n"); lines > 60 || !strings.Contains(text, "288 bursts more: 864 of 864 calls drew a dead connection") {
		t.Errorf("%d lines:\n%s", lines, text)
	}
}

// TestTextOfCommonClients: without a declared one, those that would meet a dead connection, the worst first.
func TestTextOfCommonClients(t *testing.T) {
	o := burstOutcome(2)
	hidden := aPrediction()
	hidden.Client, hidden.Failed = "okhttp", 0
	few := aPrediction()
	few.Client, few.Calls, few.Dead, few.Failed = "httpx", 100_000, 3, 3
	o.Predicted = []probes.Prediction{hidden, few, aPrediction()}
	want := "by client: apache-httpclient-4.5 33% fail, 33% meet one; httpx less than 1% fail, less than 1% meet one; okhttp none fail, 33% meet one. Others meet none."
	if text := burstText(t, o, 300); !strings.Contains(text, want) {
		t.Error(text)
	}
}

// TestWordsOfBursts are the other ways in which a burst ends.
func TestWordsOfBursts(t *testing.T) {
	for want, change := range map[string]func(*probes.Outcome){
		"no connection was used twice":                                func(o *probes.Outcome) { o.Burst.Calls = o.Burst.Calls[:3] },
		"1 call failed for another cause":                             func(o *probes.Outcome) { o.Attempts[0].Reason = probes.ReasonReset },
		"each of 3 reused connections worked, after up to 1.5 s idle": func(o *probes.Outcome) { alive(o, 3, 4, 5) },
		"call 2, after 1.5 s idle":                                    func(o *probes.Outcome) { alive(o, 3, 5) },
		"2 from call 1 to 3, after 1.5 s":                             func(o *probes.Outcome) { alive(o, 4) },
		"(oldest first)":                                              func(o *probes.Outcome) { o.Burst.Order = probes.PoolOldest },
		"drew a dead connection":                                      func(o *probes.Outcome) { o.Burst = nil },
	} {
		o := burstOutcome(2)
		change(&o)
		if text := burstText(t, o, 220); !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	if got := shareOf(0.999, 999); got != "more than 99%" {
		t.Error(got)
	}
	p := aPrediction()
	p.Gaps, p.Connections = 0, 0
	if got := predicted(p, nil); !strings.HasSuffix(got, "no connection is used twice.") || !strings.Contains(got, "as many connections as they need") {
		t.Error(got)
	}
}

func alive(o *probes.Outcome, which ...int) {
	for _, i := range which {
		o.Attempts[i].Reason, o.Attempts[i].Status = probes.ReasonOK, 200
	}
}

// TestJSONOfABurst: the numbers of the text, for scripts.
func TestJSONOfABurst(t *testing.T) {
	o := burstOutcome(2)
	o.Predicted = []probes.Prediction{aPrediction()}
	run := baseRun(time.Second)
	run.Outcomes = []probes.Outcome{o}
	var b bytes.Buffer
	if err := JSON(&b, run); err != nil {
		t.Fatal(err)
	}
	var d struct {
		Outcomes []struct {
			Burst      map[string]any
			Prediction []map[string]any
		}
	}
	if err := json.Unmarshal(b.Bytes(), &d); err != nil {
		t.Fatal(err)
	}
	got := fmt.Sprint(d.Outcomes[0].Burst["bursts"])
	if !strings.Contains(got, "burst:2 calls:3 dead:3 dead_after_at_most_seconds:1.5 dead_after_seconds:1.5 dead_calls:[1 2 3] failed:0 first_dead:1 fresh:0 last_dead:3 longest_idle_seconds:1.5 reused:3") {
		t.Error(got)
	}
	if p := d.Outcomes[0].Prediction[0]; p["failed"] != 20.0 || p["source"] != "the declared shape" || p["dead_share"] != 20.0/60 {
		t.Error(p)
	}
}

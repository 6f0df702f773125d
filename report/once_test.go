package report

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"perch.example/probes"
)

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// TestTheRangeOfTheClosesIsSaidOnce, of those that followed idle age.
func TestTheRangeOfTheClosesIsSaidOnce(t *testing.T) {
	closed := func(age time.Duration, d probes.Diagnosis) *probes.Outcome {
		return &probes.Outcome{Close: &probes.Close{Age: age, How: probes.HowFIN}, Diagnosis: d}
	}
	const early, mass = probes.DiagnosisEarlyClose, probes.DiagnosisMassClose
	for _, tt := range []struct {
		name     string
		outcomes []*probes.Outcome
		want     string
	}{
		{"one close", []*probes.Outcome{closed(1001*ms, early)}, ""},
		{"less than a millisecond", []*probes.Outcome{closed(1001*ms, early), closed(1001*ms+300*us, early)}, "; seen on 2 connections, at most 0.3 ms apart"},
		{"no range", []*probes.Outcome{closed(1001*ms, early), closed(1001*ms, early)}, ""},
		{"three", []*probes.Outcome{closed(1002*ms, early), closed(1001*ms, early), closed(1004*ms, "")}, "; seen on 3 connections, at most 3 ms apart"},
		{"a reload", []*probes.Outcome{closed(1002*ms, early), closed(1001*ms, early), closed(9*time.Second, mass)}, "; seen on 2 connections, at most 1 ms apart"},
		{"one that a longer hold outlived", []*probes.Outcome{closed(1002*ms, early), closed(1001*ms, early), closed(200*ms, early)}, "; seen on 2 connections, at most 1 ms apart"},
		{"none", []*probes.Outcome{{}}, ""},
	} {
		v := probeView{outcomes: tt.outcomes, idle: &probes.IdleResult{Measured: 1001 * ms, Survived: 500 * ms}}
		if got := closesWords(v); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
	got := oneLine(text(t, incident(), Style{}))
	if n := strings.Count(got, "seen on 2 connections, at most 1 ms apart"); n != 1 {
		t.Errorf("the range is said %d times, want once:\n%s", n, got)
	}
}

// TestFasterThanTheSmallestRoundTrip: acknowledgements that are held back make the
// smoothed one longer than the way to the peer and back.
func TestFasterThanTheSmallestRoundTrip(t *testing.T) {
	for _, tt := range []struct {
		smoothed, smallest time.Duration
		want               bool
	}{
		{5 * ms, 4 * ms, true}, {5 * ms, 11 * us, false}, {5 * ms, 0, false},
	} {
		a := reuse(probes.ReasonIdleFIN, 0, ms, time.Minute)
		a.RTT, a.MinRTT, a.RequestBytesAcked = tt.smoothed, tt.smallest, nil
		if got := wire(&a); strings.Contains(got, "faster than a round trip (4 ms)") != tt.want || strings.Contains(got, "faster") != tt.want {
			t.Errorf("%+v: %s", tt, got)
		}
	}
}

// TestAFindingIsToldByItsEarliestClose, of the rungs that come to the same.
func TestAFindingIsToldByItsEarliestClose(t *testing.T) {
	rung := func(v probes.Verdict, closed time.Duration, experiences string) *probes.Outcome {
		o := closedRung(1500*ms, closed)
		o.Verdict, o.Client = v, apache(experiences)
		return &o
	}
	const fail, degraded = probes.VerdictFail, probes.VerdictDegraded
	f := finding{[]*probes.Outcome{
		rung(degraded, 990*ms, "throws"), rung(fail, 1003*ms, "throws"), rung(fail, 1001*ms+200*us, "throws"), rung(fail, 1001*ms, "throws"), rung(fail, 1002*ms, "throws"), rung(fail, 1000*ms, "notices"),
	}}
	if got := f.lead().Close.Age; got != 1001*ms+200*us {
		t.Errorf("it is told by the close at %s, want 1.0012s: the first of those that are printed as the earliest, and that the client meets in the same way", got)
	}
}

// TestTheBudgetIsSaidOnce: not below a finding that ruled by it, unless something
// was held back.
func TestTheBudgetIsSaidOnce(t *testing.T) {
	run := incident()
	if got := oneLine(text(t, run, Style{})); strings.Count(got, "its budget is 2/s") != 1 {
		t.Errorf("the budget is not said once:\n%s", got)
	}
	run.Budget[0].Waited = 40 * ms
	if got := oneLine(text(t, run, Style{})); !strings.Contains(got, "Budget stock-api: 9 requests") {
		t.Errorf("it was waited for the budget, and the report does not say so:\n%s", got)
	}
	if got := oneLine(text(t, allPass(), Style{})); strings.Count(got, "its budget is 2/s") != 1 {
		t.Errorf("a run without a finding does not say its budget once:\n%s", got)
	}
}

// TestTheTableSaysWhatIsNotKnown, and of which method.
func TestTheTableSaysWhatIsNotKnown(t *testing.T) {
	const fails, retries, notices = probes.ClientFails, probes.ClientRetries, probes.ClientNotices
	const unknown = "not known: what it makes of a request on a connection that ended so"
	for _, tt := range []struct {
		name      string
		get, post probes.ClientResult
		words     string // of the GET
		postWords string
		want      []string
	}{
		{"neither", "", "", "", "", []string{"Not known, or not of each method: odd", "call " + unknown}},
		{"not of a POST", retries, "", "sends again", "", []string{"Not known, or not of each method: odd", "GET sends again POST " + unknown}},
		{"not of a GET", "", fails, "", "throws it", []string{"The application gets an error for a POST: odd", "GET " + unknown + " POST throws it"}},
		{"a POST looks first", retries, notices, "sends again", "notices", []string{"A GET is sent again in silence, a POST looks first and uses another connection: odd danger band 1 s to 2 s safe set(1)"}},
		{"both are sent again", retries, retries, "sends again", "", []string{"A silent retry, of a GET as of a POST, which the application does not see: odd danger band 1 s to 2 s safe set(1)"}},
		{"an error for both", fails, fails, "throws it", "", []string{"The application gets an error: odd", "call throws it"}},
	} {
		run := probes.Run{
			Idle:    []probes.IdleResult{{Measured: time.Second, How: probes.HowFIN}},
			Clients: []probes.ClientOutcome{{Kind: "odd", Band: &probes.Band{From: time.Second, To: 2 * time.Second}, Experiences: tt.words, Result: tt.get, Post: tt.postWords, PostResult: tt.post, Safe: "set(1)"}},
		}
		var b bytes.Buffer
		if err := Idle(&b, run, Style{}); err != nil {
			t.Fatal(err)
		}
		for _, want := range tt.want {
			if got := oneLine(b.String()); !strings.Contains(got, want) {
				t.Errorf("%s: want %q in\n%s", tt.name, want, b.String())
			}
		}
	}
}

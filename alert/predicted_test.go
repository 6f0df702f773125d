package alert

import (
	"strings"
	"testing"

	"perch.example/probes"
)

// TestPredictedWords: one line, by the real calls where they are known, and only for a declared client.
func TestPredictedWords(t *testing.T) {
	shape := probes.Prediction{Source: "the declared shape", Declared: true, Calls: 600, Dead: 120, Failed: 120}
	file := probes.Prediction{Source: "calls\n.txt", Calls: 100_000, Dead: 30_000, Failed: 7}
	none := probes.Prediction{Source: "calls.txt", Calls: 10}
	of := func(target string, all ...probes.Prediction) probes.Outcome {
		return probes.Outcome{Target: target, Kind: probes.KindBurst, Predicted: all, Client: &probes.ClientOutcome{Kind: "okhttp"}}
	}
	undeclared := of("api", shape)
	undeclared.Client = nil
	for want, outcomes := range map[string][]probes.Outcome{
		"Predicted from the declared shape: 20% of the application's 600 calls meet such a connection, and 20% fail for it.": {of("api", shape)},
		"30% of the application's 100000 calls meet such a connection, and less than 1% fail for it.":                        {of("api", shape, file)},
		"none fail for it": {of("api", probes.Prediction{Calls: 4, Dead: 1})},
	} {
		if got := predictedWords(outcomes[0], outcomes); !strings.Contains(got, want) || strings.Contains(got, "\n") {
			t.Errorf("%q, want %q", got, want)
		}
	}
	for name, outcomes := range map[string][]probes.Outcome{
		"no prediction": {of("api")}, "nothing is met": {of("api", none)}, "no client": {undeclared}, "another target's": {of("api"), of("other", shape)},
	} {
		if got := predictedWords(outcomes[0], outcomes); got != "" {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// TestBurstTellsItself: no ladder shows what a burst met, so that its message does.
func TestBurstTellsItself(t *testing.T) {
	o := probes.Outcome{
		Target: "api", Probe: "burst", Kind: probes.KindBurst, Verdict: probes.VerdictFail, Family: probes.FamilyConnection,
		Message: "20 of 60 calls of burst 2 drew a connection that the path had closed", Close: &probes.Close{How: probes.HowFIN},
		Client:    &probes.ClientOutcome{Kind: "okhttp", Experiences: "throws java.io.IOException"},
		Attempts:  []probes.Attempt{{Connection: probes.ConnectionReused, Reason: probes.ReasonIdleFIN}},
		Predicted: []probes.Prediction{{Source: "the declared shape", Calls: 10, Dead: 5, Failed: 5}},
	}
	text := strings.Join(experience(o, []probes.Outcome{o}, probes.FamilyConnection), "\n")
	for _, want := range []string{"throws java.io.IOException", "20 of 60 calls of burst 2 drew", "Predicted from the declared shape: 50%"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
}

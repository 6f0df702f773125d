package probes_test

import (
	"testing"

	"perch.example/probes"
)

func TestRunVerdictIsTheWorst(t *testing.T) {
	for _, c := range []struct {
		cut  string
		of   []probes.Verdict
		want probes.Verdict
	}{
		{"", nil, probes.VerdictPass},
		{"", []probes.Verdict{probes.VerdictSkipped}, probes.VerdictPass},
		{"", []probes.Verdict{probes.VerdictPass, probes.VerdictDegraded}, probes.VerdictDegraded},
		{"", []probes.Verdict{probes.VerdictIncomplete, probes.VerdictDegraded}, probes.VerdictIncomplete},
		{"", []probes.Verdict{probes.VerdictIncomplete, probes.VerdictFail}, probes.VerdictFail},
		{"", []probes.Verdict{probes.VerdictPass, ""}, probes.VerdictIncomplete},
		{"deadline", []probes.Verdict{probes.VerdictPass}, probes.VerdictIncomplete},
	} {
		run := probes.Run{CutShort: c.cut}
		for _, v := range c.of {
			run.Outcomes = append(run.Outcomes, probes.Outcome{Verdict: v})
		}
		if got := run.Verdict(); got != c.want {
			t.Errorf("cut %q, %q: %s, want %s", c.cut, c.of, got, c.want)
		}
	}
}

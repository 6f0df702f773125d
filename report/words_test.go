package report

import (
	"testing"

	"perch.example/probes"
)

// A new reason or diagnosis must not reach people without words.
func TestEveryClosedSetHasWords(t *testing.T) {
	for _, r := range probes.Reasons() {
		if reasonWords(r) == "" {
			t.Errorf("reason %q has no words", r)
		}
	}
	for _, d := range probes.Diagnoses() {
		if d.Words() == "" {
			t.Errorf("diagnosis %q has no words", d)
		}
	}
	for _, v := range append(probes.Verdicts(), "") {
		if verdictWord(v) == "" {
			t.Errorf("verdict %q has no word", v)
		}
	}
	for _, id := range hypothesisIDs() {
		if words := id.Words(); words == string(id) {
			t.Errorf("hypothesis %q has no words", id)
		}
	}
	for _, c := range []probes.RetryCover{probes.CoverCovered, probes.CoverUncovered, probes.CoverUnsafe, probes.CoverUnknown} {
		if coverWords(probes.RetryOutcome{Application: c}) == "" {
			t.Errorf("cover %q has no words", c)
		}
	}
	for _, h := range []probes.HowClosed{probes.HowFIN, probes.HowRST, probes.HowBytes, probes.HowCloseNotify, probes.HowGoaway, probes.HowSilent} {
		if words := h.Words(); words == string(h) {
			t.Errorf("close %q has no words", h)
		}
	}
}

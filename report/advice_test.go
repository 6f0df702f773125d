package report

import (
	"slices"
	"testing"
	"time"

	"perch.example/probes"
)

// What two outcomes ask for alike is said once, also where one of them numbers it.
func TestAdviceIsSaidOnce(t *testing.T) {
	first := probes.Outcome{Verdict: probes.VerdictFail, Advice: []string{"1. Send less than 5/s.", "2. It is not the pool."}}
	second := first
	second.Advice = []string{"It is not the pool."}
	if got := (finding{outcomes: []*probes.Outcome{&first, &second}}).advice(); !slices.Equal(got, first.Advice) {
		t.Errorf("%q", got)
	}
}

// Two probes of one path measure 2 s and 1.998 s: the page tells what to do once, as
// the text does.
func TestThePageSaysAdviceOnce(t *testing.T) {
	one, two := closedRung(3*time.Second, 2*time.Second), closedRung(3*time.Second, 1998*time.Millisecond)
	two.Probe = "calendar-again"
	one.Advice = []string{"1. Set its idle limit none -> 1.8 s. The path closes after 2 s (measured): 1.8 s.", "Mind: it looks once a sweep."}
	two.Advice = []string{"1. Set its idle limit none -> 1.8 s. The path closes after 1.998 s (measured, taken as 2 s): 1.8 s.", "Mind: it looks once a sweep."}
	f := finding{outcomes: []*probes.Outcome{&one, &two}}
	if got, page := f.advice(), newFinding(f); !slices.Equal(got, one.Advice) || len(page.Advice) != len(got) {
		t.Errorf("the text says %q, the page %v", got, page.Advice)
	}
}

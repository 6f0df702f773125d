package alert

import (
	"slices"
	"testing"

	"perch.example/probes"
)

// What two outcomes ask for alike is said once, also where one of them numbers it.
func TestAdviceIsSaidOnce(t *testing.T) {
	first := probes.Outcome{Verdict: probes.VerdictFail, Family: probes.FamilyReachability, Advice: []string{"1. Send less than 5/s.", "2. It is not the pool."}}
	second := first
	second.Advice = []string{"It is not the pool."}
	if got := advice(first, []probes.Outcome{first, second}); !slices.Equal(got, first.Advice) {
		t.Errorf("%q", got)
	}
}

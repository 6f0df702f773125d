package alert

import (
	"slices"
	"strings"
	"testing"
	"time"

	"perch.example/probes"
)

// TestRungsThatAreRuledOtherwiseAreNamed: the lead's ruling alone would be read
// as every rung's.
func TestRungsThatAreRuledOtherwiseAreNamed(t *testing.T) {
	t.Parallel()
	ruled := func(hold time.Duration, r probes.Ruling) probes.Outcome {
		o := banded()
		o.Hold, o.Hypotheses = hold, slices.Clone(o.Hypotheses)
		o.Hypotheses[5].Ruled = r
		return o
	}
	other := ruled(2500*ms, probes.RuledOut)
	other.Diagnosis = probes.DiagnosisMassClose
	for _, tt := range []struct {
		name   string
		others []probes.Outcome
		want   string
	}{
		{"none", []probes.Outcome{ruled(1800*ms, probes.RuledIn)}, "which a retry inside RestTemplate sees"},
		{"one", []probes.Outcome{ruled(2500*ms, probes.RuledOut)}, "which a retry inside RestTemplate sees (OUT on the 2.5 s rung)"},
		{"two", []probes.Outcome{ruled(2500*ms, probes.RuledOut), ruled(3*time.Second, probes.RuledOut)}, "sees (OUT on the 2.5 s and 3 s rungs)"},
		{"of two kinds", []probes.Outcome{ruled(2500*ms, probes.RuledOut), ruled(3*time.Second, probes.RuledOpen)}, "sees (OUT on the 2.5 s rung, OPEN on the 3 s rung)"},
		{"of another diagnosis", []probes.Outcome{other}, "which a retry inside RestTemplate sees"},
	} {
		got := hypotheses(banded(), append([]probes.Outcome{banded()}, tt.others...))
		at := slices.IndexFunc(got, func(line string) bool { return strings.HasPrefix(line, "IN: our retries miss this") })
		if at < 0 || !strings.HasSuffix(got[at], tt.want) {
			t.Errorf("%s: got %q, want it to end with %q", tt.name, got, tt.want)
		}
	}
}

// TestTheEarliestCloseIsToldOfEqualRungs, so that a notice speaks of one close;
// but never of a rung that is farther from the application.
func TestTheEarliestCloseIsToldOfEqualRungs(t *testing.T) {
	t.Parallel()
	closed := func(age time.Duration, cover probes.RetryCover) probes.Outcome {
		o := banded()
		o.Close = &probes.Close{Age: age, How: probes.HowFIN}
		o.Retry.Application = cover
		return o
	}
	outcomes := []probes.Outcome{
		closed(1002*ms, probes.CoverUncovered), closed(1001*ms, probes.CoverUncovered), closed(1003*ms, probes.CoverUncovered), closed(1000*ms, probes.CoverCovered),
	}
	if lead := leading(outcomes, probes.FamilyConnection); lead == nil || lead.Close.Age != 1001*ms {
		t.Errorf("got %v, want the close at 1.001 s", lead)
	}
}

// TestANumberedPointHasNoBulletBesideIt: one sign is enough.
func TestANumberedPointHasNoBulletBesideIt(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"1. Set it": "", "1b. Or look": "", "12. Twelve": "", "For the owner. Ask": "• ", "a. Not a number": "• ", "1.5 s is long": "• ", "": "• ", ". Odd": "• ",
	} {
		if got := bullet(line); got != want {
			t.Errorf("%q: got %q, want %q", line, got, want)
		}
	}
}

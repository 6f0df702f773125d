package report

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"perch.example/probes"
)

// accepted is a ladder of which one fail is known, one is not, and one was; in a
// pod whose network came up late.
func accepted() probes.Run {
	run := baseRun(65 * time.Second)
	known := &probes.Accepted{
		Diagnosis: probes.DiagnosisEarlyClose, IdleFrom: 55 * time.Second, IdleTo: 65 * time.Second,
		Until: time.Date(2027, 4, 1, 0, 0, 0, 0, time.UTC), Reason: "partner will raise it in March",
	}
	within, outside := closedRung(61*time.Second, 60*time.Second), closedRung(31*time.Second, 30*time.Second)
	within.Verdict, outside.Verdict = probes.VerdictFail, probes.VerdictFail
	within.Accepted = known
	lapsed := httpOK("rates", "latest", 140*ms)
	lapsed.Verdict, lapsed.Reason, lapsed.Diagnosis, lapsed.Family = probes.VerdictFail, probes.ReasonUnauthorized, probes.DiagnosisUnauthorized, probes.FamilyAuthorization
	lapsed.Attempts[0].Reason, lapsed.Attempts[0].Status, lapsed.Message = probes.ReasonUnauthorized, 401, "answered 401 in 140 ms"
	lapsed.Lapsed = &probes.Accepted{Diagnosis: probes.DiagnosisUnauthorized, Until: started().Add(-time.Hour), Reason: "they rotate the keys"}
	run.Outcomes = []probes.Outcome{within, outside, lapsed}
	run.Settled = []probes.Settled{{Target: "stock-api", Times: 3, Reason: probes.ReasonRefused, After: 2200 * ms}}
	return run
}

func TestAcceptedInTheTally(t *testing.T) {
	run := accepted()
	for _, want := range []string{"2 of 2 probes failed:", "2 of 2 probes failed (1 accepted):", "1 of 1 probe failed (accepted):"} {
		if got := Headline(run); !strings.HasPrefix(got, "FAIL: "+want) {
			t.Errorf("%s, want %s", got, want)
		}
		if len(run.Outcomes) == 3 {
			run.Outcomes = []probes.Outcome{run.Outcomes[0], run.Outcomes[2]}
		} else {
			run.Outcomes = run.Outcomes[:1]
		}
	}
	if got := text(t, run, Style{}); !strings.Contains(strings.Join(strings.Fields(got), " "), "Known accepted until 2027-03-31: partner will raise it in March;") {
		t.Errorf("%s", got)
	}
}

func TestManyTargetsSettle(t *testing.T) {
	run := allPass()
	for i := range 7 {
		run.Settled = append(run.Settled, probes.Settled{Target: fmt.Sprintf("api-%d", i), Times: 1, Reason: probes.ReasonDNS, After: time.Second})
	}
	got := text(t, run, Style{})
	if !strings.Contains(got, "api-3: 1 connection could not") || strings.Contains(got, "api-4") || !strings.Contains(got, "and 3 targets more") {
		t.Errorf("%s", got)
	}
}

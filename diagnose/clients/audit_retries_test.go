package clients

import (
	"slices"
	"strings"
	"testing"

	"perch.example/probes"
)

// TestRetriesThatNothingTurnsOff: to declare them off does not make it so, and
// the audit does not say both.
func TestRetriesThatNothingTurnsOff(t *testing.T) {
	for _, kind := range Kinds() {
		decl := probes.Client{Kind: kind, AutomaticRetries: probes.SwitchNone, Retry: &probes.RetryPolicy{Layer: "inside", Attempts: 2}}
		a := Audit(decl, AuditMethods())
		notes := strings.Join(a.Notes, "\n")
		own := slices.ContainsFunc(a.Rows, func(r probes.AuditRow) bool { return r.By == a.Name })
		if got := strings.Contains(notes, "judged is that it does"); got != own {
			t.Errorf("%s sends again by itself: %t, and it is said: %t", kind, own, got)
		}
		if own && strings.Contains(notes, "retries are off") {
			t.Errorf("%s: the notes say both:\n%s", kind, notes)
		}
	}
}

//go:build peers

package peers

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// natThatForgetsLater: a router that forgets later than before is a finding of
// its own, told once, in the second run that sees it, and never a fail.
func natThatForgetsLater(t *testing.T) (wrong []string) {
	n := startNAT(t, forgotReject)
	n.forgetsAfter(t, time.Second)
	file := n.config(t, t.TempDir(), "2s", "")
	for range 3 { // until it is firm
		n.perch(t, "run", "--all", "--config", file)
	}
	n.forgetsAfter(t, 3*time.Second)
	for run, want := range []int{0, 1, 0} {
		r := n.perch(t, "run", "--all", "--config", file)
		told := 0
		for _, o := range r.Outcomes {
			if o.Diagnosis != "bound_changed" {
				continue
			}
			told++
			t.Logf("held %v s: %s: %s %q", o.HoldSeconds, o.Verdict, o.Message, o.Advice)
			if o.Verdict != "degraded" || !strings.Contains(o.Message, "the path's idle bound has moved: idle connections ended between ") ||
				!strings.Contains(o.Message, ", and now between 2.") || len(o.Advice) == 0 {
				wrong = append(wrong, fmt.Sprintf("%s: %s; advice %q", o.Verdict, o.Message, o.Advice))
			}
		}
		if told != want {
			wrong = append(wrong, fmt.Sprintf("run %d with the new bound: told %d times, want %d: %+v", run+1, told, want, r.Outcomes))
		}
	}
	return wrong
}

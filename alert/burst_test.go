package alert

import (
	"strings"
	"testing"
	"time"

	"perch.example/probes"
)

// drewDead is a burst of which call 3 drew a connection that had ended, and those before and after it
// were answered.
func drewDead() probes.Outcome {
	answered := func(on probes.Connection) probes.Attempt {
		return probes.Attempt{Connection: on, Reason: probes.ReasonOK, Status: 200, Elapsed: 300 * time.Microsecond, IdleTime: 400 * time.Millisecond, TraceID: "other"}
	}
	gone := &probes.Close{How: probes.HowFIN, Age: time.Second}
	dead := probes.Attempt{Connection: probes.ConnectionReused, Reason: probes.ReasonIdleFIN, Elapsed: 70 * time.Microsecond, IdleTime: 5 * time.Second, TraceID: "dead"}
	o := probes.Outcome{
		Target: "api", Probe: "b", Kind: probes.KindBurst, Verdict: probes.VerdictFail, Family: probes.FamilyConnection, Reason: probes.ReasonIdleFIN,
		Close: gone, ClosedBy: "peer", Burst: &probes.BurstSeen{Shape: probes.Shape{Requests: 5, Bursts: 1}},
		Attempts: []probes.Attempt{
			answered(probes.ConnectionFresh), answered(probes.ConnectionReused), dead, answered(probes.ConnectionControl),
			answered(probes.ConnectionReused), answered(probes.ConnectionReused),
		},
	}
	for i, attempt := range []int{0, 1, 2, 4, 5} {
		c := probes.BurstCall{Burst: 1, Number: i + 1, Attempt: attempt}
		if attempt == 2 {
			c.Close = gone
		}
		o.Burst.Calls = append(o.Burst.Calls, c)
	}
	return o
}

// TestNoticeOfABurst: the row shows the reuse that failed, with its own control, and not one that was answered.
func TestNoticeOfABurst(t *testing.T) {
	o := drewDead()
	lines := strings.Join(ladderLines([]probes.Outcome{o}), "\n")
	if !strings.Contains(lines, "FIN by peer at 1 s  idle_fin in 0.07 ms  200 in 0.3 ms") {
		t.Error(lines)
	}
	if got := traceOf(o); got != "dead" {
		t.Errorf("the trace is %q", got)
	}
	if s := look([]probes.Outcome{o}, probes.FamilyConnection); s.Survived != 400*time.Millisecond || s.Closed != time.Second {
		t.Errorf("%+v", s)
	}
	o.Client = &probes.ClientOutcome{Kind: "okhttp", Experiences: "notices that it is dead", Result: probes.ClientNotices}
	if lines := ladderLines([]probes.Outcome{o}); lines[len(lines)-1] != "b: okhttp notices that it is dead" {
		t.Errorf("%q", lines)
	}
	o.Client = nil
	// A call on a connection of its own decides: it is told, and not a reuse that worked.
	o.Reason, o.Close = probes.ReasonStatus, nil
	o.Attempts[0].Reason, o.Attempts[0].Status = probes.ReasonStatus, 500
	if lines := strings.Join(ladderLines([]probes.Outcome{o}), "\n"); !strings.Contains(lines, "call 1 of burst 1, on a new connection: 500") || strings.Contains(lines, "200 in") {
		t.Error(lines)
	}
	o.Client = &probes.ClientOutcome{Kind: "okhttp", Experiences: "fails", Result: probes.ClientRetries}
	if o.ClientCopes() {
		t.Error("a client copes with a new connection that failed")
	}
	o.Reason = probes.ReasonSkipped
	if lines := strings.Join(ladderLines([]probes.Outcome{o}), "\n"); !strings.Contains(lines, "5 of 5 calls were made") {
		t.Error(lines)
	}
}

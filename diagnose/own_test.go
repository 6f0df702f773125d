package diagnose

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"perch.example/probes"
)

func TestOwnPod(t *testing.T) {
	const ms = time.Millisecond
	delay := func(d, took time.Duration) func(*probes.Attempt) {
		return func(a *probes.Attempt) { a.Delay, a.Elapsed = d, took }
	}
	lateAnswer := func(a *probes.Attempt) { a.Delay, a.DelayKnown, a.Elapsed = 3*time.Second, true, 3*time.Second }
	tests := []struct {
		name  string
		rung  *build
		own   bool
		ruled probes.Ruling
	}{
		{"silence as long as our delay", rungAt(0, 30*time.Second, "no_response").reuse(delay(5*time.Second, 5*time.Second)), true, "in"},
		{"silence far longer than our delay", rungAt(0, 30*time.Second, "no_response").reuse(delay(10*ms, 5*time.Second)), false, "out"},
		{"silence, our delay more than half of it", rungAt(0, 30*time.Second, "no_response").reuse(delay(3*time.Second, 5*time.Second)), false, "open"},
		{
			"a FIN before our write, a tiny delay that is longer than the failure",
			rungAt(0, 30*time.Second, "idle_fin").closed(20*time.Second, "fin").reuse(delay(ms, 200*time.Microsecond)), false, "out",
		},
		{
			"a FIN before our write, a long delay, but the close came before the reuse was due",
			rungAt(0, 30*time.Second, "idle_fin").closed(20*time.Second, "fin").reuse(delay(time.Second, 200*time.Microsecond)), false, "out",
		},
		{
			"a FIN that came only while we were late",
			rungAt(0, 30*time.Second, "idle_fin").closed(30500*ms, "fin").reuse(delay(time.Second, 200*time.Microsecond)), true, "in",
		},
		{
			"a FIN at once after an answer that we read late",
			rungAt(0, 30*time.Second, "idle_fin").closed(20*ms, "fin").warmed(lateAnswer), true, "in",
		},
		{
			"a FIN long after an answer that we read late",
			rungAt(0, 30*time.Second, "idle_fin").closed(20*time.Second, "fin").warmed(lateAnswer), false, "out",
		},
		{"eof, a small delay", rungAt(0, 30*time.Second, "eof").reuse(delay(20*ms, 200*time.Microsecond)), false, "out"},
		{"unknown delay", rungAt(0, 30*time.Second, "eof").reuse(func(a *probes.Attempt) { a.DelayKnown = false }), false, "open"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			o := judgeOne(t, idleInput(time.Minute, tt.rung), 0)
			if own := o.Diagnosis == probes.DiagnosisOwnPod; own != tt.own {
				t.Fatalf("own_pod %t, want %t: %s", own, tt.own, o.Message)
			}
			if tt.own && (o.Verdict != probes.VerdictIncomplete || o.Family != probes.FamilyOwn) {
				t.Errorf("%s %s", o.Verdict, o.Family)
			}
			if h := hypothesis(o, probes.HypothesisOwnPod); h.Ruled != tt.ruled {
				t.Errorf("own_pod is %s (%s), want %s", h.Ruled, h.Evidence, tt.ruled)
			}
		})
	}
}

// TestOwnPodOnOpening: an opening's time has our stall within it.
func TestOwnPodOnOpening(t *testing.T) {
	for _, tt := range []struct {
		reason probes.Reason
		delay  time.Duration
		own    bool
	}{
		{"connect_timeout", 2900 * time.Millisecond, true},
		{"tls", 2900 * time.Millisecond, true},
		{"dns", 2900 * time.Millisecond, true},
		{"connect_timeout", time.Second, false},
		{"refused", 2900 * time.Millisecond, false},
	} {
		in := httpInput(tt.reason)
		in.Observations[0].Attempts[0].Delay, in.Observations[0].Attempts[0].Elapsed = tt.delay, 3*time.Second
		if o := judgeOne(t, in, 0); (o.Diagnosis == probes.DiagnosisOwnPod) != tt.own {
			t.Errorf("%s, stalled for %s of 3 s: %s", tt.reason, tt.delay, o.Diagnosis)
		}
	}
}

// TestAnAnswerIsNoDelaysFault: what the API answers on a fresh connection it
// answers to a late perch too.
func TestAnAnswerIsNoDelaysFault(t *testing.T) {
	for reason, status := range map[probes.Reason]int{
		"unavailable": 503, "rate_limited": 429, "unauthorized": 401, "redirected": 302, "status": 404, "too_large": 200, "proxy_upstream_reset": 503,
	} {
		in := httpInput(reason)
		a := &in.Observations[0].Attempts[0]
		a.Status, a.Delay, a.Elapsed = status, 1003*time.Millisecond, 1003*time.Millisecond
		o := judgeOne(t, in, 0)
		if h := hypothesis(o, probes.HypothesisOwnPod); o.Verdict != probes.VerdictFail || h.Ruled != probes.RuledOut ||
			!strings.Contains(h.Evidence, fmt.Sprintf("delayed by 1.003 s, and the answer %d would have been the same", status)) {
			t.Errorf("%s: %s %s, own_pod %s: %s", reason, o.Verdict, o.Diagnosis, h.Ruled, h.Evidence)
		}
	}
}

// TestOwnPodOnlyForFailures: what is a pass stays one, however late perch was.
func TestOwnPodOnlyForFailures(t *testing.T) {
	late := func(a *probes.Attempt) { a.Delay = 10 * time.Second }
	for name, rung := range map[string]*build{
		"worked":         rungAt(0, 30*time.Second, "ok").reuse(late),
		"closed in time": rungAt(0, 60*time.Second, "idle_fin").closed(60500*time.Millisecond, "fin").reuse(late),
	} {
		if o := judgeOne(t, idleInput(time.Minute, rung), 0); o.Verdict != probes.VerdictPass {
			t.Errorf("%s: %s, want pass", name, o.Verdict)
		}
	}
}

func hypothesis(o probes.Outcome, id probes.HypothesisID) probes.Hypothesis {
	for _, h := range o.Hypotheses {
		if h.ID == id {
			return h
		}
	}
	return probes.Hypothesis{}
}

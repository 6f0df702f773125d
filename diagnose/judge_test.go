package diagnose

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"perch.example/probes"
)

// TestJudgeIsTotal judges every kind with every reason on every connection and
// every control, and checks what must hold for all outcomes.
func TestJudgeIsTotal(t *testing.T) {
	for _, reason := range append(probes.Reasons(), "", "unheard_of") {
		for _, control := range append(probes.Reasons(), "") {
			b := rungAt(0, 30*time.Second, reason)
			if reason != probes.ReasonOK {
				b.control(control)
			}
			holds(t, fmt.Sprintf("idle %s, control %s", reason, control), idleInput(time.Minute, b))
			holds(t, fmt.Sprintf("http %s then %s", reason, control), httpInput(reason, control))
		}
		for _, keepAlive := range []time.Duration{0, time.Second, 30 * time.Second, time.Minute} {
			in := idleInput(keepAlive, rungAt(0, 30*time.Second, reason))
			holds(t, fmt.Sprintf("idle %s, keep_alive %s", reason, keepAlive), in)
			in.Spec.Client = incidentClient()
			holds(t, fmt.Sprintf("idle %s, keep_alive %s, with a client", reason, keepAlive), in)
		}
		holds(t, fmt.Sprintf("http %s", reason), httpInput(reason))
		warm := rungAt(0, 30*time.Second, probes.ReasonOK)
		warm.o.Attempts = warm.o.Attempts[:1]
		warm.o.Attempts[0].Reason = reason
		holds(t, fmt.Sprintf("warm-up %s", reason), idleInput(time.Minute, warm))
	}
}

func holds(t *testing.T, name string, in Input) {
	t.Helper()
	outcomes := Judge(in)
	if len(outcomes) != 1 {
		t.Fatalf("%s: %d outcomes, want 1", name, len(outcomes))
	}
	o := outcomes[0]
	switch {
	case !slices.Contains(probes.Verdicts(), o.Verdict):
		t.Errorf("%s: verdict %q", name, o.Verdict)
	case !slices.Contains(probes.Reasons(), o.Reason):
		t.Errorf("%s: reason %q", name, o.Reason)
	case o.Message == "":
		t.Errorf("%s: no message", name)
	case o.Retry.Result == "":
		t.Errorf("%s: no retry result", name)
	case o.Verdict == probes.VerdictPass:
		if len(o.Hypotheses) > 0 || o.Diagnosis != "" || o.Family != "" {
			t.Errorf("%s: a pass with hypotheses, diagnosis or family: %+v", name, o)
		}
		return
	}
	if o.Family == "" {
		t.Errorf("%s: %s without a family", name, o.Verdict)
	}
	if (o.Verdict == probes.VerdictFail || o.Verdict == probes.VerdictDegraded) && (o.Diagnosis == "" || len(o.Advice) == 0) {
		t.Errorf("%s: %s with diagnosis %q and advice %q", name, o.Verdict, o.Diagnosis, o.Advice)
	}
	allSix(t, name, o)
}

// allSix checks that the six hypotheses are there, in order, each with a ruling
// and evidence.
func allSix(t *testing.T, name string, o probes.Outcome) {
	t.Helper()
	want := []probes.HypothesisID{"api_down", "path_blocks", "own_pod", "stale_pool", "rate_limit", "retry_gap"}
	var got []probes.HypothesisID
	for _, h := range o.Hypotheses {
		got = append(got, h.ID)
		if h.Evidence == "" || !slices.Contains([]probes.Ruling{"in", "out", "open"}, h.Ruled) {
			t.Errorf("%s: hypothesis %+v", name, h)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("%s: hypotheses %v, want %v", name, got, want)
	}
}

func TestJudgeExchange(t *testing.T) {
	tests := []struct {
		name    string
		in      Input
		verdict probes.Verdict
		reason  probes.Reason
		diag    probes.Diagnosis
		retry   probes.RetryResult
		message string
	}{
		{"ok", httpInput("ok"), "pass", "ok", "", "not_needed", "it answered 200 in 142 ms"},
		{
			"refused, not tried again", httpInput("refused"), "fail", "refused", "unreachable", "not_tried",
			"a fresh connection failed after 142 ms: the connection was refused",
		},
		{
			"refused, again ok", httpInput("refused", "ok"), "degraded", "refused", "unstable", "recovered",
			"a fresh connection failed after 142 ms: the connection was refused; another one 258 ms later answered 200 in 142 ms",
		},
		{
			"eof, again failed", httpInput("eof", "no_response"), "fail", "eof", "service_down", "failed",
			"a fresh connection failed after 142 ms: the request was acknowledged, then the connection was closed without an answer; a second one failed too: no answer came in time",
		},
		{
			"status is not tried again", httpInput("status"), "fail", "status", "contract", "not_tried",
			"a fresh connection failed after 142 ms: the answer had another status than expected",
		},
		{
			"nothing was done", httpInput(), "incomplete", "internal", "", "not_tried",
			"perch itself went wrong: the step ended without saying why",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			o := judgeOne(t, tt.in, 0)
			if o.Verdict != tt.verdict || o.Reason != tt.reason || o.Diagnosis != tt.diag || o.Retry.Result != tt.retry {
				t.Errorf("%s %s %q %s, want %s %s %q %s", o.Verdict, o.Reason, o.Diagnosis, o.Retry.Result,
					tt.verdict, tt.reason, tt.diag, tt.retry)
			}
			if o.Message != tt.message {
				t.Errorf("message\n %q, want\n %q", o.Message, tt.message)
			}
		})
	}
}

func TestJudgeCut(t *testing.T) {
	tests := []struct {
		cut     probes.Cut
		verdict probes.Verdict
		message string
		problem string
	}{
		{probes.CutCanceled, "incomplete", "not judged: the run was cut short (deadline of 1m)", ""},
		{probes.CutSkipped, "skipped", "not judged: it was not tried to its end (deadline of 1m)", ""},
		{probes.CutInternal, "incomplete", "perch itself went wrong: index out of range", "index out of range"},
		{probes.CutConfig, "incomplete", "not judged: the config asks for what cannot be done: index out of range", "index out of range"},
	}
	for _, tt := range tests {
		b := rungAt(0, time.Second, probes.ReasonBlackhole)
		b.o.Cut, b.o.CutDetail = tt.cut, "deadline of 1m"
		if tt.cut == probes.CutSkipped {
			none := rungAt(0, time.Second, probes.ReasonBlackhole)
			none.o.Cut, none.o.CutDetail, none.o.Attempts = tt.cut, "deadline of 1m", nil
			if o := judgeOne(t, idleInput(time.Minute, none), 0); o.Message != "not judged: it was not tried (deadline of 1m)" {
				t.Errorf("nothing left: %q", o.Message)
			}
		}
		if tt.cut == probes.CutInternal || tt.cut == probes.CutConfig {
			b.o.Problem = "index out of range"
		}
		reason := probes.Reason(tt.cut)
		if tt.cut == probes.CutConfig {
			reason = probes.ReasonInternal
		}
		o := judgeOne(t, idleInput(time.Minute, b), 0)
		if o.Verdict != tt.verdict || o.Reason != reason || o.Family != probes.FamilyOwn {
			t.Errorf("%s: %s %s %s", tt.cut, o.Verdict, o.Reason, o.Family)
		}
		if o.Message != tt.message || o.Problem != tt.problem {
			t.Errorf("%s: message %q, problem %q", tt.cut, o.Message, o.Problem)
		}
	}
}

func TestCertificateExpiry(t *testing.T) {
	const day = 24 * time.Hour
	tests := []struct {
		left    time.Duration
		verdict probes.Verdict
	}{
		{22 * day, "pass"}, {21*day + time.Second, "pass"}, {21 * day, "degraded"},
		{8 * day, "degraded"}, {7 * day, "fail"}, {-day, "fail"},
	}
	for _, tt := range tests {
		in := httpInput(probes.ReasonOK)
		in.Observations[0].Attempts[0].TLSExpiry = in.Now.Add(tt.left)
		o := judgeOne(t, in, 0)
		if o.Verdict != tt.verdict {
			t.Errorf("%s left: %s, want %s", tt.left, o.Verdict, tt.verdict)
		}
		if o.Verdict != probes.VerdictPass && (o.Diagnosis != probes.DiagnosisCertificate || o.Family != probes.FamilyCertificate) {
			t.Errorf("%s left: %s %s", tt.left, o.Diagnosis, o.Family)
		}
		rung := rungAt(0, time.Second, probes.ReasonOK)
		rung.reuse(func(a *probes.Attempt) { a.TLSExpiry = in.Now.Add(tt.left) })
		if o := judgeOne(t, idleInput(time.Minute, rung), 0); o.Verdict != probes.VerdictPass {
			t.Errorf("%s left: an idle rung is %s, want pass", tt.left, o.Verdict)
		}
	}
}

func TestFailedControl(t *testing.T) {
	alone := idleInput(time.Minute, rungAt(0, 30*time.Second, probes.ReasonIdleFIN).control(probes.ReasonRefused))
	if o := judgeOne(t, alone, 0); o.Verdict != "fail" || o.Diagnosis != "unreachable" || o.Reason != "refused" || o.Retry.Result != "failed" {
		t.Errorf("control failed: %s %s %s %s", o.Verdict, o.Diagnosis, o.Reason, o.Retry.Result)
	}
	// Another rung is warmed 5 s, then 20 s, after the control.
	for after, want := range map[time.Duration]probes.Verdict{35 * time.Second: "degraded", 50 * time.Second: "fail"} {
		in := idleInput(time.Minute,
			rungAt(0, 30*time.Second, probes.ReasonIdleFIN).control(probes.ReasonRefused),
			rungAt(after, 40*time.Second, probes.ReasonOK))
		if o := judgeOne(t, in, 0); o.Verdict != want {
			t.Errorf("another fresh exchange at %s: %s, want %s", after, o.Verdict, want)
		}
	}
	// What perch would not try again stays what it is.
	status := idleInput(time.Minute,
		rungAt(0, 30*time.Second, probes.ReasonStatus).control(probes.ReasonStatus),
		rungAt(35*time.Second, 40*time.Second, probes.ReasonOK))
	if o := judgeOne(t, status, 0); o.Verdict != "fail" || o.Diagnosis != "contract" {
		t.Errorf("status twice: %s %s, want fail contract", o.Verdict, o.Diagnosis)
	}
	// A control that was never made does not judge.
	skipped := idleInput(time.Minute, rungAt(0, 30*time.Second, probes.ReasonIdleFIN).control(probes.ReasonSkipped))
	if o := judgeOne(t, skipped, 0); o.Verdict != "incomplete" || o.Reason != "idle_fin" {
		t.Errorf("control skipped: %s %s, want incomplete idle_fin", o.Verdict, o.Reason)
	}
}

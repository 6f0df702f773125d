package diagnose

import (
	"strings"
	"testing"
	"time"

	"perch.example/probes"
)

// limitInput is many requests on one connection, the last of which ended in reason.
func limitInput(reason probes.Reason, limit *probes.ConnectionLimit) Input {
	in := httpInput(probes.ReasonOK)
	o := rungAt(0, 2*time.Second, reason)
	o.o.Kind, o.o.Probe, o.o.Hold, o.o.Limit = probes.KindHTTP, "calendar", 0, limit
	in.Observations = []probes.Observation{o.o}
	return in
}

func TestLimits(t *testing.T) {
	told := &probes.ConnectionLimit{Requests: 100, Age: 198 * time.Second, Ended: true, Told: true, By: "Connection: close"}
	untold := &probes.ConnectionLimit{Requests: 5, Age: 8 * time.Second, Ended: true}
	closed := func(age time.Duration, how probes.HowClosed) *probes.Close {
		return &probes.Close{Age: age, AfterReply: age, How: how, At: start().Add(age)}
	}
	tests := []struct {
		name      string
		reason    probes.Reason
		limit     *probes.ConnectionLimit
		close     *probes.Close
		verdict   probes.Verdict
		diagnosis probes.Diagnosis
		says      string
	}{
		{"told", probes.ReasonOK, told, nil, "pass", "", "it answered 200 in 142 ms; the server ends a connection after 100 requests (3m18s old) and says so (Connection: close on #100)"},
		{"never", probes.ReasonOK, &probes.ConnectionLimit{Requests: 50, Age: 98 * time.Second}, nil, "pass", "", "the server did not end it"},
		{"at once, untold", probes.ReasonIdleFIN, untold, closed(3*time.Millisecond, probes.HowFIN), "degraded", "undeclared_close", "the server ended the connection after 5 requests (8s old) without saying so"},
		{"in good order, later", probes.ReasonIdleFIN, untold, closed(time.Second, probes.HowFIN), "pass", "", "after 5 requests"},
		{"under the request", probes.ReasonEOF, untold, nil, "degraded", "undeclared_close", "after 5 requests"},
		{"reset under the request", probes.ReasonReset, untold, nil, "degraded", "undeclared_close", "after 5 requests"},
		{"half an answer", probes.ReasonPartialBody, untold, nil, "degraded", "undeclared_close", "after 5 requests"},
		{"a stream reset", probes.ReasonStreamReset, nil, nil, "degraded", "unstable", "the connection itself went on"},
		{"a stream refused", probes.ReasonRefusedStream, nil, nil, "degraded", "unstable", "the connection itself went on"},
		{"reset", probes.ReasonIdleRST, untold, closed(time.Second, probes.HowRST), "degraded", "stale_connection", "after 5 requests"},
		{"503", probes.ReasonUnavailable, nil, nil, "degraded", "unstable", ""},
		{"another status", probes.ReasonStatus, nil, nil, "degraded", "contract", ""},
		{"another answer", probes.ReasonExpectation, nil, nil, "degraded", "contract", ""},
		{"silence", probes.ReasonNoResponse, nil, nil, "fail", "stalled", ""},
	}
	for _, tt := range tests {
		in := limitInput(tt.reason, tt.limit)
		in.Observations[0].Close = tt.close
		all := Judge(in)
		if len(all) != 1 {
			t.Fatalf("%s: %d outcomes", tt.name, len(all))
		}
		o := all[0]
		if o.Verdict != tt.verdict || o.Diagnosis != tt.diagnosis || !strings.Contains(o.Message, tt.says) || o.Limit != tt.limit {
			t.Errorf("%s: %s %s: %s", tt.name, o.Verdict, o.Diagnosis, o.Message)
		}
		advice := strings.Join(o.Advice, "\n")
		for _, wrong := range []string{"longest idle", "a fresh connection failed as well"} {
			if tt.close == nil && strings.Contains(advice, wrong) {
				t.Errorf("%s: %s", tt.name, advice)
			}
		}
		if h := hypothesis(o, probes.HypothesisStalePool); tt.close == nil && h.Ruled == probes.RuledIn {
			t.Errorf("%s: %+v", tt.name, h)
		}
	}
	down := limitInput(probes.ReasonEOF, untold)
	down.Observations[0].Attempts[2].Reason, down.Observations[0].Attempts[2].Status = probes.ReasonRefused, 0
	if o := judgeOne(t, down, 0); o.Verdict != probes.VerdictFail || o.Diagnosis != probes.DiagnosisUnreachable {
		t.Errorf("the control failed too: %s %s", o.Verdict, o.Diagnosis)
	}
}

// The end of a certificate is told by a probe of many requests, too.
func TestLimitsWatchTheCertificate(t *testing.T) {
	in := limitInput(probes.ReasonOK, nil)
	in.Observations[0].Attempts[0].TLS = ends(in.Now, 3*24*time.Hour, 900*24*time.Hour)
	if o := judgeOne(t, in, 0); o.Verdict != probes.VerdictFail || o.Diagnosis != probes.DiagnosisCertificate {
		t.Errorf("%s %s: %s", o.Verdict, o.Diagnosis, o.Message)
	}
}

// unusedRung is a connection that carried nothing before it was held.
func unusedRung(after, hold time.Duration, reason probes.Reason) *build {
	b := rungAt(after, hold, reason)
	b.o.Unused = true
	b.o.Attempts = b.o.Attempts[1:]
	return b
}

func TestUnusedRungsAreALadderOfTheirOwn(t *testing.T) {
	pushed := func(after, hold time.Duration) *build {
		b := unusedRung(after, hold, probes.ReasonIdleBytes)
		b.o.Attempts[0].PushedStatus = 408
		b.o.Close = &probes.Close{Age: time.Second, AfterReply: time.Second, How: probes.HowBytes, At: b.o.Started.Add(time.Second)}
		return b
	}
	in := idleInput(time.Minute,
		rungAt(0, 2*time.Second, probes.ReasonOK), rungAt(20*time.Second, 30*time.Second, probes.ReasonOK),
		pushed(5*time.Second, 2*time.Second), pushed(10*time.Second, 30*time.Second), unusedRung(15*time.Second, 500*time.Millisecond, probes.ReasonOK))
	in.Last.Seen = true
	in.Spec.Client = &probes.Client{Kind: "apache-httpclient-4.5"}
	all := Judge(in)
	if len(all) != 5 {
		t.Fatalf("%d outcomes", len(all))
	}
	for i, o := range all {
		if o.Unused != (i > 1) {
			t.Errorf("outcome %d: unused %v", i, o.Unused)
		}
	}
	// That used ones live longer says nothing of these: both ended at one age.
	for _, o := range all[3:] {
		if advice := strings.Join(o.Advice, "\n"); o.Client != nil || !strings.Contains(advice, "o not open connections ahead") || !strings.Contains(advice, "takes the 408 for the answer") {
			t.Errorf("%s: client %v, advice:\n%s", o.Hold, o.Client, advice)
		}
		if o.Verdict != probes.VerdictFail || o.Diagnosis != probes.DiagnosisStaleConnection || o.Reason != probes.ReasonIdleBytes {
			t.Errorf("%s: %s %s", o.Hold, o.Verdict, o.Diagnosis)
		}
		if !strings.HasPrefix(o.Message, "a connection that never carried a request was given a 408 that nobody had asked for, by the peer, after 1.000 s idle") &&
			!strings.HasPrefix(o.Message, "a connection that never carried a request was given a 408 that nobody had asked for, by the peer, after 1 s idle") {
			t.Errorf("%s: %s", o.Hold, o.Message)
		}
	}
	if o := all[2]; o.Verdict != probes.VerdictPass || !strings.HasPrefix(o.Message, "a connection that never carried a request still worked after 500 ms idle") {
		t.Errorf("%s: %s", o.Verdict, o.Message)
	}
	if r := Idle(in); r.Survived != 30*time.Second || r.Died != 0 || r.Measured != 0 {
		t.Errorf("the path's own measurement: %+v", r)
	}
	// Closed at once, there was no answer that should have said so.
	fin := unusedRung(0, 2*time.Second, probes.ReasonIdleFIN).closed(0, probes.HowFIN)
	fin.o.Attempts[0].Queued = true
	if o := judgeOne(t, idleInput(0, fin), 0); o.Diagnosis == probes.DiagnosisUndeclaredClose {
		t.Errorf("%s: %s", o.Diagnosis, o.Message)
	}
}

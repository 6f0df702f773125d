package diagnose

import (
	"strings"
	"testing"
	"time"

	"perch.example/probes"
)

// byGoaway is a rung whose connection a GOAWAY ended at that idle age, after lead since
// it was open.
func byGoaway(after, hold, age, lead time.Duration, g probes.Goaway) *build {
	return rungAt(after, hold, probes.ReasonIdleGoaway).closed(age, probes.HowGoaway).reuse(func(a *probes.Attempt) {
		g.Age, g.Idle = age, true
		a.Goaway, a.Proto, a.IdleTime, a.ConnectionAge = &g, overH2, hold, lead+hold
	})
}

// knowsNothing checks that a ladder speaks of no idle limit.
func knowsNothing(t *testing.T, name string, in Input) {
	t.Helper()
	r := Idle(in)
	if b := NextBound(in); r.Died != 0 || r.Measured != 0 || b.Known != (probes.Bracket{}) || IdlePath(in).Timeout != 0 {
		t.Errorf("%s: an idle limit: %+v, %+v", name, r, b)
	}
}

// A server that ends connections at an age of theirs has a healthy limit, which it
// tells: no idle limit would help.
func TestConnectionAge(t *testing.T) {
	const s = time.Second
	told := probes.Goaway{Debug: "max_age", LastStream: 1}
	for name, in := range map[string]Input{
		"it says so":       idleInput(5*s, byGoaway(0, 2*s, 747*time.Millisecond, 253*time.Millisecond, told)),
		"two rungs say so": idleInput(time.Minute, byGoaway(0, 20*s, 7*s, 3*s, probes.Goaway{}), byGoaway(9*s, 30*s, 9500*time.Millisecond, 500*time.Millisecond, probes.Goaway{})),
	} {
		for _, o := range Judge(in) {
			want := "the server ends connections at the age of 1"
			if o.EndsAtAge < time.Second {
				t.Errorf("%s: at the age of %s", name, o.EndsAtAge)
			}
			if o.Verdict != probes.VerdictPass || !strings.Contains(o.Message, want) || strings.Contains(o.Message, "expected") {
				t.Errorf("%s: %s %s: %s", name, o.Verdict, o.Diagnosis, o.Message)
			}
		}
		knowsNothing(t, name, in)
		if early, mass := EarlyCloses(in); len(early)+len(mass) > 0 {
			t.Errorf("%s: early: %v %v", name, early, mass)
		}
	}
	same := idleInput(time.Minute, byGoaway(0, 20*s, 7*s, 3*s, probes.Goaway{}), byGoaway(9*s, 30*s, 7*s, 3*s, probes.Goaway{}))
	for _, o := range Judge(same) {
		if o.Verdict != probes.VerdictFail || o.Diagnosis != probes.DiagnosisEarlyClose {
			t.Errorf("one idle age, and one connection age: %s %s: %s", o.Verdict, o.Diagnosis, o.Message)
		}
	}
	if Idle(same).Measured != 7*s {
		t.Errorf("%+v", Idle(same))
	}
	cut := byGoaway(0, 20*s, 7*s, 3*s, told)
	cut.o.Attempts[1].Reason = probes.ReasonGoawayProcessed
	if o := judgeOne(t, idleInput(time.Minute, cut), 0); o.Verdict != probes.VerdictDegraded || o.Diagnosis != probes.DiagnosisUndeclaredClose {
		t.Errorf("under a request: %s %s", o.Verdict, o.Diagnosis)
	}
	stop := idleInput(time.Minute, byGoaway(0, 20*s, 7*s, 3*s, probes.Goaway{Debug: "graceful_stop"}))
	if o := judgeOne(t, stop, 0); o.Verdict != probes.VerdictPass || !strings.Contains(o.Message, "graceful_stop") {
		t.Errorf("%s: %s", o.Verdict, o.Message)
	}
	knowsNothing(t, "stop", stop)
}

// A GOAWAY with an error's code is never a plain pass, and is told by the code's name.
func TestGoawayWithAnError(t *testing.T) {
	const s = time.Second
	for code, name := range map[uint32]string{1: "PROTOCOL_ERROR", 2: "INTERNAL_ERROR", 11: "ENHANCE_YOUR_CALM"} {
		for _, keepAlive := range []time.Duration{0, s, time.Minute} {
			in := idleInput(keepAlive, byGoaway(0, 2*s, s, 0, probes.Goaway{Code: code}))
			want := probes.VerdictDegraded
			if keepAlive == time.Minute {
				want = probes.VerdictFail
			}
			o := judgeOne(t, in, 0)
			advice := strings.Join(o.Advice, "\n")
			if o.Verdict != want || o.Diagnosis != probes.DiagnosisUndeclaredClose || !strings.Contains(o.Message, name) || !strings.Contains(advice, name) || strings.Contains(advice, "longest idle") {
				t.Errorf("%s, keep_alive %s: %s %s: %s\n%s", name, keepAlive, o.Verdict, o.Diagnosis, o.Message, advice)
			}
			rate, pool := hypothesis(o, probes.HypothesisRateLimit), hypothesis(o, probes.HypothesisStalePool)
			if calm := code == 11; calm != (rate.Ruled == probes.RuledIn) || calm != strings.Contains(rate.Evidence, name) || pool.Ruled != probes.RuledOpen {
				t.Errorf("%s: %+v, %+v", name, rate, pool)
			}
			knowsNothing(t, name, in)
		}
		answered := idleInput(0, byGoaway(0, 2*s, s, 0, probes.Goaway{Code: code}))
		answered.Observations[0].Attempts[1].Reason, answered.Observations[0].Attempts[1].Status = probes.ReasonOK, 200
		many := limitInput(probes.ReasonOK, &probes.ConnectionLimit{Requests: 3, Ended: true, Told: true, By: "GOAWAY " + name})
		many.Observations[0].Attempts[1].Goaway = &probes.Goaway{Code: code}
		fresh := httpInput(probes.ReasonOK)
		fresh.Observations[0].Attempts[0].Goaway = &probes.Goaway{Code: code}
		for kind, in := range map[string]Input{"held": answered, "many": many, "fresh": fresh} {
			if o := judgeOne(t, in, 0); o.Verdict != probes.VerdictDegraded || o.Diagnosis != probes.DiagnosisUndeclaredClose || !strings.Contains(o.Message, name) {
				t.Errorf("answered, %s, %s: %s %s: %s", kind, name, o.Verdict, o.Diagnosis, o.Message)
			}
		}
	}
}

// ENHANCE_YOUR_CALM is what a peer says that is there.
func TestEnhanceYourCalm(t *testing.T) {
	calm := uint32(11)
	in := httpInput(probes.ReasonStreamReset, probes.ReasonStreamReset)
	for i := range in.Observations[0].Attempts {
		in.Observations[0].Attempts[i].StreamReset = &calm
	}
	o := judgeOne(t, in, 0)
	api, rate := hypothesis(o, probes.HypothesisAPIDown), hypothesis(o, probes.HypothesisRateLimit)
	if api.Ruled != probes.RuledOpen || rate.Ruled != probes.RuledIn || !strings.Contains(rate.Evidence, "RST_STREAM ENHANCE_YOUR_CALM") || !strings.Contains(o.Advice[0], "end less") {
		t.Errorf("%+v, %+v, %q", api, rate, o.Advice)
	}
	pings := judgeOne(t, idleInput(5*time.Second, byGoaway(0, 2*time.Second, time.Second, 0, probes.Goaway{Code: 11, Debug: "too_many_pings"})), 0)
	pool, rate := hypothesis(pings, probes.HypothesisStalePool), hypothesis(pings, probes.HypothesisRateLimit)
	if pool.Ruled != probes.RuledOut || rate.Ruled != probes.RuledOpen {
		t.Errorf("%+v, %+v", pool, rate)
	}
}

// A stream that is reset ends no connection: nothing is said of an idle limit.
func TestStreamThatIsReset(t *testing.T) {
	const s = time.Second
	for reason, later := range map[probes.Reason]probes.Verdict{probes.ReasonRefusedStream: probes.VerdictPass, probes.ReasonStreamReset: probes.VerdictDegraded} {
		for keepAlive, want := range map[time.Duration]probes.Verdict{0: later, s: later, time.Minute: probes.VerdictFail} {
			in := idleInput(keepAlive, rungAt(0, 2*s, reason))
			in.Spec.Client = &probes.Client{Kind: "go-net-http"}
			o := judgeOne(t, in, 0)
			if o.Verdict != want || !strings.Contains(o.Message, "the connection itself went on") || strings.Contains(o.Message, "expected") || strings.Contains(strings.Join(o.Advice, "\n"), "longest idle") {
				t.Errorf("%s, keep_alive %s: %s %s: %s\n%q", reason, keepAlive, o.Verdict, o.Diagnosis, o.Message, o.Advice)
			}
			if want != probes.VerdictPass && (o.Diagnosis != probes.DiagnosisStaleConnection || hypothesis(o, probes.HypothesisStalePool).Ruled != probes.RuledOut) {
				t.Errorf("%s, keep_alive %s: %s, %+v", reason, keepAlive, o.Diagnosis, o.Hypotheses)
			}
			knowsNothing(t, string(reason), in)
		}
	}
}

// What answers, and speaks something else, is not down.
func TestOtherProtocols(t *testing.T) {
	in := httpInput(probes.ReasonBadResponse, probes.ReasonBadResponse)
	for i := range in.Observations[0].Attempts {
		a := &in.Observations[0].Attempts[i]
		a.NoHTTP2, a.ResponseBytes = true, 103
	}
	o := judgeOne(t, in, 0)
	if o.Diagnosis != probes.DiagnosisContract || o.Family != probes.FamilyContract || o.Verdict != probes.VerdictFail {
		t.Errorf("%s %s, family %s", o.Verdict, o.Diagnosis, o.Family)
	}
	if h := hypothesis(o, probes.HypothesisAPIDown); h.Ruled != probes.RuledOut || !strings.Contains(o.Message, "the peer speaks no HTTP/2") || !strings.Contains(o.Advice[0], "protocol: http/1.1, or auto") {
		t.Errorf("%+v: %s, %q", h, o.Message, o.Advice)
	}
	in.Spec.GRPC = &probes.GRPC{}
	if o := judgeOne(t, in, 0); !strings.Contains(o.Advice[0], "gRPC needs HTTP/2") {
		t.Errorf("%q", o.Advice)
	}
	for i := range in.Observations[0].Attempts {
		a := &in.Observations[0].Attempts[i]
		a.NoHTTP2, a.Status = false, 200
	}
	o = judgeOne(t, in, 0)
	if h := hypothesis(o, probes.HypothesisAPIDown); h.Ruled != probes.RuledOut || !strings.Contains(o.Message, "the answer (200) was no valid gRPC") || !strings.Contains(o.Advice[0], "no gRPC server") {
		t.Errorf("%+v: %s, %q", h, o.Message, o.Advice)
	}
}

// A server may take a request over HTTP/1.1 only.
func TestHTTP11Required(t *testing.T) {
	in, code := httpInput(probes.ReasonStreamReset, probes.ReasonStreamReset), uint32(13)
	for i := range in.Observations[0].Attempts {
		in.Observations[0].Attempts[i].StreamReset = &code
	}
	o := judgeOne(t, in, 0)
	if h := hypothesis(o, probes.HypothesisAPIDown); h.Ruled != probes.RuledOut || !strings.Contains(o.Advice[0], "protocol: http/1.1") {
		t.Errorf("%+v, %q", h, o.Advice)
	}
}

// HTTP/2 forbids Connection: close: a GOAWAY says it.
func TestUndeclaredCloseOverHTTP2(t *testing.T) {
	in := limitInput(probes.ReasonEOF, &probes.ConnectionLimit{Requests: 3, Ended: true})
	for proto, want := range map[string]string{overH2: "GOAWAY", "HTTP/1.1": "Connection: close"} {
		in.Observations[0].Attempts[1].Proto = proto
		if advice := strings.Join(judgeOne(t, in, 0).Advice, "\n"); !strings.Contains(advice, want) || proto == overH2 && strings.Contains(advice, "Connection: close") {
			t.Errorf("%s: %s", proto, advice)
		}
	}
}

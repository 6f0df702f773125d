package diagnose

import (
	"strings"
	"testing"
	"time"

	"perch.example/probes"
)

// twoBursts are of four calls each on two connections, 500 ms apart, with a gap of 5 s.
func twoBursts() probes.Shape {
	return probes.Shape{Requests: 4, Over: 2 * time.Second, Connections: 2, Bursts: 2, Gap: 5 * time.Second}
}

// last changes the last attempt.
func (b *burstOf) last(change func(*probes.Attempt)) *burstOf {
	change(&b.o.Attempts[len(b.o.Attempts)-1])
	return b
}

func answering(n int) func(*probes.Attempt) {
	return func(a *probes.Attempt) { a.Status = n }
}

func closing(a *probes.Attempt) { a.Status, a.CloseAfter = 503, true }

// An answer on a connection that goes on is no end of it, and says nothing of how long
// connections may idle.
func TestAnAnswerIsNoEnd(t *testing.T) {
	const s = time.Second
	for _, c := range []struct {
		name      string
		reason    probes.Reason
		change    func(*probes.Attempt)
		verdict   probes.Verdict
		diagnosis probes.Diagnosis
		stays     bool // no idle timeout
	}{
		{"503", "unavailable", answering(503), "degraded", "unstable", true},
		{"500", "status", answering(500), "degraded", "contract", true},
		{"not as expected", "expectation", answering(200), "degraded", "contract", true},
		{"503 that ends the connection", "unavailable", closing, "degraded", "undeclared_close", true},
		{"421", "status", answering(421), "degraded", "undeclared_close", true},
		{"408", "status", answering(408), "degraded", "undeclared_close", false},
		{"502 of a proxy", "proxy_upstream_reset", answering(502), "fail", "proxy_stale", true},
	} {
		b := aBurst(twoBursts()).call(1, 1, "ok", 0).call(1, 2, "ok", 0).gap(s/2).call(1, 2, c.reason, s/2).last(c.change).control("ok").
			gap(s/2).call(1, 2, "ok", s/2).gap(5*s).call(2, 2, "ok", 5*s)
		in := b.input(60 * s)
		in.Spec.Client = &probes.Client{Kind: "okhttp"}
		if o := Judge(in)[0]; o.Verdict != c.verdict || o.Diagnosis != c.diagnosis {
			t.Errorf("%s: %s %q: %s", c.name, o.Verdict, o.Diagnosis, o.Message)
		}
		path := IdlePath(in)
		times, _ := DeclaredTimes(in.Spec)
		if got := Predict(in, path, times); (path.Timeout == 0) != c.stays || c.stays && len(got) > 0 {
			t.Errorf("%s: timeout %s, predicted %+v", c.name, path.Timeout, got)
		}
		early, mass := EarlyCloses(in)
		if (len(early)+len(mass) == 0) != c.stays {
			t.Errorf("%s: the next run is told of %v and %v", c.name, early, mass)
		}
		idle := idleInput(60*s, rungAt(0, 30*s, c.reason).reuse(c.change))
		if o := judgeOne(t, idle, 0); o.Diagnosis != c.diagnosis {
			t.Errorf("%s, of kind idle: %s %q: %s", c.name, o.Verdict, o.Diagnosis, o.Message)
		}
		if got := IdlePath(idle).Timeout; (got == 0) != c.stays {
			t.Errorf("%s, of kind idle: timeout %s", c.name, got)
		}
	}
}

// One that was measured stands, whatever was answered sooner.
func TestAnAnswerDoesNotBeatAMeasurement(t *testing.T) {
	const s = time.Second
	b := aBurst(twoBursts()).call(1, 1, "ok", 0).call(1, 2, "ok", 0).gap(s/2).call(1, 2, "unavailable", s/2).last(answering(503)).control("ok").
		gap(5*s).call(2, 2, "idle_fin", 5*s).closed(s).control("ok").gap(s).call(2, 1, "idle_fin", 8*s).closed(s)
	in := b.input(60 * s)
	if path := IdlePath(in); path.Timeout != s {
		t.Errorf("timeout %s", path.Timeout)
	}
	if o := Judge(in)[0]; o.Diagnosis != "early_close" || o.Verdict != "fail" {
		t.Errorf("%s %q: %s", o.Verdict, o.Diagnosis, o.Message)
	}
}

// What failed in an outage is told as http tells it: by the control where the burst had
// one for it, else by the calls after it, and never by an exchange before it.
func TestBurstInAnOutage(t *testing.T) {
	const s = time.Second
	begun := func() *burstOf { return aBurst(twoBursts()).call(1, 1, "ok", 0).call(1, 2, "ok", 0).gap(s / 2) }
	for _, c := range []struct {
		name      string
		b         *burstOf
		verdict   probes.Verdict
		diagnosis probes.Diagnosis
		api       probes.Ruling
		says      string
	}{
		{"503, and its control", begun().call(1, 2, "unavailable", s/2).last(answering(503)).control("unavailable"), "fail", "service_down", "in", "and the control on a fresh connection too"},
		{"500, and its control", begun().call(1, 2, "status", s/2).last(answering(500)).control("status").last(answering(500)), "fail", "contract", "out", "and the control on a fresh connection too"},
		{"503 without a control", begun().call(1, 2, "unavailable", s/2).last(answering(503)).gap(s/2).call(1, 2, "unavailable", s/2).last(answering(503)), "fail", "service_down", "in", "call 3 of burst 1 (2 of 4 calls failed)"},
		{"404 without a control", begun().call(1, 2, "status", s/2).last(answering(404)), "fail", "contract", "out", "call 3 of burst 1 (1 of 3 calls failed)"},
		{"503 without a control, and another call", begun().call(1, 2, "unavailable", s/2).last(answering(503)).gap(s/2).call(1, 2, "ok", s/2), "degraded", "unstable", "out", "; another call 510 ms later answered 200"},
		{"500 without a control, and another call", begun().call(1, 2, "status", s/2).last(answering(500)).gap(s/2).call(1, 2, "ok", s/2), "degraded", "contract", "out", "; another call"},
		{"a control, and a call after it", begun().call(1, 2, "unavailable", s/2).last(answering(503)).control("unavailable").last(answering(503)).gap(s/2).call(1, 2, "ok", s/2), "degraded", "unstable", "", "; another call"},
		{"a control before it", begun().call(1, 2, "unavailable", s/2).last(answering(503)).control("ok").gap(s/2).call(1, 2, "unavailable", s/2).last(answering(503)), "fail", "service_down", "in", "call 4 of burst 1"},
		{"503 that ends the connection, one after the other", begun().call(1, 2, "unavailable", s/2).last(closing).control("unavailable").last(closing).gap(s/2).
			call(1, 1, "unavailable", s/2).last(closing).gap(s/2).call(1, 3, "ok", 0), "degraded", "unstable", "", "; another"},
		{"503 that ends the connection, and nothing after it", begun().call(1, 2, "unavailable", s/2).last(closing), "fail", "service_down", "in", "call 3"},
		{"a 429", begun().call(1, 2, "rate_limited", s/2).last(answering(429)), "fail", "rate_limited", "out", "429"},
		{"a 429, and another call", begun().call(1, 2, "rate_limited", s/2).last(answering(429)).gap(s/2).call(1, 2, "ok", s/2), "degraded", "rate_limited", "out", "; another call"},
		{"dead, and a fresh one before it", begun().call(1, 2, "eof", s/2), "incomplete", "", "open", "drew a dead connection"},
		{"dead, and a control before a refusal", begun().call(1, 2, "eof", s/2).control("ok").gap(s/2).call(1, 1, "eof", s).gap(s/2).call(1, 3, "refused", 0), "fail", "unreachable", "", ""},
	} {
		in := c.b.input(60 * s)
		holds(t, c.name, in)
		o := Judge(in)[0]
		if o.Verdict != c.verdict || o.Diagnosis != c.diagnosis || !strings.Contains(o.Message, c.says) || strings.Contains(o.Message, "a fresh one worked") {
			t.Errorf("%s: %s %q: %s", c.name, o.Verdict, o.Diagnosis, o.Message)
		}
		if got := o.Hypotheses[0]; c.api != "" && got.Ruled != c.api {
			t.Errorf("%s: the API is down: %+v", c.name, got)
		}
	}
}

// Of a burst every close is compared with every other, whichever is the youngest by chance.
func TestBurstComparesAllCloses(t *testing.T) {
	const s, us = time.Second, time.Microsecond
	jitter := [][]int{{0, 1, 2, 3}, {1, 0, 3, 2}, {2, 3, 1, 0}, {0, 3, 1, 2}, {3, 0, 2, 1}, {1, 3, 0, 2}, {2, 0, 3, 1}, {3, 2, 1, 0}}
	for _, order := range jitter {
		b := aBurst(probes.Shape{Requests: 4, Connections: 4, Bursts: 2, Gap: 5 * s})
		for i := range 4 {
			b.call(1, i+1, "ok", 0).gap(490 * time.Millisecond)
		}
		b.gap(5 * s)
		// Two were closed 0.5 s apart, which is one moment, and two of them seconds later.
		for i, at := range []time.Duration{0, s / 2, 4 * s, 4*s + s/2} {
			idle := 8*s - at
			b.call(2, 4-i, "idle_fin", idle).closed(2*s + time.Duration(order[i])*us)
		}
		b.control("ok")
		if o := Judge(b.input(60 * s))[0]; o.Verdict != "fail" || o.Diagnosis != "early_close" {
			t.Errorf("%v: %s %q", order, o.Verdict, o.Diagnosis)
		}
	}
}

// A reload's closes are no idle timeout, whatever the age at which they are met.
func TestAMassCloseMeasuresNothing(t *testing.T) {
	const s = time.Second
	b := aBurst(twoBursts()).call(1, 1, "ok", 0).gap(3*s).call(1, 2, "ok", 0).gap(5*s).
		call(2, 2, "idle_fin", 5500*time.Millisecond).closed(2*s).control("ok").call(2, 1, "idle_fin", 8500*time.Millisecond)
	b.o.Burst.Calls[3].Close = &probes.Close{Age: 5 * s, At: b.o.Burst.Calls[2].Close.At, How: probes.HowFIN, AfterReply: 5 * s}
	outlived := func(c *build) *build { return c.closed(1751*time.Millisecond, probes.HowFIN) }
	for name, in := range map[string]Input{
		"burst": b.input(60 * s),
		"idle": idleInput(60*s, rungAt(0, s, "ok"), rungAt(0, 3*s, "ok"), outlived(rungAt(5*s, 8*s, "idle_fin")),
			rungAt(0, 12*s, "idle_fin").closed(6751*time.Millisecond, probes.HowFIN)),
	} {
		in.Spec.Client = &probes.Client{Kind: "okhttp"}
		got, path := Idle(in), IdlePath(in)
		if got.Measured != 0 || got.Died != 0 || path.Timeout != 0 {
			t.Errorf("%s: measured %s, died %s, timeout %s", name, got.Measured, got.Died, path.Timeout)
		}
		for _, o := range Judge(in) {
			if o.Client == nil || o.Client.Band != nil || o.Verdict == "fail" || o.Verdict == "degraded" && o.Diagnosis != "mass_close" && o.Diagnosis != "undeclared_close" {
				t.Errorf("%s: %s %q, client %+v", name, o.Verdict, o.Diagnosis, o.Client)
			}
		}
	}
}

// An answer that is not as expected hides no dead connection.
func TestDeadBesideAnExpectation(t *testing.T) {
	const s = time.Second
	b := aBurst(twoBursts())
	fails := func(burst, conn int, idle time.Duration) {
		b.call(burst, conn, "expectation", idle).last(answering(200))
	}
	fails(1, 1, 0)
	fails(1, 2, 0)
	b.gap(5*s).call(2, 2, "idle_fin", 5*s).closed(s).control("expectation").last(answering(200))
	b.gap(s/2).call(2, 1, "idle_fin", 5500*time.Millisecond).closed(s)
	fails(2, 3, 0)
	in := b.input(60 * s)
	holds(t, "dead beside an expectation", in)
	o := Judge(in)[0]
	if o.Verdict != "fail" || o.Diagnosis != "contract" || !strings.HasSuffix(o.Message, "; besides, 2 calls drew dead connections (after 5 s to 5.5 s idle); pool order LIFO") {
		t.Errorf("%s %q: %s", o.Verdict, o.Diagnosis, o.Message)
	}
	if pool := o.Hypotheses[3]; pool.Ruled != probes.RuledOpen || !strings.Contains(pool.Evidence, "two things went wrong") {
		t.Errorf("%+v", pool)
	}
	if path := IdlePath(in); path.Timeout != s {
		t.Errorf("timeout %s", path.Timeout)
	}
}

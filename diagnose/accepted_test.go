package diagnose

import (
	"slices"
	"testing"
	"time"

	"perch.example/probes"
)

// TestAccepted: which fail is accepted, at which idle age, until when.
func TestAccepted(t *testing.T) {
	const second = time.Second
	day := start().Add(24 * time.Hour)
	early := probes.Accepted{Diagnosis: probes.DiagnosisEarlyClose, IdleFrom: 20 * second, IdleTo: 25 * second, Until: day, Reason: "known"}
	anyAge := probes.Accepted{Diagnosis: probes.DiagnosisEarlyClose, Until: day, Reason: "at any age"}
	over := probes.Accepted{Diagnosis: probes.DiagnosisEarlyClose, Until: start(), Reason: "over"}
	older := probes.Accepted{Diagnosis: probes.DiagnosisEarlyClose, Until: start().Add(-time.Hour), Reason: "older"}
	silent := probes.Accepted{Diagnosis: probes.DiagnosisSilentDrop, IdleFrom: 30 * second, IdleTo: 30 * second, Until: day, Reason: "a firewall"}
	closedAt := func(age time.Duration) Input {
		return idleInput(time.Minute, rungAt(0, 30*second, probes.ReasonIdleFIN).closed(age, probes.HowFIN))
	}
	down := idleInput(time.Minute, rungAt(0, 22*second, probes.ReasonIdleFIN).control(probes.ReasonRefused))
	unauthorized := probes.Accepted{Diagnosis: probes.DiagnosisUnauthorized, Until: day, Reason: "keys"}
	for _, tt := range []struct {
		name             string
		in               Input
		list             []probes.Accepted
		accepted, lapsed string
	}{
		{"the close is within, the hold is not", closedAt(22 * second), []probes.Accepted{early}, "known", ""},
		{"both ends are within", closedAt(25 * second), []probes.Accepted{early}, "known", ""},
		{"just outside", closedAt(25*second + 1), []probes.Accepted{early}, "", ""},
		{"below", closedAt(19 * second), []probes.Accepted{early}, "", ""},
		{"any age", closedAt(5 * second), []probes.Accepted{early, anyAge}, "at any age", ""},
		{"its time is over", closedAt(5 * second), []probes.Accepted{over}, "", "over"},
		{"the later of two that are over", closedAt(5 * second), []probes.Accepted{older, over, older}, "", "over"},
		{"one is over, another is not", closedAt(5 * second), []probes.Accepted{over, anyAge}, "at any age", ""},
		{"over, and outside", closedAt(5 * second), []probes.Accepted{{Diagnosis: early.Diagnosis, IdleFrom: 20 * second, IdleTo: 25 * second}}, "", ""},
		{"another diagnosis", closedAt(22 * second), []probes.Accepted{silent, unauthorized}, "", ""},
		{"no close was seen: the reuse's age", idleInput(time.Minute, rungAt(0, 30*second, probes.ReasonBlackhole)), []probes.Accepted{silent}, "a firewall", ""},
		{"no close was seen: the reuse's real age", idleInput(time.Minute, rungAt(0, 30*second, probes.ReasonBlackhole).reuse(func(a *probes.Attempt) { a.IdleTime = 31 * second })), []probes.Accepted{silent}, "", ""},
		{"a control that fails is not about idleness", down, []probes.Accepted{early, anyAge}, "", ""},
		{"an exchange", httpInput(probes.ReasonUnauthorized), []probes.Accepted{early, unauthorized}, "keys", ""},
		{"a pass", httpInput(probes.ReasonOK), []probes.Accepted{unauthorized, anyAge, over}, "", ""},
		{"nothing is", closedAt(5 * second), nil, "", ""},
	} {
		plain := judgeOne(t, tt.in, 0)
		tt.in.Spec.Accepted, tt.in.Now = tt.list, start()
		o := judgeOne(t, tt.in, 0)
		if why(o.Accepted) != tt.accepted || why(o.Lapsed) != tt.lapsed {
			t.Errorf("%s: accepted %q, lapsed %q, want %q and %q", tt.name, why(o.Accepted), why(o.Lapsed), tt.accepted, tt.lapsed)
		}
		if o.Verdict != plain.Verdict || o.Diagnosis != plain.Diagnosis || o.Message != plain.Message {
			t.Errorf("%s: accepting changed the judgement: %s %s", tt.name, o.Verdict, o.Diagnosis)
		}
	}
}

func why(a *probes.Accepted) string {
	if a == nil {
		return ""
	}
	return a.Reason
}

// TestAcceptedIsForFailsOnly: what is degraded fires nothing.
func TestAcceptedIsForFailsOnly(t *testing.T) {
	in := idleInput(time.Minute, rungAt(0, 30*time.Second, probes.ReasonIdleFIN).closed(5*time.Second, probes.HowFIN), rungAt(10*time.Second, 40*time.Second, probes.ReasonOK))
	in.Spec.Accepted = []probes.Accepted{{Diagnosis: probes.DiagnosisUndeclaredClose, Until: in.Now.Add(time.Hour)}}
	if o := judgeOne(t, in, 0); o.Verdict != probes.VerdictDegraded || o.Diagnosis != probes.DiagnosisUndeclaredClose || o.Accepted != nil {
		t.Errorf("%s %s, accepted %v", o.Verdict, o.Diagnosis, o.Accepted)
	}
}

// TestWhatCanFail holds what config lets people accept against the tables: a
// diagnosis that some rule fails with, on which kind, on which connection.
func TestWhatCanFail(t *testing.T) {
	fails, fresh, reused := map[probes.Diagnosis]bool{}, map[probes.Diagnosis]bool{}, map[probes.Diagnosis]bool{}
	for _, r := range Rules() {
		if r.Verdict != probes.VerdictFail {
			continue
		}
		fails[r.Diagnosis] = true
		if within(r.Kinds, probes.KindHTTP) && within(r.Connections, probes.ConnectionFresh) {
			fresh[r.Diagnosis] = true
		}
		if slices.Contains(r.Kinds, probes.KindIdle) && slices.Equal(r.Connections, []probes.Connection{probes.ConnectionReused}) {
			reused[r.Diagnosis] = true
		}
	}
	for _, d := range append(probes.Diagnoses(), "", "unheard_of") {
		if d.CanFail() != fails[d] {
			t.Errorf("%q can fail: %v, the tables say %v", d, d.CanFail(), fails[d])
		}
		if d.OnlyIdle() != (fails[d] && !fresh[d]) {
			t.Errorf("%q only of kind idle: %v, the tables say %v", d, d.OnlyIdle(), fails[d] && !fresh[d])
		}
		if d.AtIdleAge() != reused[d] {
			t.Errorf("%q at an idle age: %v, the tables say %v", d, d.AtIdleAge(), reused[d])
		}
	}
}

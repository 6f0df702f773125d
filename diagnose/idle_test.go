package diagnose

import (
	"strings"
	"testing"
	"time"

	"perch.example/diagnose/clients"
	"perch.example/probes"
)

func TestIdle(t *testing.T) {
	const s = time.Second
	closed := func(after, hold, age time.Duration) *build {
		return rungAt(after, hold, probes.ReasonIdleFIN).closed(age, probes.HowFIN)
	}
	advertised := rungAt(0, 4*s, probes.ReasonOK)
	advertised.o.Attempts[0].Advertised = 5 * s
	cut := closed(0, 30*s, 3*s)
	cut.o.Cut = probes.CutCanceled
	tests := []struct {
		name  string
		rungs []*build
		want  probes.IdleResult
	}{
		{"nothing", nil, probes.IdleResult{}},
		{"all worked", []*build{rungAt(0, 30*s, "ok"), rungAt(5*s, 59*s, "ok")}, probes.IdleResult{Survived: 59 * s}},
		{
			"a ladder", []*build{rungAt(0, 30*s, "ok"), closed(5*s, 61*s, 60*s), closed(10*s, 120*s, 60010*time.Millisecond)},
			probes.IdleResult{Survived: 30 * s, Died: 61 * s, Measured: 60 * s, How: "fin"},
		},
		{"advertised", []*build{advertised}, probes.IdleResult{Survived: 4 * s, Advertised: 5 * s}},
		{
			"silence", []*build{rungAt(0, 30*s, "ok"), rungAt(5*s, 400*s, "blackhole")},
			probes.IdleResult{Survived: 30 * s, Died: 400 * s, How: "silent"},
		},
		{"the service is down", []*build{rungAt(0, 30*s, "eof").control("refused")}, probes.IdleResult{}},
		{"slow is alive", []*build{rungAt(0, 30*s, "slow")}, probes.IdleResult{Survived: 30 * s}},
		{"cut short", []*build{cut}, probes.IdleResult{}},
		{
			"one that another outlived is not the measurement",
			[]*build{closed(0, 30*s, 3*s), closed(15*s, 31*s, 5*s), rungAt(5*s, 59*s, "ok"), closed(10*s, 120*s, 60*s)},
			probes.IdleResult{Survived: 59 * s, Died: 120 * s, Measured: 60 * s, How: "fin"},
		},
		{
			"a mass close is not the measurement",
			[]*build{closed(0, 30*s, 10*s), closed(5*s, 31*s, 5*s), closed(20*s, 120*s, 60*s)},
			probes.IdleResult{Died: 120 * s, Measured: 60 * s, How: "fin"},
		},
	}
	for _, tt := range tests {
		in := idleInput(0, tt.rungs...)
		tt.want.Target, tt.want.Probe = "stock-api", "calendar-idle"
		if got := Idle(in); got != tt.want {
			t.Errorf("%s:\n %+v, want\n %+v", tt.name, got, tt.want)
		}
	}
}

func TestHowWithoutAClose(t *testing.T) {
	want := map[probes.Reason]probes.HowClosed{
		"idle_fin": "fin", "eof": "fin", "crossed_close": "fin", "idle_rst": "rst", "reset": "rst",
		"idle_bytes": "bytes", "idle_close_notify": "close_notify", "idle_goaway": "goaway", "blackhole": "silent",
	}
	for reason, how := range want {
		in := idleInput(0, rungAt(0, time.Second, reason))
		if got := Idle(in).How; got != how {
			t.Errorf("%s: how %q, want %q", reason, got, how)
		}
	}
}

// TestASearchOfATickingServerIsMeasured: gunicorn and tomcat sweep once a
// second and close connections together that started close together.
func TestASearchOfATickingServerIsMeasured(t *testing.T) {
	const s = time.Second
	swept := func(after, age time.Duration) *build {
		return rungAt(after, 8*s, probes.ReasonIdleFIN).closed(age, probes.HowFIN)
	}
	in := idleInput(0, rungAt(s/2, s, "ok"), swept(0, 3*s), swept(2*s, s))
	if got := Idle(in).Measured; got != 0 {
		t.Errorf("a ladder measured %s off a mass close, want nothing", got)
	}
	in.Spec.Search = true
	if got := Idle(in).Measured; got != s {
		t.Errorf("a search measured %s, want the earliest end, 1s", got)
	}
	in = idleInput(0, rungAt(s/2, 2700*time.Millisecond, "ok"), swept(0, 2200*time.Millisecond))
	in.Spec.Search = true
	if got := Idle(in).Measured; got != 2200*time.Millisecond {
		t.Errorf("a search whose other rung just lived longer measured %s, want 2.2s", got)
	}
}

// TestIdlePath: what a table of common clients is made of is what the outcome's
// own band is made of.
func TestIdlePath(t *testing.T) {
	in := incident(time.Minute, incidentClient())
	path := IdlePath(in)
	want := judgeOne(t, in, 1).Client.Band
	if got := clients.BandOn(*in.Spec.Client, path); got == nil || want == nil || *got != *want {
		t.Errorf("band %+v, want the outcome's %+v", got, want)
	}
	if path.Margin == 0 {
		t.Error("the path has no margin for round trip and resolution")
	}
}

// TestTheEarliestCloseIsTheMeasurement: limits, bands and the headline follow
// from the least idle age, also of a close that has no control beside it.
func TestTheEarliestCloseIsTheMeasurement(t *testing.T) {
	const s, ms = time.Second, time.Millisecond
	in := idleInput(0,
		rungAt(0, 3*s, "idle_fin").closed(1001*ms, "fin").control(""),
		rungAt(5*s, 4*s, "idle_fin").closed(1007*ms, "fin"),
		rungAt(10*s, 5*s, "idle_fin").closed(1011*ms, "fin"))
	if got := Idle(in).Measured; got != 1001*ms {
		t.Errorf("measured %s, want 1.001s", got)
	}
	path := IdlePath(in)
	if path.Timeout != 1001*ms || path.Spread != 10*ms {
		t.Errorf("the path: %s, spread %s, want 1.001s, 10ms", path.Timeout, path.Spread)
	}
	if o := judgeOne(t, in, 1); !strings.Contains(o.Message, "after 1.007 s idle (earliest: 1.001 s)") {
		t.Errorf("the message does not name the earliest: %s", o.Message)
	}
}

// TestACloseAsExpectedIsNotTooEarly: where the client's danger band meets a
// close as expected, message and title say that it is the client's limit.
func TestACloseAsExpectedIsNotTooEarly(t *testing.T) {
	const long = "keeps idle connections longer than the path does"
	for keepAlive, byClient := range map[time.Duration]bool{time.Second: true, 0: true, time.Minute: false} {
		o := judgeOne(t, incident(keepAlive, incidentClient()), 1)
		if o.Diagnosis != probes.DiagnosisEarlyClose || o.ByClient != byClient {
			t.Fatalf("keep_alive %s: %s, by the client %t", keepAlive, o.Diagnosis, o.ByClient)
		}
		if strings.Contains(o.Message, long) != byClient || strings.Contains(o.DiagnosisWords(), long) != byClient {
			t.Errorf("keep_alive %s: %q, %q", keepAlive, o.DiagnosisWords(), o.Message)
		}
	}
}

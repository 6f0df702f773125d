package diagnose

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"perch.example/probes"
)

// burstOf builds a burst observation, call by call.
type burstOf struct {
	o  probes.Observation
	at time.Time
}

func aBurst(shape probes.Shape) *burstOf {
	return &burstOf{at: start(), o: probes.Observation{
		Target: "stock-api", Probe: "calendar-burst", Kind: probes.KindBurst, Started: start(), Ended: start().Add(time.Minute),
		Path: probes.Path{TCPEnds: probes.TCPEndsPeer}, Burst: &probes.BurstSeen{Shape: shape, Order: probes.PoolLIFO},
	}}
}

// call adds a call of a burst on a connection of the pool's: fresh, or after so long idle.
func (b *burstOf) call(burst, conn int, reason probes.Reason, idle time.Duration) *burstOf {
	a := probes.Attempt{
		Number: len(b.o.Attempts) + 1, Connection: probes.ConnectionFresh, Reason: reason, Started: b.at, Elapsed: 142 * time.Millisecond,
		RTT: time.Millisecond, DelayKnown: true, Remote: remote(), RequestBytes: 212,
	}
	if idle > 0 {
		a.Connection, a.IdleTime, a.Served = probes.ConnectionReused, idle, 1
	}
	if reason == probes.ReasonOK {
		a.Status = 200
	} else if idle > 0 {
		a.Elapsed = 200 * time.Microsecond
		acked := int64(0)
		a.RequestBytesAcked = &acked
	}
	met(&a)
	b.at = b.at.Add(10 * time.Millisecond)
	number := 1
	for _, c := range b.o.Burst.Calls {
		if c.Burst == burst {
			number++
		}
	}
	b.o.Burst.Calls = append(b.o.Burst.Calls, probes.BurstCall{Burst: burst, Number: number, Connection: conn, Attempt: len(b.o.Attempts)})
	b.o.Attempts = append(b.o.Attempts, a)
	return b
}

// closed says that the last call's connection was seen to close at that idle age.
func (b *burstOf) closed(age time.Duration) *burstOf {
	c := &b.o.Burst.Calls[len(b.o.Burst.Calls)-1]
	a := b.o.Attempts[c.Attempt]
	c.Close = &probes.Close{Age: age, At: a.Started.Add(age - a.IdleTime), How: probes.HowFIN, AfterReply: age}
	return b
}

func (b *burstOf) control(reason probes.Reason) *burstOf {
	a := probes.Attempt{
		Number: len(b.o.Attempts) + 1, Connection: probes.ConnectionControl, Reason: reason, Started: b.at, Elapsed: 50 * time.Millisecond, Remote: remote(), DelayKnown: true,
	}
	if reason == probes.ReasonOK {
		a.Status = 200
	}
	b.o.Attempts = append(b.o.Attempts, a)
	return b
}

func (b *burstOf) gap(d time.Duration) *burstOf {
	b.at = b.at.Add(d)
	return b
}

func (b *burstOf) input(keepAlive time.Duration) Input {
	in := idleInput(keepAlive)
	shape := b.o.Burst.Shape
	in.Spec.Kind, in.Spec.Probe, in.Spec.Burst = probes.KindBurst, "calendar-burst", &shape
	in.Observations = []probes.Observation{b.o}
	return in
}

// closesInGap are two bursts of three on three connections, all of which were closed after 1 s in the gap.
func closesInGap() *burstOf {
	const s = time.Second
	b := aBurst(probes.Shape{Requests: 3, Connections: 3, Bursts: 2, Gap: 1500 * time.Millisecond})
	for i := range 3 {
		b.call(1, i+1, "ok", 0)
	}
	b.gap(1500 * time.Millisecond)
	for i := range 3 {
		b.call(2, 3-i, "idle_fin", 1500*time.Millisecond).closed(s)
		if i == 0 {
			b.control("ok")
		}
	}
	return b
}

func TestJudgeBurst(t *testing.T) {
	const s, ms = time.Second, time.Millisecond
	shape := probes.Shape{Requests: 3, Connections: 3, Bursts: 2, Gap: 500 * ms}
	alive := aBurst(shape).call(1, 1, "ok", 0).call(1, 2, "ok", 0).gap(500*ms).call(2, 2, "ok", 500*ms).call(2, 1, "ok", 530*ms)
	down := aBurst(shape).call(1, 1, "ok", 0).gap(500*ms).call(2, 1, "idle_fin", 500*ms).closed(400 * ms).control("refused")
	unsure := aBurst(shape).call(1, 1, "ok", 0).gap(500*ms).call(2, 1, "idle_fin", 500*ms).closed(400 * ms)
	instead := aBurst(shape).call(1, 1, "ok", 0).gap(500*ms).call(2, 1, "eof", 500*ms).call(2, 2, "ok", 0)
	flaky := aBurst(shape).call(1, 1, "reset", 0).gap(200*ms).call(1, 2, "ok", 0)
	dead := aBurst(shape).call(1, 1, "ok", 0).gap(500*ms).call(2, 1, "blackhole", 500*ms).control("ok")
	cut := aBurst(shape).call(1, 1, "ok", 0)
	cut.o.Cut, cut.o.CutDetail = probes.CutCanceled, "deadline"
	nothing := aBurst(shape)
	nothing.o.Burst = nil
	for _, tt := range []struct {
		name      string
		b         *burstOf
		keepAlive time.Duration
		client    *probes.Client
		verdict   probes.Verdict
		diagnosis probes.Diagnosis
		message   string
	}{
		{"all answered", alive, 0, nil, "pass", "", "4 calls in 2 bursts were answered, 2 of them on reused connections, which had been idle for up to 530 ms; pool order LIFO"},
		{"closed in good order", closesInGap(), 0, nil, "pass", "", "3 of 3 calls of burst 2 drew a connection that the path had closed (after 1.5 s idle); pool order LIFO: the connection was closed by the peer after 1 s idle"},
		{"early", closesInGap(), 60 * s, nil, "degraded", "early_close", "3 of 3 calls of burst 2 drew"},
		{"the client's error", closesInGap(), 0, incidentClient(), "fail", "early_close", "NoHttpResponseException"},
		{"the control failed", down, 0, nil, "fail", "unreachable", "call 1 of burst 2 (1 of 2 calls failed): the reuse after 500 ms idle failed, and the control on a fresh connection too"},
		{"no control", unsure, 0, nil, "incomplete", "", "1 of 1 call of burst 2 drew"},
		{"another call in its place", instead, 0, nil, "degraded", "stale_connection", "1 of 2 calls of burst 2 drew a dead connection (after 500 ms idle); pool order LIFO"},
		{"a fresh one failed", flaky, 0, nil, "degraded", "unstable", "call 1 of burst 1 (1 of 2 calls failed)"},
		{"silence", dead, 0, nil, "fail", "silent_drop", "1 of 1 call of burst 2 drew a dead connection"},
		{"cut short", cut, 0, nil, "incomplete", "", "not judged"},
		{"nothing was done", nothing, 0, nil, "incomplete", "", "perch itself went wrong"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			shape := tt.b.o.Burst
			if shape == nil {
				tt.b.o.Burst = &probes.BurstSeen{}
			}
			in := tt.b.input(tt.keepAlive)
			in.Observations[0].Burst, in.Spec.Client = shape, tt.client
			holds(t, tt.name, in)
			o := Judge(in)[0]
			if o.Verdict != tt.verdict || o.Diagnosis != tt.diagnosis || !strings.Contains(o.Message, tt.message) {
				t.Errorf("%s %q: %s", o.Verdict, o.Diagnosis, o.Message)
			}
			if len(o.Attempts) != len(tt.b.o.Attempts) || o.Burst != shape || o.Hold != 0 || o.KeepAlive != tt.keepAlive {
				t.Errorf("the outcome is not the whole burst's: %+v", o)
			}
		})
	}
	if got := Judge(Input{Spec: probes.Spec{Kind: probes.KindBurst}}); got != nil {
		t.Errorf("nothing observed: %+v", got)
	}
}

// TestJudgeBurstIsTotal: every reason of a reused call with every reason of its control, and of a fresh one.
func TestJudgeBurstIsTotal(t *testing.T) {
	shape := probes.Shape{Requests: 2, Connections: 1, Bursts: 2, Gap: time.Second}
	for _, reason := range append(probes.Reasons(), "", "unheard_of") {
		for _, control := range append(probes.Reasons(), "") {
			b := aBurst(shape).call(1, 1, "ok", 0).gap(time.Second).call(2, 1, reason, time.Second)
			if control != "" {
				b.control(control)
			}
			for _, keepAlive := range []time.Duration{0, time.Minute} {
				holds(t, fmt.Sprintf("%s, control %s", reason, control), b.input(keepAlive))
			}
		}
		holds(t, fmt.Sprintf("fresh %s", reason), aBurst(shape).call(1, 1, reason, 0).input(0))
		holds(t, fmt.Sprintf("fresh %s, then another", reason), aBurst(shape).call(1, 1, reason, 0).call(1, 2, "ok", 0).input(0))
	}
}

// TestBurstMeasures: closes in the gaps measure the idle timeout as a ladder's do.
func TestBurstMeasures(t *testing.T) {
	got := Idle(closesInGap().input(0))
	if got.Measured != time.Second || got.Died != 1500*time.Millisecond || got.How != probes.HowFIN || got.Probe != "calendar-burst" {
		t.Errorf("%+v", got)
	}
	if path := IdlePath(closesInGap().input(0)); path.Timeout != time.Second || path.End != probes.ReasonIdleFIN {
		t.Errorf("%+v", path)
	}
	early, mass := EarlyCloses(closesInGap().input(time.Minute))
	if len(early) != 1 || early[1500*time.Millisecond] != time.Second || len(mass) > 0 {
		t.Errorf("%v, %v", early, mass)
	}
}

// TestBurstOfHundreds: the calls that came to the same are judged by two of them.
func TestBurstOfHundreds(t *testing.T) {
	b := aBurst(probes.Shape{Requests: 500, Connections: 500, Bursts: 2, Gap: 2 * time.Second})
	for i := range 500 {
		b.call(1, i+1, "ok", 0)
	}
	b.gap(2 * time.Second)
	for i := range 500 {
		b.call(2, i+1, "idle_fin", 2*time.Second+time.Duration(i)*time.Microsecond).closed(time.Second + time.Duration(i)*time.Microsecond)
	}
	b.control("ok")
	in := b.input(0)
	if n := len(newLadder(in.perCall()).extremes()); n > 8 {
		t.Errorf("%d calls are judged", n)
	}
	if o := Judge(in)[0]; !strings.HasPrefix(o.Message, "500 of 500 calls of burst 2 drew a connection that the path had closed (after 2 s idle)") {
		t.Error(o.Message)
	}
}

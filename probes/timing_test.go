package probes

import (
	"slices"
	"testing"
	"time"

	"perch.example/probes/wire"
)

func TestTiming(t *testing.T) {
	const ms = time.Millisecond
	bytes := func(n int64) *int64 { return &n }
	sent := func(r Reason, elapsed time.Duration, acked *int64) Attempt {
		return Attempt{Reason: r, RequestBytes: 312, Elapsed: elapsed, MinRTT: 10 * ms, AckedAtFirst: acked}
	}
	queued := sent(ReasonReset, 15*ms, nil)
	queued.Queued = true
	unsent := sent(ReasonIdleBytes, 0, nil)
	unsent.RequestBytes = 0
	for _, tt := range []struct {
		name string
		a    Attempt
		want Timing
	}{
		{"an answer", sent(ReasonOK, 12*ms, bytes(312)), ""},
		{"silence", sent(ReasonNoResponse, 12*ms, nil), ""},
		{"FIN before the write", sent(ReasonIdleFIN, 0, nil), TimingQueued},
		{"RST before the write", sent(ReasonIdleRST, 0, nil), TimingQueued},
		{"close_notify before the write", sent(ReasonIdleCloseNotify, 0, nil), TimingQueued},
		{"bytes before the write, and their snapshot", queued, TimingQueued},
		{"bytes of the last answer, nothing sent", unsent, ""},
		{"bytes that acknowledge nothing", sent(ReasonIdleBytes, 4*ms, bytes(0)), TimingInFlight},
		{"a crossing close", sent(ReasonCrossedClose, 4*ms, bytes(0)), TimingInFlight},
		{"a close after reading", sent(ReasonEOF, 12*ms, bytes(312)), TimingRead},
		{"a close after a part", sent(ReasonEOF, 12*ms, bytes(100)), ""},
		{"a close without a kernel", sent(ReasonEOF, 12*ms, nil), ""},
		{"RST within a round trip", sent(ReasonReset, 9*ms, nil), TimingInFlight},
		{"RST after a round trip", sent(ReasonReset, 11*ms, nil), ""},
		{"RST after an acknowledgement", sent(ReasonReset, 60*ms, bytes(312)), TimingRead},
	} {
		if got := tt.a.Timing(); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
	for _, timing := range []Timing{TimingQueued, TimingInFlight, TimingRead} {
		if timing.Words() == "" {
			t.Errorf("%q has no words", timing)
		}
	}
	if Timing("").Words() != "" {
		t.Error("nothing has words")
	}
}

// What the first event acknowledged is kept where it says something.
func TestAckedAtFirst(t *testing.T) {
	first := func(s wire.State, acked int64) *wire.Snapshot { return &wire.Snapshot{State: s, Acked: acked} }
	before := &wire.Snapshot{State: wire.StateEstablished}
	for _, tt := range []struct {
		name string
		e    wire.Evidence
		want []int64
	}{
		{"nothing came", wire.Evidence{Before: before}, nil},
		{"a FIN that acknowledges", wire.Evidence{Before: before, First: first(wire.StateCloseWait, 312)}, []int64{312}},
		{"a FIN that does not", wire.Evidence{Before: before, First: first(wire.StateCloseWait, 0)}, []int64{0}},
		{"an answer", wire.Evidence{Before: before, First: first(wire.StateEstablished, 312)}, []int64{312}},
		{"a RST", wire.Evidence{Before: before, First: first(wire.StateClose, 0)}, nil},
		{"a RST after an acknowledgement", wire.Evidence{Before: before, First: first(wire.StateClose, 312)}, []int64{312}},
		{"a FIN from before", wire.Evidence{Before: &wire.Snapshot{State: wire.StateCloseWait}, First: first(wire.StateCloseWait, 0)}, nil},
		{"bytes from before", wire.Evidence{Before: before, Pushed: true, First: first(wire.StateEstablished, 0)}, nil},
		{"an alert from before", wire.Evidence{Before: before, Alerted: true, First: first(wire.StateEstablished, 0)}, nil},
	} {
		a := (&call{spec: &Spec{}}).attempt(tt.e, ReasonEOF)
		var got []int64
		if a.AckedAtFirst != nil {
			got = []int64{*a.AckedAtFirst}
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}

// A delay keeps its two parts.
func TestDelayKeepsItsParts(t *testing.T) {
	e := wire.Evidence{HoldLate: 3 * time.Second, HoldKnown: true, Wait: 2 * time.Second, WaitKnown: true}
	if a := (&call{spec: &Spec{}}).attempt(e, ReasonEOF); a.WokeLate != 3*time.Second || a.Waited != 2*time.Second || a.Delay != 3*time.Second || !a.DelayKnown {
		t.Errorf("woke %s late, waited %s, delay %s", a.WokeLate, a.Waited, a.Delay)
	}
}

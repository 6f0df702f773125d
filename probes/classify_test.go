package probes_test

import (
	"strings"
	"testing"
	"time"

	"perch.example/probes"
	"perch.example/probes/wire"
)

// evidence is a whole answer on a fresh connection, changed as asked.
func evidence(changes ...func(*wire.Evidence)) wire.Evidence {
	acked := int64(100)
	e := wire.Evidence{
		Started: time.Unix(1000, 0), Elapsed: 3 * time.Millisecond, RTT: time.Millisecond,
		Kernel: true, RequestSize: 100, RequestBytes: 100, RequestBytesAcked: &acked, ResponseBytes: 40,
		Before: &wire.Snapshot{State: wire.StateEstablished}, After: &wire.Snapshot{State: wire.StateEstablished},
		First: &wire.Snapshot{State: wire.StateEstablished, Queued: 40, Acked: 100},
		Last:  &wire.Snapshot{State: wire.StateEstablished, Acked: 100},
		Stage: wire.StageDone, Ending: wire.EndWhole,
	}
	for _, change := range changes {
		change(&e)
	}
	return e
}

func held(e *wire.Evidence) { e.Held, e.Served, e.Idle = true, 1, time.Minute }

func unserved(e *wire.Evidence) { e.Served = 0 }

// refusedAfter dates an end that came soon after the handshake.
func refusedAfter(age time.Duration) func(*wire.Evidence) {
	return func(e *wire.Evidence) { e.IdleClose = &wire.Close{Age: age, State: "close_notify"} }
}

// idleClose dates a close while idle, as the engine does.
func idleClose(state string) func(*wire.Evidence) {
	return func(e *wire.Evidence) {
		e.IdleClose = &wire.Close{Age: 59 * time.Second, At: e.Started.Add(-time.Second), State: state}
	}
}

func ends(s wire.Stage, how wire.Ending) func(*wire.Evidence) {
	return func(e *wire.Evidence) { e.Stage, e.Ending = s, how }
}

func before(s wire.State) func(*wire.Evidence) {
	return func(e *wire.Evidence) { e.Before.State = s }
}

func unsent(errno wire.Errno) func(*wire.Evidence) {
	return func(e *wire.Evidence) {
		e.WriteErr, e.RequestBytes, e.First = errno, 0, nil
		*e.RequestBytesAcked = 0
	}
}

func acked(n int64) func(*wire.Evidence) {
	return func(e *wire.Evidence) {
		*e.RequestBytesAcked, e.Last.Acked = n, n
		if e.First != nil {
			e.First.Acked = n
		}
	}
}

func retransmitted(n uint32) func(*wire.Evidence) {
	return func(e *wire.Evidence) { e.Before.TotalRetrans, e.Last.TotalRetrans, e.First = 7, 7+n, nil }
}

func noKernel(e *wire.Evidence) {
	e.Kernel, e.Before, e.After, e.First, e.Last, e.RequestBytesAcked = false, nil, nil, nil, nil, nil
}

func opening(f wire.Failure) wire.Evidence {
	return wire.Evidence{Failure: f, Error: "no", Elapsed: time.Second}
}

type classified struct {
	name string
	e    wire.Evidence
	want probes.Reason
}

func classifiedCases() []classified {
	const none, head, body = wire.StageNone, wire.StageHead, wire.StageBody
	pushed := func(e *wire.Evidence) { e.Pushed = true }
	framed := func(e *wire.Evidence) { e.Frame = "SETTINGS" }
	alerted := func(e *wire.Evidence) { e.Alerted = true }
	return append(h2Cases(), []classified{
		{"nothing known", wire.Evidence{}, probes.ReasonInternal},
		{"canceled", wire.Evidence{Canceled: true}, probes.ReasonCanceled},
		{"canceled while opening", wire.Evidence{Canceled: true, Failure: wire.FailureDNS}, probes.ReasonCanceled},
		{"canceled at the gate", wire.Evidence{Canceled: true, Refused: true}, probes.ReasonCanceled},
		{"gate", wire.Evidence{Refused: true, Error: "no budget"}, probes.ReasonSkipped},

		{"dns", opening(wire.FailureDNS), probes.ReasonDNS},
		{"refused", opening(wire.FailureRefused), probes.ReasonRefused},
		{"connect timeout", opening(wire.FailureConnectTimeout), probes.ReasonConnectTimeout},
		{"connect", opening(wire.FailureConnect), probes.ReasonConnectFailed},
		{"certificate", opening(wire.FailureCertificate), probes.ReasonCertificate},
		{"proxy", opening(wire.FailureProxy), probes.ReasonProxy},
		{"tls", opening(wire.FailureTLS), probes.ReasonTLS},
		{"alert in place of the first answer", evidence(ends(none, wire.EndAlert)), probes.ReasonTLS},
		{"alert on a connection that was held unused", evidence(held, unserved, alerted, ends(none, wire.EndAlert), refusedAfter(time.Millisecond)), probes.ReasonTLS},
		{"alert long after, on one that was held unused", evidence(held, unserved, alerted, ends(none, wire.EndAlert), idleClose("close_notify")), probes.ReasonIdleCloseNotify},
		{"close_notify on one that was held unused", evidence(held, unserved, alerted, ends(none, wire.EndCloseNotify), refusedAfter(time.Millisecond)), probes.ReasonIdleCloseNotify},
		{"alert after a hold is a close", evidence(held, ends(none, wire.EndAlert)), probes.ReasonEOF},

		{"close_notify while idle", evidence(held, alerted, ends(none, wire.EndCloseNotify), idleClose("close_notify")), probes.ReasonIdleCloseNotify},
		{"close_notify and fin while idle", evidence(held, alerted, before(wire.StateCloseWait), ends(none, wire.EndCloseNotify)), probes.ReasonIdleCloseNotify},
		{"close_notify, then reset, while idle", evidence(held, alerted, before(wire.StateClose), unsent(wire.ErrnoReset), ends(none, wire.EndCloseNotify)), probes.ReasonIdleCloseNotify},
		{"close_notify on a fresh one", evidence(alerted, ends(none, wire.EndCloseNotify)), probes.ReasonCrossedClose},

		{"bytes while idle", evidence(held, pushed, idleClose("bytes")), probes.ReasonIdleBytes},
		{"bytes and fin while idle", evidence(held, pushed, before(wire.StateCloseWait)), probes.ReasonIdleBytes},
		{"bytes and reset while idle", evidence(held, pushed, before(wire.StateClose), unsent(wire.ErrnoReset)), probes.ReasonIdleBytes},
		{"bytes left over", evidence(held, func(e *wire.Evidence) { e.LeftOver = 3 }), probes.ReasonIdleBytes},
		{"bytes left over, no kernel", evidence(held, noKernel, func(e *wire.Evidence) { e.LeftOver = 3 }), probes.ReasonIdleBytes},
		{"answer that acknowledges nothing", evidence(held, acked(0)), probes.ReasonIdleBytes},
		{"answer that acknowledges a part", evidence(held, acked(1)), probes.ReasonOK},
		{"half an answer that acknowledges nothing", evidence(held, acked(0), ends(head, wire.EndTimeout)), probes.ReasonIdleBytes},
		{"bytes on a fresh one", evidence(pushed), probes.ReasonBadResponse},
		{"bytes and fin on a fresh one", evidence(pushed, before(wire.StateCloseWait)), probes.ReasonBadResponse},
		{"fresh answer that acknowledges nothing", evidence(acked(0)), probes.ReasonBadResponse},
		{"a frame of HTTP/2's on a fresh one", evidence(pushed, framed, ends(head, wire.EndGarbage)), probes.ReasonBadResponse},
		{"a frame and fin on a fresh one", evidence(framed, before(wire.StateCloseWait), ends(head, wire.EndGarbage)), probes.ReasonBadResponse},
		{"a frame on one that was held unused", evidence(held, unserved, pushed, framed, ends(head, wire.EndGarbage), idleClose("bytes")), probes.ReasonBadResponse},
		{"a frame and reset on one that was held unused", evidence(held, unserved, pushed, framed, before(wire.StateClose), unsent(wire.ErrnoReset), ends(head, wire.EndGarbage)), probes.ReasonBadResponse},

		{"fin while idle", evidence(held, before(wire.StateCloseWait), ends(none, wire.EndEOF), idleClose("fin")), probes.ReasonIdleFIN},
		{"fin, then reset, while idle", evidence(held, before(wire.StateClose), unsent(wire.ErrnoPipe), ends(none, wire.EndEOF)), probes.ReasonIdleFIN},
		{"fin and reset between look and write", evidence(held, unsent(wire.ErrnoPipe), ends(none, wire.EndEOF)), probes.ReasonIdleFIN},
		{"EPIPE of a later write", evidence(held, func(e *wire.Evidence) { e.WriteErr, e.RequestBytes = wire.ErrnoPipe, 50 }, ends(none, wire.EndEOF)), probes.ReasonEOF},
		{"fin on a fresh one", evidence(before(wire.StateCloseWait), ends(none, wire.EndEOF)), probes.ReasonCrossedClose},

		{"keep-alive gave up", evidence(held, before(wire.StateClose), unsent(wire.ErrnoTimeout), ends(none, wire.EndEOF), idleClose("silent")), probes.ReasonBlackhole},
		{"swallowed", evidence(ends(none, wire.EndTimeout), acked(0), retransmitted(2)), probes.ReasonBlackhole},
		{"swallowed after a hold", evidence(held, ends(none, wire.EndTimeout), acked(0), retransmitted(5)), probes.ReasonBlackhole},
		{"sent again once only", evidence(ends(none, wire.EndTimeout), acked(0), retransmitted(1)), probes.ReasonNoResponse},
		{"sent again and acknowledged", evidence(ends(none, wire.EndTimeout), acked(1), retransmitted(2)), probes.ReasonNoResponse},
		{"sent again and closed", evidence(ends(none, wire.EndEOF), retransmitted(2)), probes.ReasonEOF},

		{"reset while idle", evidence(held, before(wire.StateClose), unsent(wire.ErrnoReset), ends(none, wire.EndEOF), idleClose("rst")), probes.ReasonIdleRST},
		{"reset between look and write", evidence(held, unsent(wire.ErrnoReset), ends(none, wire.EndEOF)), probes.ReasonIdleRST},
		{"reset on a fresh one", evidence(before(wire.StateClose), unsent(wire.ErrnoReset), ends(none, wire.EndEOF)), probes.ReasonReset},
		{"reset during a long write", evidence(held, func(e *wire.Evidence) { e.WriteErr, e.RequestBytes = wire.ErrnoReset, 50 }, ends(none, wire.EndEOF)), probes.ReasonReset},

		{"fin that acknowledges nothing", evidence(held, ends(none, wire.EndEOF), acked(0)), probes.ReasonCrossedClose},
		{"close_notify that acknowledges nothing", evidence(held, ends(none, wire.EndCloseNotify), acked(0)), probes.ReasonCrossedClose},
		{"fin that acknowledges a part", evidence(held, ends(none, wire.EndEOF), acked(1)), probes.ReasonEOF},
		{"fin that acknowledges all", evidence(held, ends(none, wire.EndEOF)), probes.ReasonEOF},
		{"fin never looked at", evidence(ends(none, wire.EndEOF), func(e *wire.Evidence) { e.First = nil }), probes.ReasonEOF},
		{"reset, which never acknowledges", evidence(held, ends(none, wire.EndReset), acked(0)), probes.ReasonReset},
		{"silence", evidence(ends(none, wire.EndTimeout)), probes.ReasonNoResponse},

		{"head cut by fin", evidence(ends(head, wire.EndEOF)), probes.ReasonPartialHead},
		{"head cut by close_notify", evidence(ends(head, wire.EndCloseNotify)), probes.ReasonPartialHead},
		{"head cut by reset", evidence(ends(head, wire.EndReset)), probes.ReasonPartialHead},
		{"head cut by timeout", evidence(ends(head, wire.EndTimeout)), probes.ReasonPartialHead},
		{"body cut by fin", evidence(ends(body, wire.EndEOF)), probes.ReasonPartialBody},
		{"body cut by an alert", evidence(ends(body, wire.EndAlert)), probes.ReasonPartialBody},
		{"body cut by timeout, sent again", evidence(ends(body, wire.EndTimeout), func(e *wire.Evidence) { e.Last.TotalRetrans = 9 }), probes.ReasonPartialBody},

		{"not http", evidence(ends(head, wire.EndGarbage)), probes.ReasonBadResponse},
		{"not tls", evidence(ends(none, wire.EndGarbage)), probes.ReasonBadResponse},
		{"head limit", evidence(ends(head, wire.EndHeadLimit)), probes.ReasonBadResponse},
		{"conflict", evidence(ends(head, wire.EndConflict)), probes.ReasonBadResponse},
		{"body limit", evidence(ends(body, wire.EndBodyLimit)), probes.ReasonTooLarge},
		{"whole", evidence(), probes.ReasonOK},
		{"whole after a hold", evidence(held), probes.ReasonOK},

		{"no kernel: closed while idle", evidence(held, noKernel, ends(none, wire.EndEOF)), probes.ReasonEOF},
		{"no kernel: closed, and the write knew", evidence(held, noKernel, ends(none, wire.EndEOF), func(e *wire.Evidence) { e.WriteErr, e.RequestBytes = wire.ErrnoPipe, 0 }), probes.ReasonEOF},
		{"no kernel: reset at the write", evidence(held, noKernel, ends(none, wire.EndEOF), func(e *wire.Evidence) { e.WriteErr, e.RequestBytes = wire.ErrnoReset, 0 }), probes.ReasonReset},
		{"no kernel: reset", evidence(held, noKernel, ends(none, wire.EndReset)), probes.ReasonReset},
		{"no kernel: silence", evidence(held, noKernel, ends(none, wire.EndTimeout)), probes.ReasonNoResponse},
		{"an ending nobody knows", evidence(ends(none, "")), probes.ReasonInternal},
		{"an ending nobody knows, within a body", evidence(ends(body, "")), probes.ReasonInternal},
	}...)
}

func TestClassify(t *testing.T) {
	for _, tt := range classifiedCases() {
		t.Run(tt.name, func(t *testing.T) {
			if got := probes.Classify(tt.e); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

// Every reason of the wire has a case, and none is decided by
// the error's text.
func TestClassifyIsWhole(t *testing.T) {
	covered := map[probes.Reason]bool{}
	for _, tt := range classifiedCases() {
		covered[tt.want] = true
		for _, text := range []string{"EOF", "connection reset by peer", "i/o timeout", "x509: certificate has expired"} {
			e := tt.e
			e.Error = text
			if got := probes.Classify(e); got != tt.want {
				t.Errorf("%s: the text %q makes it %s", tt.name, text, got)
			}
		}
	}
	for _, r := range probes.Reasons() {
		if r == probes.ReasonProxyUpstreamReset {
			break // from here on the answer is judged, not the wire
		}
		if !covered[r] {
			t.Errorf("%s has no case", r)
		}
	}
}

// A reason that only a held connection can have is never given to another.
func TestIdleIsForHeldOnly(t *testing.T) {
	for _, tt := range classifiedCases() {
		e := tt.e
		e.Held, e.Served = false, 0
		if got := probes.Classify(e); strings.HasPrefix(string(got), "idle_") {
			t.Errorf("%s: %s on a fresh connection", tt.name, got)
		}
	}
}

func TestExplain(t *testing.T) {
	tests := []struct {
		e    wire.Evidence
		want string
	}{
		{evidence(), "a whole answer after 3ms"},
		{opening(wire.FailureRefused), "no (after 1s)"},
		{evidence(held, before(wire.StateCloseWait), idleClose("fin")), "FIN after 59s idle, 1s before the request"},
		{evidence(held, func(e *wire.Evidence) { e.Pushed, e.PushedStatus = true, 408 }, idleClose("bytes")),
			"bytes after 59s idle, 1s before the request (a 408 that nobody had asked for)"},
		{evidence(held, acked(0), func(e *wire.Evidence) { e.Phases.Wait = 2 * time.Millisecond }),
			"bytes came 2ms after the request and acknowledged none of it: they were on their way before"},
		{evidence(ends(wire.StageNone, wire.EndTimeout), acked(0), retransmitted(3)),
			"no answer in 3ms: none of the request's 100 bytes was acknowledged, 3 times sent again"},
		{evidence(ends(wire.StageNone, wire.EndTimeout)), "no answer in 3ms, 100 of its 100 bytes acknowledged"},
		{evidence(held, ends(wire.StageNone, wire.EndEOF), acked(0)),
			"FIN 3ms after the request (rtt 1ms), 0 of its 100 bytes acknowledged: the close was on its way when we wrote"},
		{evidence(ends(wire.StageNone, wire.EndReset)), "RST 3ms after the request (rtt 1ms)"},
		{evidence(noKernel, ends(wire.StageNone, wire.EndEOF)), "FIN 3ms after the request (rtt 1ms)"},
		{evidence(ends(wire.StageBody, wire.EndTimeout)), "timeout within the answer's body, 3ms after the request; 40 bytes had come"},
		{evidence(ends(wire.StageHead, wire.EndConflict)), "the answer's head gives conflicting lengths"},
	}
	for _, tt := range tests {
		if got := probes.Explain(tt.e); got != tt.want {
			t.Errorf("got  %q\nwant %q", got, tt.want)
		}
	}
	for _, tt := range classifiedCases() {
		if got := probes.Explain(tt.e); len(got) < 10 && tt.want != probes.ReasonDNS && tt.e.Failure == "" {
			t.Errorf("%s: %q", tt.name, got)
		}
	}
}

package probes_test

import (
	"strings"
	"testing"
	"time"

	"perch.example/probes"
	"perch.example/probes/wire"
)

// overH2 makes an exchange one on stream 3 of an HTTP/2 connection.
func overH2(changes ...func(*wire.H2)) func(*wire.Evidence) {
	return func(e *wire.Evidence) {
		e.Proto, e.H2 = "HTTP/2.0", &wire.H2{Stream: 3}
		for _, change := range changes {
			change(e.H2)
		}
	}
}

func goaway(last uint32, idle bool) func(*wire.H2) {
	return func(h *wire.H2) { h.Goaway = &wire.Goaway{LastStream: last, Idle: idle} }
}

func resetWith(code uint32) func(*wire.H2) { return func(h *wire.H2) { h.Reset = &code } }

func h2Cases() []classified {
	const none, head, body = wire.StageNone, wire.StageHead, wire.StageBody
	alerted := func(e *wire.Evidence) { e.Alerted = true }
	text := func(h *wire.H2) { h.Text = true }
	return []classified{
		{"h2: whole", evidence(overH2()), probes.ReasonOK},
		{"h2: an answer names its request, whatever was acknowledged", evidence(held, overH2(), acked(0)), probes.ReasonOK},
		{"h2: whole, with a goaway", evidence(held, overH2(goaway(3, false))), probes.ReasonOK},

		{"goaway while idle", evidence(held, overH2(goaway(1, true)), ends(none, wire.EndGoaway), idleClose("goaway")), probes.ReasonIdleGoaway},
		{"goaway, close_notify and fin while idle", evidence(held, alerted, before(wire.StateCloseWait), overH2(goaway(1, true)), ends(none, wire.EndGoaway), idleClose("goaway")), probes.ReasonIdleGoaway},
		{"goaway while idle, and served in spite of it", evidence(held, overH2(goaway(1<<31-1, true)), idleClose("goaway")), probes.ReasonIdleGoaway},
		{"goaway while idle, no kernel", evidence(held, noKernel, overH2(goaway(1, true)), ends(none, wire.EndGoaway), idleClose("goaway")), probes.ReasonIdleGoaway},
		{"goaway on a fresh one", evidence(overH2(goaway(0, true)), ends(none, wire.EndGoaway)), probes.ReasonGoawayUnprocessed},
		{"goaway and fin on a fresh one", evidence(before(wire.StateCloseWait), overH2(goaway(0, true)), ends(none, wire.EndGoaway)), probes.ReasonGoawayUnprocessed},
		{"goaway that announces itself on a fresh one, and served", evidence(overH2(goaway(1<<31-1, true))), probes.ReasonOK},

		{"goaway below ours", evidence(held, overH2(goaway(1, false)), ends(none, wire.EndGoaway)), probes.ReasonGoawayUnprocessed},
		{"goaway below ours, that acknowledges nothing", evidence(held, overH2(goaway(1, false)), ends(none, wire.EndGoaway), acked(0)), probes.ReasonGoawayUnprocessed},
		{"goaway above ours, then fin", evidence(held, overH2(goaway(3, false)), ends(none, wire.EndEOF)), probes.ReasonGoawayProcessed},
		{"goaway above ours, then reset", evidence(held, overH2(goaway(3, false)), ends(none, wire.EndReset)), probes.ReasonGoawayProcessed},
		{"goaway above ours, then silence", evidence(held, overH2(goaway(3, false)), ends(none, wire.EndTimeout)), probes.ReasonGoawayProcessed},
		{"goaway above ours, and a half body", evidence(held, overH2(goaway(3, false)), ends(body, wire.EndEOF)), probes.ReasonGoawayProcessed},
		{"goaway below ours, in spite of half an answer", evidence(held, overH2(goaway(1, false)), ends(head, wire.EndEOF)), probes.ReasonGoawayProcessed},
		{"goaway above ours, and a large body", evidence(held, overH2(goaway(3, false)), ends(body, wire.EndBodyLimit)), probes.ReasonTooLarge},
		{"goaway, and what is no HTTP/2", evidence(held, overH2(goaway(3, false)), ends(none, wire.EndGarbage)), probes.ReasonBadResponse},

		{"refused stream", evidence(overH2(resetWith(7)), ends(none, wire.EndStreamReset)), probes.ReasonRefusedStream},
		{"refused stream, after a goaway above ours", evidence(overH2(resetWith(7), goaway(3, false)), ends(none, wire.EndStreamReset)), probes.ReasonRefusedStream},
		{"stream reset", evidence(held, overH2(resetWith(2)), ends(none, wire.EndStreamReset)), probes.ReasonStreamReset},
		{"stream reset in a body", evidence(overH2(resetWith(8)), ends(body, wire.EndStreamReset)), probes.ReasonStreamReset},
		{"stream reset, after a goaway above ours", evidence(overH2(resetWith(8), goaway(3, false)), ends(none, wire.EndStreamReset)), probes.ReasonGoawayProcessed},

		{"h2: swallowed", evidence(held, overH2(), ends(none, wire.EndTimeout), acked(0), retransmitted(2)), probes.ReasonBlackhole},
		{"h2: swallowed behind a PING that was", evidence(held, overH2(), ends(none, wire.EndTimeout), acked(0), retransmitted(0), func(e *wire.Evidence) {
			e.Before.Unacked, e.Before.Retransmits = 1, 5
		}), probes.ReasonBlackhole},
		{"h2: a PING is on its way", evidence(held, overH2(), ends(none, wire.EndTimeout), acked(0), retransmitted(0), func(e *wire.Evidence) {
			e.Before.Unacked = 1
		}), probes.ReasonNoResponse},
		{"h2: fin while idle", evidence(held, overH2(), before(wire.StateCloseWait), ends(none, wire.EndEOF), idleClose("fin")), probes.ReasonIdleFIN},
		{"h2: text in its place, then fin", evidence(before(wire.StateCloseWait), overH2(text), ends(none, wire.EndGarbage)), probes.ReasonBadResponse},
		{"h2: text in its place, then rst", evidence(before(wire.StateClose), overH2(text), ends(none, wire.EndGarbage)), probes.ReasonBadResponse},
		{"h2: text in its place, on one that was never used", evidence(held, before(wire.StateCloseWait), overH2(text), ends(none, wire.EndGarbage)), probes.ReasonBadResponse},
		{"h2: fin after the preface", evidence(before(wire.StateCloseWait), overH2(), ends(none, wire.EndEOF)), probes.ReasonCrossedClose},
		{"h2: silence", evidence(overH2(), ends(none, wire.EndTimeout)), probes.ReasonNoResponse},
	}
}

func TestExplainH2(t *testing.T) {
	const none = wire.StageNone
	calm := func(h *wire.H2) { h.Goaway.Code, h.Goaway.Debug = 11, "too_many_pings" }
	full, text := func(h *wire.H2) { h.NoStreams = true }, func(h *wire.H2) { h.Text = true }
	other := func(h *wire.H2) { h.Goaway.Code, h.Goaway.Debug = 2, "your token was abc" }
	for _, tt := range []struct {
		e    wire.Evidence
		want string
	}{
		{evidence(held, overH2(goaway(1, true)), ends(none, wire.EndGoaway), idleClose("goaway")), "GOAWAY after 59s idle, 1s before the request"},
		{evidence(held, overH2(goaway(1, true), calm), ends(none, wire.EndGoaway), idleClose("goaway")),
			"GOAWAY after 59s idle, 1s before the request (the GOAWAY's code is ENHANCE_YOUR_CALM, it says too_many_pings)"},
		{evidence(held, overH2(goaway(1, true), other), ends(none, wire.EndGoaway), idleClose("goaway")),
			"GOAWAY after 59s idle, 1s before the request (the GOAWAY's code is INTERNAL_ERROR)"},
		{evidence(overH2(goaway(0, true)), ends(none, wire.EndGoaway)), "GOAWAY before the request was sent on it, after HTTP/2's preface and SETTINGS had been"},
		{evidence(held, overH2(goaway(1, false)), ends(none, wire.EndGoaway)),
			"GOAWAY 3ms after the request (rtt 1ms), 100 of its 100 bytes acknowledged: it was not processed (the last stream that was is 1, ours 3)"},
		{evidence(overH2(goaway(3, false)), ends(none, wire.EndEOF)), "GOAWAY, and no whole answer: FIN 3ms after the request (rtt 1ms); it may have been processed"},
		{evidence(overH2(goaway(3, false), resetWith(8)), ends(none, wire.EndStreamReset)),
			"GOAWAY, and RST_STREAM with CANCEL 3ms after the request (rtt 1ms): it may have been processed"},
		{evidence(overH2(resetWith(7)), ends(none, wire.EndStreamReset)), "RST_STREAM 3ms after the request (rtt 1ms): it was refused, and not processed; that ends the stream, not the connection"},
		{evidence(overH2(resetWith(2)), ends(none, wire.EndStreamReset)), "RST_STREAM with INTERNAL_ERROR 3ms after the request (rtt 1ms); that ends the stream, not the connection"},
		{evidence(overH2(resetWith(13)), ends(none, wire.EndStreamReset)), "RST_STREAM with HTTP_1_1_REQUIRED 3ms after the request (rtt 1ms); that ends the stream, not the connection: it wants this request in HTTP/1.1 (protocol: http/1.1)"},
		{evidence(overH2(full), ends(none, wire.EndTimeout)), "no answer in 3ms, 100 of its 100 bytes acknowledged; its SETTINGS allow none (MAX_CONCURRENT_STREAMS 0): clients wait until they do"},
		{evidence(overH2(text), before(wire.StateCloseWait), ends(none, wire.EndGarbage), func(e *wire.Evidence) { e.Error = "the peer answers in HTTP/1.1, not in HTTP/2" }),
			"the peer answers in HTTP/1.1, not in HTTP/2 (40 bytes): it does not take the preface that every HTTP/2 connection begins with"},
		{evidence(overH2(), before(wire.StateCloseWait), ends(none, wire.EndEOF)), "the connection was closed before the request was sent on it, after HTTP/2's preface and SETTINGS had been"},
		{evidence(overH2(), before(wire.StateClose), ends(none, wire.EndReset)), "the connection was reset before the request was sent on it, after HTTP/2's preface and SETTINGS had been"},
		{evidence(held, overH2(func(h *wire.H2) { h.PingsSent, h.PingsUnanswered = 5, 3 }), ends(none, wire.EndTimeout)),
			"no answer in 3ms, 100 of its 100 bytes acknowledged; 3 of 5 PINGs had no answer either"},
		{evidence(overH2(), ends(none, wire.EndGarbage), func(e *wire.Evidence) { e.Error = "a frame larger than allowed" }),
			"what came is no HTTP/2 answer (40 bytes, 3ms after the request): a frame larger than allowed"},
	} {
		if got := probes.Explain(tt.e); got != tt.want {
			t.Errorf("got  %q\nwant %q", got, tt.want)
		}
	}
	for _, tt := range h2Cases() {
		if got := probes.Explain(tt.e); strings.Contains(got, "bytes came") || len(got) < 10 {
			t.Errorf("%s: %q", tt.name, got)
		}
	}
}

// A GOAWAY that leaves the request out says nothing of when it was sent, unless it
// crossed the request; a refused stream ends no connection.
func TestTimingH2(t *testing.T) {
	bytes := func(n int64) *int64 { return &n }
	for _, tt := range []struct {
		reason probes.Reason
		acked  *int64
		want   probes.Timing
	}{
		{probes.ReasonIdleGoaway, nil, probes.TimingQueued},
		{probes.ReasonGoawayUnprocessed, bytes(0), probes.TimingInFlight},
		{probes.ReasonGoawayUnprocessed, bytes(312), ""},
		{probes.ReasonGoawayUnprocessed, nil, ""},
		{probes.ReasonRefusedStream, bytes(312), ""},
		{probes.ReasonGoawayProcessed, bytes(312), ""},
		{probes.ReasonStreamReset, bytes(312), ""},
	} {
		a := probes.Attempt{Reason: tt.reason, RequestBytes: 312, Elapsed: 12 * time.Millisecond, MinRTT: 10 * time.Millisecond, AckedAtFirst: tt.acked}
		if got := a.Timing(); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.reason, got, tt.want)
		}
	}
}

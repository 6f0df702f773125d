package diagnose

import (
	"testing"
	"time"

	"perch.example/probes"
)

func TestHuman(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0 ms", 40 * time.Microsecond: "0.04 ms", 4 * time.Microsecond: "0.004 ms", 999600 * time.Microsecond: "1 s", 9999600 * time.Microsecond: "10 s", 200 * time.Microsecond: "0.2 ms", 3200 * time.Microsecond: "3.2 ms", 142 * time.Millisecond: "142 ms",
		1001 * time.Millisecond: "1.001 s", 1500 * time.Millisecond: "1.5 s", time.Minute: "60 s", 350 * time.Second: "350 s",
		12*time.Minute + 30*time.Second: "12.5 min", 60 * time.Hour: "2.5 days", -time.Second: "-1 s",
	} {
		if got := human(d); got != want {
			t.Errorf("%d ns: %q, want %q", d, got, want)
		}
	}
}

// TestMeaning: every reason has words of its own.
func TestMeaning(t *testing.T) {
	seen := map[string]probes.Reason{}
	for _, r := range probes.Reasons() {
		m := Meaning(r)
		if other, ok := seen[m]; ok || m == "something unknown happened" {
			t.Errorf("%s means %q, like %s", r, m, other)
		}
		seen[m] = r
	}
}

func TestRungMessages(t *testing.T) {
	const s = time.Second
	tests := []struct {
		name string
		rung *build
		want string
	}{
		{"alive", rungAt(0, 59*s, "ok"), "the connection still worked after 59 s idle: it answered 200 in 139 ms"},
		{"closed in time", rungAt(0, 61*s, "idle_fin").closed(60002*time.Millisecond, "fin"), "the connection was closed by the peer after 60.002 s idle, as expected: 60 s; reuse at 61 s failed in 0.2 ms with nothing answered: the FIN was queued before we wrote, looking first would have seen it; a fresh one worked"},
		{"closed later", rungAt(0, 120*s, "idle_rst").closed(100*s, "rst"), "the connection was reset by the peer after 100 s idle, after the expected 60 s; reuse at 120 s failed in 0.2 ms with nothing answered: the RST was queued before we wrote, looking first would have seen it; a fresh one worked"},
		{"bytes", rungAt(0, 61*s, "idle_bytes").closed(60*s, "bytes"), "the connection was given bytes that nobody had asked for, by the peer, after 60 s idle, as expected: 60 s; reuse at 61 s failed in 0.2 ms with nothing answered: the unasked bytes were queued before we wrote, looking first would have seen it; a fresh one worked"},
		{"close_notify", rungAt(0, 61*s, "idle_close_notify").closed(60*s, "close_notify"), "the connection was closed (TLS close_notify) by the peer after 60 s idle, as expected: 60 s; reuse at 61 s failed in 0.2 ms with nothing answered: the TLS close_notify was queued before we wrote, looking first would have seen it; a fresh one worked"},
		{"before the peer", behind(rungAt(0, 61*s, "idle_fin").closed(60*s, "fin")), "the connection was closed by something on the path after 60 s idle, as expected: 60 s; reuse at 61 s failed in 0.2 ms with nothing answered: the FIN was queued before we wrote, looking first would have seen it; a fresh one worked"},
		{"crossed", rungAt(0, 60*s, "crossed_close"), "the reuse after 60 s idle, at the expected 60 s, failed in 0.2 ms: the FIN was in flight when we wrote (it came within one round trip, 1 ms, and acknowledges none of our 212 bytes): nothing could have seen it, and the request was not accepted; a fresh one worked"},
		{"pushed and crossed", rungAt(0, 60*s, "idle_bytes").reuse(func(a *probes.Attempt) { a.RTT = 0 }), "the reuse after 60 s idle, at the expected 60 s, failed in 0.2 ms: the answer that nobody had asked for was in flight when we wrote (it acknowledges none of our 212 bytes): nothing could have seen it, and the request was not accepted; a fresh one worked"},
		{"read, then closed", rungAt(0, 60*s, "eof").reuse(read), "the reuse after 60 s idle, at the expected 60 s, failed in 0.2 ms: the peer read the request (all 212 bytes acknowledged), then closed: it may have been executed; a fresh one worked"},
		{"taken by a proxy, then closed", behind(rungAt(0, 60*s, "eof").reuse(read)), "the reuse after 60 s idle, at the expected 60 s, failed in 0.2 ms: what stands before the API read the request (all 212 bytes acknowledged), then closed: it may have been executed; a fresh one worked"},
		{"reset sooner than a round trip", rungAt(0, 60*s, "reset").reuse(func(a *probes.Attempt) { a.MinRTT, a.RequestBytesAcked = time.Millisecond, nil }), "the reuse after 60 s idle, at the expected 60 s, failed in 0.2 ms: the RST was in flight when we wrote (it came sooner than a round trip, 1 ms): nothing could have seen it, and the request was not accepted; a fresh one worked"},
		{"reset", rungAt(0, 60*s, "reset").reuse(func(a *probes.Attempt) { a.RTT = 100 * time.Microsecond }), "the reuse after 60 s idle, at the expected 60 s, failed in 0.2 ms: a RST came, which acknowledges nothing: the request may have been executed; a fresh one worked"},
		{"blackhole", rungAt(0, 400*s, "blackhole"), "the connection was dead without a word after 400 s idle: nothing acknowledged the request in 0.2 ms; a fresh one worked"},
		{"stalled", rungAt(0, 30*s, "no_response"), "the connection took the request after 30 s idle and gave no answer in 0.2 ms; a fresh one worked"},
		{"control failed", rungAt(0, 30*s, "eof").control("refused"), "the reuse after 30 s idle failed, and the control on a fresh connection too: the connection was refused"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := judgeOne(t, idleInput(time.Minute, tt.rung), 0).Message; got != tt.want {
				t.Errorf("\n %q, want\n %q", got, tt.want)
			}
		})
	}
}

// read lets the peer have had the whole request when its first event came.
func read(a *probes.Attempt) { a.AckedAtFirst = a.RequestBytesAcked }

func TestNothingHeldMessage(t *testing.T) {
	closing := rungAt(0, time.Second, "ok")
	closing.o.Attempts = closing.o.Attempts[:1]
	closing.o.Attempts[0].Reason = probes.ReasonNoKeepAlive
	const want = "nothing could be held: the answer (200) ends its connection"
	if got := judgeOne(t, idleInput(time.Minute, closing), 0).Message; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestRetryHidden: a retry of the client's own is not called its retry layer's.
func TestRetryHidden(t *testing.T) {
	rung := func() Input { return one(rungAt(0, 30*time.Second, "eof")) }
	for _, tt := range []struct {
		in   Input
		want probes.RetryOutcome
	}{
		{withAutomatic(rung()), probes.RetryOutcome{Result: "recovered", Application: "covered", Hidden: true}},
		{covered(rung()), probes.RetryOutcome{Result: "recovered", Application: "covered"}},
		{rung(), probes.RetryOutcome{Result: "recovered", Application: "unknown"}},
	} {
		if got := judgeOne(t, tt.in, 0).Retry; got != tt.want {
			t.Errorf("%+v, want %+v", got, tt.want)
		}
	}
}

func TestClosedBy(t *testing.T) {
	tests := []struct {
		ends probes.TCPEnds
		how  probes.HowClosed
		want string
	}{
		{"peer", "fin", "peer"}, {"unknown", "fin", "peer"}, {"before_peer", "fin", "unknown"}, {"peer", "silent", "unknown"},
	}
	for _, tt := range tests {
		b := rungAt(0, 61*time.Second, "idle_fin").closed(60*time.Second, tt.how)
		b.o.Path.TCPEnds = tt.ends
		if o := judgeOne(t, idleInput(time.Minute, b), 0); o.ClosedBy != tt.want {
			t.Errorf("%s by %s: closed by %q, want %q", tt.how, tt.ends, o.ClosedBy, tt.want)
		}
	}
	if o := judgeOne(t, idleInput(time.Minute, rungAt(0, time.Second, "ok")), 0); o.ClosedBy != "" {
		t.Errorf("no close: closed by %q", o.ClosedBy)
	}
}

// TestAStatusIsSaid: one that a reason holds among others is named.
func TestAStatusIsSaid(t *testing.T) {
	down := answeredWith("unavailable", 503)
	down.Observations[0].Attempts[0].Detail = "status 503"
	twice := httpInput("unavailable", "unavailable")
	twice.Observations[0].Attempts[0].Status, twice.Observations[0].Attempts[1].Status = 503, 502
	for name, tt := range map[string]struct {
		in   Input
		want string
	}{
		"once":          {down, "a fresh connection failed after 142 ms: the answer was 503"},
		"and otherwise": {twice, "a fresh connection failed after 142 ms: the answer was 503; a second one failed too: the answer was 502"},
		"refused":       {answeredWith("unauthorized", 401), "a fresh connection failed after 142 ms: the answer was 401"},
		"no answer":     {httpInput("eof"), "a fresh connection failed after 142 ms: the request was acknowledged, then the connection was closed without an answer"},
	} {
		if got := judgeOne(t, tt.in, 0).Message; got != tt.want {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
	if h := judgeOne(t, twice, 0).Hypotheses[0].Evidence; h != "two fresh connections failed, after 142 ms and 142 ms: the answer was 503, then the answer was 502" {
		t.Errorf("the evidence is %q", h)
	}
}

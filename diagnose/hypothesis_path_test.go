package diagnose

import (
	"time"

	"perch.example/probes"
)

// acked lets the peer have acknowledged n bytes; nil: not known.
func acked(n *int64) func(*probes.Attempt) {
	return func(a *probes.Attempt) { a.RequestBytesAcked = n }
}

func aboutPath() []hypothesisCase {
	const s = time.Second
	none, some := int64(0), int64(100)
	timeout := httpInput("connect_timeout")
	timeout.Observations[0].Attempts[0].Started = time.Time{}
	timeout.Observations[0].Attempts[0].Elapsed = 2 * s
	others, long := timeout, timeout
	others.OtherAnswered = []Answered{{"price-api", start().Add(30 * s)}, {"price-api", start()}, {"old", start().Add(-time.Hour)}}
	long.OtherAnswered = []Answered{{"old", start().Add(-time.Hour)}}
	seen := behind(rungAt(0, 30*s, "idle_close_notify").closed(20*s, "close_notify"))
	seen.o.Path = probes.Path{TCPEnds: probes.TCPEndsBeforePeer, TCPRTT: 100 * time.Microsecond, Hello: 12 * time.Millisecond}
	unknown := rungAt(0, 30*s, "idle_fin").closed(20*s, "fin").reuse(acked(&none))
	unknown.o.Path.TCPEnds = probes.TCPEndsUnknown
	silent := func(b *build) *build { return b.reuse(func(a *probes.Attempt) { a.Elapsed = 2 * s }) }
	const block = ", and a fresh connection 3 ms later answered 200: a block would not have let the fresh connection pass"
	return []hypothesisCase{
		{"a FIN while idle", one(rungAt(0, 30*s, "idle_fin").closed(20*s, "fin").reuse(acked(&none))), "path_blocks", "out", "the peer's FIN came through after 20 s idle" + block},
		{"the same where it is not known where TCP ends", one(unknown), "path_blocks", "out", "the peer's FIN came through after 20 s idle" + block},
		{"a close_notify while idle", one(rungAt(0, 30*s, "idle_close_notify").closed(20*s, "close_notify")), "path_blocks", "out", "the peer's TLS close_notify came through after 20 s idle" + block},
		{"pushed bytes", one(rungAt(0, 30*s, "idle_bytes").closed(20*s, "bytes")), "path_blocks", "out", "bytes that the peer pushed came through after 20 s idle" + block},
		{"pushed bytes that crossed", one(rungAt(0, 30*s, "idle_bytes")), "path_blocks", "out", "bytes that the peer pushed came through within 30 s idle" + block},
		{"a close that crossed", one(rungAt(0, 30*s, "crossed_close").reuse(acked(&none))), "path_blocks", "out", "the peer's FIN came through 0.2 ms after our write" + block},
		{"read and closed", one(rungAt(0, 30*s, "eof")), "path_blocks", "out", "the peer acknowledged all 212 of our bytes, then its FIN came through; a fresh connection 3 ms later answered 200"},
		{"closed, acknowledgement not known", one(rungAt(0, 30*s, "eof").reuse(acked(nil))), "path_blocks", "out", "the peer's FIN came through 0.2 ms after our write" + block},
		{"a FIN and no control", one(rungAt(0, 30*s, "idle_fin").closed(20*s, "fin").reuse(acked(&none)).control("")), "path_blocks", "open", "the peer's FIN came through after 20 s idle; no fresh connection was tried beside it"},
		{"a GOAWAY after our write", one(rungAt(0, 30*s, "goaway_unprocessed")), "path_blocks", "out", "the peer's GOAWAY came through 0.2 ms after our write" + block},
		{"closed on a fresh connection", httpInput("eof"), "path_blocks", "out", "the peer's FIN came through 142 ms after our write: a block would not have let the connect pass"},
		{"taken and silent", one(silent(rungAt(0, 30*s, "no_response"))), "path_blocks", "out", "the peer acknowledged all 212 of our bytes"},
		{"taken in part and silent", one(silent(rungAt(0, 30*s, "no_response").reuse(acked(&some)))), "path_blocks", "open", "the peer acknowledged 100 of our 212 bytes in 2 s: a path that drops large packets looks so; a fresh connection answered 200"},
		{"silent, acknowledgement not known", one(silent(rungAt(0, 30*s, "no_response").reuse(acked(nil)))), "path_blocks", "open", "whether the peer acknowledged our 212 bytes is not known; a fresh connection answered 200"},
		{"blackhole", one(blackhole()), "path_blocks", "in", "nothing acknowledged the 212 bytes sent, for 5 s; a fresh connection answered 200: the path lost this connection only"},
		{"TCP keep-alive gave up", one(blackhole().reuse(func(a *probes.Attempt) { a.RequestBytes = 0 })), "path_blocks", "in", "TCP keep-alive packets got no answer during 30 s idle; a fresh connection answered 200: the path lost this connection only"},
		{"blackhole behind a mesh", one(behind(blackhole())), "path_blocks", "open", "TCP ends before the API (mesh sidecar, declared): its acknowledgements, FINs and RSTs are not the API's own"},
		{"a close behind what its round trip gives away", one(seen), "path_blocks", "open", "TCP ends before the API (TCP round trip 0.1 ms, TLS hello 12 ms): its acknowledgements, FINs and RSTs are not the API's own"},
		{"connect timeout, others answer", others, "path_blocks", "in", "no connection within 2 s, while price-api answered"},
		{"connect timeout, others answered long ago", long, "path_blocks", "open", "no connection within 2 s, and no other target answered within a minute of it"},
		{"refused", httpInput("refused"), "path_blocks", "open", "the connect was refused after 142 ms: by the API's host, or by a firewall that rejects"},
		{"answered in part", one(rungAt(0, 30*s, "partial_head").reuse(func(a *probes.Attempt) { a.ResponseBytes, a.RequestBytesAcked = 17, nil })), "path_blocks", "out", "17 bytes of an answer came through in 0.2 ms"},
		{"answered", one(limited("rate_limited", 429)), "path_blocks", "out", "the peer answered 429 in 0.2 ms"},
		{"answered by a proxy", answeredWith("proxy_upstream_reset", 503), "path_blocks", "open", "a proxy on the way answered 503 in 142 ms: the path behind it was not seen"},
	}
}

// aboutResets: nothing signs a RST, so that only where it came from says more.
func aboutResets() []hypothesisCase {
	const s, ms = time.Second, time.Millisecond
	none := int64(0)
	reset := func(took, rtt time.Duration, ends probes.TCPEnds) *build {
		b := rungAt(0, 30*s, "reset").reuse(func(a *probes.Attempt) {
			a.Elapsed, a.MinRTT, a.RTT, a.RequestBytesAcked = took, rtt, 2*rtt, &none
		})
		b.o.Path.TCPEnds = ends
		b.o.Attempts[2].Started = endOf(b.o, b.o.Attempts[1]).Add(3 * ms)
		return b
	}
	const whose, beside = "from the peer or a device in between: a RST does not say", "; a fresh connection 3 ms later answered 200"
	return []hypothesisCase{
		{"a RST while idle", one(rungAt(0, 30*s, "idle_rst").closed(20*s, "rst").reuse(acked(&none))), "path_blocks", "open", "a RST came after 20 s idle, " + whose + beside},
		{"a RST sooner than a round trip", one(reset(3*ms, 10*ms, probes.TCPEndsPeer)), "path_blocks", "open", "a RST came 3 ms after our write, sooner than the peer's round trip of 10 ms: sent before, or from nearer by" + beside},
		{"a RST from as far as the TLS peer", one(reset(12*ms, 10*ms, probes.TCPEndsPeer)), "path_blocks", "out", "a RST came 12 ms after our write, so from as far as the TLS peer (round trip 10 ms)" + beside},
		{"as far as who knows whom", one(reset(12*ms, 10*ms, probes.TCPEndsUnknown)), "path_blocks", "open", "a RST came 12 ms after our write (round trip 10 ms), " + whose + beside},
		{"a RST on loopback", one(reset(ms, ms/10, probes.TCPEndsPeer)), "path_blocks", "open", "a RST came 1 ms after our write, " + whose + beside},
		{"a RST after an acknowledgement", one(rungAt(0, 30*s, "reset")), "path_blocks", "out", "the peer acknowledged all 212 of our bytes before a RST came" + beside},
		{"a RST after an acknowledgement, and nothing beside", one(rungAt(0, 30*s, "reset").control("")), "path_blocks", "open", "a RST came 0.2 ms after our write, sooner than the peer's round trip of 1 ms: sent before, or from nearer by"},
		{"a RST behind a mesh", one(behind(reset(12*ms, 10*ms, probes.TCPEndsPeer))), "path_blocks", "open", "TCP ends before the API (mesh sidecar, declared): its acknowledgements, FINs and RSTs are not the API's own"},
	}
}

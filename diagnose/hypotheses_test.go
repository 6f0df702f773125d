package diagnose

import (
	"testing"
	"time"

	"perch.example/probes"
)

func TestHypotheses(t *testing.T) {
	const s = time.Second
	acked := func(n *int64) func(*probes.Attempt) {
		return func(a *probes.Attempt) { a.RequestBytesAcked = n }
	}
	some := int64(100)
	blackhole := func() *build {
		return rungAt(0, 30*s, "blackhole").reuse(func(a *probes.Attempt) { a.Elapsed, a.RequestBytesAcked = 5*s, new(int64) })
	}
	beforePeer := blackhole()
	beforePeer.o.Path = probes.Path{TCPEnds: probes.TCPEndsBeforePeer, Via: []string{"mesh sidecar"}}
	limited := rungAt(0, 30*s, "rate_limited").reuse(func(a *probes.Attempt) { a.Status, a.RetryAfter = 429, 7*s })
	busy := rungAt(0, 30*s, "unavailable").reuse(func(a *probes.Attempt) { a.Status, a.RetryAfter = 503, 7*s })
	timeout := httpInput("connect_timeout")
	timeout.Observations[0].Attempts[0].Started = time.Time{}
	timeout.Observations[0].Attempts[0].Elapsed = 2 * s
	others := timeout
	others.OtherAnswered = []Answered{{"price-api", start().Add(30 * s)}, {"price-api", start()}, {"old", start().Add(-time.Hour)}}
	long := timeout
	long.OtherAnswered = []Answered{{"old", start().Add(-time.Hour)}}
	unbudgeted := idleInput(time.Minute, rungAt(0, 30*s, "eof"))
	unbudgeted.Budget = probes.BudgetUse{}
	one := func(b *build) Input { return idleInput(time.Minute, b) }

	tests := []struct {
		name     string
		in       Input
		id       probes.HypothesisID
		ruled    probes.Ruling
		evidence string
	}{
		{"control worked", one(rungAt(0, 30*s, "eof")), "api_down", "out", "a fresh connection 3 ms later answered 200 in 142 ms"},
		{"control failed", one(rungAt(0, 30*s, "eof").control("refused")), "api_down", "in", "a fresh connection failed after 142 ms: the connection was refused"},
		{"no control", one(rungAt(0, 30*s, "eof").control("")), "api_down", "open", "no control was made on a fresh connection"},
		{"two failed", httpInput("refused", "eof"), "api_down", "in", "two fresh connections failed: the connection was refused, then the request was acknowledged, then the connection was closed without an answer"},
		{"second worked", httpInput("refused", "ok"), "api_down", "out", "a second fresh connection 258 ms later answered 200 in 142 ms"},
		{"answered otherwise", httpInput("status"), "api_down", "out", "it answered in 142 ms"},
		{"not run", one(cutRung()), "api_down", "open", nothingMeasured},

		{"acknowledged", one(rungAt(0, 30*s, "no_response")), "path_blocks", "out", "the peer acknowledged all 212 of our bytes"},
		{"partly acknowledged", one(rungAt(0, 30*s, "reset").reuse(acked(&some))), "path_blocks", "open", "the peer acknowledged 100 of our 212 bytes; the same path carried a fresh connection"},
		{"unknown", one(rungAt(0, 30*s, "idle_fin").closed(20*s, "fin").reuse(acked(nil))), "path_blocks", "open", "whether the peer acknowledged our 212 bytes is not known; its FIN had come after 20 s idle; the same path carried a fresh connection"},
		{"blackhole", one(blackhole()), "path_blocks", "in", "nothing acknowledged the 212 bytes sent, for 5 s"},
		{"blackhole behind a mesh", one(beforePeer), "path_blocks", "open", "TCP ends before the API (mesh sidecar): acknowledgements and closes are not the API's own"},
		{"connect timeout, others answer", others, "path_blocks", "in", "no connection within 2 s, while price-api answered"},
		{"connect timeout, others answered long ago", long, "path_blocks", "open", "no connection within 2 s, and no other target answered within a minute of it"},
		{"answered in part", one(rungAt(0, 30*s, "partial_head").reuse(func(a *probes.Attempt) { a.ResponseBytes, a.RequestBytesAcked = 17, nil })), "path_blocks", "out", "the peer answered 17 bytes"},
		{"answered", one(limited), "path_blocks", "out", "the peer answered 429 in 0.2 ms"},

		{"fresh failed too", one(rungAt(0, 30*s, "eof").control("refused")), "stale_pool", "out", "a fresh connection failed too: the connection was refused"},
		{"died, no client", one(rungAt(0, 30*s, "eof")), "stale_pool", "in", "it ended at 30 s idle, and a fresh connection worked"},
		{"looks first", withClient(one(rungAt(0, 30*s, "idle_fin").closed(20*s, "fin"))), "stale_pool", "open", "it ended at 20 s idle, and Apache HttpClient 4.5 has no danger band here: it stops or looks before the path closes"},
		{"silence in the band", withClient(one(blackhole())), "stale_pool", "in", "it ended at 30 s idle, and Apache HttpClient 4.5 uses connections that are idle for 29.999 s and longer"},

		{"429", one(limited), "rate_limit", "in", "the API answered 429 and asked to wait 7 s; perch sent 12 requests, at most 1 in a second of the 2 it may send"},
		{"Retry-After", one(busy), "rate_limit", "in", "the API answered 503 and asked to wait 7 s; perch sent 12 requests, at most 1 in a second of the 2 it may send"},
		{"no 429", one(rungAt(0, 30*s, "eof")), "rate_limit", "out", "no 429; perch sent 12 requests, at most 1 in a second of the 2 it may send"},
		{"no budget known", unbudgeted, "rate_limit", "open", "no 429; the share in use is not known"},

		{"no client", one(rungAt(0, 30*s, "eof")), "retry_gap", "open", "no client is declared"},
		{"covered", covered(one(rungAt(0, 30*s, "eof"))), "retry_gap", "out", "the retry list covers org.apache.http.NoHttpResponseException for GET"},
		{"noticed", withClient(one(rungAt(0, 30*s, "idle_rst").closed(20*s, "rst"))), "retry_gap", "out", "Apache HttpClient 4.5 notices that it is dead and opens a new connection: nothing to retry"},
		{"nothing to repeat", withClient(httpInput("status")), "retry_gap", "open", "not a failure that sending again would help: the answer had another status than expected"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			h := hypothesis(judgeOne(t, tt.in, 0), tt.id)
			if h.Ruled != tt.ruled || h.Evidence != tt.evidence {
				t.Errorf("%s is %s:\n %q, want %s:\n %q", tt.id, h.Ruled, h.Evidence, tt.ruled, tt.evidence)
			}
		})
	}
}

func cutRung() *build {
	b := rungAt(0, time.Second, "eof")
	b.o.Cut = probes.CutCanceled
	return b
}

func withClient(in Input) Input {
	in.Spec.Client = incidentClient()
	return in
}

func covered(in Input) Input {
	in = withClient(in)
	in.Spec.Client.Retry.Errors = []string{"NoHttpResponseException"}
	return in
}

package diagnose

import (
	"slices"
	"testing"
	"time"

	"perch.example/probes"
)

type hypothesisCase struct {
	name     string
	in       Input
	id       probes.HypothesisID
	ruled    probes.Ruling
	evidence string
}

func TestHypotheses(t *testing.T) {
	for _, tt := range slices.Concat(aboutAPI(), aboutPath(), aboutPool(), aboutLimits()) {
		t.Run(string(tt.id)+": "+tt.name, func(t *testing.T) {
			h := hypothesis(judgeOne(t, tt.in, 0), tt.id)
			if h.Ruled != tt.ruled || h.Evidence != tt.evidence {
				t.Errorf("%s:\n %q, want %s:\n %q", h.Ruled, h.Evidence, tt.ruled, tt.evidence)
			}
		})
	}
}

// one is a ladder of one rung, where 60 s were expected.
func one(b *build) Input { return idleInput(time.Minute, b) }

func blackhole() *build {
	return rungAt(0, 30*time.Second, "blackhole").reuse(func(a *probes.Attempt) {
		a.Elapsed, a.RequestBytesAcked = 5*time.Second, new(int64)
	})
}

// limited is a rung whose reuse was answered with a status that asks to wait.
func limited(reason probes.Reason, status int) *build {
	return rungAt(0, 30*time.Second, reason).reuse(func(a *probes.Attempt) { a.Status, a.RetryAfter = status, 7*time.Second })
}

func aboutAPI() []hypothesisCase {
	const s = time.Second
	return []hypothesisCase{
		{"control worked", one(rungAt(0, 30*s, "eof")), "api_down", "out", "a fresh connection 3 ms later answered 200 in 142 ms"},
		{"control failed", one(rungAt(0, 30*s, "eof").control("refused")), "api_down", "in", "a fresh connection failed after 142 ms: the connection was refused"},
		{"no control", one(rungAt(0, 30*s, "eof").control("")), "api_down", "open", "no control was made on a fresh connection"},
		{"two failed", httpInput("refused", "eof"), "api_down", "in", "two fresh connections failed: the connection was refused, then the request was acknowledged, then the connection was closed without an answer"},
		{"second worked", httpInput("refused", "ok"), "api_down", "out", "a second fresh connection 258 ms later answered 200 in 142 ms"},
		{"answered otherwise", httpInput("status"), "api_down", "out", "it answered in 142 ms"},
		{"certificate", httpInput("certificate"), "api_down", "open", "the peer answered the handshake, with a certificate that could not be verified: no request was sent"},
		{"the control's certificate", one(rungAt(0, 30*s, "eof").control("certificate")), "api_down", "open", "the peer answered the handshake, with a certificate that could not be verified: no request was sent"},
		{"not run", one(cutRung()), "api_down", "open", nothingMeasured},
	}
}

func aboutPath() []hypothesisCase {
	const s = time.Second
	acked := func(n *int64) func(*probes.Attempt) {
		return func(a *probes.Attempt) { a.RequestBytesAcked = n }
	}
	some := int64(100)
	beforePeer := blackhole()
	beforePeer.o.Path = probes.Path{TCPEnds: probes.TCPEndsBeforePeer, Via: []string{"mesh sidecar"}}
	timeout := httpInput("connect_timeout")
	timeout.Observations[0].Attempts[0].Started = time.Time{}
	timeout.Observations[0].Attempts[0].Elapsed = 2 * s
	others, long := timeout, timeout
	others.OtherAnswered = []Answered{{"price-api", start().Add(30 * s)}, {"price-api", start()}, {"old", start().Add(-time.Hour)}}
	long.OtherAnswered = []Answered{{"old", start().Add(-time.Hour)}}
	return []hypothesisCase{
		{"acknowledged", one(rungAt(0, 30*s, "no_response")), "path_blocks", "out", "the peer acknowledged all 212 of our bytes"},
		{"partly acknowledged", one(rungAt(0, 30*s, "reset").reuse(acked(&some))), "path_blocks", "open", "the peer acknowledged 100 of our 212 bytes; the same path carried a fresh connection"},
		{"unknown", one(rungAt(0, 30*s, "idle_fin").closed(20*s, "fin").reuse(acked(nil))), "path_blocks", "open", "whether the peer acknowledged our 212 bytes is not known; its FIN had come after 20 s idle; the same path carried a fresh connection"},
		{"blackhole", one(blackhole()), "path_blocks", "in", "nothing acknowledged the 212 bytes sent, for 5 s"},
		{"TCP keep-alive gave up", one(blackhole().reuse(func(a *probes.Attempt) { a.RequestBytes = 0 })), "path_blocks", "in", "TCP keep-alive packets got no answer while the connection was idle"},
		{"blackhole behind a mesh", one(beforePeer), "path_blocks", "open", "TCP ends before the API (mesh sidecar): acknowledgements and closes are not the API's own"},
		{"connect timeout, others answer", others, "path_blocks", "in", "no connection within 2 s, while price-api answered"},
		{"connect timeout, others answered long ago", long, "path_blocks", "open", "no connection within 2 s, and no other target answered within a minute of it"},
		{"answered in part", one(rungAt(0, 30*s, "partial_head").reuse(func(a *probes.Attempt) { a.ResponseBytes, a.RequestBytesAcked = 17, nil })), "path_blocks", "out", "the peer answered 17 bytes"},
		{"answered", one(limited("rate_limited", 429)), "path_blocks", "out", "the peer answered 429 in 0.2 ms"},
	}
}

func aboutPool() []hypothesisCase {
	const s = time.Second
	return []hypothesisCase{
		{"fresh failed too", one(rungAt(0, 30*s, "eof").control("refused")), "stale_pool", "out", "a fresh connection failed too: the connection was refused"},
		{"died, no client", one(rungAt(0, 30*s, "eof")), "stale_pool", "in", "it ended at 30 s idle, and a fresh connection worked"},
		{"looks first", withClient(one(rungAt(0, 30*s, "idle_fin").closed(20*s, "fin"))), "stale_pool", "open", "it ended at 20 s idle, and Apache HttpClient 4.5 has no danger band here: it stops or looks before the path closes"},
		{"silence in the band", withClient(one(blackhole())), "stale_pool", "in", "it ended at 30 s idle, and Apache HttpClient 4.5 uses connections that are idle for 29.999 s and longer"},
		{"instant close", one(rungAt(0, 30*s, "idle_fin").closed(20*time.Millisecond, "fin")), "stale_pool", "out", "it was closed 20 ms after its answer: too soon for an idle timeout"},
		{"outlived", idleInput(time.Minute, rungAt(0, 30*s, "idle_fin").closed(20*s, "fin"), rungAt(5*s, 59*s, "ok")), "stale_pool", "out", "it ended at 20 s idle, and another connection worked after 59 s"},
		{"answered on reuse only", one(limited("unavailable", 503)), "stale_pool", "out", "the connection was alive: it answered 503 in 0.2 ms"},
		{"mass close", massClose(), "stale_pool", "out", "connections of different idle ages were closed within 1 s of each other"},
		{"automatic", withAutomatic(one(rungAt(0, 30*s, "eof"))), "retry_gap", "out", "Apache HttpClient 4.5 writes to the dead connection, then silently sends again on a new one: its own automatic retry hides it, no retry layer has to"},
		{"no client", one(rungAt(0, 30*s, "eof")), "retry_gap", "open", "no client is declared"},
		{"covered", covered(one(rungAt(0, 30*s, "eof"))), "retry_gap", "out", "the retry list covers org.apache.http.NoHttpResponseException for GET"},
		{"noticed", withClient(one(rungAt(0, 30*s, "idle_rst").closed(20*s, "rst"))), "retry_gap", "out", "Apache HttpClient 4.5 notices that it is dead and opens a new connection: nothing to retry"},
		{"nothing to repeat", withClient(httpInput("status")), "retry_gap", "open", "not a failure that sending again would help: the answer had another status than expected"},
	}
}

func aboutLimits() []hypothesisCase {
	const s = time.Second
	unbudgeted := idleInput(time.Minute, rungAt(0, 30*s, "eof"))
	unbudgeted.Budget = probes.BudgetUse{}
	return []hypothesisCase{
		{"429", one(limited("rate_limited", 429)), "rate_limit", "in", "the API answered 429 and asked to wait 7 s; perch sent 12 requests, at most 1 in a second; its budget is 2/s"},
		{"Retry-After", one(limited("unavailable", 503)), "rate_limit", "in", "the API answered 503 and asked to wait 7 s; perch sent 12 requests, at most 1 in a second; its budget is 2/s"},
		{"no 429", one(rungAt(0, 30*s, "eof")), "rate_limit", "out", "no 429; perch sent 12 requests, at most 1 in a second; its budget is 2/s"},
		{"a budget of 1/s allows two in one second", budget(1, 9, 2), "rate_limit", "out", "no 429; perch sent 9 requests, at most 2 in a second; its budget of 1/s allows 2 in any 2 s"},
		{"a fraction", budget(2.5, 9, 2), "rate_limit", "out", "no 429; perch sent 9 requests, at most 2 in a second; its budget of 2.5/s allows 2 in any 1 s"},
		{"one request", budget(1, 1, 1), "rate_limit", "out", "no 429; perch sent 1 request; its budget of 1/s allows 2 in any 2 s"},
		{"no budget known", unbudgeted, "rate_limit", "open", "no 429; the share in use is not known"},
	}
}

func budget(limit float64, requests int, peak float64) Input {
	in := one(rungAt(0, 30*time.Second, "eof"))
	in.Budget = probes.BudgetUse{LimitPerSecond: limit, Requests: requests, PeakPerSecond: peak}
	return in
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

func withAutomatic(in Input) Input {
	in.Spec.Client = &probes.Client{Kind: "apache-httpclient-4.5"}
	return in
}

// massClose is two connections that are closed at one moment at other ages.
func massClose() Input {
	a := rungAt(0, 30*time.Second, "idle_fin").closed(20*time.Second, "fin")
	b := rungAt(0, 40*time.Second, "idle_fin").closed(15*time.Second, "fin")
	b.o.Close.At = a.o.Close.At
	return idleInput(time.Minute, a, b)
}

func covered(in Input) Input {
	in = withClient(in)
	in.Spec.Client.Retry.Errors = []string{"NoHttpResponseException"}
	return in
}

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
	for _, tt := range slices.Concat(aboutAPI(), aboutPath(), aboutResets(), aboutOwnPod(), aboutPool(), aboutRetries(), aboutLimits()) {
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
		{"no control", one(rungAt(0, 30*s, "eof").control("")), "api_down", "open", "the reuse after 30 s idle failed, and no fresh connection was tried beside it"},
		{"two failed", httpInput("refused", "eof"), "api_down", "in", "two fresh connections failed, after 142 ms and 142 ms: the connection was refused, then the request was acknowledged, then the connection was closed without an answer"},
		{"second worked", httpInput("refused", "ok"), "api_down", "out", "a second fresh connection 258 ms later answered 200 in 142 ms"},
		{"answered otherwise", answeredWith("status", 404), "api_down", "out", "it answered 404 in 142 ms"},
		{"answered, and down", answeredWith("unavailable", 503), "api_down", "in", "a fresh connection answered 503 in 142 ms"},
		{"a proxy answered", answeredWith("proxy_upstream_reset", 503), "api_down", "open", "a proxy on the way answered 503 in 142 ms, for its own connection: the API itself was not heard"},
		{"certificate", httpInput("certificate"), "api_down", "open", "a certificate came after 142 ms and could not be verified: no request was sent"},
		{"the control's certificate", one(rungAt(0, 30*s, "eof").control("certificate")), "api_down", "open", "a certificate came after 142 ms and could not be verified: no request was sent"},
		{"not run", one(cutRung()), "api_down", "open", "3 requests were made: the run was cut short"},
	}
}

func aboutPool() []hypothesisCase {
	const s = time.Second
	return []hypothesisCase{
		{"fresh failed too", one(rungAt(0, 30*s, "eof").control("refused")), "stale_pool", "out", "a fresh connection 3 ms later failed too, after 142 ms: the connection was refused"},
		{"died, no client", one(rungAt(0, 30*s, "eof")), "stale_pool", "in", "it ended at 30 s idle, and a fresh connection 3 ms later answered 200"},
		{"looks first", withClient(one(rungAt(0, 30*s, "idle_fin").closed(20*s, "fin"))), "stale_pool", "open", "it ended at 20 s idle; Apache HttpClient 4.5 has no danger band here: it stops or looks before; only an application that overrides it would still use one"},
		{"just outside of the band", withClient(one(rungAt(0, 3*s, "idle_fin").closed(2*s+300*time.Microsecond, "fin"))), "stale_pool", "open", "it ended at 2.0003 s idle, outside of Apache HttpClient 4.5's danger band of 1.998 s to 2 s (2 ms before the close: round trip and timer accuracy)"},
		{"silence in the band", withClient(one(blackhole())), "stale_pool", "in", "it ended at 30 s idle, and Apache HttpClient 4.5 still uses what is idle for any time"},
		{"instant close", one(rungAt(0, 30*s, "idle_fin").closed(20*time.Millisecond, "fin")), "stale_pool", "out", "it was closed 20 ms after its answer: too soon for an idle timeout"},
		{"outlived", idleInput(time.Minute, rungAt(0, 30*s, "idle_fin").closed(20*s, "fin"), rungAt(5*s, 59*s, "ok")), "stale_pool", "out", "it ended at 20 s idle, and another connection worked after 59 s"},
		{"answered on reuse only", one(limited("unavailable", 503)), "stale_pool", "out", "the connection was alive after 30 s idle: it answered 503 in 0.2 ms"},
		{"mass close", massClose(), "stale_pool", "out", "connections of different idle ages were closed within 1 s of each other"},
		{"fresh only", answeredWith("status", 404), "stale_pool", "out", "a fresh connection, 0 s idle, answered 404 in 142 ms"},
		{"answered otherwise", one(limited("rate_limited", 429)), "stale_pool", "out", "the connection was alive after 30 s idle: it answered 429 in 0.2 ms"},
		{"behind a proxy it is the proxy's age", one(behind(rungAt(0, 30*s, "idle_fin").closed(20*s, "fin"))), "stale_pool", "in", "it ended at 20 s idle, and a fresh connection 3 ms later answered 200"},
	}
}

func aboutRetries() []hypothesisCase {
	const s = time.Second
	wrapped := withClient(one(rungAt(0, 30*s, "eof")))
	wrapped.Spec.Client.Retry.Layer = probes.LayerAround
	once := covered(one(rungAt(0, 30*s, "eof")))
	once.Spec.Client.Retry.Attempts = 1
	left := covered(one(rungAt(0, 30*s, "eof")))
	left.Spec.Client.Retry.Methods = []string{"HEAD", "PUT"}
	undeclared := withClient(one(rungAt(0, 30*s, "eof")))
	undeclared.Spec.Client.Retry = nil
	unsafe := covered(one(rungAt(0, 30*s, "eof")))
	unsafe.Spec.Method = "POST"
	return []hypothesisCase{
		{"around the wrapper", wrapped, "retry_gap", "out", "the retry list covers org.springframework.web.client.ResourceAccessException: a GET is sent again"},
		{"inside of it", withClient(one(rungAt(0, 30*s, "eof"))), "retry_gap", "in", "the retry list lacks org.apache.http.NoHttpResponseException, which a retry inside RestTemplate sees"},
		{"one attempt", once, "retry_gap", "in", "the retry policy makes 1 attempt only: a GET is not sent again"},
		{"a method that is left out", left, "retry_gap", "in", "the retry policy repeats HEAD, PUT only: a GET is not sent again"},
		{"no policy", undeclared, "retry_gap", "open", "org.apache.http.NoHttpResponseException comes out, and no retry policy is declared that could cover it"},
		{"unsafe", unsafe, "retry_gap", "out", "the retry list covers org.apache.http.NoHttpResponseException, though a POST may have been executed"},
		{"automatic", withAutomatic(one(rungAt(0, 30*s, "eof"))), "retry_gap", "out", "Apache HttpClient 4.5 writes to the dead connection, then silently sends again on a new one: its own automatic retry hides it, no retry layer has to"},
		{"no client", one(rungAt(0, 30*s, "eof")), "retry_gap", "open", "what the application makes of eof is not known: no client is declared"},
		{"covered", covered(one(rungAt(0, 30*s, "eof"))), "retry_gap", "out", "the retry list covers org.apache.http.NoHttpResponseException: a GET is sent again"},
		{"noticed", withClient(one(rungAt(0, 30*s, "idle_rst").closed(20*s, "rst"))), "retry_gap", "out", "Apache HttpClient 4.5 notices that it is dead and opens a new connection: nothing to retry"},
		{"nothing to repeat", withClient(answeredWith("status", 404)), "retry_gap", "out", "a retry would meet the same: it answered 404 in 142 ms"},
	}
}

func aboutLimits() []hypothesisCase {
	const s = time.Second
	unbudgeted := idleInput(time.Minute, rungAt(0, 30*s, "eof"))
	unbudgeted.Budget = probes.BudgetUse{}
	return []hypothesisCase{
		{"429", one(limited("rate_limited", 429)), "rate_limit", "in", "the API answered 429 and asked to wait 7 s; perch sent 12 requests in this run, at most 1 in a second; its budget is 2/s"},
		{"Retry-After", one(limited("unavailable", 503)), "rate_limit", "in", "the API answered 503 and asked to wait 7 s; perch sent 12 requests in this run, at most 1 in a second; its budget is 2/s"},
		{"no 429", one(rungAt(0, 30*s, "eof")), "rate_limit", "out", "perch met no 429 in the 2 answers of this rung; it sent 12 requests in this run, at most 1 in a second; its budget is 2/s"},
		{"a budget of 1/s allows two in one second", budget(1, 9, 2), "rate_limit", "out", "perch met no 429 in the 2 answers of this rung; it sent 9 requests in this run, at most 2 in a second; its budget of 1/s allows 2 in any 2 s"},
		{"a fraction", budget(2.5, 9, 2), "rate_limit", "out", "perch met no 429 in the 2 answers of this rung; it sent 9 requests in this run, at most 2 in a second; its budget of 2.5/s allows 2 in any 1 s"},
		{"nothing answered", httpInput("refused"), "rate_limit", "out", "perch met no 429; it sent 12 requests in this run, at most 1 in a second; its budget is 2/s"},
		{"one request", budget(1, 1, 1), "rate_limit", "out", "perch met no 429 in the 2 answers of this rung; it sent 1 request in this run; its budget of 1/s allows 2 in any 2 s"},
		{"no budget known", unbudgeted, "rate_limit", "open", "perch met no 429 in the 2 answers of this rung; the share in use is not known"},
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

// answeredWith is one exchange that was answered so.
func answeredWith(reason probes.Reason, status int) Input {
	in := httpInput(reason)
	in.Observations[0].Attempts[0].Status = status
	return in
}

// behind puts a mesh sidecar in between.
func behind(b *build) *build {
	b.o.Path = probes.Path{TCPEnds: probes.TCPEndsBeforePeer, Via: []string{"mesh sidecar"}, By: []string{"declared"}}
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

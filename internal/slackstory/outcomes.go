package slackstory

import (
	"net/netip"
	"time"

	"perch.example/probes"
)

const ms = time.Millisecond

// start is when the stories begin.
func start() time.Time { return time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC) }

// exchange is one attempt against an API that is 110 ms away.
func exchange(c probes.Connection, r probes.Reason, elapsed time.Duration) probes.Attempt {
	a := probes.Attempt{
		Connection: c, Reason: r, Method: "GET", Started: start(), Elapsed: elapsed, RTT: 110 * ms,
		Local: netip.MustParseAddrPort("10.0.4.17:43122"), Remote: netip.MustParseAddrPort("192.0.2.10:443"),
		TraceID: "4bf92f3577b34da6a3ce929d0e0e4736", SpanID: "00f067aa0ba902b7",
	}
	if r == probes.ReasonOK {
		a.Status, a.Proto, a.ResponseBytes = 200, "HTTP/1.1", 1874
	}
	return a
}

// rung is a connection that was held idle and still worked.
func rung(target string, hold time.Duration) probes.Outcome {
	reused := exchange(probes.ConnectionReused, probes.ReasonOK, 128*ms)
	reused.IdleTime = hold
	return probes.Outcome{
		Target: target, Probe: "calendar-idle", Kind: probes.KindIdle, Method: "GET", Hold: hold, KeepAlive: time.Minute,
		Every: 5 * time.Minute, Started: start(), Verdict: probes.VerdictPass, Reason: probes.ReasonOK,
		Message:  "the idle connection still worked",
		Attempts: []probes.Attempt{exchange(probes.ConnectionFresh, probes.ReasonOK, 131*ms), reused},
		Path:     probes.Path{TCPEnds: probes.TCPEndsPeer}, Retry: probes.RetryOutcome{Result: probes.RetryNotNeeded},
		Client: &probes.ClientOutcome{Kind: "apache-httpclient-4.5"},
		Notice: probes.NoticeInfo{
			Owner: "team-stock", Severity: "page", Channel: "#stock", Runbook: "https://wiki.example/stock-api",
			URL: "https://api.partner.example/v1/calendar",
		},
	}
}

// stale is a rung whose reuse failed, with nothing seen of the close.
func stale(target string, hold time.Duration) probes.Outcome {
	o := rung(target, hold)
	reused := exchange(probes.ConnectionReused, probes.ReasonReset, 111*ms)
	reused.IdleTime = hold
	o.Attempts = []probes.Attempt{o.Attempts[0], reused, exchange(probes.ConnectionControl, probes.ReasonOK, 349*ms)}
	o.Verdict, o.Reason = probes.VerdictFail, probes.ReasonReset
	o.Diagnosis, o.Family = probes.DiagnosisStaleConnection, probes.FamilyConnection
	o.Retry.Result, o.Retry.Application = probes.RetryRecovered, probes.CoverUncovered
	o.Message = "reuse after 61 s idle was answered by a reset after 111 ms, a fresh connection answered 200"
	o.Client.Experiences = "throws java.net.SocketException: Connection reset"
	o.Hypotheses = hypotheses("a fresh connection 1 ms later answered 200 in 349 ms", "the connection did not survive 61 s idle; when it ended was not seen", "the retry list lacks java.net.SocketException")
	o.Advice = []string{"1. Set Apache HttpClient 4.5's idle limit below 59 s, the longest hold that worked: `setKeepAliveStrategy((response, context) -> 45000)`."}
	return o
}

// closed is a rung whose connection the peer had closed before it was used.
func closed(target string, hold, age time.Duration) probes.Outcome {
	o := rung(target, hold)
	o.Reason, o.ClosedBy = probes.ReasonIdleFIN, "peer"
	o.Close = &probes.Close{Age: age, At: start().Add(age), How: probes.HowFIN, Resolution: 100 * time.Microsecond, AfterReply: age}
	reused := exchange(probes.ConnectionReused, probes.ReasonIdleFIN, 300*time.Microsecond)
	reused.IdleTime, reused.Queued = hold, true
	o.Attempts = []probes.Attempt{o.Attempts[0], reused, exchange(probes.ConnectionControl, probes.ReasonOK, 349*ms)}
	o.Retry.Result = probes.RetryRecovered
	o.Client.Band = &probes.Band{From: 891 * ms, To: 2 * time.Second}
	return o
}

// early is the rung inside the client's danger band.
func early(target string) probes.Outcome {
	o := closed(target, 1500*ms, 1001*ms)
	o.Verdict, o.Diagnosis, o.Family = probes.VerdictFail, probes.DiagnosisEarlyClose, probes.FamilyConnection
	const throws = "throws org.apache.http.NoHttpResponseException: api.partner.example failed to respond"
	o.Message = "the connection was closed by the peer after 1.001 s idle, before the expected 60 s; reuse at 1.5 s failed in 0.3 ms with nothing answered; a fresh one worked; Apache HttpClient 4.5 " + throws
	o.Client.Experiences = throws
	o.Retry.Application = probes.CoverUncovered
	o.Hypotheses = hypotheses(
		"a fresh connection 1 ms later answered 200 in 349 ms",
		"it ended at 1.001 s idle, and Apache HttpClient 4.5 still uses what is idle for 891 ms to 2 s",
		"the retry list lacks org.apache.http.NoHttpResponseException")
	o.Advice = []string{
		"1. Set Apache HttpClient 4.5's idle limit (max_idle in perch's config) none -> 750 ms: `HttpClientBuilder.create().setKeepAliveStrategy((response, context) -> 750)`. The path closes after 1 s (measured); less 218 ms for round trip and ticks, rounded down: 750 ms.",
		"2. Also add `org.apache.http.NoHttpResponseException` to the retry list, for idempotent methods only.",
	}
	return o
}

func hypotheses(fresh, pool, retry string) []probes.Hypothesis {
	return []probes.Hypothesis{
		{ID: probes.HypothesisAPIDown, Ruled: probes.RuledOut, Evidence: fresh},
		{ID: probes.HypothesisPathBlocks, Ruled: probes.RuledOut, Evidence: "a block would not have let the fresh connection pass"},
		{ID: probes.HypothesisOwnPod, Ruled: probes.RuledOut, Evidence: "perch was delayed by at most 0.1 ms"},
		{ID: probes.HypothesisStalePool, Ruled: probes.RuledIn, Evidence: pool},
		{ID: probes.HypothesisRateLimit, Ruled: probes.RuledOut, Evidence: "no 429 in the 2 answers of this rung; its budget is 2/s"},
		{ID: probes.HypothesisRetryGap, Ruled: probes.RuledIn, Evidence: retry},
	}
}

// The ladders: what one run finds at a target.
func begins(target string) []probes.Outcome {
	return []probes.Outcome{rung(target, 500*ms), stale(target, 1500*ms)}
}

func fails(target string) []probes.Outcome {
	looks := closed(target, 2500*ms, time.Second)
	looks.Client.Experiences = "notices that it is dead and opens a new connection"
	return []probes.Outcome{rung(target, 500*ms), early(target), looks}
}

func works(target string) []probes.Outcome {
	return []probes.Outcome{rung(target, 500*ms), rung(target, 1500*ms), rung(target, 2500*ms)}
}

// degraded is a finding that the application did not feel.
func degraded(target string) []probes.Outcome {
	o := early(target)
	o.Verdict, o.Retry.Application = probes.VerdictDegraded, probes.CoverCovered
	return []probes.Outcome{rung(target, 500*ms), o}
}

// accepted is one that is known and lived with.
func accepted(target string) []probes.Outcome {
	o := early(target)
	o.Accepted = &probes.Accepted{
		Diagnosis: probes.DiagnosisEarlyClose, IdleFrom: 500 * ms, IdleTo: 3 * time.Second,
		Until: start().Add(4 * 24 * time.Hour).Truncate(24 * time.Hour), Reason: "the partner raises its timeout this week",
	}
	return []probes.Outcome{rung(target, 500*ms), o}
}

// down is a target that cannot be reached.
func down(target string) []probes.Outcome {
	refused := exchange(probes.ConnectionFresh, probes.ReasonRefused, 300*time.Microsecond)
	refused.RTT = 0
	return []probes.Outcome{{
		Target: target, Probe: "health", Kind: probes.KindHTTP, Method: "GET", Every: 5 * time.Minute, Started: start(),
		Verdict: probes.VerdictFail, Reason: probes.ReasonRefused, Diagnosis: probes.DiagnosisUnreachable, Family: probes.FamilyReachability,
		Message: "the host refused the connection, twice", Attempts: []probes.Attempt{refused, refused},
		Hypotheses: []probes.Hypothesis{
			{ID: probes.HypothesisAPIDown, Ruled: probes.RuledIn, Evidence: "two fresh connections were refused"},
			{ID: probes.HypothesisStalePool, Ruled: probes.RuledOut, Evidence: "fresh connections fail too"},
		},
		Advice: []string{"Not the pool, stop looking there: fresh connections fail too. Ask the API's owner what listens on 192.0.2.10:443."},
		Notice: probes.NoticeInfo{Owner: "team-" + target, Severity: "page", URL: "https://" + target + ".partner.example/health"},
	}}
}

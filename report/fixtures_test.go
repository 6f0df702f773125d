package report

import (
	"net/netip"
	"slices"
	"time"

	"perch.example/probes"
)

// The runs of the golden files. Their texts are those that diagnose gives for
// the same observations.

const (
	ms = time.Millisecond
	us = time.Microsecond
)

func started() time.Time { return time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC) }

func baseRun(took time.Duration) probes.Run {
	return probes.Run{
		Version: "0.1.0", Name: "shop", Vantage: "prod-tokyo", RunID: "7c9e6679f3a1", Seed: 42,
		Started: started(), Finished: started().Add(took),
	}
}

func try(number int, c probes.Connection, r probes.Reason, status int, elapsed time.Duration) probes.Attempt {
	acked := int64(231)
	a := probes.Attempt{
		Number: number, Connection: c, Reason: r, Method: "GET", Status: status, Elapsed: elapsed, RTT: 110 * ms, MinRTT: 110 * ms,
		Started: started(), RequestBytes: 231, RequestBytesAcked: &acked,
		Local: netip.MustParseAddrPort("10.0.4.17:43122"), Remote: netip.MustParseAddrPort("192.0.2.10:443"),
		TraceID: "4bf92f3577b34da6a3ce929d0e0e4736", SpanID: "00f067aa0ba902b7",
	}
	if status != 0 {
		a.Proto, a.ResponseBytes = "HTTP/1.1", 1874
	}
	return a
}

func warm() probes.Attempt {
	a := try(1, probes.ConnectionFresh, probes.ReasonOK, 200, 131*ms)
	a.Phases = probes.Phases{DNS: 2 * ms, Connect: 110 * ms, TLS: 114 * ms, Wait: 128 * ms, Transfer: 3 * ms}
	return a
}

func reuse(r probes.Reason, status int, elapsed, idle time.Duration) probes.Attempt {
	a := try(2, probes.ConnectionReused, r, status, elapsed)
	a.IdleTime, a.Served = idle, 1
	return a
}

func control(status int, elapsed time.Duration) probes.Attempt {
	a := try(3, probes.ConnectionControl, probes.ReasonOK, status, elapsed)
	a.Phases = probes.Phases{Connect: 110 * ms, TLS: 113 * ms, Wait: 125 * ms, Transfer: 2 * ms}
	return a
}

func httpOK(target, probe string, elapsed time.Duration) probes.Outcome {
	a := try(1, probes.ConnectionFresh, probes.ReasonOK, 200, elapsed)
	a.Phases = probes.Phases{DNS: 2 * ms, Connect: 110 * ms, TLS: 114 * ms, Wait: elapsed - 3*ms, Transfer: 3 * ms}
	return probes.Outcome{
		Target: target, Probe: probe, Kind: probes.KindHTTP, Verdict: probes.VerdictPass, Reason: probes.ReasonOK,
		Message: "answered 200 in " + latency(elapsed), Method: "GET", Started: started(), Attempts: []probes.Attempt{a},
		Path: probes.Path{TCPEnds: probes.TCPEndsPeer}, Retry: probes.RetryOutcome{Result: probes.RetryNotNeeded},
	}
}

func rungOK(hold time.Duration) probes.Outcome {
	return probes.Outcome{
		Target: "stock-api", Probe: "calendar-idle", Kind: probes.KindIdle, Verdict: probes.VerdictPass, Reason: probes.ReasonOK,
		Message: "the connection still worked after " + age(hold) + " idle: it answered 200 in 128 ms", Method: "GET", Hold: hold, Started: started(),
		Attempts: []probes.Attempt{warm(), reuse(probes.ReasonOK, 200, 128*ms, hold+300*us)},
		Path:     probes.Path{TCPEnds: probes.TCPEndsPeer}, Retry: probes.RetryOutcome{Result: probes.RetryNotNeeded},
	}
}

// allPass is a healthy target: four rungs around an expected 60 s.
func allPass() probes.Run {
	run := baseRun(121400 * ms)
	run.Outcomes = []probes.Outcome{httpOK("stock-api", "calendar", 131*ms)}
	for _, hold := range []time.Duration{30 * time.Second, 59 * time.Second} {
		o := rungOK(hold)
		o.KeepAlive = time.Minute
		run.Outcomes = append(run.Outcomes, o)
	}
	for _, hold := range []time.Duration{61 * time.Second, 2 * time.Minute} {
		o := rungOK(hold)
		o.KeepAlive, o.Reason, o.ClosedBy = time.Minute, probes.ReasonIdleFIN, "peer"
		o.Message = "the connection was closed by the peer after 60.003 s idle, as expected (60 s)"
		o.Close = &probes.Close{Age: 60003 * ms, How: probes.HowFIN, Resolution: 100 * us}
		o.Attempts = []probes.Attempt{warm(), reuse(probes.ReasonIdleFIN, 0, 300*us, hold), control(200, 127*ms)}
		run.Outcomes = append(run.Outcomes, o)
	}
	run.Outcomes = append(run.Outcomes, httpOK("price-api", "quote", 148*ms))
	run.Idle = []probes.IdleResult{{
		Target: "stock-api", Probe: "calendar-idle", Survived: 59 * time.Second, Died: 61 * time.Second,
		Measured: 60003 * ms, How: probes.HowFIN,
	}}
	run.Budget = []probes.BudgetUse{
		{Target: "stock-api", LimitPerSecond: 2, Requests: 11, PeakPerSecond: 2},
		{Target: "price-api", LimitPerSecond: 1, Requests: 1, PeakPerSecond: 1},
	}
	return run
}

// incident is the one of the mission: a server that closes after 1 s, and an
// Apache client that looks only after 2 s.
func incident() probes.Run {
	run := baseRun(2900 * ms)
	alive := rungOK(500 * ms)
	alive.KeepAlive, alive.Client = 5*time.Second, apache("")
	banded := closedRung(1500*ms, 1001*ms)
	banded.Verdict, banded.Retry.Application = probes.VerdictFail, probes.CoverUncovered
	banded.Retry.Beside = "the retry layer inside RestTemplate sees NoHttpResponseException, before the wrapping: its list does not hold that"
	banded.Client = apache("throws org.apache.http.NoHttpResponseException: api.partner.example failed to respond, which RestTemplate wraps in org.springframework.web.client.ResourceAccessException")
	banded.Message += "; Apache HttpClient 4.5 " + banded.Client.Experiences
	banded.Advice = slices.Insert(banded.Advice, 2,
		"2. Also, for the closes that still cross a request, add `org.apache.http.NoHttpResponseException` and `java.net.SocketException` to the list of the retry layer that calls Apache HttpClient 4.5 (inside RestTemplate: an interceptor or a request factory), for idempotent methods only: the same race can show as either, even if the server has already executed the request.",
		"2b. Or move that retry around RestTemplate, for idempotent methods only: its list covers what comes out there, `org.springframework.web.client.ResourceAccessException`, which wraps every failure of the network, also of what may have been executed.")
	looked := closedRung(2500*ms, 1000*ms)
	looked.Verdict, looked.Client = probes.VerdictFail, apache("notices that it is dead and opens a new connection")
	looked.Hypotheses[5] = probes.Hypothesis{
		ID: probes.HypothesisRetryGap, Ruled: probes.RuledOut,
		Evidence: "Apache HttpClient 4.5 notices that it is dead and opens a new connection: nothing to retry",
	}
	run.Outcomes = []probes.Outcome{httpOK("stock-api", "calendar", 131*ms), alive, banded, looked}
	run.Idle = []probes.IdleResult{{
		Target: "stock-api", Probe: "calendar-idle", Survived: 500 * ms, Died: 1500 * ms, Measured: 1000 * ms, How: probes.HowFIN,
	}}
	run.Budget = []probes.BudgetUse{{Target: "stock-api", LimitPerSecond: 2, Requests: 9, PeakPerSecond: 2}}
	return run
}

func apache(experiences string) *probes.ClientOutcome {
	return &probes.ClientOutcome{
		Kind: "apache-httpclient-4.5", Experiences: experiences, Band: &probes.Band{From: 890 * ms, To: 2 * time.Second},
	}
}

func closedRung(hold, closed time.Duration) probes.Outcome {
	o := rungOK(hold)
	o.KeepAlive = 5 * time.Second
	o.Reason, o.Diagnosis, o.Family = probes.ReasonIdleFIN, probes.DiagnosisEarlyClose, probes.FamilyConnection
	o.ClosedBy = "peer"
	o.Message = "the connection was closed by the peer after " + age(closed) + " idle, before the expected 5 s; reuse at " +
		age(hold) + " failed in 20 ms with nothing answered: the FIN was queued before we wrote, looking first would have seen it; a fresh one worked"
	o.Close = &probes.Close{Age: closed, How: probes.HowFIN, Resolution: 100 * us, AfterReply: closed}
	o.Attempts = []probes.Attempt{warm(), reuse(probes.ReasonIdleFIN, 0, 20*ms, hold), control(200, 127*ms)}
	acked := int64(0)
	o.Attempts[1].RequestBytesAcked, o.Attempts[1].Queued = &acked, true
	o.Attempts[1].Detail = "FIN after 1s idle, 500ms before the request"
	o.Retry.Result = probes.RetryRecovered
	o.Hypotheses = []probes.Hypothesis{
		{ID: probes.HypothesisAPIDown, Ruled: probes.RuledOut, Evidence: "a fresh connection 1 ms later answered 200 in 127 ms"},
		{ID: probes.HypothesisPathBlocks, Ruled: probes.RuledOut, Evidence: "the peer's FIN came through after " + age(closed) + " idle, and a fresh connection 1 ms later answered 200: a block would not have let the fresh connection pass"},
		{ID: probes.HypothesisOwnPod, Ruled: probes.RuledOut, Evidence: "it happens without a busy pod too: perch was delayed by at most 0.1 ms, throttled for 0 ms; perch's own: 23 of 1024 file descriptors, 14 of 28232 local ports in use"},
		{ID: probes.HypothesisStalePool, Ruled: probes.RuledIn, Evidence: "it ended at " + age(closed) + " idle, and Apache HttpClient 4.5 still uses what is idle for 890 ms to 2 s (110 ms before the close: round trip and timer accuracy)"},
		{ID: probes.HypothesisRateLimit, Ruled: probes.RuledOut, Evidence: "perch met no 429 in the 2 answers of this rung; it sent 9 requests in this run, at most 2 in a second; its budget is 2/s"},
		{ID: probes.HypothesisRetryGap, Ruled: probes.RuledIn, Evidence: "the retry list lacks org.apache.http.NoHttpResponseException, which a retry inside RestTemplate sees"},
	}
	o.Advice = []string{
		"1. Set Apache HttpClient 4.5's idle limit (max_idle in perch's config) none -> 750 ms: `HttpClientBuilder.create().setKeepAliveStrategy((response, context) -> 750)`, in Spring Boot by the @Bean in docs/clients.md, under Apache HttpClient 4.5. The path closes after 1 s (measured); less 220 ms for round trip and ticks, rounded down: 750 ms.",
		"1b. Or only look earlier, validate_after 2 s -> 750 ms: `manager.setValidateAfterInactivity(750)`: call it on the connection manager that you already pass to setConnectionManager; a new one would have the default pool limits. A close that crosses the request slips through.",
		"3. For the API's owner: the path ends idle connections before the 5 s that perch's config (`keep_alive: 5s`) expects. Ask whether that is meant; if so, correct the config. Until then (keep_alive: 1s, or an API that keeps connections for 5 s) perch fails this probe, whatever the client does; a client that is safe has no danger band.",
		"Mind: HttpClientBuilder.evictIdleConnections only looks once every max idle time, from its own thread, so that a connection can be up to twice as old: use it beside the strategy, not in its place.",
	}
	o.Notice = probes.NoticeInfo{Owner: "team-stock", Runbook: "https://wiki.example/stock-api"}
	return o
}

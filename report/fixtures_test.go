package report

import (
	"net/netip"
	"time"

	"perch.example/probes"
)

// The runs below are what the golden files show. Their values are those of
// real runs against a server of the kind each is named after.

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
		Number: number, Connection: c, Reason: r, Method: "GET", Status: status, Elapsed: elapsed, RTT: 110 * ms,
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
		Message: "answered 200 as expected", Method: "GET", Started: started(), Attempts: []probes.Attempt{a},
		Path: probes.Path{TCPEnds: probes.TCPEndsPeer}, Retry: probes.RetryOutcome{Result: probes.RetryNotNeeded},
	}
}

func rungOK(hold time.Duration) probes.Outcome {
	return probes.Outcome{
		Target: "stock-api", Probe: "calendar-idle", Kind: probes.KindIdle, Verdict: probes.VerdictPass, Reason: probes.ReasonOK,
		Message: "a connection idle for " + age(hold) + " still worked", Method: "GET", Hold: hold, Started: started(),
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
		o.Message = "closed after 60.003 s, as expected"
		o.Close = &probes.Close{Age: 60003 * ms, How: probes.HowFIN, Resolution: 100 * us}
		o.Attempts = []probes.Attempt{warm(), reuse(probes.ReasonIdleFIN, 0, 300*us, hold), control(200, 127*ms)}
		run.Outcomes = append(run.Outcomes, o)
	}
	run.Outcomes = append(run.Outcomes, httpOK("price-api", "quote", 48*ms))
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
	client := func(experiences string) *probes.ClientOutcome {
		return &probes.ClientOutcome{
			Kind: "apache-httpclient-4.5", Experiences: experiences,
			Band: &probes.Band{From: 891 * ms, To: 2 * time.Second},
		}
	}
	alive := rungOK(500 * ms)
	alive.Client = client("")
	banded := closedRung(1500*ms, 1001*ms)
	banded.Verdict = probes.VerdictFail
	banded.Client = client("org.apache.http.NoHttpResponseException: api.partner.example:443 failed to respond")
	banded.Retry.Application = probes.CoverUncovered
	looked := closedRung(2500*ms, 1000*ms)
	looked.Verdict = probes.VerdictPass
	looked.Diagnosis, looked.Family, looked.Hypotheses, looked.Advice = "", "", nil, nil
	looked.Client = client("")
	run.Outcomes = []probes.Outcome{httpOK("stock-api", "calendar", 131*ms), alive, banded, looked}
	run.Idle = []probes.IdleResult{{
		Target: "stock-api", Probe: "calendar-idle", Survived: 500 * ms, Died: 1500 * ms, Measured: 1001 * ms, How: probes.HowFIN,
	}}
	run.Budget = []probes.BudgetUse{{Target: "stock-api", LimitPerSecond: 2, Requests: 9, PeakPerSecond: 2}}
	return run
}

func closedRung(hold, closed time.Duration) probes.Outcome {
	o := rungOK(hold)
	o.Reason, o.Diagnosis, o.Family = probes.ReasonIdleFIN, probes.DiagnosisEarlyClose, probes.FamilyConnection
	o.ClosedBy = "peer"
	o.Message = "The peer closed the idle connection after " + age(closed) + "; a request on it at " + age(hold) +
		" got no answer, a fresh connection worked at once."
	o.Close = &probes.Close{Age: closed, How: probes.HowFIN, Resolution: 100 * us}
	o.Attempts = []probes.Attempt{warm(), reuse(probes.ReasonIdleFIN, 0, 20*ms, hold), control(200, 127*ms)}
	acked := int64(0)
	o.Attempts[1].RequestBytesAcked, o.Attempts[1].Queued = &acked, true
	o.Retry.Result = probes.RetryRecovered
	o.Hypotheses = []probes.Hypothesis{
		{ID: probes.HypothesisAPIDown, Ruled: probes.RuledOut, Evidence: "a fresh connection answered 200 in 127 ms, right after the failure"},
		{ID: probes.HypothesisPathBlocks, Ruled: probes.RuledOut, Evidence: "the peer itself closed: its FIN came 1.001 s into the hold"},
		{ID: probes.HypothesisOwnPod, Ruled: probes.RuledOut, Evidence: "perch woke 0.1 ms late; the failure took 20 ms"},
		{ID: probes.HypothesisStalePool, Ruled: probes.RuledIn, Evidence: "closed at 1.001 s of idleness; the client uses connections without looking up to 2 s"},
		{ID: probes.HypothesisRateLimit, Ruled: probes.RuledOut, Evidence: "no 429; 2 requests/s at most, 10% of the allowed 20/s"},
		{ID: probes.HypothesisRetryGap, Ruled: probes.RuledIn, Evidence: "NoHttpResponseException is in none of the 2 listed errors"},
	}
	o.Advice = []string{
		"evict idle connections before 891 ms: PoolingHttpClientConnectionManager with setConnectionTimeToLive(800, MILLISECONDS)",
		"look before each reuse: setValidateAfterInactivity(500)",
		"add org.apache.http.NoHttpResponseException to the retry policy's errors (GET only)",
	}
	o.Notice = probes.NoticeInfo{Owner: "team-stock", Runbook: "https://wiki.example/stock-api"}
	return o
}

// silentDrop is a NAT that forgets between 30 and 61 s.
func silentDrop() probes.Run {
	run := baseRun(126500 * ms)
	run.Outcomes = []probes.Outcome{rungOK(30 * time.Second), dropped(61 * time.Second), dropped(2 * time.Minute)}
	for i := range run.Outcomes {
		run.Outcomes[i].KeepAlive = time.Minute
	}
	run.Idle = []probes.IdleResult{{
		Target: "stock-api", Probe: "calendar-idle", Survived: 30 * time.Second, Died: 61 * time.Second, How: probes.HowSilent,
	}}
	run.Budget = []probes.BudgetUse{{Target: "stock-api", LimitPerSecond: 2, Requests: 8, PeakPerSecond: 2}}
	return run
}

func dropped(hold time.Duration) probes.Outcome {
	o := rungOK(hold)
	o.Verdict, o.Reason, o.Diagnosis, o.Family = probes.VerdictFail, probes.ReasonBlackhole, probes.DiagnosisSilentDrop, probes.FamilyConnection
	o.Message = "A request on a connection idle for " + age(hold) + " vanished: no answer and no acknowledgement in 5 s; a fresh connection worked at once."
	o.Attempts = []probes.Attempt{warm(), reuse(probes.ReasonBlackhole, 0, 5*time.Second, hold), control(200, 129*ms)}
	acked := int64(0)
	o.Attempts[1].RequestBytesAcked = &acked
	o.Retry.Result = probes.RetryRecovered
	o.Hypotheses = []probes.Hypothesis{
		{ID: probes.HypothesisAPIDown, Ruled: probes.RuledOut, Evidence: "a fresh connection answered 200 in 129 ms"},
		{ID: probes.HypothesisPathBlocks, Ruled: probes.RuledIn, Evidence: "0 of 231 request bytes acknowledged, sent 5 times over"},
		{ID: probes.HypothesisOwnPod, Ruled: probes.RuledOut, Evidence: "perch woke 0.2 ms late; the failure took 5 s"},
		{ID: probes.HypothesisStalePool, Ruled: probes.RuledIn, Evidence: "died in silence at an idle age below " + age(hold) + ", and the control worked"},
		{ID: probes.HypothesisRateLimit, Ruled: probes.RuledOut, Evidence: "no 429; 2 requests/s at most, 10% of the allowed 20/s"},
		{ID: probes.HypothesisRetryGap, Ruled: probes.RuledOpen, Evidence: "no client declared"},
	}
	o.Advice = []string{
		"keep idle connections for less than 30 s, or send TCP keep-alive packets more often than every 30 s",
		"do not rely on validation before reuse: it cannot see a connection that dies in silence",
	}
	return o
}

// serviceDown refuses every connection, for both kinds of probe.
func serviceDown() probes.Run {
	run := baseRun(1200 * ms)
	refused := func(number int) probes.Attempt {
		a := try(number, probes.ConnectionFresh, probes.ReasonRefused, 0, 300*us)
		a.RequestBytes, a.RequestBytesAcked, a.RTT, a.Started = 0, nil, 0, time.Time{}
		a.Phases = probes.Phases{DNS: 2 * ms, Connect: 300 * us}
		a.Detail = "dial tcp 192.0.2.10:443: connect: connection refused"
		return a
	}
	down := httpOK("stock-api", "calendar", 0)
	down.Verdict, down.Reason, down.Diagnosis, down.Family = probes.VerdictFail, probes.ReasonRefused, probes.DiagnosisUnreachable, probes.FamilyReachability
	down.Message = "The host refused the connection, twice."
	down.Attempts = []probes.Attempt{refused(1), refused(2)}
	down.Retry.Result = probes.RetryFailed
	down.Hypotheses = []probes.Hypothesis{
		{ID: probes.HypothesisAPIDown, Ruled: probes.RuledIn, Evidence: "fresh connections were refused, 2 of 2"},
		{ID: probes.HypothesisPathBlocks, Ruled: probes.RuledOut, Evidence: "the host answered: it refused"},
		{ID: probes.HypothesisOwnPod, Ruled: probes.RuledOut, Evidence: "perch was 0.1 ms late"},
		{ID: probes.HypothesisStalePool, Ruled: probes.RuledOut, Evidence: "it fails on fresh connections"},
		{ID: probes.HypothesisRateLimit, Ruled: probes.RuledOut, Evidence: "no 429; 1 request/s at most"},
		{ID: probes.HypothesisRetryGap, Ruled: probes.RuledOpen, Evidence: "no client declared"},
	}
	down.Advice = []string{"nothing in the client: the pool is not the cause. Ask the API's owner what listens on 192.0.2.10:443"}
	run.Outcomes = []probes.Outcome{down}
	for _, hold := range []time.Duration{30 * time.Second, 61 * time.Second} {
		o := down
		o.Probe, o.Kind, o.Hold, o.Attempts = "calendar-idle", probes.KindIdle, hold, []probes.Attempt{refused(1)}
		o.Message = "The opening request could not connect: the host refused."
		o.Retry.Result = probes.RetryNotTried
		run.Outcomes = append(run.Outcomes, o)
	}
	run.Outcomes = append(run.Outcomes, httpOK("price-api", "quote", 48*ms))
	run.Budget = []probes.BudgetUse{
		{Target: "stock-api", LimitPerSecond: 2}, {Target: "price-api", LimitPerSecond: 1, Requests: 1, PeakPerSecond: 1},
	}
	return run
}

// incomplete is cut by its deadline while two rungs are held.
func incomplete() probes.Run {
	run := baseRun(40 * time.Second)
	run.CutShort = "the deadline of 40 s passed"
	run.Outcomes = []probes.Outcome{httpOK("stock-api", "calendar", 131*ms), rungOK(30 * time.Second)}
	for _, hold := range []time.Duration{61 * time.Second, 2 * time.Minute} {
		o := rungOK(hold)
		o.Verdict, o.Reason, o.Family = probes.VerdictIncomplete, probes.ReasonCanceled, probes.FamilyOwn
		o.Message = "The hold was cut short by the deadline."
		o.Attempts = []probes.Attempt{warm()}
		o.Retry = probes.RetryOutcome{Result: probes.RetryNotTried}
		for _, id := range hypothesisIDs() {
			o.Hypotheses = append(o.Hypotheses, probes.Hypothesis{ID: id, Ruled: probes.RuledOpen, Evidence: "the rung did not end"})
		}
		run.Outcomes = append(run.Outcomes, o)
	}
	run.Idle = []probes.IdleResult{{Target: "stock-api", Probe: "calendar-idle", Survived: 30 * time.Second}}
	run.Budget = []probes.BudgetUse{{Target: "stock-api", LimitPerSecond: 2, Requests: 5, PeakPerSecond: 2}}
	return run
}

func hypothesisIDs() []probes.HypothesisID {
	return []probes.HypothesisID{
		probes.HypothesisAPIDown, probes.HypothesisPathBlocks, probes.HypothesisOwnPod,
		probes.HypothesisStalePool, probes.HypothesisRateLimit, probes.HypothesisRetryGap,
	}
}

// withProblems passes, but perch could not do all of its own part.
func withProblems() probes.Run {
	run := baseRun(700 * ms)
	skipped := probes.Outcome{
		Target: "price-api", Probe: "quote", Kind: probes.KindHTTP, Verdict: probes.VerdictSkipped, Reason: probes.ReasonSkipped,
		Message: "not tried: the answer at 00:00:00 asked to wait 2 min (Retry-After)", Family: probes.FamilyOwn,
	}
	run.Outcomes = []probes.Outcome{httpOK("stock-api", "calendar", 131*ms), skipped}
	run.NotDue = []string{"stock-api/calendar-idle"}
	run.Budget = []probes.BudgetUse{
		{Target: "stock-api", LimitPerSecond: 2, Requests: 1, PeakPerSecond: 1, Waited: 40 * ms},
		{Target: "price-api", LimitPerSecond: 1, Denied: 2},
	}
	run.Problems = []probes.Problem{
		{Part: probes.PartPush, Text: "pushing to the Pushgateway: status 503, want 200"},
		{Part: probes.PartNotices, Text: "sending to Slack: no answer in 5 s; it will be sent again in the next run"},
	}
	run.Delays = []time.Duration{ms, 84 * ms, 2 * ms}
	return run
}

// search is what `perch idle` hands over: three connections, held to their
// first close.
func search() (probes.Run, []probes.ClientOutcome) {
	run := baseRun(3400 * ms)
	run.Name, run.Vantage = "", ""
	for _, closed := range []time.Duration{3000 * ms, 3001 * ms, 2998 * ms} {
		o := closedRung(closed, closed)
		o.Target, o.Probe, o.Verdict, o.Search, o.Hold = "https://api.partner.example/ping", "idle", probes.VerdictPass, true, 6*time.Minute
		o.Diagnosis, o.Family, o.Hypotheses, o.Advice, o.Notice = "", "", nil, nil, probes.NoticeInfo{}
		run.Outcomes = append(run.Outcomes, o)
	}
	run.Idle = []probes.IdleResult{{
		Target: "https://api.partner.example/ping", Probe: "idle", Died: 2998 * ms, Measured: 3000 * ms, Advertised: 2 * time.Second, How: probes.HowFIN,
	}}
	run.Budget = []probes.BudgetUse{{Target: "https://api.partner.example/ping", LimitPerSecond: 1, Requests: 9, PeakPerSecond: 1}}
	return run, []probes.ClientOutcome{
		{Kind: "apache-httpclient-4.5"},
		{Kind: "node-http", Band: &probes.Band{From: 2890 * ms, Open: true}, Experiences: "Error: socket hang up (ECONNRESET)"},
		{Kind: "go-net-http", Band: &probes.Band{From: 2890 * ms, To: 90 * time.Second}},
		{Kind: "python-requests", Band: &probes.Band{From: 2890 * ms, Open: true}, Experiences: "requests.exceptions.ConnectionError: ('Connection aborted.', RemoteDisconnected('Remote end closed connection without response'))"},
	}
}

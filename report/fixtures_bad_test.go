package report

import (
	"time"

	"perch.example/probes"
)

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
	o.Message = "the connection was dead without a word after " + age(hold) + " idle: nothing acknowledged the request in 5 s; a fresh one worked"
	o.Attempts = []probes.Attempt{warm(), reuse(probes.ReasonBlackhole, 0, 5*time.Second, hold), control(200, 129*ms)}
	acked := int64(0)
	o.Attempts[1].RequestBytesAcked = &acked
	o.Retry = probes.RetryOutcome{Result: probes.RetryRecovered, Application: probes.CoverUnknown}
	o.Hypotheses = []probes.Hypothesis{
		{ID: probes.HypothesisAPIDown, Ruled: probes.RuledOut, Evidence: "a fresh connection 1 ms later answered 200 in 129 ms"},
		{ID: probes.HypothesisPathBlocks, Ruled: probes.RuledIn, Evidence: "nothing acknowledged the 231 bytes sent, for 5 s; a fresh connection 1 ms later answered 200: the path lost this connection only"},
		{ID: probes.HypothesisOwnPod, Ruled: probes.RuledOut, Evidence: "it happens without a busy pod too: perch was delayed by at most 0.1 ms, throttled for 0 ms; perch's own: 23 of 1024 file descriptors, 14 of 28232 local ports in use"},
		{ID: probes.HypothesisStalePool, Ruled: probes.RuledIn, Evidence: "it ended at " + age(hold) + " idle, and a fresh connection 1 ms later answered 200"},
		{ID: probes.HypothesisRateLimit, Ruled: probes.RuledOut, Evidence: "perch met no 429 in the 2 answers of this rung; it sent 8 requests in this run, at most 2 in a second; its budget is 2/s"},
		{ID: probes.HypothesisRetryGap, Ruled: probes.RuledOpen, Evidence: "what the application makes of blackhole is not known: no client is declared"},
	}
	o.Advice = []string{
		"1. Keep the longest idle time at or below 30 s, or send TCP keep-alive at least that often. The real bound lies between 30 s, which worked, and 61 s. Looking at the connection before use does not help: nothing was sent when it was forgotten.",
		"2. Repeat only what is idempotent: where only the acknowledgements were lost, the request has been executed.",
	}
	return o
}

// serviceDown refuses every connection, for both kinds of probe.
func serviceDown() probes.Run {
	run := baseRun(1200 * ms)
	refused := func(number int) probes.Attempt {
		a := try(number, probes.ConnectionFresh, probes.ReasonRefused, 0, 300*us)
		a.RequestBytes, a.RequestBytesAcked, a.RTT, a.MinRTT, a.Started = 0, nil, 0, 0, time.Time{}
		a.Phases = probes.Phases{DNS: 2 * ms, Connect: 300 * us}
		a.Detail = "dial tcp 192.0.2.10:443: connect: connection refused"
		return a
	}
	down := httpOK("stock-api", "calendar", 0)
	down.Verdict, down.Reason, down.Diagnosis, down.Family = probes.VerdictFail, probes.ReasonRefused, probes.DiagnosisUnreachable, probes.FamilyReachability
	down.Message = "a fresh connection failed after 0.3 ms: the connection was refused (dial tcp 192.0.2.10:443: connect: connection refused); a second one failed too: the connection was refused"
	down.Attempts = []probes.Attempt{refused(1), refused(2)}
	down.Retry.Result = probes.RetryFailed
	down.Hypotheses = []probes.Hypothesis{
		{ID: probes.HypothesisAPIDown, Ruled: probes.RuledIn, Evidence: "two fresh connections failed, after 0.3 ms and 0.3 ms: the connection was refused"},
		{ID: probes.HypothesisPathBlocks, Ruled: probes.RuledOpen, Evidence: "the connect was refused after 0.3 ms: by the API's host, or by a firewall that rejects"},
		{ID: probes.HypothesisOwnPod, Ruled: probes.RuledOut, Evidence: "it happens without a busy pod too: perch was delayed by at most 0.1 ms, throttled for 0 ms; perch's own: 23 of 1024 file descriptors, 14 of 28232 local ports in use"},
		{ID: probes.HypothesisStalePool, Ruled: probes.RuledOut, Evidence: "a fresh connection, 0 s idle, failed after 0.3 ms: the connection was refused"},
		{ID: probes.HypothesisRateLimit, Ruled: probes.RuledOut, Evidence: "no 429; it sent 0 requests, at most 0 in a second; its budget is 2/s"},
		{ID: probes.HypothesisRetryGap, Ruled: probes.RuledOpen, Evidence: "what the application makes of refused is not known: no client is declared"},
	}
	down.Advice = []string{"It is not the connection pool: a fresh connection failed as well. Stop looking there, and ask the API's owner or whoever runs the path."}
	run.Outcomes = []probes.Outcome{down}
	for _, hold := range []time.Duration{30 * time.Second, 61 * time.Second} {
		o := down
		o.Probe, o.Kind, o.Hold, o.Attempts = "calendar-idle", probes.KindIdle, hold, []probes.Attempt{refused(1)}
		o.Message = "the warm-up on a fresh connection failed after 0.3 ms: the connection was refused (dial tcp 192.0.2.10:443: connect: connection refused)"
		o.Retry.Result = probes.RetryNotTried
		run.Outcomes = append(run.Outcomes, o)
	}
	run.Outcomes = append(run.Outcomes, httpOK("price-api", "quote", 148*ms))
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
		o.Message = "not judged: the run was cut short (the deadline of 40 s passed)"
		o.Attempts = []probes.Attempt{warm()}
		o.Retry = probes.RetryOutcome{Result: probes.RetryNotTried}
		for _, id := range hypothesisIDs() {
			o.Hypotheses = append(o.Hypotheses, probes.Hypothesis{
				ID: id, Ruled: probes.RuledOpen, Evidence: "1 request was made: the run was cut short",
			})
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
		Message: "not judged: it was not tried (the API asked to wait 2 min)", Family: probes.FamilyOwn,
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
	run.Delays = []time.Duration{ms, 84 * ms, 2 * ms} // nothing failed: not said
	return run
}

// nothingDue is a run between the probes' times.
func nothingDue() probes.Run {
	run := baseRun(100 * ms)
	run.NotDue = []string{"stock-api/calendar", "stock-api/calendar-idle"}
	return run
}

// noKeepAlive is an API that ends each connection.
func noKeepAlive() probes.Run {
	run := baseRun(300 * ms)
	for _, hold := range []time.Duration{30 * time.Second, 61 * time.Second} {
		o := rungOK(hold)
		o.Verdict, o.Reason, o.Diagnosis, o.Family = probes.VerdictSkipped, probes.ReasonNoKeepAlive, probes.DiagnosisNoKeepAlive, probes.FamilyConnection
		o.Message = "the answer ends its connection, so nothing can be held idle"
		o.Attempts = []probes.Attempt{warm()}
		o.Attempts[0].Reason, o.Attempts[0].CloseAfter = probes.ReasonNoKeepAlive, true
		o.Attempts[0].Detail = "the answer ends its connection: nothing can be held" // the message says it
		run.Outcomes = append(run.Outcomes, o)
	}
	run.Budget = []probes.BudgetUse{{Target: "stock-api", LimitPerSecond: 0.5, Requests: 2, PeakPerSecond: 1}}
	return run
}

// undeclared closes each connection right after its answer, without saying so;
// the last rung was not tried.
func undeclared() probes.Run {
	run := baseRun(2900 * ms)
	for _, hold := range []time.Duration{500 * ms, 1500 * ms} {
		o := closedRung(hold, 700*us)
		o.Verdict, o.Diagnosis, o.Hypotheses = probes.VerdictDegraded, probes.DiagnosisUndeclaredClose, nil
		o.Advice = []string{"1. Limit how often or how long a connection is reused. Lowering the idle limit does not help, since idleness is not the cause.", "2. For the API's owner: the answer before should have said Connection: close."}
		run.Outcomes = append(run.Outcomes, o)
	}
	skipped := rungOK(2500 * ms)
	skipped.Verdict, skipped.Reason, skipped.Family, skipped.Attempts = probes.VerdictSkipped, probes.ReasonSkipped, probes.FamilyOwn, nil
	skipped.Message = "not judged: it was not tried (the budget has no gap within 10 s)"
	run.Outcomes = append(run.Outcomes, skipped)
	run.Idle = []probes.IdleResult{{Target: "stock-api", Probe: "calendar-idle", Died: 500 * ms, Measured: 700 * us, How: probes.HowFIN}}
	run.Budget = []probes.BudgetUse{{Target: "stock-api", LimitPerSecond: 1, Requests: 6, PeakPerSecond: 2, Denied: 1}}
	return run
}

// mixed has two ways to fail in one target: an answer that changed, on two
// probes, and a certificate that ends soon.
func mixed() probes.Run {
	run := baseRun(900 * ms)
	bad := func(probe, detail string) probes.Outcome {
		o := httpOK("stock-api", probe, 131*ms)
		o.Verdict, o.Reason, o.Diagnosis, o.Family = probes.VerdictFail, probes.ReasonExpectation, probes.DiagnosisContract, probes.FamilyContract
		o.Attempts[0].Reason, o.Attempts[0].Detail = probes.ReasonExpectation, detail
		o.Message = "a fresh connection failed after 131 ms: the answer was not as expected (" + detail + ")"
		o.Hypotheses = []probes.Hypothesis{
			{ID: probes.HypothesisAPIDown, Ruled: probes.RuledOut, Evidence: "it answered 200 in 131 ms"},
			{ID: probes.HypothesisPathBlocks, Ruled: probes.RuledOut, Evidence: "the peer answered 200 in 131 ms"},
			{ID: probes.HypothesisOwnPod, Ruled: probes.RuledOut, Evidence: "it happens without a busy pod too: perch was delayed by at most 0.1 ms, throttled for 0 ms; perch's own: 23 of 1024 file descriptors, 14 of 28232 local ports in use"},
			{ID: probes.HypothesisStalePool, Ruled: probes.RuledOut, Evidence: "a fresh connection, 0 s idle, answered 200 in 131 ms"},
			{ID: probes.HypothesisRateLimit, Ruled: probes.RuledOut, Evidence: "perch met no 429 in the 1 answer of this rung; it sent 3 requests in this run, at most 2 in a second; its budget is 2/s"},
			{ID: probes.HypothesisRetryGap, Ruled: probes.RuledOut, Evidence: "a retry would meet the same: it answered 200 in 131 ms"},
		}
		o.Advice = []string{"Compare the answer with the probe's expectations: the API answers, but not what was agreed."}
		return o
	}
	old := httpOK("stock-api", "login", 128*ms)
	old.Verdict, old.Diagnosis, old.Family = probes.VerdictDegraded, probes.DiagnosisCertificate, probes.FamilyCertificate
	old.Message = "answered 200 in 128 ms, but the certificate expires in 12 days (2026-03-14 00:00 UTC)"
	old.Advice = []string{"For the API's owner: renew the certificate before 2026-03-14 00:00 UTC."}
	retried := httpOK("price-api", "quote", 148*ms)
	retried.Verdict, retried.Reason, retried.Diagnosis, retried.Family = probes.VerdictDegraded, probes.ReasonReset, probes.DiagnosisUnstable, probes.FamilyReachability
	retried.Message = "a fresh connection failed after 21 ms: the connection was reset without an answer; another one 0.2 s later answered 200 in 148 ms"
	retried.Attempts = []probes.Attempt{try(1, probes.ConnectionFresh, probes.ReasonReset, 0, 21*ms), retried.Attempts[0]}
	retried.Retry.Result = probes.RetryRecovered
	run.Outcomes = []probes.Outcome{
		bad("calendar", "size(json.days) == 2: got 1"), old, bad("stores", "json.stores[0].name: no such key"), retried,
	}
	run.Delays = []time.Duration{ms, 235 * ms}
	run.Incidents = incidents()
	run.Notices = []string{"1 notice waits to be told, since 2026-03-01 23:55 UTC"}
	return run
}

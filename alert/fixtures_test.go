package alert

import (
	"encoding/json"
	"net/netip"
	"testing"
	"time"

	"perch.example/probes"
)

const ms = time.Millisecond

func noon() time.Time { return time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC) }

// exchange is one attempt against the partner's API, 110 ms away.
func exchange(c probes.Connection, r probes.Reason, elapsed time.Duration) probes.Attempt {
	a := probes.Attempt{
		Connection: c, Reason: r, Method: "GET", Started: noon(), Elapsed: elapsed, RTT: 110 * ms,
		Detail:  "read tcp 10.0.4.17:43122->192.0.2.10:443: hunter2", // never shown
		Local:   netip.MustParseAddrPort("10.0.4.17:43122"),
		Remote:  netip.MustParseAddrPort("192.0.2.10:443"),
		TraceID: "4bf92f3577b34da6a3ce929d0e0e4736", SpanID: "00f067aa0ba902b7",
	}
	if r == probes.ReasonOK {
		a.Status, a.Proto, a.ResponseBytes = 200, "HTTP/1.1", 1874
	}
	return a
}

// rung is a held connection that worked.
func rung(hold time.Duration) probes.Outcome {
	reused := exchange(probes.ConnectionReused, probes.ReasonOK, 128*ms)
	reused.IdleTime = hold + 300*time.Microsecond
	return probes.Outcome{
		Target: "stock-api", Probe: "calendar-idle", Kind: probes.KindIdle, Method: "GET", Hold: hold, KeepAlive: time.Minute, Started: noon(),
		Verdict: probes.VerdictPass, Reason: probes.ReasonOK, Message: "the idle connection still worked",
		Attempts: []probes.Attempt{exchange(probes.ConnectionFresh, probes.ReasonOK, 131*ms), reused},
		Path:     probes.Path{TCPEnds: probes.TCPEndsPeer},
		Retry:    probes.RetryOutcome{Result: probes.RetryNotNeeded},
		Notice: probes.NoticeInfo{
			Owner: "team-stock", Severity: "page", Runbook: "https://wiki.example/stock-api",
			URL: "https://api.partner.example/v1/calendar?days=2&key=hunter2",
		},
	}
}

// closedRung is one that the peer had closed before it was used again.
func closedRung(hold, closed time.Duration) probes.Outcome {
	o := rung(hold)
	o.Reason, o.ClosedBy = probes.ReasonIdleFIN, "peer"
	o.Close = &probes.Close{Age: closed, At: noon().Add(closed), How: probes.HowFIN, Resolution: 100 * time.Microsecond, AfterReply: closed}
	reused := exchange(probes.ConnectionReused, probes.ReasonIdleFIN, 300*time.Microsecond)
	reused.IdleTime, reused.Queued = hold, true
	o.Attempts = []probes.Attempt{o.Attempts[0], reused, exchange(probes.ConnectionControl, probes.ReasonOK, 349*ms)}
	o.Retry.Result = probes.RetryRecovered
	return o
}

// apache is the application's client, which looks only after 2 s.
func apache(experiences string) *probes.ClientOutcome {
	return &probes.ClientOutcome{Kind: "apache-httpclient-4.5", Experiences: experiences, Band: &probes.Band{From: 891 * ms, To: 2 * time.Second}}
}

// banded is the rung of the incident: inside the danger band.
func banded() probes.Outcome {
	o := closedRung(1500*ms, 1001*ms)
	o.Verdict, o.Diagnosis, o.Family = probes.VerdictFail, probes.DiagnosisEarlyClose, probes.FamilyConnection
	const throws = "throws org.apache.http.NoHttpResponseException: api.partner.example failed to respond, which RestTemplate wraps in org.springframework.web.client.ResourceAccessException"
	o.Message = "the connection was closed by the peer after 1.001 s idle (earliest: 1 s), before the expected 60 s; reuse at 1.5 s failed in 0.3 ms with nothing answered: the FIN was queued before we wrote, looking first would have seen it; a fresh one worked; Apache HttpClient 4.5 " + throws
	o.Client = apache(throws)
	o.Retry.Application = probes.CoverUncovered
	o.Retry.Beside = "the retry layer inside RestTemplate sees NoHttpResponseException, before the wrapping: its list does not hold that"
	o.Hypotheses = []probes.Hypothesis{
		{ID: probes.HypothesisAPIDown, Ruled: probes.RuledOut, Evidence: "a fresh connection 1 ms later answered 200 in 349 ms"},
		{ID: probes.HypothesisPathBlocks, Ruled: probes.RuledOut, Evidence: "the peer's FIN came through after 1.001 s idle, and a fresh connection 1 ms later answered 200: a block would not have let the fresh connection pass"},
		{ID: probes.HypothesisOwnPod, Ruled: probes.RuledOut, Evidence: "it happens without a busy pod too: perch was delayed by at most 0.1 ms, throttled for 0 ms; perch's own: 23 of 1024 file descriptors, 14 of 28232 local ports in use"},
		{ID: probes.HypothesisStalePool, Ruled: probes.RuledIn, Evidence: "it ended at 1.001 s idle (earliest: 1 s), and Apache HttpClient 4.5 still uses what is idle for 891 ms to 2 s (109 ms before the close: round trip and timer accuracy)"},
		{ID: probes.HypothesisRateLimit, Ruled: probes.RuledOut, Evidence: "perch met no 429 in the 2 answers of this rung; it sent 9 requests in this run, at most 2 in a second; its budget is 2/s"},
		{ID: probes.HypothesisRetryGap, Ruled: probes.RuledIn, Evidence: "the retry list lacks org.apache.http.NoHttpResponseException, which a retry inside RestTemplate sees"},
	}
	o.Advice = []string{
		"1. Set Apache HttpClient 4.5's idle limit (max_idle in perch's config) none -> 750 ms: `HttpClientBuilder.create().setKeepAliveStrategy((response, context) -> 750)`, in Spring Boot by the @Bean in docs/clients.md, under Apache HttpClient 4.5. The path closes after 1 s (measured); less 218 ms for round trip and ticks, rounded down: 750 ms.",
		"1b. Or only look earlier, validate_after 2 s -> 750 ms: `manager.setValidateAfterInactivity(750)`: call it on the connection manager that you already pass to setConnectionManager; a new one would have the default pool limits. A close that crosses the request slips through.",
		"2. Also, for the closes that still cross a request, add `org.apache.http.NoHttpResponseException` and `java.net.SocketException` to the list of the retry layer that calls Apache HttpClient 4.5 (inside RestTemplate: an interceptor or a request factory), for idempotent methods only: the same race can show as either, even if the server has already executed the request.",
		"2b. Or move that retry around RestTemplate, for idempotent methods only: its list covers what comes out there, `org.springframework.web.client.ResourceAccessException`, which wraps every failure of the network, also of what may have been executed.",
		"2c. Or turn Apache HttpClient 4.5's automatic retries on again (without `disableAutomaticRetries()`): after such an end they repeat idempotent methods only, a GET among them, even if the server has executed it; no POST.",
		"3. For the API's owner: the path ends idle connections before the 60 s that perch's config (`keep_alive: 1m`) expects. Ask whether that is meant; if so, correct the config. Until then (keep_alive: 1s, or an API that keeps connections for 60 s) perch fails this probe, whatever the client does; a client that is safe has no danger band.",
	}
	return o
}

// incident is the mission's: a server that closes after 1 s, a client that
// looks only after 2 s, a retry list that misses the exception.
func incident() probes.Run {
	looks := closedRung(2500*ms, 1000*ms)
	looks.Verdict, looks.Client = probes.VerdictPass, apache("notices that it is dead and opens a new connection")
	alive := rung(500 * ms)
	alive.Client = apache("")
	return runOf(alive, banded(), looks)
}

// mended is the incident's target after its server's timeout was raised.
func mended() probes.Run { return runOf(rung(500*ms), rung(1500*ms), rung(2500*ms)) }

func runOf(outcomes ...probes.Outcome) probes.Run {
	return probes.Run{
		Version: "0.1.0", Name: "shop", Vantage: "prod-tokyo", RunID: "7c9e6679f3a1", Seed: 42,
		Started: noon(), Finished: noon().Add(4 * time.Second), Outcomes: outcomes,
	}
}

// single is the outcome of a probe with one exchange.
func single(target, probe string, v probes.Verdict, d probes.Diagnosis, f probes.Family) probes.Outcome {
	o := probes.Outcome{
		Target: target, Probe: probe, Kind: probes.KindHTTP, Method: "GET", Started: noon(), Verdict: v, Diagnosis: d, Family: f,
		Reason: probes.ReasonOK, Attempts: []probes.Attempt{exchange(probes.ConnectionFresh, probes.ReasonOK, 131*ms)},
		Path: probes.Path{TCPEnds: probes.TCPEndsPeer},
	}
	if v == probes.VerdictFail {
		refused := exchange(probes.ConnectionFresh, probes.ReasonRefused, 300*time.Microsecond)
		refused.RTT = 0
		o.Reason, o.Attempts = probes.ReasonRefused, []probes.Attempt{refused, refused}
		o.Message = "the host refused the connection, twice"
	}
	return o
}

// options are the config's usual ones.
func options(run int) Options {
	return Options{
		FireAfter: 2, ResolveAfter: 2, Mode: ModeNotify, Now: noon().Add(time.Duration(run)*5*time.Minute + 4*time.Second),
		DashboardURL: "https://grafana.example/d/perch?orgId=1", Destinations: []string{"slack"},
	}
}

// at gives a run its place in a sequence that is five minutes apart.
func at(run probes.Run, n int) probes.Run {
	run.Started = noon().Add(time.Duration(n) * 5 * time.Minute)
	return run
}

// decideAll folds runs into an empty memory and tells everything at once; it
// returns the memory and, for each run, what was told.
func decideAll(o func(int) Options, runs ...probes.Run) (Memory, [][]Notice) {
	var m Memory
	var told [][]Notice
	for n, run := range runs {
		var notices []Notice
		m, notices = Decide(m, at(run, n), o(n))
		for _, notice := range notices {
			m = m.told(notice.ID, "slack")
		}
		told = append(told, notices)
	}
	return m, told
}

// remember takes a memory through the state.
func remember(t *testing.T, m Memory) Memory {
	t.Helper()
	content, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	var back Memory
	if err := json.Unmarshal(content, &back); err != nil {
		t.Fatal(err)
	}
	return back
}

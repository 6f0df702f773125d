package diagnose

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"perch.example/probes"
)

// incidentClient is the application of the incident: Apache HttpClient 4.5 that
// looks after 2 s, no automatic retries, and a retry list without
// NoHttpResponseException.
func incidentClient() *probes.Client {
	return &probes.Client{
		Kind: "apache-httpclient-4.5", WrappedBy: "spring-resttemplate",
		MaxIdle:          probes.Limit{Mode: probes.LimitNone},
		ValidateAfter:    probes.Limit{Mode: probes.LimitAfter, After: 2 * time.Second},
		AutomaticRetries: probes.SwitchNone,
		Retry: &probes.RetryPolicy{Layer: probes.LayerInside, Attempts: 3, Errors: []string{
			"org.springframework.web.client.HttpServerErrorException",
			"org.springframework.web.client.ResourceAccessException",
		}},
	}
}

// incident is the ladder against a server that closes after 1 s.
func incident(keepAlive time.Duration, client *probes.Client) Input {
	in := idleInput(keepAlive,
		rungAt(0, 500*time.Millisecond, probes.ReasonOK),
		rungAt(5*time.Second, 1500*time.Millisecond, probes.ReasonIdleFIN).closed(1001*time.Millisecond, probes.HowFIN),
		rungAt(10*time.Second, 2500*time.Millisecond, probes.ReasonIdleFIN).closed(1001*time.Millisecond, probes.HowFIN))
	in.Spec.Client = client
	return in
}

func TestIncident(t *testing.T) {
	outcomes := Judge(incident(time.Minute, incidentClient()))
	if len(outcomes) != 3 {
		t.Fatalf("%d outcomes, want 3", len(outcomes))
	}
	alive, inBand, looked := outcomes[0], outcomes[1], outcomes[2]

	if alive.Verdict != probes.VerdictPass || alive.Client == nil || alive.Client.Experiences != "" {
		t.Errorf("0.5 s: %s %+v", alive.Verdict, alive.Client)
	}
	wantBand := probes.Band{From: 999 * time.Millisecond, To: 2 * time.Second}
	if alive.Client.Band == nil || *alive.Client.Band != wantBand {
		t.Errorf("band %+v, want %+v", alive.Client.Band, wantBand)
	}

	if inBand.Verdict != probes.VerdictFail || inBand.Diagnosis != probes.DiagnosisEarlyClose || inBand.Family != probes.FamilyConnection {
		t.Errorf("1.5 s: %s %s %s", inBand.Verdict, inBand.Diagnosis, inBand.Family)
	}
	if inBand.Retry != (probes.RetryOutcome{Result: probes.RetryRecovered, Application: probes.CoverUncovered,
		Beside: "the retry layer inside RestTemplate sees NoHttpResponseException, before the wrapping: its list does not hold that"}) {
		t.Errorf("1.5 s: retry %+v", inBand.Retry)
	}
	const throws = "throws org.apache.http.NoHttpResponseException: api.partner.example failed to respond, " +
		"which RestTemplate wraps in org.springframework.web.client.ResourceAccessException"
	if inBand.Client.Experiences != throws {
		t.Errorf("1.5 s experiences\n %q, want\n %q", inBand.Client.Experiences, throws)
	}
	const message = "the connection was closed by the peer after 1.001 s idle, before the expected 60 s; " +
		"reuse at 1.5 s failed in 0.2 ms with nothing answered: the FIN was queued before we wrote, looking first would have seen it; a fresh one worked; Apache HttpClient 4.5 " + throws
	if inBand.Message != message {
		t.Errorf("message\n %q, want\n %q", inBand.Message, message)
	}

	if looked.Verdict != probes.VerdictFail || looked.Retry.Application != "" {
		t.Errorf("2.5 s: %s, application %q", looked.Verdict, looked.Retry.Application)
	}
	if got, want := looked.Client.Experiences, "notices that it is dead and opens a new connection"; got != want {
		t.Errorf("2.5 s experiences %q, want %q", got, want)
	}
}

func TestIncidentHypotheses(t *testing.T) {
	o := judgeOne(t, incident(time.Minute, incidentClient()), 1)
	want := []probes.Hypothesis{
		{ID: "api_down", Ruled: "out", Evidence: "a fresh connection 3 ms later answered 200 in 142 ms"},
		{ID: "path_blocks", Ruled: "out", Evidence: "the peer's FIN came through after 1.001 s idle, and a fresh connection 3 ms later answered 200: a block would not have let the fresh connection pass"},
		{ID: "own_pod", Ruled: "out", Evidence: "it happens without a busy pod too: perch was delayed by at most 0.4 ms"},
		{ID: "stale_pool", Ruled: "in", Evidence: "it ended at 1.001 s idle, and Apache HttpClient 4.5 still uses what is idle for 999 ms to 2 s (2 ms before the close: round trip and timer accuracy)"},
		{ID: "rate_limit", Ruled: "out", Evidence: "perch met no 429 in the 2 answers of this rung; it sent 12 requests in this run, at most 1 in a second; its budget is 2/s"},
		{ID: "retry_gap", Ruled: "in", Evidence: "the retry list lacks org.apache.http.NoHttpResponseException, which a retry inside RestTemplate sees"},
	}
	if !reflect.DeepEqual(o.Hypotheses, want) {
		t.Errorf("hypotheses\n %+v, want\n %+v", o.Hypotheses, want)
	}
}

func TestIncidentAdvice(t *testing.T) {
	o := judgeOne(t, incident(time.Minute, incidentClient()), 1)
	all := strings.Join(o.Advice, "\n")
	for _, want := range []string{
		"1. Set Apache HttpClient 4.5's idle limit (max_idle in perch's config) none -> 900 ms: `HttpClientBuilder.create().setKeepAliveStrategy((response, context) -> 900)`, in Spring Boot by the @Bean in docs/clients.md, under Apache HttpClient 4.5",
		". The path closes after 1.001 s (measured, taken as 1 s); less 100 ms for round trip and ticks: 900 ms.",
		"evictIdleConnections only looks once every max idle time",
		"1b. Or only look earlier, validate_after 2 s -> 900 ms",
		"`manager.setValidateAfterInactivity(900)`: call it on the connection manager that you already pass to setConnectionManager",
		"A close that crosses the request slips through",
		"2. Also, for the closes that still cross a request, add `org.apache.http.NoHttpResponseException` and `java.net.SocketException` to the list of the retry layer that calls Apache HttpClient 4.5 (inside RestTemplate: an interceptor or a request factory), for idempotent methods only",
		"even if the server has already executed the request",
		"2c. Or turn Apache HttpClient 4.5's automatic retries on again (without `disableAutomaticRetries()`): after such an end they repeat idempotent methods only, a GET among them, even if the server has executed it; no POST.",
		"Until then (keep_alive: 1s, or an API that keeps connections for 60 s) perch fails this probe, whatever the client does; a client that is safe has no danger band.",
		"2b. Or move that retry around RestTemplate, for idempotent methods only: its list covers what comes out there",
		"before the 60 s that perch's config (`keep_alive: 1m`) expects",
	} {
		if !strings.Contains(all, want) {
			t.Errorf("advice lacks %q:\n%s", want, all)
		}
	}
	// One thing is first, each alternative stands beside its own step, the owner's
	// part is the last step, and caveats come after all that they may be about.
	for i, begin := range []string{"1. Set ", "1b. Or only ", "2. Also, for ", "2b. Or move ", "2c. Or turn ", "3. For the API's owner: ", "Mind: "} {
		if len(o.Advice) != 7 || !strings.HasPrefix(o.Advice[i], begin) {
			t.Errorf("advice %d of %d does not begin with %q:\n%s", i+1, len(o.Advice), begin, all)
		}
	}
	gaps := map[probes.Reason]bool{}
	for _, g := range o.RetryGaps {
		gaps[g.Reason] = g.Gap
	}
	if !gaps[probes.ReasonIdleFIN] || !gaps[probes.ReasonEOF] {
		t.Errorf("retry gaps %v, want idle_fin and eof uncovered", gaps)
	}
}

// TestIncidentVariants changes one thing of the incident at a time.
func TestIncidentVariants(t *testing.T) {
	change := func(f func(*probes.Client)) *probes.Client {
		c := incidentClient()
		f(c)
		return c
	}
	tests := []struct {
		name        string
		keepAlive   time.Duration
		client      *probes.Client
		verdict     probes.Verdict // of the 1.5 s rung
		application probes.RetryCover
	}{
		{"no expectation: the client makes it worse", 0, incidentClient(), "fail", "uncovered"},
		{"closes as expected: the client makes it worse", time.Second, incidentClient(), "fail", "uncovered"},
		{"no client, no expectation", 0, nil, "pass", "unknown"},
		{"the layer around sees the wrapped error", 0, change(func(c *probes.Client) {
			c.Retry.Layer = probes.LayerAround
		}), "degraded", "covered"},
		{"the entry is there", 0, change(func(c *probes.Client) {
			c.Retry.Errors = append(c.Retry.Errors, "org.apache.http.NoHttpResponseException")
		}), "degraded", "covered"},
		{"by its superclass", 0, change(func(c *probes.Client) {
			c.Retry.Errors = []string{"java.io.IOException"}
		}), "degraded", "covered"},
		{"one attempt only", 0, change(func(c *probes.Client) {
			c.Retry.Errors, c.Retry.Attempts = []string{"java.io.IOException"}, 1
		}), "fail", "uncovered"},
		{"automatic retries hide it", 0, change(func(c *probes.Client) {
			c.AutomaticRetries = probes.SwitchDefault
		}), "degraded", "covered"},
		{"it looks before each use", 0, change(func(c *probes.Client) {
			c.ValidateAfter = probes.Limit{Mode: probes.LimitAlways}
		}), "pass", ""},
		{"it stops before the server does", 0, change(func(c *probes.Client) {
			c.MaxIdle = probes.Limit{Mode: probes.LimitAfter, After: 900 * time.Millisecond}
		}), "pass", ""},
		{"and the path is still too early for the config", 5 * time.Second, change(func(c *probes.Client) {
			c.MaxIdle = probes.Limit{Mode: probes.LimitAfter, After: 900 * time.Millisecond}
		}), "fail", ""},
		{"and the config says what the path does", time.Second, change(func(c *probes.Client) {
			c.MaxIdle = probes.Limit{Mode: probes.LimitAfter, After: 900 * time.Millisecond}
		}), "pass", ""},
		{"Go looks all the time", 0, &probes.Client{Kind: "go-net-http"}, "pass", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			o := judgeOne(t, incident(tt.keepAlive, tt.client), 1)
			if o.Verdict != tt.verdict || o.Retry.Application != tt.application {
				t.Errorf("%s, application %q, want %s, %q\n%s", o.Verdict, o.Retry.Application, tt.verdict, tt.application, o.Message)
			}
		})
	}
}

// TestOutsideTheBand: at 60 s the client looks first. A close that crosses the
// request still makes it throw, but no setting of idle age is to blame.
func TestOutsideTheBand(t *testing.T) {
	in := idleInput(time.Minute,
		rungAt(0, 60*time.Second, probes.ReasonCrossedClose),
		rungAt(5*time.Second, 61*time.Second, probes.ReasonIdleFIN).closed(60*time.Second, probes.HowFIN))
	in.Spec.Client = incidentClient()
	o := judgeOne(t, in, 0)
	if o.Verdict != probes.VerdictDegraded || o.Client.Band != nil || o.Retry.Application != probes.CoverUncovered {
		t.Errorf("%s, band %v, application %s; want degraded, none, uncovered", o.Verdict, o.Client.Band, o.Retry.Application)
	}
}

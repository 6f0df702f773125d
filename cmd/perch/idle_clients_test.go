package main

import (
	"cmp"
	"testing"
	"time"

	"perch.example/diagnose"
	"perch.example/diagnose/clients"
	"perch.example/probes"
)

// found is what `perch idle` has of a path: where it lived, where it died and
// by what, and what the reuse met there.
type found struct {
	survived, died, measured time.Duration
	how                      probes.HowClosed
	reason                   probes.Reason
	diagnosis                probes.Diagnosis // empty: stale_connection
}

// run judges the two rungs that show it.
func (f found) run() (probes.Run, clients.Path) {
	spec := probes.Spec{Target: "api", Probe: "idle", Kind: probes.KindIdle}
	ok := func(c probes.Connection) probes.Attempt {
		return probes.Attempt{Connection: c, Reason: probes.ReasonOK}
	}
	var seen []probes.Observation
	if f.survived > 0 {
		reuse := ok(probes.ConnectionReused)
		reuse.IdleTime = f.survived
		seen = append(seen, probes.Observation{Kind: spec.Kind, Hold: f.survived, Attempts: []probes.Attempt{ok(probes.ConnectionFresh), reuse}})
	}
	dead := probes.Observation{Kind: spec.Kind, Hold: f.died, Attempts: []probes.Attempt{
		ok(probes.ConnectionFresh), {Connection: probes.ConnectionReused, Reason: f.reason, IdleTime: f.died}, ok(probes.ConnectionControl),
	}}
	if f.measured > 0 {
		dead.Close = &probes.Close{Age: f.measured, AfterReply: f.measured, How: f.how}
	}
	seen = append(seen, dead)
	return probes.Run{
		Idle:     []probes.IdleResult{diagnose.Idle(diagnose.Input{Spec: spec, Observations: seen})},
		Outcomes: []probes.Outcome{{Reason: probes.ReasonOK}, {Reason: f.reason, Diagnosis: cmp.Or(f.diagnosis, probes.DiagnosisStaleConnection)}},
	}, diagnose.IdlePath(diagnose.Input{Spec: spec, Observations: seen})
}

func TestTheClientsMeetWhatThePathDoes(t *testing.T) {
	t.Parallel()
	const s = time.Second
	const fails, retries, notices = probes.ClientFails, probes.ClientRetries, probes.ClientNotices
	for _, tt := range []struct {
		name         string
		found        found
		kind         string
		band         bool
		result, post probes.ClientResult
		safe         string
	}{
		{"a pushed 408 and curl", found{survived: s, died: 3 * s, measured: 2 * s, how: "bytes", reason: "idle_bytes"},
			"libcurl", true, fails, fails, "curl_easy_setopt(h, CURLOPT_MAXAGE_CONN, 1L);"},
		{"what reactor-netty does is not known", found{survived: s, died: 3 * s, measured: 2 * s, how: "bytes", reason: "idle_bytes"},
			"reactor-netty", true, "", "", `HttpClient.create(ConnectionProvider.builder("api").maxIdleTime(Duration.ofMillis(1800)).build())`},
		{"a reset that is noticed without looking", found{survived: s, died: 3 * s, measured: 2 * s, how: "rst", reason: "idle_rst"},
			"httpurlconnection", false, notices, notices, "-Dhttp.keepAlive.time.server=1"}, // against the race that remains
		{"a reset on the next packet", found{survived: 120 * s, died: 360 * s, how: "rst", reason: "reset"},
			"okhttp", true, retries, retries, "new OkHttpClient.Builder().connectionPool(new ConnectionPool(5, 120000, TimeUnit.MILLISECONDS))"},
		{"and a client that always looks", found{survived: 40 * s, died: 120 * s, how: "rst", reason: "reset"},
			"go-net-http", true, retries, fails, "&http.Transport{IdleConnTimeout: 40 * time.Second}"},
		{"silence between four and six minutes", found{survived: 120 * s, died: 360 * s, how: "silent", reason: "blackhole", diagnosis: "silent_drop"},
			"okhttp", true, fails, fails, "new OkHttpClient.Builder().connectionPool(new ConnectionPool(5, 120000, TimeUnit.MILLISECONDS))"},
		{"silence, and nothing worked", found{died: 40 * s, how: "silent", reason: "blackhole", diagnosis: "silent_drop"},
			"go-net-http", true, fails, fails, ""},
		{"what worked contradicts what did not", found{survived: 120 * s, died: 40 * s, how: "silent", reason: "blackhole", diagnosis: "silent_drop"},
			"go-net-http", true, fails, fails, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			for _, c := range commonClients(tt.found.run()) {
				if c.Kind != tt.kind {
					continue
				}
				if (c.Band != nil) != tt.band || c.Result != tt.result || c.PostResult != tt.post || c.Safe != tt.safe {
					t.Errorf("got the band %v, GET %q, POST %q, safe %q;\nwant one: %t, GET %q, POST %q, safe %q", c.Band, c.Result, c.PostResult, c.Safe, tt.band, tt.result, tt.post, tt.safe)
				}
				return
			}
			t.Errorf("nothing about %s", tt.kind)
		})
	}
}

// TestNoClientIsSafeThatTheTableSaysGetsAnError, whatever the path's end.
func TestNoClientIsSafeThatTheTableSaysGetsAnError(t *testing.T) {
	t.Parallel()
	for how, reasons := range map[probes.HowClosed][]probes.Reason{
		"fin": {"idle_fin", "crossed_close", "eof"}, "rst": {"idle_rst", "reset"}, "bytes": {"idle_bytes"},
		"close_notify": {"idle_close_notify"}, "silent": {"blackhole", "no_response"},
	} {
		for _, reason := range reasons {
			f := found{survived: 2 * time.Second, died: 4 * time.Second, how: how, reason: reason}
			if reason.Resend() == probes.ResendSafe && reason != "crossed_close" {
				f.measured = 3 * time.Second
			}
			all := commonClients(f.run())
			if len(all) == 0 {
				t.Errorf("%s: no clients", reason)
			}
			for _, c := range all {
				if c.Band == nil && (c.Result != probes.ClientNotices || c.PostResult != probes.ClientNotices) {
					t.Errorf("%s, %s: no danger band, but a GET %q, a POST %q", reason, c.Kind, c.Result, c.PostResult)
				}
				if c.Band != nil && c.Result == probes.ClientNotices && c.PostResult == probes.ClientNotices {
					t.Errorf("%s, %s: a danger band, though it notices", reason, c.Kind)
				}
			}
		}
	}
}

// TestNoIdleLimitIsAdvisedWhereIdlenessIsNotTheCause.
func TestNoIdleLimitIsAdvisedWhereIdlenessIsNotTheCause(t *testing.T) {
	t.Parallel()
	f := found{died: time.Second, measured: 20 * time.Millisecond, how: "fin", reason: "idle_fin", diagnosis: probes.DiagnosisUndeclaredClose}
	if got := commonClients(f.run()); got != nil {
		t.Errorf("got %v, want nothing: the next answer would be followed by a close as well", got)
	}
}

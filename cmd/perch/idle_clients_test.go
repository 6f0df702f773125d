package main

import (
	"testing"
	"time"

	"perch.example/diagnose/clients"
	"perch.example/probes"
)

// idleRun is what `perch idle` has of a path: where it lived, where it died,
// and what the reuse met there.
func idleRun(result probes.IdleResult, reason probes.Reason, diagnosis probes.Diagnosis) probes.Run {
	result.Target, result.Probe = "api", "idle"
	return probes.Run{
		Idle: []probes.IdleResult{result},
		Outcomes: []probes.Outcome{
			{Reason: probes.ReasonOK, Hold: result.Survived},
			{Reason: reason, Diagnosis: diagnosis, Hold: result.Died},
		},
	}
}

func TestTheClientsMeetWhatThePathDoes(t *testing.T) {
	t.Parallel()
	const s, stale = time.Second, probes.DiagnosisStaleConnection
	const fails, retries, notices = probes.ClientFails, probes.ClientRetries, probes.ClientNotices
	for _, tt := range []struct {
		name         string
		run          probes.Run
		path         clients.Path
		kind         string
		band         bool
		result, post probes.ClientResult
		safe         string
	}{
		{"a pushed 408 and curl", idleRun(probes.IdleResult{Survived: s, Died: 3 * s, Measured: 2 * s, How: "bytes"}, "idle_bytes", stale), clients.Path{Timeout: 2 * s},
			"libcurl", true, fails, fails, "curl_easy_setopt(h, CURLOPT_MAXAGE_CONN, 1L);"},
		{"what reactor-netty does is not known", idleRun(probes.IdleResult{Survived: s, Died: 3 * s, Measured: 2 * s, How: "bytes"}, "idle_bytes", stale), clients.Path{Timeout: 2 * s},
			"reactor-netty", true, "", "", `HttpClient.create(ConnectionProvider.builder("api").maxIdleTime(Duration.ofMillis(1800)).build())`},
		{"a reset that is noticed without looking", idleRun(probes.IdleResult{Survived: s, Died: 3 * s, Measured: 2 * s, How: "rst"}, "idle_rst", stale), clients.Path{Timeout: 2 * s},
			"httpurlconnection", false, notices, notices, "-Dhttp.keepAlive.time.server=1"}, // against the race that remains
		{"a reset on the next packet", idleRun(probes.IdleResult{Survived: 120 * s, Died: 360 * s, How: "rst"}, "reset", stale), clients.Path{Timeout: 360 * s},
			"okhttp", true, retries, retries, "new OkHttpClient.Builder().connectionPool(new ConnectionPool(5, 120000, TimeUnit.MILLISECONDS))"},
		{"and a client that always looks", idleRun(probes.IdleResult{Survived: 40 * s, Died: 120 * s, How: "rst"}, "reset", stale), clients.Path{Timeout: 120 * s},
			"go-net-http", true, retries, fails, "&http.Transport{IdleConnTimeout: 40 * time.Second}"},
		{"silence between four and six minutes", idleRun(probes.IdleResult{Survived: 120 * s, Died: 360 * s, How: "silent"}, "blackhole", "silent_drop"), clients.Path{Timeout: 360 * s, Silent: true},
			"okhttp", true, fails, fails, "new OkHttpClient.Builder().connectionPool(new ConnectionPool(5, 120000, TimeUnit.MILLISECONDS))"},
		{"silence, and nothing worked", idleRun(probes.IdleResult{Died: 40 * s, How: "silent"}, "blackhole", "silent_drop"), clients.Path{Timeout: 40 * s, Silent: true},
			"go-net-http", true, fails, fails, ""},
		{"what worked contradicts what did not", idleRun(probes.IdleResult{Survived: 120 * s, Died: 40 * s, How: "silent"}, "blackhole", "silent_drop"), clients.Path{Timeout: 40 * s, Silent: true},
			"go-net-http", true, fails, fails, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			for _, c := range commonClients(tt.run, tt.path) {
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
			result := probes.IdleResult{Survived: 2 * time.Second, Died: 3 * time.Second, How: how}
			if reason.Resend() == probes.ResendSafe && reason != "crossed_close" {
				result.Measured = 3 * time.Second
			}
			all := commonClients(idleRun(result, reason, probes.DiagnosisStaleConnection), clients.Path{Timeout: 3 * time.Second, Silent: how == "silent"})
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
	run := idleRun(probes.IdleResult{Died: 20 * time.Millisecond, Measured: 20 * time.Millisecond, How: "fin"}, "idle_fin", probes.DiagnosisUndeclaredClose)
	if got := commonClients(run, clients.Path{Timeout: 20 * time.Millisecond}); got != nil {
		t.Errorf("got %v, want nothing: the next answer would be followed by a close as well", got)
	}
}

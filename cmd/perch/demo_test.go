package main

import (
	"strings"
	"testing"
	"time"
)

// TestDemoTellsTheIncident reads what a newcomer reads: what broke, who closed,
// which hypotheses fall, what to change, the metrics and the message.
func TestDemoTellsTheIncident(t *testing.T) {
	t.Parallel()
	start := time.Now()
	r := perch(t.Context(), nil, "demo")
	if r.code != exitOK {
		t.Fatalf("exit status %d, want 0; stderr:\n%s", r.code, r.stderr)
	}
	if took := time.Since(start); took > 30*time.Second {
		t.Errorf("took %s, want under 30 s", took)
	}
	want(t, "the demo", r.stdout,
		"early_close", "FIN by peer", "NoHttpResponseException", "OUT   the API is down",
		"retry list lacks org.apache.http.NoHttpResponseException", "OUT   the network blocks us", "Change this:",
		`perch_finding{diagnosis="early_close"`, "WOULD FIRE (at the second failed run) stock-api", "automatic retries", "What to change",
	)
	if strings.Contains(r.stdout, "\x1b") {
		t.Error("control codes in a pipe")
	}
}

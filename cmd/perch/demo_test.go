package main

import (
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestDemo looks at one demo from all sides, for it takes seconds.
func TestDemo(t *testing.T) {
	t.Parallel()
	page := filepath.Join(t.TempDir(), "demo.html")
	start := time.Now()
	r := undisturbed(t, "--output", "text", "--output", "html="+page)
	if took := time.Since(start); took > 30*time.Second {
		t.Errorf("took %s, want under 30 s", took)
	}
	t.Run("tells the incident", func(t *testing.T) { demoTellsTheIncident(t, r.stdout) })
	t.Run("its page has its message", func(t *testing.T) { demoHasItsMessage(t, r.stdout, read(t, page)) })
	t.Run("the README shows it", func(t *testing.T) { readmeShows(t, r.stdout) })
}

// undisturbed is a demo, again where a busy machine got in the way: it says so then.
func undisturbed(t *testing.T, flags ...string) ran {
	t.Helper()
	for try := 1; ; try++ {
		r := perch(t.Context(), nil, append([]string{"demo"}, flags...)...)
		if r.code != exitOK {
			t.Fatalf("exit status %d, want 0; stderr:\n%s", r.code, r.stderr)
		}
		if try == 3 || !strings.Contains(r.stdout, "Own delay") {
			return r
		}
	}
}

// demoTellsTheIncident reads what a newcomer reads: what broke, who closed, which
// hypotheses fall, what to change, the metrics and the message.
func demoTellsTheIncident(t *testing.T, text string) {
	want(t, "the demo", text,
		"early_close", "FIN by peer", "NoHttpResponseException", "OUT   the API is down",
		"retry list lacks org.apache.http.NoHttpResponseException", "OUT   the network blocks us", "Change this:",
		`perch_finding{diagnosis="early_close"`, "WOULD FIRE (at the second failed run) stock-api", "automatic retries", "What to change",
	)
	if strings.Contains(text, "\x1b") {
		t.Error("control codes in a pipe")
	}
}

// demoHasItsMessage wants it on the page, also where the text shows it by itself,
// and once there.
func demoHasItsMessage(t *testing.T, text, page string) {
	want(t, "the page", page, "The message that would be sent", "WOULD FIRE")
	want(t, "stdout", text, "perch demo: a server on loopback", "The Slack message it would send:", "WOULD FIRE")
	if n := strings.Count(text, "WOULD FIRE"); n != 1 {
		t.Errorf("the message is shown %d times", n)
	}
}

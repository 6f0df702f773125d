package main

import (
	"cmp"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestDemo looks at one demo from all sides, for it takes seconds: it tells the
// incident, its page has its message, and the README shows it.
func TestDemo(t *testing.T) {
	t.Parallel()
	page := filepath.Join(t.TempDir(), "demo.html")
	calmly(t, func() string {
		start := time.Now()
		r := perch(t.Context(), nil, "demo", "--output", "text", "--output", "html="+page)
		if took := time.Since(start); took > 30*time.Second || r.code != exitOK {
			return fmt.Sprintf("exit status %d after %s, want 0 in less than 30 s; stderr:\n%s", r.code, took, r.stderr)
		}
		return cmp.Or(demoTellsTheIncident(r.stdout), demoHasItsMessage(r.stdout, read(t, page)), readmeShows(t, r.stdout))
	})
}

// demoTellsTheIncident reads what a newcomer reads: what broke, who closed, which
// hypotheses fall, what to change, the metrics and the message.
func demoTellsTheIncident(text string) (problem string) {
	if strings.Contains(text, "\x1b") {
		return "control codes in a pipe"
	}
	return lacks("the demo", text,
		"early_close", "FIN by peer", "NoHttpResponseException", "OUT   the API is down",
		"retry list lacks org.apache.http.NoHttpResponseException", "OUT   the network blocks us", "Change this:",
		`perch_finding{diagnosis="early_close"`, "WOULD FIRE (at the second failed run) stock-api", "automatic retries", "What to change",
	)
}

// demoHasItsMessage wants it on the page, also where the text shows it by itself,
// and once there.
func demoHasItsMessage(text, page string) (problem string) {
	if n := strings.Count(text, "WOULD FIRE"); n != 1 {
		return fmt.Sprintf("the message is shown %d times:\n%s", n, text)
	}
	return cmp.Or(lacks("the page", page, "The message that would be sent", "WOULD FIRE"),
		lacks("stdout", text, "perch demo: a server on loopback", "The Slack message it would send:"))
}

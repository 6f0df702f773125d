package alert

import (
	"strings"
	"testing"
	"time"
)

// FuzzRetryAfter: whatever a header says, the wait is more than nothing and at
// most a day.
func FuzzRetryAfter(f *testing.F) {
	for _, header := range []string{"", "3", "2.5", "-1", "1e400", "Inf", "NaN", "0x1p-1074", "Mon, 02 Mar 2026 12:00:07 GMT", "Mon, 02 Mar 9999 12:00:07 GMT", "soon"} {
		f.Add(header)
	}
	f.Fuzz(func(t *testing.T, header string) {
		if wait := retryAfter(header, noon()); wait <= 0 || wait > 24*time.Hour {
			t.Errorf("%q waits %s", header, wait)
		}
	})
}

// FuzzSlackAnswer: whatever answers, a notice counts as told only by Slack's
// own word, and no secret is in what is said.
func FuzzSlackAnswer(f *testing.F) {
	for _, body := range []string{
		"", "{}", "[]", `{"ok":true,"channel":"C1","ts":"1.2"}`, `{"ok":false,"error":"invalid_auth"}`, `{"ok":true,"error":1}`,
		`{"ok":false,"error":"missing_scope","needed":"` + botToken + `","response_metadata":{"messages":["` + botToken + `"]}}`,
		`{"ok":false,"needed":"` + botToken[:7] + "\u200b" + botToken[7:12] + "\xff" + botToken[12:] + `"`,
	} {
		f.Add(200, body)
		f.Add(503, body)
	}
	f.Fuzz(func(t *testing.T, status int, body string) {
		watch := &watcher{began: true, status: status, body: body}
		answer, failure := heard(watch, nil, scrubber{}.and(botToken))
		if failure == nil {
			if status != 200 || !strings.Contains(body, "true") {
				t.Errorf("%d %q counts as told", status, body)
			}
			return
		}
		failure.advise("#alerts", answer)
		if strings.Contains(failure.Error(), botToken) {
			t.Errorf("the token is in %q", failure)
		}
	})
}

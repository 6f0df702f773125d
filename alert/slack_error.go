package alert

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// SendError says why a notice was not delivered. It holds no secret: what came
// from elsewhere is scrubbed before it gets in.
type SendError struct {
	To         string        // who was to be told, as in a sentence: "Slack", "Alertmanager"
	Call       string        // of its API: "chat.postMessage"; empty: it has one only
	Status     int           // of the answer; 0: none came
	Code       string        // the answer's own word for what is wrong: "not_in_channel"; empty: none
	Body       string        // the answer's first words; empty: none
	Ambiguous  bool          // it may have been delivered all the same
	Content    bool          // it was refused for what it says: the next one may pass
	Place      bool          // it was refused for where it was to go: what goes elsewhere may pass
	RetryAfter time.Duration // what a 429 asked for; 0: nothing
	gone       bool          // the message that it is about, a thread's root, was deleted
	fixed      bool          // that message cannot be edited, and will never be
	advice     string        // what to do; empty: nothing is known
	cause      error         // what failed when no answer came; nil: nothing of ours
}

func (e *SendError) Error() string {
	var b strings.Builder
	b.WriteString("sending to " + orWords(e.To, "Slack") + ": ")
	if e.Call != "" {
		b.WriteString(e.Call + ": ")
	}
	b.WriteString(e.what())
	if e.RetryAfter > 0 {
		fmt.Fprintf(&b, "; %s asks to wait %s", orWords(e.To, "Slack"), span(e.RetryAfter))
	}
	if e.advice != "" {
		b.WriteString("; " + e.advice)
	}
	if e.Ambiguous {
		b.WriteString("; it may have been delivered")
	}
	return b.String()
}

// what happened.
func (e *SendError) what() string {
	switch {
	case e.Code != "":
		return e.Code
	case errors.Is(e.cause, context.DeadlineExceeded):
		return "no answer in time (" + span(postTimeout) + " at most)"
	case errors.Is(e.cause, context.Canceled):
		return "perch had to end before there was an answer"
	case e.cause != nil:
		return e.cause.Error()
	case e.Status == 0:
		return "no answer"
	case e.Body != "":
		return fmt.Sprintf("status %d %q", e.Status, e.Body)
	}
	return fmt.Sprintf("status %d", e.Status)
}

// Unwrap gives a cause that can be asked with errors.Is, and says no more than
// Error does.
func (e *SendError) Unwrap() error { return e.cause }

func orWords(text, other string) string {
	if text == "" {
		return other
	}
	return text
}

// webhookAdvice says what to do. Slack's words for webhooks stand in its
// documentation of incoming webhooks.
func webhookAdvice(status int, body string) string {
	switch {
	case status >= 300 && status < 400:
		return "redirects are not followed: is this the URL of a Slack webhook?"
	case status == http.StatusOK:
		return `want 200 "ok": ` + notSlack
	}
	switch body {
	case "no_service", "no_active_hooks", "invalid_token":
		return "the webhook was removed, or the URL is not whole: make a new one in Slack"
	case "no_team", "team_disabled":
		return "the workspace of the webhook is gone"
	case "channel_not_found", "channel_is_archived":
		return "the webhook's channel is gone: make a webhook for another one"
	case "action_prohibited", "posting_to_general_channel_denied":
		return "the workspace's admins do not allow the webhook to post there"
	case "user_not_found":
		return "the webhook posts to a user who is gone: make a new one"
	case "invalid_payload", "invalid_blocks", "no_text", "too_many_attachments":
		return "Slack refused what the notice says; it is in the report"
	}
	return ""
}

// newScrubber knows the whole address and its parts.
func newScrubber(address *url.URL, raw string) scrubber {
	parts := []string{raw, address.String(), address.RequestURI(), address.EscapedPath(), address.Path}
	parts = append(parts, strings.Split(address.Path, "/")...)
	for _, values := range address.Query() {
		parts = append(parts, values...)
	}
	if address.User != nil {
		password, _ := address.User.Password()
		pair := address.User.Username() + ":" + password // as Basic sends it
		parts = append(parts, address.User.String(), password, base64.StdEncoding.EncodeToString([]byte(pair)))
	}
	return scrubber{}.and(parts...)
}

// andHeader knows the values of a header: whole, each word by itself, and what
// stands behind the first, since that may be a scheme such as "Bearer".
func (s scrubber) andHeader(header http.Header) scrubber {
	for _, values := range header {
		for _, value := range values {
			_, behind, _ := strings.Cut(value, " ")
			s = s.and(append(strings.Fields(value), value, behind)...)
		}
	}
	return s
}

// cause keeps what can be asked of an error, and scrubs what it says. The
// address that http.Client puts around an error is taken off first.
func (s scrubber) cause(err error) error {
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		err = wrapped.Err
	}
	return scrubbed{text: shorten(clean(s.text(err.Error())), 300, "…"), is: func(target error) bool { return errors.Is(err, target) }}
}

// scrubbed is an error that shows nothing but its text.
type scrubbed struct {
	text string
	is   func(error) bool // a function, so that no printing verb reaches the error behind it
}

func (e scrubbed) Error() string        { return e.text }
func (e scrubbed) Is(target error) bool { return e.is(target) }

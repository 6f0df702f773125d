package alert

import (
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
	Status     int           // of the answer; 0: none came
	Body       string        // the answer's first words; empty: none
	Ambiguous  bool          // it may have been delivered all the same
	Content    bool          // it was refused for what it says: the next one may pass
	RetryAfter time.Duration // what a 429 asked for; 0: nothing
	cause      error         // what failed when no answer came; nil: nothing of ours
}

func (e *SendError) Error() string {
	var b strings.Builder
	b.WriteString("sending to Slack: ")
	switch {
	case e.Status == 0 && e.cause != nil:
		b.WriteString(e.cause.Error())
	case e.Status == 0:
		b.WriteString("no answer")
	default:
		fmt.Fprintf(&b, "status %d", e.Status)
		if e.Body != "" {
			fmt.Fprintf(&b, " %q", e.Body)
		}
		b.WriteString(", want 200 \"ok\"")
	}
	if e.RetryAfter > 0 {
		fmt.Fprintf(&b, "; Slack asks to wait %s, so the next run sends it", span(e.RetryAfter))
	}
	if hint := e.hint(); hint != "" {
		b.WriteString("; " + hint)
	}
	if e.Ambiguous {
		b.WriteString("; it may have been delivered, and will be repeated")
	}
	return b.String()
}

// Unwrap gives a cause that can be asked with errors.Is, and says no more than
// Error does.
func (e *SendError) Unwrap() error { return e.cause }

// hint says what to do. Slack's words for webhooks stand in its
// documentation of incoming webhooks.
func (e *SendError) hint() string {
	switch {
	case e.Status >= 300 && e.Status < 400:
		return "redirects are not followed: is this the URL of a Slack webhook?"
	case e.Status == http.StatusOK:
		return "something that is not Slack answered: a proxy?"
	}
	switch e.Body {
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

// scrubber takes the webhook's secret out of texts.
type scrubber struct{ secrets []string }

// newScrubber knows the whole address, its parts, and how they may be encoded.
func newScrubber(webhook *url.URL, raw string) scrubber {
	parts := []string{raw, webhook.String(), webhook.RequestURI(), webhook.EscapedPath(), webhook.Path}
	parts = append(parts, strings.Split(webhook.Path, "/")...)
	for _, values := range webhook.Query() {
		parts = append(parts, values...)
	}
	if webhook.User != nil {
		password, _ := webhook.User.Password()
		parts = append(parts, webhook.User.String(), password)
	}
	var s scrubber
	for _, part := range parts {
		// What is short is no secret, and would blot out ordinary words.
		if len(part) >= 8 && part != "services" && part != "workflows" {
			s.secrets = append(s.secrets, part, url.QueryEscape(part), url.PathEscape(part))
		}
	}
	return s
}

func (s scrubber) text(text string) string {
	for _, secret := range s.secrets {
		text = strings.ReplaceAll(text, secret, "[secret]")
	}
	return text
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

package alert

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/slack-go/slack"

	"perch.example/probes"
)

const maxPlain = 3500 // a notice as plain text: Slack shows longer ones folded

// Slack sends notices to an incoming webhook.
type Slack struct {
	// Functions and not values: fmt prints an unexported field's content without
	// asking its String method, and a function's content cannot be printed.
	webhook func() string
	client  func() *http.Client
}

// NewSlack sends to a webhook, whose URL is a secret: whoever has it can post.
// A nil client is one that uses the environment's proxy. Whatever the client,
// redirects are not followed, and a request ends after 10 s at most.
func NewSlack(webhook probes.Secret, client *http.Client) *Slack {
	if client == nil {
		client = defaultClient()
	}
	address := strings.TrimSpace(webhook.Reveal()) // a secret's file often ends with a new line
	return &Slack{webhook: func() string { return address }, client: func() *http.Client { return client }}
}

// String says what it is, never where it sends.
func (Slack) String() string { return "Slack webhook" }

// Wants reports that every notice is shown.
func (s *Slack) Wants(k Kind) bool { return k != KindOngoing }

// Send tells one notice. When Slack says that it is sent too much, it waits as
// told, within ctx's deadline. Other failures are *SendError at once.
func (s *Slack) Send(ctx context.Context, n Notice, so Receipt) (Receipt, error) {
	blocks := slack.Blocks{BlockSet: Blocks(n)}
	failure := s.post(ctx, &slack.WebhookMessage{Text: escape(fallback(n)), Blocks: &blocks, UnfurlLinks: no(), UnfurlMedia: no()})
	if failure != nil && failure.Content {
		// Refused for its blocks, which the tests hold to Slack's rules; rules change,
		// and an alert must get through all the same.
		failure = s.post(ctx, &slack.WebhookMessage{Text: plain(n), UnfurlLinks: no(), UnfurlMedia: no()})
	}
	if failure != nil {
		return so, failure
	}
	return so, nil
}

func no() *bool { return new(bool) }

// plain is a notice without blocks.
func plain(n Notice) string {
	return fence + "\n" + escape(shorten(Text(n), maxPlain, more)) + "\n" + fence
}

// post sends one message, several times while Slack asks for patience.
func (s *Slack) post(ctx context.Context, message *slack.WebhookMessage) *SendError {
	return patiently(ctx, func(ctx context.Context) *SendError { return s.once(ctx, message) })
}

// once sends one message once. slack-go makes the request; what came back is
// taken from the transport below it, since slack-go hides the body and prints
// the webhook's URL in its errors.
func (s *Slack) once(ctx context.Context, message *slack.WebhookMessage) *SendError {
	webhook, err := url.Parse(s.webhook())
	if err != nil || webhook.Host == "" || webhook.Scheme != "https" && webhook.Scheme != "http" {
		return &SendError{cause: errors.New("the webhook is not a URL (its value is a secret and not shown)")}
	}
	scrub := newScrubber(webhook, s.webhook())
	ctx, cancel := context.WithTimeout(ctx, postTimeout)
	defer cancel()

	client, watch := watched(s.client())
	err = slack.PostWebhookCustomHTTPContext(ctx, s.webhook(), client, message)
	if failure := watch.noAnswer(err, scrub); failure != nil {
		return failure
	}
	if failure := watch.limited(scrub); failure != nil {
		return failure
	}
	if watch.status == http.StatusOK && strings.TrimSpace(watch.body) == "ok" {
		return nil
	}
	body := watch.shown(scrub)
	return &SendError{
		Status: watch.status, Body: body, advice: webhookAdvice(watch.status, body),
		Ambiguous: watch.status < 300 || watch.status >= 500,
		Content:   watch.status == http.StatusBadRequest,
	}
}

package alert

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/slack-go/slack"

	"perch.example/probes"
)

const (
	postTimeout  = 10 * time.Second // one request, from its dial to its answer's end
	mostPosts    = 3                // of one notice in one run, when Slack says 429
	defaultPause = time.Second      // after a 429 that does not say how long
	longestPause = 30 * time.Second // when the run has no deadline
	maxAnswer    = 64 << 10         // bytes read of an answer
	maxBody      = 200              // characters of it that are shown
	maxPlain     = 3500             // a notice as plain text: Slack shows longer ones folded
)

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
		client = &http.Client{Transport: &http.Transport{
			Proxy: http.ProxyFromEnvironment, ForceAttemptHTTP2: true, TLSHandshakeTimeout: postTimeout, IdleConnTimeout: time.Minute,
		}}
	}
	address := strings.TrimSpace(webhook.Reveal()) // a secret's file often ends with a new line
	return &Slack{webhook: func() string { return address }, client: func() *http.Client { return client }}
}

// String says what it is, never where it sends.
func (Slack) String() string { return "Slack webhook" }

// Send tells one notice. When Slack says that it is sent too much, it waits as
// told, within ctx's deadline. Other failures are *SendError at once.
func (s *Slack) Send(ctx context.Context, n Notice, so Receipt) (Receipt, error) {
	return so, s.tell(ctx, n)
}

// Wants reports that every notice is shown.
func (s *Slack) Wants(k Kind) bool { return k != KindOngoing }

func (s *Slack) tell(ctx context.Context, n Notice) error {
	blocks := slack.Blocks{BlockSet: Blocks(n)}
	err := s.post(ctx, &slack.WebhookMessage{Text: escape(fallback(n)), Blocks: &blocks, UnfurlLinks: no(), UnfurlMedia: no()})
	var failure *SendError
	if !errors.As(err, &failure) || !failure.Content {
		return err
	}
	// Refused for its blocks, which the tests hold to Slack's rules; rules change,
	// and an alert must get through all the same.
	plain := fence + "\n" + escape(shorten(Text(n), maxPlain, more)) + "\n" + fence
	return s.post(ctx, &slack.WebhookMessage{Text: plain, UnfurlLinks: no(), UnfurlMedia: no()})
}

func no() *bool { return new(bool) }

// post sends one message, several times while Slack asks for patience.
func (s *Slack) post(ctx context.Context, message *slack.WebhookMessage) error {
	for try := 1; ; try++ {
		failure := s.once(ctx, message)
		if failure == nil {
			return nil
		}
		if failure.Status != http.StatusTooManyRequests || try == mostPosts || !patient(ctx, failure.RetryAfter) {
			return failure
		}
		pause := time.NewTimer(failure.RetryAfter)
		select {
		case <-pause.C:
		case <-ctx.Done():
			pause.Stop()
			return failure
		}
	}
}

// patient reports whether the run can wait that long.
func patient(ctx context.Context, pause time.Duration) bool {
	deadline, ok := ctx.Deadline()
	if !ok {
		return pause <= longestPause
	}
	return time.Now().Add(pause).Before(deadline)
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

	client := *s.client()
	watch := &watcher{base: client.Transport}
	client.Transport = watch
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	err = slack.PostWebhookCustomHTTPContext(ctx, s.webhook(), &client, message)

	body := shorten(clean(scrub.text(watch.body)), maxBody, "…")
	switch {
	case watch.status == http.StatusOK && watch.readErr == nil && strings.TrimSpace(watch.body) == "ok":
		return nil
	case watch.status == http.StatusOK && watch.readErr != nil:
		return &SendError{Ambiguous: true, cause: scrub.cause(watch.readErr)}
	case watch.status == 0 && err != nil:
		return &SendError{Ambiguous: watch.open.Load(), cause: scrub.cause(err)}
	case watch.status == http.StatusTooManyRequests:
		return &SendError{Status: watch.status, Body: body, RetryAfter: retryAfter(watch.retryAfter, time.Now())}
	}
	return &SendError{
		Status: watch.status, Body: body,
		Ambiguous: watch.status < 300 || watch.status >= 500,
		Content:   watch.status == http.StatusBadRequest,
	}
}

// watcher is a transport that remembers what came back. It serves one request.
type watcher struct {
	base       http.RoundTripper
	open       atomic.Bool // a connection was there: from then on the request may have been read
	status     int         // 0: no answer
	retryAfter string
	body       string
	readErr    error
}

// RoundTrip sends the request and reads the answer, up to its bound.
func (w *watcher) RoundTrip(req *http.Request) (*http.Response, error) {
	base := w.base
	if base == nil {
		base = http.DefaultTransport
	}
	trace := &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { w.open.Store(true) }}
	resp, err := base.RoundTrip(req.WithContext(httptrace.WithClientTrace(req.Context(), trace)))
	if err != nil {
		return nil, err
	}
	content, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	closeErr := resp.Body.Close()
	w.status, w.retryAfter, w.body = resp.StatusCode, resp.Header.Get("Retry-After"), string(content)
	w.readErr = errors.Join(err, closeErr)
	resp.Body = io.NopCloser(bytes.NewReader(content))
	return resp, nil
}

// retryAfter reads what a 429 asks for: whole seconds, seconds with a
// fraction, or a date. What is absent or makes no sense is one second.
func retryAfter(header string, now time.Time) time.Duration {
	header = strings.TrimSpace(header)
	if seconds, err := strconv.ParseFloat(header, 64); err == nil {
		if math.IsNaN(seconds) || seconds <= 0 {
			return defaultPause
		}
		const day = 24 * 60 * 60
		return time.Duration(math.Ceil(min(seconds, day)*1000)) * time.Millisecond
	}
	if date, err := http.ParseTime(header); err == nil && date.After(now) {
		return date.Sub(now)
	}
	return defaultPause
}

package alert

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"perch.example/probes"
)

// Headers gives the headers of a request, whose values may be secrets, anew
// for each: a token in a file may have changed.
type Headers func(context.Context) (http.Header, error)

// Webhook posts each notice as a JSON Document to any address.
type Webhook struct{ door door }

// NewWebhook posts to an address, which may hold a secret. nil headers: none.
// A nil client is one that uses the environment's proxy. Whatever the client,
// redirects are not followed, and a request ends after 10 s at most.
func NewWebhook(address probes.Secret, headers Headers, client *http.Client) *Webhook {
	return &Webhook{door: newDoor("the webhook", address, headers, client)}
}

// String says what it is, never where it sends.
func (Webhook) String() string { return "webhook" }

// Wants reports that every notice is told.
func (w *Webhook) Wants(k Kind) bool { return k != KindOngoing }

// Send posts one notice. Any status of 2xx says that it was taken; 429, and
// 503 with a Retry-After, are obeyed within ctx's deadline. Other failures are
// *SendError at once.
func (w *Webhook) Send(ctx context.Context, n Notice, so Receipt) (Receipt, error) {
	d := documentOf(n)
	if failure := w.door.post(ctx, d, http.Header{idempotencyKey: {headerValue(d.ID)}}); failure != nil {
		return so, failure
	}
	return so, nil
}

// idempotencyKey carries a document's id: who gets it twice can tell.
const idempotencyKey = "Idempotency-Key"

// headerValue writes what a header cannot hold as %XX.
func headerValue(text string) string {
	var b strings.Builder
	for _, c := range []byte(text) {
		if c < ' ' || c >= 0x7f || c == '%' {
			fmt.Fprintf(&b, "%%%02X", c)
			continue
		}
		b.WriteByte(c)
	}
	return b.String()
}

// door is where JSON is posted: all that is not a destination's own.
type door struct {
	name string // as in a sentence
	// Functions, for the same reason as in Slack.
	address func() string
	client  func() *http.Client
	headers Headers
}

func newDoor(name string, address probes.Secret, headers Headers, client *http.Client) door {
	if client == nil {
		client = defaultClient()
	}
	if headers == nil {
		headers = func(context.Context) (http.Header, error) { return nil, nil }
	}
	value := strings.TrimSpace(address.Reveal())
	return door{name: name, address: func() string { return value }, client: func() *http.Client { return client }, headers: headers}
}

// post sends a document, several times while the other side asks for patience.
func (d door) post(ctx context.Context, document any, own http.Header) *SendError {
	failure := patiently(ctx, func(ctx context.Context) *SendError { return d.once(ctx, document, own) })
	if failure != nil {
		failure.To = d.name
	}
	return failure
}

func (d door) once(ctx context.Context, document any, own http.Header) *SendError {
	address, err := url.Parse(d.address())
	if err != nil || address.Host == "" || address.Scheme != "https" && address.Scheme != "http" {
		return &SendError{cause: errors.New("its address is not a URL (it may be a secret and is not shown)")}
	}
	ctx, cancel := context.WithTimeout(ctx, postTimeout)
	defer cancel()
	header, err := d.headers(ctx)
	scrub := newScrubber(address, d.address()).andHeader(header)
	if err != nil {
		return &SendError{cause: fmt.Errorf("reading its headers: %w", scrub.cause(err))}
	}
	header = header.Clone()
	if header == nil {
		header = http.Header{}
	}
	for name, values := range own {
		header[name] = values
	}
	req, err := jsonRequest(ctx, address.String(), document, header)
	if err != nil {
		return &SendError{cause: scrub.cause(err)}
	}
	client, watch := watched(d.client())
	resp, err := client.Do(req)
	if err == nil {
		err = resp.Body.Close()
	}
	if failure := watch.noAnswer(err, scrub); failure != nil {
		return failure
	}
	if failure := watch.limited(scrub); failure != nil {
		return failure
	}
	failure := watch.plainStatus(scrub)
	if failure != nil {
		failure.advice = statusAdvice(failure.Status)
	}
	return failure
}

// statusAdvice says what to do about a refusal.
func statusAdvice(status int) string {
	switch {
	case status >= 300 && status < 400:
		return "redirects are not followed: put the address it leads to into the config"
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		return "it does not let perch in: look at the headers in the config, and whether their secret is still right"
	case status == http.StatusNotFound || status == http.StatusMethodNotAllowed || status == http.StatusGone:
		return "nothing takes notices at this address: look at the URL in the config"
	case status == http.StatusBadRequest || status == http.StatusRequestEntityTooLarge || status == http.StatusUnprocessableEntity:
		return "it refused what the notice says; it is in the report"
	}
	return ""
}

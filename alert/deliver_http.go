package alert

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"math"
	"net/http"
	"net/http/httptrace"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

const (
	postTimeout  = 10 * time.Second // one request, from its dial to its answer's end
	mostPosts    = 3                // of one request in one run, while the other side asks for patience
	defaultPause = time.Second      // after a 429 that does not say how long
	longestPause = 30 * time.Second // when the run has no deadline
	maxAnswer    = 1 << 20          // bytes read of an answer: Slack's repeats the whole message, each sign escaped
	maxBody      = 200              // characters of it that are shown
)

// defaultClient uses the environment's proxy.
func defaultClient() *http.Client {
	return &http.Client{Transport: &http.Transport{
		Proxy: http.ProxyFromEnvironment, ForceAttemptHTTP2: true, TLSHandshakeTimeout: postTimeout, IdleConnTimeout: time.Minute,
	}}
}

// watched gives a copy of a client that follows no redirect, since what is
// sent is for nobody else, and the transport that sees what came back.
func watched(client *http.Client) (*http.Client, *watcher) {
	own := *client
	watch := &watcher{base: own.Transport}
	own.Transport = watch
	own.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &own, watch
}

// watcher is a transport that remembers what came back. It serves one request.
type watcher struct {
	base       http.RoundTripper
	began      bool        // the transport was asked to send it
	dials      atomic.Bool // the transport says when it looks for a connection
	open       atomic.Bool // and has one: from then on the request may have been read
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
	if err := req.Context().Err(); err != nil {
		return nil, err
	}
	w.began = true
	trace := &httptrace.ClientTrace{
		GetConn: func(string) { w.dials.Store(true) },
		GotConn: func(httptrace.GotConnInfo) { w.open.Store(true) },
	}
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

// sent reports whether the other side may have the request. Of a transport
// that says nothing of connections, nothing better is known.
func (w *watcher) sent() bool { return w.began && (w.open.Load() || !w.dials.Load()) }

// shown are the answer's first words, without what is secret.
func (w *watcher) shown(scrub scrubber) string {
	return shorten(clean(scrub.text(w.body)), maxBody, "…")
}

// noAnswer says that no whole answer came; nil when one did.
func (w *watcher) noAnswer(err error, scrub scrubber) *SendError {
	switch {
	case w.status == 0 && err != nil:
		return &SendError{Ambiguous: w.sent(), cause: scrub.cause(err)}
	case w.readErr != nil:
		return &SendError{Status: w.status, Ambiguous: true, cause: scrub.cause(w.readErr)}
	}
	return nil
}

// limited says that the other side asks for patience: by a 429, or by a 503
// that says until when. Neither took the notice. nil when it does not.
func (w *watcher) limited(scrub scrubber) *SendError {
	if w.status == http.StatusTooManyRequests || w.status == http.StatusServiceUnavailable && w.retryAfter != "" {
		return &SendError{Status: w.status, Body: w.shown(scrub), RetryAfter: retryAfter(w.retryAfter, time.Now())}
	}
	return nil
}

// plainStatus judges an answer by nothing but its status; nil: told.
func (w *watcher) plainStatus(scrub scrubber) *SendError {
	if w.status >= 200 && w.status < 300 {
		return nil
	}
	e := &SendError{Status: w.status, Body: w.shown(scrub), Ambiguous: w.status < 200 || w.status >= 500}
	switch w.status {
	case http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity:
		e.Content = true
	}
	return e
}

// patiently does something again for as long as the other side asks for
// patience and ctx's deadline allows it.
func patiently(ctx context.Context, once func(context.Context) *SendError) *SendError {
	for try := 1; ; try++ {
		failure := once(ctx)
		if failure == nil || failure.RetryAfter == 0 || try == mostPosts || !patient(ctx, failure.RetryAfter) || !rest(ctx, failure.RetryAfter) {
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

// rest waits, and reports whether it could to the end.
func rest(ctx context.Context, pause time.Duration) bool {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// retryAfter reads what a 429 asks for: whole seconds, seconds with a
// fraction, or a date. What is absent or makes no sense is one second; what is
// absurd is a day.
func retryAfter(header string, now time.Time) time.Duration {
	const day = 24 * time.Hour
	header = strings.TrimSpace(header)
	if seconds, err := strconv.ParseFloat(header, 64); err == nil || errors.Is(err, strconv.ErrRange) {
		if math.IsNaN(seconds) || seconds <= 0 {
			return defaultPause
		}
		return time.Duration(math.Ceil(min(seconds, day.Seconds())*1000)) * time.Millisecond
	}
	if date, err := http.ParseTime(header); err == nil && date.After(now) {
		return min(date.Sub(now), day)
	}
	return defaultPause
}

// jsonRequest makes a POST of a document.
func jsonRequest(ctx context.Context, address string, document any, header http.Header) (*http.Request, error) {
	content, err := json.Marshal(document)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(content))
	if err != nil {
		return nil, err
	}
	// A connection of its own: on one that is reused, the standard library sends a
	// request with an Idempotency-Key again by itself, and the repeat would not
	// say that it is one.
	req.Close = true
	if header != nil {
		req.Header = header.Clone()
	}
	req.Header.Set("Content-Type", "application/json")
	return req, nil
}

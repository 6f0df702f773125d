package trace

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"google.golang.org/protobuf/proto"
)

const (
	mostTries   = 4
	firstPause  = time.Second // before the second try; it doubles
	maxAnswer   = 64 << 10
	maxShown    = 300
	maxPatience = time.Minute // of a Retry-After; beyond it the next run tries again
)

// send posts a message until it is taken, refused, or tried often enough; it waits no
// longer than ctx has left. A *refusedError: it must not be sent again.
func (x *Exporter) send(ctx context.Context, path string, m proto.Message) error {
	body, err := x.packed(m)
	if err != nil {
		return &refusedError{fmt.Sprintf("encoding it: %v", err)}
	}
	pause := firstPause
	for try := 1; ; try++ {
		wait, err := x.post(ctx, path, body)
		if !again(err) || wait < 0 || try == mostTries {
			return err
		}
		if !pausing(ctx, max(pause, wait)) {
			return err
		}
		pause *= 2
	}
}

// pausing waits, and reports whether it did: not where ctx would end before.
func pausing(ctx context.Context, d time.Duration) bool {
	if deadline, ok := ctx.Deadline(); d > maxPatience || ok && time.Until(deadline) <= d {
		return false
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// packed encodes and compresses a message. The compressor, a megabyte, is made once.
func (x *Exporter) packed(m proto.Message) ([]byte, error) {
	raw, err := proto.Marshal(m)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if x.zip == nil {
		x.zip = gzip.NewWriter(&b)
	} else {
		x.zip.Reset(&b)
	}
	_, _ = x.zip.Write(raw) // a buffer takes everything
	_ = x.zip.Close()
	return b.Bytes(), nil
}

// post tries once. wait is how long the receiver asked to be left alone; below 0: to
// try again at once makes no sense.
func (x *Exporter) post(ctx context.Context, path string, body []byte) (wait time.Duration, err error) {
	if x.o.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, x.o.Timeout, fmt.Errorf("no answer within %s", x.o.Timeout))
		defer cancel()
	}
	to := *x.url
	to.Path, to.RawPath = strings.TrimRight(to.Path, "/")+path, ""
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, to.String(), bytes.NewReader(body))
	if err != nil {
		return -1, errors.New("the endpoint makes no request")
	}
	for name, values := range x.o.Header {
		r.Header[name] = values
	}
	r.Header.Set("Content-Type", "application/x-protobuf")
	r.Header.Set("Content-Encoding", "gzip")
	r.Header.Set("User-Agent", "perch/"+x.o.Source.Version)
	resp, err := x.o.Client.Do(r)
	var untrusted *tls.CertificateVerificationError
	switch {
	case errors.As(err, &untrusted):
		return -1, x.told(ctx, path, err)
	case err != nil:
		return 0, x.told(ctx, path, err)
	}
	defer func() { _ = resp.Body.Close() }()
	content, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil && resp.StatusCode == http.StatusOK {
		return 0, x.told(ctx, path, err) // whether all of it was taken is not known
	}
	return x.answered(path, resp, content)
}

// told is a client's error without the URL, and with what the context ended for.
func (x *Exporter) told(ctx context.Context, path string, err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		err = u.Err
	}
	if cause := context.Cause(ctx); cause != nil {
		err = cause
	}
	return errors.New(x.place(path) + ": " + x.hide(err.Error()))
}

// place is where it was sent, for people. Of the endpoint's own path only words show that
// are those of OTLP: another one may be a secret.
func (x *Exporter) place(path string) string {
	shown := x.url.Scheme + "://" + x.url.Host
	for part := range strings.SplitSeq(strings.Trim(x.url.Path, "/"), "/") {
		switch part {
		case "":
		case "v1", "api", "otlp", "otel", "traces", "metrics":
			shown += "/" + part
		default:
			shown += "/[secret]"
		}
	}
	return shown + path
}

// answered judges an answer, as OTLP says: 429, 502, 503 and 504 pass; every other
// error would come again. Of those the ones that a change of the config mends (a wrong
// token or path, or a page in place of a receiver) keep what was to be sent.
func (x *Exporter) answered(path string, r *http.Response, content []byte) (wait time.Duration, err error) {
	place := x.place(path)
	switch {
	case r.StatusCode == http.StatusNoContent:
		return 0, nil // frameworks give it the type of a page, too
	case r.StatusCode/100 == 2:
		return x.succeeded(place, r, content)
	}
	text := fmt.Sprintf("%s: status %d: %q", place, r.StatusCode, x.shown(statusMessage(content)))
	switch r.StatusCode {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return retryAfter(r.Header.Get("Retry-After"), time.Now()), errors.New(text)
	case http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity:
		return -1, &refusedError{text + " (it is dropped: the same would be refused again)"}
	}
	return -1, errors.New(text)
}

// succeeded judges an answer whose status is that of success. A page or an error in its place says
// that nothing was taken.
func (x *Exporter) succeeded(place string, r *http.Response, content []byte) (wait time.Duration, err error) {
	a := answerOf(r.Header.Get("Content-Type"), content)
	switch {
	case a.page:
		what := "a page without a content type"
		if a.kind != "" {
			what = strconv.Quote(x.shown(a.kind))
		}
		return -1, fmt.Errorf("%s: status %d with %s, and no OTLP receiver answers so: is it the right endpoint, or did a login page or another web server answer?",
			place, r.StatusCode, what)
	case a.failure != "":
		return -1, fmt.Errorf("%s: status %d with an error in place of OTLP's answer: %q", place, r.StatusCode, x.shown(a.failure))
	case a.rejected > 0:
		return 0, &refusedError{fmt.Sprintf("%s took it but for %d, which are dropped: %q", place, a.rejected, x.shown(a.message))}
	case a.message != "" && x.o.Warn != nil:
		x.o.Warn(fmt.Sprintf("%s took it, and says: %q", place, x.shown(a.message)))
	}
	return 0, nil
}

func (x *Exporter) shown(message string) string {
	message = x.hide(strings.ToValidUTF8(message, "\uFFFD")) // before it is cut: half of a secret would not be found
	return message[:min(len(message), maxShown)]
}

func retryAfter(value string, now time.Time) time.Duration {
	if n, err := strconv.ParseUint(value, 10, 31); err == nil {
		return time.Duration(n) * time.Second
	}
	if at, err := http.ParseTime(value); err == nil {
		return max(0, at.Sub(now))
	}
	return 0
}

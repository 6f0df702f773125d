package trace

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	metricspb "go.opentelemetry.io/proto/otlp/metrics/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
)

// mostSpans is how many spans one request carries.
const mostSpans = 512

// Options say where to send, and how.
type Options struct {
	Endpoint   string // without /v1/traces and /v1/metrics; its path may be a secret
	Header     http.Header
	Client     *http.Client      // nil: one with the defaults
	Timeout    time.Duration     // of one request; 0: the context's alone
	Histograms Histograms        // empty: Exponential
	Warn       func(text string) // told what a receiver says of what it took; nil: nobody
	Source     Source
}

// Exporter sends by OTLP over HTTP: protocol buffers, compressed by gzip. It is not for
// concurrent use.
type Exporter struct {
	o   Options
	url *url.URL
	zip *gzip.Writer // nil: nothing was sent yet
}

// New returns an exporter; the error is an endpoint that is no URL, and does not
// repeat it.
func New(o Options) (*Exporter, error) {
	u, err := url.Parse(o.Endpoint)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.User != nil || u.RawQuery != "" {
		return nil, errors.New("exporting by OTLP: the endpoint is not an http or https URL without user and query")
	}
	client := http.Client{}
	if o.Client != nil {
		client = *o.Client
	}
	// A client turns a redirected POST into a GET, which may well be answered with
	// 200, and nothing would have been stored.
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	o.Client = &client
	if o.Histograms == "" {
		o.Histograms = Exponential
	}
	return &Exporter{o: o, url: u}, nil
}

// Spans sends them, and returns those that could not be sent and may be sent again:
// not those that the receiver refused for good, which the error tells of, too.
func (x *Exporter) Spans(ctx context.Context, all Spans) (Spans, error) {
	var problems []error
	for part := range slices.Chunk(all, mostSpans) {
		err := x.send(ctx, "/v1/traces", x.traces(part))
		if again(err) {
			return all, said("spans", append(problems, err))
		}
		if err != nil {
			problems = append(problems, err)
		}
		all = all[len(part):]
	}
	return nil, said("spans", problems)
}

// traces is a request's message: on the wire it is the service's request.
func (x *Exporter) traces(all Spans) *tracepb.TracesData {
	return &tracepb.TracesData{ResourceSpans: []*tracepb.ResourceSpans{{
		Resource:   x.o.Source.resource(),
		ScopeSpans: []*tracepb.ScopeSpans{{Scope: x.o.Source.scope(), Spans: all}},
	}}}
}

// Metrics sends what the families' counters and histograms grew since c was last
// sent, and what their gauges are. What cannot be sent stays in c.
func (x *Exporter) Metrics(ctx context.Context, c *Counts, families Families, now time.Time) error {
	grown, within := c.begin(families, now)
	var problems []error
	for b := range batches(grown, families, within, x.o.Histograms) {
		err := x.send(ctx, "/v1/metrics", &metricspb.MetricsData{ResourceMetrics: []*metricspb.ResourceMetrics{{
			Resource:     x.o.Source.resource(),
			ScopeMetrics: []*metricspb.ScopeMetrics{{Scope: x.o.Source.scope(), Metrics: b.metrics}},
		}}})
		if again(err) {
			return said("metrics", append(problems, err))
		}
		if err != nil {
			problems = append(problems, err)
		}
		c.sent(b.points)
	}
	c.done(within)
	return said("metrics", problems)
}

func said(what string, problems []error) error {
	if len(problems) == 0 {
		return nil
	}
	// One that says the same of many requests is said once.
	problems = slices.CompactFunc(problems, func(a, b error) bool { return a.Error() == b.Error() })
	return fmt.Errorf("exporting %s by OTLP: %w", what, errors.Join(problems...))
}

// again reports whether what failed may be sent again.
func again(err error) bool {
	var refused *refusedError
	return err != nil && !errors.As(err, &refused)
}

// refusedError says that a receiver took something, or all of it, for wrong: the same
// would be wrong again.
type refusedError struct{ text string }

func (e *refusedError) Error() string { return e.text }

// hide takes out of a text what may be a secret: the endpoint's path, and the headers'
// values, whole and word by word, the longest first.
func (x *Exporter) hide(text string) string {
	const shortest = 4 // what is shorter is no secret, and would blot out ordinary words
	parts := []string{x.url.Path, x.url.EscapedPath()}
	parts = append(parts, strings.Split(x.url.Path, "/")...)
	for _, values := range x.o.Header {
		for _, value := range values {
			parts = append(append(parts, value), strings.Fields(value)...)
		}
	}
	parts = slices.DeleteFunc(parts, func(part string) bool { return len(part) < shortest })
	slices.SortFunc(parts, func(a, b string) int { return len(b) - len(a) })
	for _, part := range parts {
		text = strings.ReplaceAll(text, part, "[secret]")
	}
	return text
}

// Package tracetest is an OTLP receiver for tests: what it was sent, in plain values.
package tracetest

import (
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"sync"

	metricspb "go.opentelemetry.io/proto/otlp/metrics/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// Receiver takes OTLP over HTTP. The zero value takes everything. It may be used by
// many goroutines.
type Receiver struct {
	// Answer is asked before a request is taken: a status other than 0 and 200 is
	// answered in its place, and nothing is taken. nil: all are taken.
	Answer func(n int, r *http.Request) Answer

	mu       sync.Mutex
	requests []Request
	spans    []Span
	points   []Point
	wrong    []error
}

// Answer is what a request is answered with.
type Answer struct {
	Status int
	Header map[string]string
	Body   []byte
	// Elsewhere says that no receiver answers, but a web server in its place: nothing is
	// taken, whatever the status.
	Elsewhere bool
}

// Request is one that came.
type Request struct {
	Path   string
	Header http.Header
	Taken  bool
}

// ServeHTTP takes one request.
func (v *Receiver) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	v.mu.Lock()
	n := len(v.requests)
	v.requests = append(v.requests, Request{Path: r.URL.Path, Header: r.Header.Clone()})
	v.mu.Unlock()
	var a Answer
	if v.Answer != nil {
		a = v.Answer(n, r)
	}
	taken := !a.Elsewhere && (a.Status == 0 || a.Status == http.StatusOK)
	if taken {
		if err := v.take(n, r); err != nil {
			v.mu.Lock()
			v.wrong = append(v.wrong, err)
			v.mu.Unlock()
			a.Status = http.StatusBadRequest
		}
	}
	for name, value := range a.Header {
		w.Header().Set(name, value)
	}
	if a.Status != 0 {
		w.WriteHeader(a.Status)
	}
	_, _ = w.Write(a.Body) // the client may be gone
}

func (v *Receiver) take(n int, r *http.Request) error {
	if got := r.Header.Get("Content-Type"); r.Method != http.MethodPost || got != "application/x-protobuf" || r.Header.Get("Content-Encoding") != "gzip" {
		return fmt.Errorf("%s of %q, encoded %q", r.Method, got, r.Header.Get("Content-Encoding"))
	}
	z, err := gzip.NewReader(r.Body)
	if err != nil {
		return err
	}
	raw, err := io.ReadAll(z)
	if err != nil {
		return err
	}
	var traces tracepb.TracesData
	var metrics metricspb.MetricsData
	switch r.URL.Path {
	case "/v1/traces", "/tenant/v1/traces":
		err = proto.Unmarshal(raw, &traces)
	case "/v1/metrics", "/tenant/v1/metrics":
		err = proto.Unmarshal(raw, &metrics)
	default:
		err = fmt.Errorf("no signal's path: %s", r.URL.Path)
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.requests[n].Taken = err == nil
	v.spans = append(v.spans, spansOf(&traces)...)
	v.points = append(v.points, pointsOf(&metrics)...)
	return err
}

// Requests returns all that came, in their order.
func (v *Receiver) Requests() []Request {
	v.mu.Lock()
	defer v.mu.Unlock()
	return append([]Request(nil), v.requests...)
}

// Spans returns those that were taken.
func (v *Receiver) Spans() []Span {
	v.mu.Lock()
	defer v.mu.Unlock()
	return append([]Span(nil), v.spans...)
}

// Points returns those that were taken.
func (v *Receiver) Points() []Point {
	v.mu.Lock()
	defer v.mu.Unlock()
	return append([]Point(nil), v.points...)
}

// Wrong returns what could not be read.
func (v *Receiver) Wrong() []error {
	v.mu.Lock()
	defer v.mu.Unlock()
	return append([]error(nil), v.wrong...)
}

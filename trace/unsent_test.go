package trace

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	collector "go.opentelemetry.io/proto/otlp/collector/metrics/v1"

	"perch.example/trace/tracetest"
)

// TestAPageTakesNothing: a login page in the receiver's place answers with 200, and what
// grew meanwhile is sent once, when the receiver is there again.
func TestAPageTakesNothing(t *testing.T) {
	counts, s := &Counts{}, newSending(t, Exponential)
	counts.Start(these(counter("perch_a_total", 5)), at(0))
	s.answer = tracetest.Answer{Header: map[string]string{"Content-Type": "text/html"}, Body: []byte("<html>"), Elsewhere: true}
	for n := range 3 {
		if err := s.Metrics(t.Context(), counts, these(counter("perch_a_total", 6+float64(n))), at(time.Minute)); err == nil || !strings.Contains(err.Error(), "text/html") {
			t.Fatal(err)
		}
	}
	if n := len(s.v.Requests()); n != 3 {
		t.Errorf("%d requests in 3 sendings: no page is asked again at once", n)
	}
	s.answer = tracetest.Answer{Header: map[string]string{"Content-Type": "application/json"}, Body: []byte("{}")}
	if err := s.Metrics(t.Context(), counts, these(counter("perch_a_total", 9)), at(2*time.Minute)); err != nil {
		t.Fatal(err)
	}
	if all := s.points("perch_a_total"); len(all) != 1 || all[0].Value != 4 || counts.Owes() {
		t.Errorf("%v were taken, want what grew since 5", all)
	}
}

// TestRejectedPointsAreSaid: of a receiver that takes all but some points of a metric, as
// it says in either encoding; these are not sent again.
func TestRejectedPointsAreSaid(t *testing.T) {
	raw := message(t, &collector.ExportMetricsServiceResponse{PartialSuccess: &collector.ExportMetricsPartialSuccess{RejectedDataPoints: 2, ErrorMessage: "no deltas"}})
	for kind, body := range map[string][]byte{
		"application/x-protobuf": raw,
		"application/json":       []byte(`{"partialSuccess":{"rejectedDataPoints":"2","errorMessage":"no deltas"}}`),
	} {
		counts, s := &Counts{}, newSending(t, Exponential)
		counts.Start(these(counter("perch_a_total", 5)), at(0))
		s.answer = tracetest.Answer{Header: map[string]string{"Content-Type": kind}, Body: body}
		err := s.Metrics(t.Context(), counts, these(counter("perch_a_total", 6)), at(time.Minute))
		if err == nil || !strings.Contains(err.Error(), `took it but for 2, which are dropped: "no deltas"`) || counts.Owes() {
			t.Errorf("%s: %v", kind, err)
		}
	}
}

// TestUnsentWhileSending: what grows while something is sent is neither lost nor sent
// twice, though it was written meanwhile.
func TestUnsentWhileSending(t *testing.T) {
	for _, c := range []struct {
		name   string
		status int // of the sending under way
		want   float64
		waits  uint64
	}{{"it arrives", 200, 4, 2}, {"it does not", 503, 7, 3}} {
		t.Run(c.name, func(t *testing.T) {
			counts, written := &Counts{}, json.RawMessage(nil)
			counts.Start(these(counter("perch_a_total", 5)), at(0))
			families := func(a float64, seconds ...float64) Families {
				return these(counter("perch_a_total", a), observed("perch_wait_seconds", seconds...))
			}
			s := newSending(t, Exponential)
			s.v.Answer = func(int, *http.Request) tracetest.Answer {
				var err error
				if written, err = counts.Unsent(families(12, 0.05, 3, 0.5), at(90*time.Second), 1<<20); err != nil {
					t.Error(err)
				}
				return tracetest.Answer{Status: c.status, Header: map[string]string{"Retry-After": "3600"}}
			}
			if err := s.Metrics(t.Context(), counts, families(8, 0.05), at(time.Minute)); (err == nil) != (c.status == 200) {
				t.Fatal(err)
			}
			before := len(s.points("perch_a_total"))
			s.v.Answer = func(int, *http.Request) tracetest.Answer { return tracetest.Answer{} }
			if err := s.Metrics(t.Context(), counts, families(12, 0.05, 3, 0.5), at(2*time.Minute)); err != nil {
				t.Fatal(err)
			}
			a, wait := s.points("perch_a_total")[before:], s.points("perch_wait_seconds")
			if len(a) != 1 || a[0].Value != c.want || wait[len(wait)-1].Count != c.waits {
				t.Errorf("%v and %v were sent, want %v and %d", a, wait, c.want, c.waits)
			}
			next := &Counts{}
			if err := next.Restore(written); err != nil || !next.Owes() || counts.Owes() {
				t.Errorf("%v; what was written: %s", err, written)
			}
		})
	}
}

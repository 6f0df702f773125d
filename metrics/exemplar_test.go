package metrics

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"

	"perch.example/probes"
)

const (
	acceptOpenMetrics = "application/openmetrics-text;version=1.0.0"
	acceptProtobuf    = "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited"
)

// traced is a probe's run with one attempt that was answered and one that was
// not.
func traced() (*Metrics, probes.Run) {
	m, run := scrapable()
	run.Outcomes[0].Attempts = []probes.Attempt{
		{Connection: probes.ConnectionFresh, Reason: probes.ReasonOK, Status: 200, Started: run.Started, Elapsed: 30 * time.Millisecond,
			Phases: probes.Phases{Wait: 20 * time.Millisecond}, TraceID: strings.Repeat("a", 32), SpanID: strings.Repeat("b", 16)},
		{Connection: probes.ConnectionFresh, Reason: probes.ReasonReset, Started: run.Started, Elapsed: time.Minute,
			Phases: probes.Phases{Connect: 20 * time.Second}, TraceID: strings.Repeat("c", 32), SpanID: strings.Repeat("d", 16)},
		{Connection: probes.ConnectionFresh, Reason: probes.ReasonRefused, TraceID: strings.Repeat("e", 32)},
	}
	return m, run
}

func TestExemplarsInOpenMetrics(t *testing.T) {
	m, run := traced()
	m.Observe(run)
	_, body := scrape(t, m, acceptOpenMetrics)
	ids := func(trace, span string) string {
		return ` # {trace_id="` + strings.Repeat(trace, 32) + `",span_id="` + strings.Repeat(span, 16) + `"}`
	}
	for _, want := range []string{
		`perch_attempt_duration_seconds_bucket{connection="fresh",perch="shop",probe="p",target="api",vantage="here",le="0.05"} 1` + ids("a", "b") + ` 0.03 1.8000000000300002e+09`,
		`perch_phase_duration_seconds_bucket{perch="shop",phase="wait",probe="p",target="api",vantage="here",le="0.1"} 1` + ids("a", "b") + ` 0.02 `,
		`perch_phase_duration_seconds_bucket{perch="shop",phase="connect",probe="p",target="api",vantage="here",le="+Inf"} 1` + ids("c", "d") + ` 20.0 `,
		`perch_attempts_total{connection="fresh",perch="shop",probe="p",reason="reset",target="api",vantage="here"} 1.0` + ids("c", "d") + ` 1.0 1.80000006e+09`,
		`perch_attempts_total{connection="fresh",perch="shop",probe="p",reason="refused",target="api",vantage="here"} 1.0 # {trace_id="` + strings.Repeat("e", 32) + `"} 1.0 1.800000001e+09`,
		`perch_attempts_total{connection="fresh",perch="shop",probe="p",reason="ok",target="api",vantage="here"} 1.0` + "\n",
	} {
		if !strings.Contains(string(body), want) {
			t.Errorf("no %s in\n%s", want, body)
		}
	}
}

// exemplars are the trace ids that a scrape by protocol buffers sees, by metric.
func exemplars(t *testing.T, header http.Header, body io.Reader) map[string]string {
	t.Helper()
	all, decoder := map[string]string{}, expfmt.NewDecoder(body, expfmt.ResponseFormat(header))
	note := func(name string, e *dto.Exemplar) {
		if e != nil {
			all[name] += e.Label[0].GetValue()[:1]
		}
	}
	for {
		var f dto.MetricFamily
		if err := decoder.Decode(&f); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		for _, series := range f.GetMetric() {
			note(f.GetName(), series.GetCounter().GetExemplar())
			for _, b := range series.GetHistogram().GetBucket() {
				note(f.GetName(), b.GetExemplar())
			}
		}
	}
}

func TestExemplarsInProtocolBuffers(t *testing.T) {
	m, run := traced()
	m.Observe(run)
	header, body := scrape(t, m, acceptProtobuf)
	got := exemplars(t, header, bytes.NewReader(body))
	for name, want := range map[string]string{"perch_attempt_duration_seconds": "a", "perch_phase_duration_seconds": "ca", "perch_attempts_total": "ec"} {
		if got[name] != want {
			t.Errorf("%s has exemplars of %q, want of %q", name, got[name], want)
		}
	}
}

// The text format has no exemplars, and a state does not keep them: whoever
// reads them an hour later finds a trace that is gone.
func TestExemplarsAreNowhereElse(t *testing.T) {
	m, run := traced()
	m.Observe(run)
	_, text := scrape(t, m, "")
	pushed, err := m.bare.delimited()
	if err != nil {
		t.Fatal(err)
	}
	saved, err := m.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	for name, body := range map[string]string{"the text format": string(text), "the text file": exposition(t, m), "a push": string(pushed), "the state": string(saved)} {
		if strings.Contains(body, "aaaa") || strings.Contains(body, "trace_id") {
			t.Errorf("%s has a trace id:\n%s", name, body)
		}
	}
	again, _ := scrapable()
	if err := again.Restore(saved); err != nil {
		t.Fatal(err)
	}
	again.Observe(run) // on top of what was counted
	if _, body := scrape(t, again, acceptOpenMetrics); !strings.Contains(string(body), `le="0.05"} 2 # {trace_id="aaaa`) {
		t.Errorf("a restored histogram has no exemplar:\n%s", body)
	}
}

// A bucket shows the newest, and OpenMetrics takes 128 characters at most.
func TestWhichExemplar(t *testing.T) {
	m, run := traced()
	m.Observe(run)
	a := &run.Outcomes[0].Attempts[0]
	for _, tt := range []struct{ trace, span, want string }{
		{strings.Repeat("9", 32), "", "9"},
		{"", strings.Repeat("8", 16), "9"}, // no id: the one before it stays
		{strings.Repeat("7", 100), strings.Repeat("7", 14), "9"},
		{"\xff", "", "9"},
		{strings.Repeat("6", 100), strings.Repeat("6", 13), "6"},
	} {
		a.TraceID, a.SpanID = tt.trace, tt.span
		m.Observe(run)
		header, body := scrape(t, m, acceptProtobuf)
		if got := exemplars(t, header, bytes.NewReader(body))["perch_attempt_duration_seconds"]; got != tt.want {
			t.Errorf("after %q: exemplars of %q, want of %q", tt.trace, got, tt.want)
		}
	}
}

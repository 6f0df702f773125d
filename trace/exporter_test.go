package trace

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	status "google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/protobuf/proto"

	"perch.example/probes"
	"perch.example/trace/tracetest"
)

// exporterTo sends to a receiver over the network; both end with the test.
func exporterTo(t *testing.T, v *tracetest.Receiver, o Options) *Exporter {
	t.Helper()
	server := httptest.NewServer(v)
	t.Cleanup(server.Close)
	o.Endpoint = server.URL + o.Endpoint
	return exporter(t, o)
}

func exporter(t *testing.T, o Options) *Exporter {
	t.Helper()
	x, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// direct is a transport that asks a receiver without any network: for tests whose time
// stands still.
type direct struct{ v *tracetest.Receiver }

func (d direct) RoundTrip(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	d.v.ServeHTTP(w, r)
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	return w.Result(), nil
}

func oneSpan(t *testing.T) Spans {
	t.Helper()
	return source(t).Spans(run(call(probes.Attempt{Reason: probes.ReasonOK, SpanID: spanA, Started: at(0)})))
}

func message(t *testing.T, m proto.Message) []byte {
	t.Helper()
	raw, err := proto.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// played is what became of sending one outcome's two spans to a receiver that answers
// the first requests so.
type played struct {
	left   int
	err    error
	at     []time.Duration // when requests came
	warned []string
}

func play(t *testing.T, within time.Duration, answers ...tracetest.Answer) (p played) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		v := &tracetest.Receiver{Answer: func(n int, r *http.Request) tracetest.Answer {
			p.at = append(p.at, time.Since(began))
			if n >= len(answers) {
				return tracetest.Answer{}
			}
			if answers[n].Status < 0 { // it hangs
				<-r.Context().Done()
				return tracetest.Answer{Status: 503} // which nobody sees
			}
			return answers[n]
		}}
		x := exporter(t, Options{
			Endpoint: "https://otlp.example", Client: &http.Client{Transport: direct{v}}, Timeout: 5 * time.Second, Source: source(t),
			Warn: func(text string) { p.warned = append(p.warned, text) },
		})
		ctx, cancel := context.WithTimeout(t.Context(), within)
		defer cancel()
		left, err := x.Spans(ctx, oneSpan(t))
		p.left, p.err = len(left), err
	})
	return p
}

// TestTries: what passes is tried again, as long as there is time; what would come
// again is not.
func TestTries(t *testing.T) {
	refusal := message(t, &status.Status{Code: 3, Message: "no such tenant"})
	some := message(t, &collector.ExportTraceServiceResponse{PartialSuccess: &collector.ExportTracePartialSuccess{RejectedSpans: 1, ErrorMessage: "too old"}})
	warning := message(t, &collector.ExportTraceServiceResponse{PartialSuccess: &collector.ExportTracePartialSuccess{ErrorMessage: "slow down"}})
	later := map[string]string{"Retry-After": "7"}
	of := func(kind, body string) tracetest.Answer {
		return tracetest.Answer{Header: map[string]string{"Content-Type": kind}, Body: []byte(body)}
	}
	page := of("text/html; charset=utf-8", "<!DOCTYPE html><title>Sign in</title>")
	page.Elsewhere = true
	long := map[string]string{"Retry-After": "3600"}
	const s = time.Second
	for _, c := range []struct {
		name    string
		within  time.Duration
		answers []tracetest.Answer
		at      []time.Duration
		left    int
		says    string // of the error; empty: there is none
	}{
		{"at once", time.Minute, nil, []time.Duration{0}, 0, ""},
		{"503 once", time.Minute, []tracetest.Answer{{Status: 503}}, []time.Duration{0, s}, 0, ""},
		{"429 asks for 7 s", time.Minute, []tracetest.Answer{{Status: 429, Header: later}}, []time.Duration{0, 7 * s}, 0, ""},
		{"429 asks for longer than there is", 5 * s, []tracetest.Answer{{Status: 429, Header: later}}, []time.Duration{0}, 2, "status 429"},
		{"503 asks for an hour", 2 * time.Hour, []tracetest.Answer{{Status: 503, Header: long}}, []time.Duration{0}, 2, "status 503"},
		{"502 for good", time.Minute, []tracetest.Answer{{Status: 502}, {Status: 502}, {Status: 502}, {Status: 502}, {Status: 502}}, []time.Duration{0, s, 3 * s, 7 * s}, 2, "status 502"},
		{"it hangs once", time.Minute, []tracetest.Answer{{Status: -1}}, []time.Duration{0, 6 * s}, 0, ""},
		{"it hangs", 12 * s, []tracetest.Answer{{Status: -1}, {Status: -1}, {Status: -1}}, []time.Duration{0, 6 * s}, 2, "no answer within 5s"},
		{"a wrong token", time.Minute, []tracetest.Answer{{Status: 401, Body: []byte("who are you?\n")}}, []time.Duration{0}, 2, `https://otlp.example/v1/traces: status 401: "who are you?"`},
		{"a redirect", time.Minute, []tracetest.Answer{{Status: 302, Header: map[string]string{"Location": "/login"}}}, []time.Duration{0}, 2, "status 302"},
		{"refused for good", time.Minute, []tracetest.Answer{{Status: 400, Body: refusal}}, []time.Duration{0}, 0, `status 400: "no such tenant" (it is dropped`},
		{"too large", time.Minute, []tracetest.Answer{{Status: 413}}, []time.Duration{0}, 0, "status 413"},
		{"taken but for one", time.Minute, []tracetest.Answer{{Status: 200, Body: some}}, []time.Duration{0}, 0, `took it but for 1, which are dropped: "too old"`},
		{"taken, with a warning", time.Minute, []tracetest.Answer{{Status: 200, Body: warning}}, []time.Duration{0}, 0, ""},
		{"taken but for one, and says its type", time.Minute, []tracetest.Answer{of("application/x-protobuf", string(some))}, []time.Duration{0}, 0, `took it but for 1, which are dropped: "too old"`},
		{"taken but for one, in JSON", time.Minute, []tracetest.Answer{of("application/json", `{"partialSuccess":{"rejectedSpans":"1","errorMessage":"too old"}}`)}, []time.Duration{0}, 0, `took it but for 1, which are dropped: "too old"`},
		{"taken, in JSON", time.Minute, []tracetest.Answer{of("application/json", `{"partialSuccess":{}}`)}, []time.Duration{0}, 0, ""},
		{"taken, and says so in words", time.Minute, []tracetest.Answer{of("text/plain; charset=utf-8", "ok")}, []time.Duration{0}, 0, ""},
		{"taken, and says nothing", time.Minute, []tracetest.Answer{of("text/plain", "")}, []time.Duration{0}, 0, ""},
		{"taken, without content", time.Minute, []tracetest.Answer{{Status: 204, Header: map[string]string{"Content-Type": "text/html"}}}, []time.Duration{0}, 0, ""},
		{"a page", time.Minute, []tracetest.Answer{page}, []time.Duration{0}, 2, `https://otlp.example/v1/traces: status 200 with "text/html", and no OTLP receiver answers so`},
		{"a page, whose type is misspelt", time.Minute, []tracetest.Answer{of("Text/HTML; charset", "<html>")}, []time.Duration{0}, 2, `status 200 with "text/html"`},
		{"a picture", time.Minute, []tracetest.Answer{of("image/gif", "GIF89a")}, []time.Duration{0}, 2, `status 200 with "image/gif"`},
		{"taken, and answered with nonsense", time.Minute, []tracetest.Answer{{Status: 200, Body: []byte(`{"partialSuccess":{}}`)}}, []time.Duration{0}, 0, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := play(t, c.within, c.answers...)
			if !slices.Equal(got.at, c.at) || got.left != c.left {
				t.Errorf("requests at %v and %d left, want %v and %d", got.at, got.left, c.at, c.left)
			}
			switch {
			case c.says == "" && got.err != nil:
				t.Error(got.err)
			case c.says != "" && (got.err == nil || !strings.Contains(got.err.Error(), c.says)):
				t.Errorf("%v, want %q", got.err, c.says)
			}
			if warned := strings.Join(got.warned, ""); strings.Contains(warned, "slow down") != (c.name == "taken, with a warning") {
				t.Errorf("warned: %q", warned)
			}
		})
	}
}

// TestManySpans: more than one request holds goes out in several; what one of them
// could not bring is what is left.
func TestManySpans(t *testing.T) {
	var all Spans
	for range 2*mostSpans + 10 {
		all = append(all, oneSpan(t)[0])
	}
	v := &tracetest.Receiver{Answer: func(n int, _ *http.Request) tracetest.Answer {
		return map[int]tracetest.Answer{0: {Status: 400}, 2: {Status: 401}}[n]
	}}
	x := exporterTo(t, v, Options{Source: source(t)})
	left, err := x.Spans(t.Context(), all)
	if len(left) != 10 || len(v.Spans()) != mostSpans {
		t.Errorf("%d left and %d taken, want 10 and %d", len(left), len(v.Spans()), mostSpans)
	}
	if err == nil || !strings.Contains(err.Error(), "status 400") || !strings.Contains(err.Error(), "status 401") {
		t.Errorf("%v, want both statuses", err)
	}
}

// TestHeadersAndPath: headers and the path are sent, and stand in no error.
func TestHeadersAndPath(t *testing.T) {
	v := &tracetest.Receiver{Answer: func(int, *http.Request) tracetest.Answer {
		return tracetest.Answer{Status: 403, Body: []byte("token hunter2-of-shop at /tenant/v1/traces is Bearer hunter2-of-shop")}
	}}
	header := http.Header{"Authorization": {"Bearer hunter2-of-shop"}}
	x := exporterTo(t, v, Options{Endpoint: "/tenant", Header: header, Source: source(t)})
	_, err := x.Spans(t.Context(), oneSpan(t))
	if err == nil || strings.Contains(err.Error(), "hunter2") || strings.Contains(err.Error(), "tenant") || !strings.Contains(err.Error(), "[secret]") {
		t.Errorf("%v", err)
	}
	got := v.Requests()[0]
	if got.Path != "/tenant/v1/traces" || got.Header.Get("Authorization") != "Bearer hunter2-of-shop" || got.Header.Get("User-Agent") != "perch/1.2" {
		t.Errorf("%+v", got)
	}
}

// broken is a transport whose error shows all it knows.
type broken struct{}

func (broken) RoundTrip(r *http.Request) (*http.Response, error) {
	return nil, errors.New("dialling for " + r.URL.String() + " with " + r.Header.Get("Authorization"))
}

func TestErrorsAreScrubbed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := exporter(t, Options{
			Endpoint: "https://otlp.example/hunter2-path", Header: http.Header{"Authorization": {"Bearer hunter2-token"}},
			Client: &http.Client{Transport: broken{}}, Source: source(t),
		})
		left, err := x.Spans(t.Context(), oneSpan(t))
		if err == nil || len(left) != 2 || strings.Contains(err.Error(), "hunter2") || !strings.Contains(err.Error(), "https://otlp.example/[secret]/v1/traces: dialling") {
			t.Errorf("%v, %d left", err, len(left))
		}
	})
}

// An error names the path that was asked, as far as it can be no secret.
func TestErrorsNameThePath(t *testing.T) {
	for endpoint, want := range map[string]string{
		"":                 "/v1/traces: status 404",
		"/":                "/v1/traces: status 404",
		"/otlp/":           "/otlp/v1/traces: status 404",
		"/v1/traces":       "/v1/traces/v1/traces: status 404", // written twice
		"/api/hunter2/v1/": "/api/[secret]/v1/v1/traces: status 404",
	} {
		v := &tracetest.Receiver{Answer: func(int, *http.Request) tracetest.Answer { return tracetest.Answer{Status: 404} }}
		x := exporterTo(t, v, Options{Endpoint: endpoint, Source: source(t)})
		_, err := x.Spans(t.Context(), oneSpan(t))
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%q: %v, want %s", endpoint, err, want)
		}
	}
}

func TestNewRefuses(t *testing.T) {
	for _, endpoint := range []string{"", "grpc://a:4317", "http://", "https://user:hunter2@a", "https://a?key=hunter2", "://hunter2"} {
		if x, err := New(Options{Endpoint: endpoint}); err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%q: %v, %v", endpoint, x, err)
		}
	}
}

// TestWireIsTheServices: what is sent is the request that OTLP's services take.
func TestWireIsTheServices(t *testing.T) {
	var got collector.ExportTraceServiceRequest
	all := oneSpan(t)
	v := &tracetest.Receiver{}
	x := exporterTo(t, v, Options{Source: source(t)})
	if _, err := x.Spans(t.Context(), all); err != nil {
		t.Fatal(err)
	}
	raw := message(t, x.traces(all))
	if err := proto.Unmarshal(raw, &got); err != nil {
		t.Fatal(err)
	}
	if len(got.ResourceSpans) != 1 || len(got.ResourceSpans[0].ScopeSpans[0].Spans) != 2 || len(got.ProtoReflect().GetUnknown()) > 0 {
		t.Errorf("%v", &got)
	}
	if len(v.Spans()) != 2 || v.Spans()[1].ID != spanA {
		t.Errorf("%v", v.Spans())
	}
}

// FuzzAnswer: whatever a receiver answers is read without a panic, and bounded.
func FuzzAnswer(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte("\x0a\x0b\x08\x01\x12\x07too old"))
	f.Add([]byte("\x08\x03\x12\x02no"))
	f.Add([]byte(`{"partialSuccess":{}}`))
	f.Add([]byte("\n <html>"))
	f.Add([]byte(`{"error":{"code":16}}`))
	f.Add([]byte(`{"partialSuccess":{"rejectedDataPoints":"-3","errorMessage":"no"}}`))
	f.Fuzz(func(t *testing.T, content []byte) {
		if rejected, _ := partial(content); rejected < 0 {
			t.Errorf("%d rejected", rejected)
		}
		if rejected, _ := partialJSON(content); rejected < 0 {
			t.Errorf("%d rejected, in JSON", rejected)
		}
		for _, kind := range []string{"", "application/json", "text/plain"} {
			if a := answerOf(kind, content); a.rejected < 0 || a.page && (kind != "" || len(content) == 0) || a.failure != "" && (kind != "application/json" || a.rejected > 0 || a.message != "") {
				t.Errorf("%q: %+v", kind, a)
			}
		}
		_ = statusMessage(content)
	})
}

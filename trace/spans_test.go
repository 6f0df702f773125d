package trace

import (
	"encoding/json"
	"flag"
	"maps"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/otel/attribute"
	semconv "go.opentelemetry.io/otel/semconv/v1.37.0"

	"perch.example/probes"
	"perch.example/trace/tracetest"
)

func TestMain(m *testing.M) {
	flag.Bool("update", false, "write the .want files anew")
	flag.Parse()
	os.Exit(m.Run())
}

const (
	traceA = "0af7651916cd43dd8448eb211c80319c"
	spanA  = "00f067aa0ba902b7"
	spanB  = "00f067aa0ba902b8"
	spanC  = "00f067aa0ba902b9"
)

func start() time.Time { return time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC) }

func at(d time.Duration) time.Time { return start().Add(d) }

func source(t *testing.T) Source {
	t.Helper()
	u, err := url.Parse("https://api.example:8443/v1/calendar?key=hunter2")
	if err != nil {
		t.Fatal(err)
	}
	grpc := probes.Spec{Target: "stock", Probe: "rpc", Kind: probes.KindGRPC, URL: u, GRPC: &probes.GRPC{Method: "stock.v1.Stock/Get"}}
	return Source{Name: "shop", Vantage: "tokyo", Version: "1.2", Targets: []probes.Target{{Name: "stock", Probes: []probes.Spec{
		{Target: "stock", Probe: "calendar", Kind: probes.KindHTTP, URL: u}, {Target: "stock", Probe: "idle", Kind: probes.KindIdle, URL: u}, grpc,
	}}}}
}

func addr(s string) netip.AddrPort { return netip.MustParseAddrPort(s) }

// idleRung is a rung whose held connection the server closed.
func idleRung() probes.Outcome {
	const ms = time.Millisecond
	acked := int64(0)
	local, remote := addr("10.0.0.7:40001"), addr("192.0.2.1:8443")
	return probes.Outcome{
		Target: "stock", Probe: "idle", Kind: probes.KindIdle, Verdict: probes.VerdictFail, Reason: probes.ReasonIdleFIN,
		Diagnosis: probes.DiagnosisEarlyClose, Message: "the connection was closed after 60s idle", Hold: 61 * time.Second,
		Started: at(0), ClosedBy: "peer", Close: &probes.Close{Age: 60 * time.Second, At: at(60*time.Second + 90*ms), How: probes.HowFIN, Resolution: ms},
		Client: &probes.ClientOutcome{Kind: "apache-httpclient-4.5"},
		Retry:  probes.RetryOutcome{Result: probes.RetryRecovered, Application: probes.CoverUncovered},
		Attempts: []probes.Attempt{
			{
				Number: 1, Connection: probes.ConnectionFresh, Reason: probes.ReasonOK, Method: "GET", Status: 200, Proto: "HTTP/1.1",
				Began: at(0), Started: at(40 * ms), Elapsed: 50 * ms, Phases: probes.Phases{DNS: 5 * ms, Connect: 10 * ms, TLS: 25 * ms, Wait: 30 * ms, Transfer: 20 * ms},
				Local: local, Remote: remote, TraceID: traceA, SpanID: spanA, RequestBytes: 120, ResponseBytes: 900,
			},
			{
				Number: 2, Connection: probes.ConnectionReused, Reason: probes.ReasonIdleFIN, Detail: "FIN after 60s idle", Method: "GET", Proto: "HTTP/1.1",
				Began: at(61*time.Second + 88*ms), Started: at(61*time.Second + 90*ms), Elapsed: 2 * ms, Served: 1, IdleTime: 61 * time.Second, ConnectionAge: 61 * time.Second,
				Local: local, Remote: remote, TraceID: traceA, SpanID: spanB, RequestBytes: 120, RequestBytesAcked: &acked, Queued: true,
			},
			{
				Number: 3, Connection: probes.ConnectionControl, Reason: probes.ReasonOK, Method: "GET", Status: 200, Proto: "HTTP/1.1",
				Began: at(61*time.Second + 95*ms), Started: at(61*time.Second + 125*ms), Elapsed: 40 * ms, Phases: probes.Phases{Connect: 10 * ms, TLS: 20 * ms, Wait: 35 * ms, Transfer: 5 * ms},
				Local: addr("10.0.0.7:40002"), Remote: remote, TraceID: traceA, SpanID: spanC,
			},
		},
	}
}

// call is one probe of kind http with those attempts.
func call(attempts ...probes.Attempt) probes.Outcome {
	for i := range attempts {
		attempts[i].Number, attempts[i].TraceID = i+1, traceA
		if attempts[i].Connection == "" {
			attempts[i].Connection = probes.ConnectionFresh
		}
	}
	return probes.Outcome{Target: "stock", Probe: "calendar", Kind: probes.KindHTTP, Verdict: probes.VerdictPass, Reason: probes.ReasonOK, Started: at(0), Attempts: attempts}
}

func run(all ...probes.Outcome) probes.Run {
	return probes.Run{RunID: "20261130T120000Z-1", Name: "shop", Vantage: "tokyo", Outcomes: all}
}

// sent are the spans as a receiver reads them.
func sent(t *testing.T, s Source, r probes.Run) []tracetest.Span {
	t.Helper()
	v := &tracetest.Receiver{}
	x := exporterTo(t, v, Options{Source: s})
	if left, err := x.Spans(t.Context(), s.Spans(r)); err != nil || len(left) > 0 {
		t.Fatal(left, err)
	}
	if wrong := v.Wrong(); len(wrong) > 0 {
		t.Fatal(wrong)
	}
	return v.Spans()
}

// golden holds a value against testdata.
func golden(t *testing.T, name string, value any) {
	t.Helper()
	got, err := json.MarshalIndent(value, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	got = append(got, '\n')
	path := filepath.Join("testdata", name)
	if flag.Lookup("update").Value.String() == "true" {
		if err := os.WriteFile(path, got, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != string(want) {
		t.Errorf("%s is another:\n%s", path, got)
	}
}

// TestSpansOfARung: all of what is said of a held connection that died.
func TestSpansOfARung(t *testing.T) {
	spans := sent(t, source(t), run(idleRung()))
	golden(t, "rung.want", spans)
	if len(spans) != 4 {
		t.Fatalf("%d spans, want the rung's and three attempts'", len(spans))
	}
	top := spans[0]
	for i, id := range []string{spanA, spanB, spanC} {
		s := spans[i+1]
		if s.ID != id || s.Parent != top.ID || s.Trace != traceA || top.Trace != traceA || !s.Client || top.Client {
			t.Errorf("attempt %d is %s below %s in %s, want %s below %s", i, s.ID, s.Parent, s.Trace, id, top.ID)
		}
		if s.Start.Before(top.Start) || s.End.After(top.End) || s.End.Before(s.Start) {
			t.Errorf("attempt %d is from %s to %s, the rung from %s to %s", i, s.Start, s.End, top.Start, top.End)
		}
		for _, e := range s.Events {
			if e.At.Before(s.Start) || e.At.After(s.End) {
				t.Errorf("attempt %d: %s at %s is outside of %s to %s", i, e.Name, e.At, s.Start, s.End)
			}
		}
	}
	if again := sent(t, source(t), run(idleRung()))[0].ID; again != top.ID {
		t.Errorf("the same run, sent again, is the span %s, and was %s", again, top.ID)
	}
}

// TestResends: perch's own second tries are told from other requests.
func TestResends(t *testing.T) {
	other := netip.MustParseAddr("192.0.2.9")
	refused := probes.Attempt{Reason: probes.ReasonRefused, Detail: "connection refused", Method: "GET", Began: at(0), Elapsed: time.Millisecond}
	spans := sent(t, source(t), run(call(
		refused, refused,
		probes.Attempt{Reason: probes.ReasonOK, Method: "GET", Status: 200, SpanID: spanA, Began: at(time.Second), Started: at(time.Second), Elapsed: time.Millisecond},
		probes.Attempt{Reason: probes.ReasonOK, Method: "GET", Status: 200, SpanID: spanB, Address: other, Began: at(2 * time.Second), Started: at(2 * time.Second)},
	)))
	var counts []any
	for _, s := range spans[1:] {
		counts = append(counts, s.Attributes["http.request.resend_count"])
	}
	if !slices.Equal(counts, []any{nil, int64(1), int64(2), nil}) {
		t.Errorf("resend counts %v", counts)
	}
	if l := spans[3].Links; len(l) != 1 || l[0].ID != spans[2].ID || l[0].What != "resends" {
		t.Errorf("the third try links %v, want the second, %s", l, spans[2].ID)
	}
	if spans[1].ID == spans[2].ID || spans[1].ID == "" {
		t.Errorf("attempts that got no request out are %s and %s", spans[1].ID, spans[2].ID)
	}
	if !spans[1].Failed || spans[1].Message != "refused: connection refused" || spans[0].Failed {
		t.Errorf("the first try says %q, the outcome failed: %v", spans[1].Message, spans[0].Failed)
	}
}

// TestHops: each request that was redirected went out under an id of its own.
func TestHops(t *testing.T) {
	spans := sent(t, source(t), run(call(probes.Attempt{
		Reason: probes.ReasonOK, Method: "GET", Status: 200, SpanID: spanB, Began: at(0), Started: at(30 * time.Millisecond), Elapsed: time.Millisecond, Served: 1,
		Hops: []probes.Hop{{SpanID: spanA, Status: 302, Started: at(10 * time.Millisecond), Elapsed: 5 * time.Millisecond}},
	})))
	if len(spans) != 3 || spans[1].ID != spanA || spans[1].Parent != spans[0].ID || spans[1].Attributes["http.response.status_code"] != int64(302) {
		t.Fatalf("%+v", spans)
	}
	if got := spans[2].Start; !got.Equal(at(15 * time.Millisecond)) {
		t.Errorf("the last hop begins at %s", got)
	}
}

// TestUnusedAndUnsent: what tried nothing has no span; a connection that carried nothing was
// opened before its hold.
func TestUnusedAndUnsent(t *testing.T) {
	o := idleRung()
	o.Unused, o.Attempts = true, o.Attempts[1:]
	o.Attempts[0].Served, o.Attempts[0].Phases.Connect = 0, 10*time.Millisecond
	skipped := probes.Outcome{Target: "stock", Probe: "calendar", Kind: probes.KindHTTP, Verdict: probes.VerdictSkipped}
	spans := sent(t, source(t), run(skipped, o))
	if len(spans) != 3 {
		t.Fatalf("%d spans, want those of the rung alone", len(spans))
	}
	var names []string
	for _, e := range spans[0].Events {
		names = append(names, e.Name)
	}
	if !slices.Equal(names, []string{"connect", "hold", "close"}) || len(spans[1].Links) != 0 {
		t.Errorf("events %q, links %v", names, spans[1].Links)
	}
}

// TestBurst: a call's span tells of the close that its connection had met.
func TestBurst(t *testing.T) {
	o := call(
		probes.Attempt{Reason: probes.ReasonOK, Status: 200, SpanID: spanA, Started: at(0), Local: addr("10.0.0.7:1"), Method: "GET"},
		probes.Attempt{Reason: probes.ReasonIdleRST, SpanID: spanB, Started: at(5 * time.Second), Local: addr("10.0.0.7:1"), Served: 1, Connection: probes.ConnectionReused, IdleTime: 5 * time.Second},
	)
	o.Kind = probes.KindBurst
	o.Burst = &probes.BurstSeen{Calls: []probes.BurstCall{
		{Burst: 1, Number: 1, Connection: 1}, {Burst: 2, Number: 1, Connection: 1, Attempt: 1, Close: &probes.Close{Age: time.Second, At: at(time.Second), How: probes.HowRST}},
	}}
	s := sent(t, source(t), run(o))[2]
	if len(s.Events) != 1 || s.Events[0].Name != "close" || s.Events[0].Attributes["perch.idle_seconds"] != 1.0 || s.Attributes["perch.burst"] != int64(2) {
		t.Errorf("%+v", s)
	}
	if len(s.Links) != 1 || s.Links[0].ID != spanA || s.Links[0].What != "same connection" {
		t.Errorf("links %v", s.Links)
	}
}

// TestManyAttempts: there is an end to the spans of one outcome, and those that failed
// are among them.
func TestManyAttempts(t *testing.T) {
	all := make([]probes.Attempt, mostAttempts+500)
	for i := range all {
		all[i] = probes.Attempt{Reason: probes.ReasonOK, Started: at(time.Duration(i) * time.Millisecond)}
	}
	all[len(all)-1].Reason = probes.ReasonReset
	spans := sent(t, source(t), run(call(all...)))
	if len(spans) != mostAttempts+1 || !spans[mostAttempts].Failed || spans[0].Attributes["perch.attempts_left_out"] != int64(500) {
		t.Errorf("%d spans, the last failed: %v, left out %v", len(spans), spans[len(spans)-1].Failed, spans[0].Attributes["perch.attempts_left_out"])
	}
}

// TestOtherTrace: a request under a trace of its own hangs below nothing there.
func TestOtherTrace(t *testing.T) {
	o := call(probes.Attempt{Reason: probes.ReasonOK, SpanID: spanA, Started: at(0)}, probes.Attempt{Reason: probes.ReasonOK, SpanID: spanB, Started: at(1)})
	o.Attempts[1].TraceID = strings.Repeat("ab", 16)
	spans := sent(t, source(t), run(o))
	if s := spans[2]; s.Trace != strings.Repeat("ab", 16) || s.Parent != "" || len(s.Links) != 1 || s.Links[0].ID != spans[0].ID {
		t.Errorf("%+v", s)
	}
}

// TestNothingSecretInSpans: no query, and of an answer only what perch made of it.
func TestNothingSecretInSpans(t *testing.T) {
	o := call(probes.Attempt{Reason: probes.ReasonExpectation, Detail: "body was hunter2", Status: 200, Method: "GET", Started: at(0), SpanID: spanA})
	grpc := o
	grpc.Probe, grpc.Attempts = "rpc", []probes.Attempt{{Connection: probes.ConnectionFresh, Reason: probes.ReasonStatus, Detail: "hunter2", GRPC: &probes.GRPCStatus{Code: 5, Name: "NOT_FOUND"}, Status: 200, Started: at(0)}}
	spans := sent(t, source(t), run(o, grpc))
	text, err := json.Marshal(spans)
	if err != nil || strings.Contains(string(text), "hunter2") {
		t.Errorf("%v: %s", err, text)
	}
	if s := spans[3]; s.Name != "stock.v1.Stock/Get" || s.Attributes["rpc.service"] != "stock.v1.Stock" || s.Attributes["rpc.grpc.status_code"] != int64(5) {
		t.Errorf("%+v", s)
	}
}

// TestConventions: what OpenTelemetry has a name for is called so.
func TestConventions(t *testing.T) {
	names := map[string]bool{}
	for _, key := range []attribute.Key{
		semconv.HTTPRequestMethodKey, semconv.HTTPResponseStatusCodeKey, semconv.HTTPRequestResendCountKey, semconv.ServerAddressKey, semconv.ServerPortKey,
		semconv.URLSchemeKey, semconv.URLPathKey, semconv.NetworkPeerAddressKey, semconv.NetworkPeerPortKey, semconv.NetworkLocalAddressKey, semconv.NetworkLocalPortKey,
		semconv.NetworkProtocolNameKey, semconv.NetworkProtocolVersionKey, semconv.ErrorTypeKey, semconv.RPCSystemKey, semconv.RPCServiceKey, semconv.RPCMethodKey,
		semconv.RPCGRPCStatusCodeKey, semconv.ServiceNameKey, semconv.ServiceInstanceIDKey, semconv.ServiceVersionKey,
	} {
		names[string(key)] = true
	}
	grpc := call(probes.Attempt{Reason: probes.ReasonStatus, GRPC: &probes.GRPCStatus{Code: 5}, Started: at(0)})
	grpc.Probe = "rpc"
	seen := map[string]bool{}
	for _, s := range sent(t, source(t), run(idleRung(), grpc)) {
		for _, all := range []map[string]any{s.Attributes, s.Resource} {
			for key := range maps.Keys(all) {
				seen[key] = true
				if !strings.HasPrefix(key, "perch.") && !names[key] {
					t.Errorf("%s is no name of OpenTelemetry's", key)
				}
			}
		}
	}
	for name := range names {
		if !seen[name] {
			t.Errorf("%s is never said", name)
		}
	}
}

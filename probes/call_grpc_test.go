package probes

import (
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/protobuf/types/known/durationpb"

	"perch.example/probes/wire"
)

// newGRPC is a call that is ready to be sent.
func newGRPC(t *testing.T, g GRPC, expectations ...string) *call {
	t.Helper()
	s := newSpec(t, KindGRPC, "http://192.0.2.1:50051", expectations...)
	s.Method, s.GRPC, s.ReadOnly = http.MethodPost, &g, "it lists"
	s.Headers = []Field{{Name: "X-Tenant", Value: "a"}}
	c := &call{spec: s, env: Env{
		UserAgent: "perch/1.2 (tests)", IDs: NewIDs(7), Log: slog.New(slog.DiscardHandler),
		ReadFile: func(name string) ([]byte, error) {
			if name != "stock.binpb" {
				return nil, errors.New("no such file")
			}
			return marshaled(t, stockSet(t)), nil
		},
	}}
	if err := c.prepare(); err != nil {
		t.Fatal(err)
	}
	return c
}

// whole is an answer of one message with the code 0.
func whole(message string) wire.Response {
	return wire.Response{
		Status: 200, Proto: "HTTP/2.0", Header: http.Header{"Content-Type": {"application/grpc"}},
		Trailer: http.Header{"Grpc-Status": {"0"}}, Body: framed([]byte(message)),
	}
}

// refused is an answer of nothing but trailers.
func refused(code, message string) wire.Response {
	return wire.Response{Status: 200, Proto: "HTTP/2.0", Header: http.Header{
		"Content-Type": {"application/grpc"}, "Grpc-Status": {code}, "Grpc-Message": {message},
	}}
}

func TestGRPCRequest(t *testing.T) {
	c := newGRPC(t, GRPC{Service: "shop.Stock"})
	r, span := c.request(&c.url, c.header)
	if r.Method != http.MethodPost || r.URL.String() != "http://192.0.2.1:50051/grpc.health.v1.Health/Check" {
		t.Errorf("%s %s", r.Method, r.URL)
	}
	for name, want := range map[string]string{
		"Content-Type": "application/grpc", "Te": "trailers", "Grpc-Timeout": "5000m", "Grpc-Accept-Encoding": "identity",
		"User-Agent": "perch/1.2 (tests)", "X-Tenant": "a", "Accept-Encoding": "", "Connection": "",
	} {
		if got := r.Header.Get(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	if trace := r.Header.Get("Traceparent"); !strings.Contains(trace, span) {
		t.Errorf("traceparent: %q, want span %s", trace, span)
	}
	if got := string(c.body); got != "\x00\x00\x00\x00\x0c\x0a\x0ashop.Stock" {
		t.Errorf("body: %q", got)
	}
	c = newGRPC(t, GRPC{Method: "shop.Stock/List", Request: []byte(`{"limit": 3}`), DescriptorSet: "stock.binpb"})
	if got := string(c.body); got != "\x00\x00\x00\x00\x02\x10\x03" || c.url.Path != "/shop.Stock/List" {
		t.Errorf("a method: %q to %s", got, c.url.Path)
	}
	c = newGRPC(t, GRPC{Method: "shop.Stock/List"})
	if c.grpc.known || !c.spec.Reflects() {
		t.Error("a method that nobody described yet is known")
	}
}

func TestGRPCPrepareErrors(t *testing.T) {
	for set, want := range map[string]string{
		"missing.binpb": "reading grpc.descriptor_set: no such file",
		"stock.binpb":   "grpc.method shop.Stock/Watch is a streaming method",
	} {
		c := newGRPC(t, GRPC{})
		c.spec.GRPC = &GRPC{Method: "shop.Stock/Watch", DescriptorSet: set}
		if err := c.prepare(); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v, want %s", set, err, want)
		}
	}
}

func TestJudgeHealth(t *testing.T) {
	plain503 := wire.Response{Status: 503, Header: http.Header{"Content-Type": {"text/html"}}, Body: []byte("<html>")}
	plain429 := wire.Response{Status: 429, Header: http.Header{"Retry-After": {"3"}}}
	plain302 := wire.Response{Status: 302, Header: http.Header{"Location": {"https://login.example/"}}}
	noTrailers := whole("\x08\x01")
	noTrailers.Trailer = nil
	two := whole("\x08\x01")
	two.Body = append(two.Body, two.Body...)
	none := whole("")
	none.Body = nil
	for name, tt := range map[string]struct {
		response wire.Response
		expect   string
		want     Reason
		detail   string
	}{
		"serving":                    {whole("\x08\x01"), "", ReasonOK, ""},
		"not serving":                {whole("\x08\x02"), "", ReasonUnavailable, "the server's health check says NOT_SERVING"},
		"not serving, as expected":   {whole("\x08\x02"), `json.status == "NOT_SERVING"`, ReasonOK, ""},
		"serving, and it should not": {whole("\x08\x01"), `json.status == "NOT_SERVING"`, ReasonExpectation, "does not hold"},
		"no service":                 {refused("5", "unknown service"), "", ReasonStatus, `gRPC status NOT_FOUND: the server's health check knows no service "shop.Stock"`},
		"no service, as expected":    {refused("5", "unknown service"), `grpc.code == 5`, ReasonOK, ""},
		"no health":                  {refused("12", ""), "", ReasonStatus, "gRPC status UNIMPLEMENTED: the server has no health check"},
		"unavailable":                {refused("14", ""), "", ReasonUnavailable, "gRPC status UNAVAILABLE"},
		"too late":                   {refused("4", ""), "", ReasonUnavailable, "gRPC status DEADLINE_EXCEEDED"},
		"unauthenticated":            {refused("16", ""), "", ReasonUnauthorized, "gRPC status UNAUTHENTICATED"},
		"permission denied":          {refused("7", ""), "", ReasonUnauthorized, "gRPC status PERMISSION_DENIED"},
		"exhausted":                  {refused("8", ""), "", ReasonRateLimited, "gRPC status RESOURCE_EXHAUSTED"},
		"exhausted, as expected":     {refused("8", ""), `grpc.status == "RESOURCE_EXHAUSTED"`, ReasonOK, ""},
		"another expected":           {refused("8", ""), `grpc.code == 5`, ReasonRateLimited, ""},
		"internal":                   {refused("13", ""), "", ReasonStatus, "gRPC status INTERNAL"},
		"a code of tomorrow":         {refused("99", ""), "", ReasonStatus, "gRPC status UNKNOWN"},
		"ok, and it should not":      {whole("\x08\x01"), `grpc.code == 5`, ReasonStatus, "gRPC status OK, want grpc.code == 5"},
		"its words":                  {refused("5", "sold%20out"), `grpc.message == "sold out"`, ReasonOK, ""},
		"Envoy's words":              {refused("14", "upstream connect error or disconnect/reset before headers. reset reason: connection termination"), "", ReasonProxyUpstreamReset, ""},
		"a plain 503":                {plain503, "", ReasonUnavailable, "status 503 and no gRPC status, which is UNAVAILABLE to a client"},
		"a plain 429":                {plain429, "", ReasonRateLimited, "status 429"},
		"a redirect":                 {plain302, "", ReasonRedirected, "status 302"},
		"no trailers":                {noTrailers, "", ReasonBadResponse, "without a grpc-status"},
		"two messages":               {two, "", ReasonBadResponse, "with 2 messages"},
		"no message":                 {none, "", ReasonBadResponse, "with 0 messages"},
		"no health message":          {whole("\xff"), "", ReasonBadResponse, "HealthCheckResponse"},
		"slow":                       {whole("\x08\x01"), `latency < duration("1ms")`, ReasonSlow, "latency"},
		"a trailer":                  {refused("0", ""), `headers["grpc-status"] == "0"`, ReasonBadResponse, "with 0 messages"},
	} {
		var expectations []string
		if tt.expect != "" {
			expectations = append(expectations, tt.expect)
		}
		c := newGRPC(t, GRPC{Service: "shop.Stock"}, expectations...)
		a := Attempt{Reason: ReasonOK}
		c.judge(&a, tt.response, 20*time.Millisecond)
		if a.Reason != tt.want || !strings.Contains(a.Detail, tt.detail) {
			t.Errorf("%s: %s, %q, want %s, %q", name, a.Reason, a.Detail, tt.want, tt.detail)
		}
		if strings.Contains(a.Detail, "sold out") || strings.Contains(a.Detail, "unknown service") {
			t.Errorf("%s: the detail has the server's words: %q", name, a.Detail)
		}
	}
}

func TestJudgeMethod(t *testing.T) {
	method := GRPC{Method: "shop.Stock/List", DescriptorSet: "stock.binpb"}
	for expression, want := range map[string]Reason{
		`json.items[0].sku == "a-7"`: ReasonOK, `json.totalCount == "0"`: ReasonOK, `size(json.items) == 2`: ReasonExpectation, `body.contains("a-7")`: ReasonOK,
		`proto == "HTTP/2.0" && status == 200`: ReasonOK, `grpc.code == 0 && size(grpc.details) == 0`: ReasonOK,
	} {
		c := newGRPC(t, method, expression)
		a := Attempt{Reason: ReasonOK}
		c.judge(&a, whole("\x0a\x05\x0a\x03a-7"), time.Millisecond)
		if a.Reason != want || a.GRPC == nil || a.GRPC.Name != "OK" {
			t.Errorf("%s: %s, %q, %+v, want %s", expression, a.Reason, a.Detail, a.GRPC, want)
		}
	}
	response := refused("5", "")
	response.Header.Set("Grpc-Status-Details-Bin", statusBin(t, &errdetails.ErrorInfo{Reason: "SOLD_OUT"}))
	a := Attempt{Reason: ReasonOK}
	newGRPC(t, method).judge(&a, response, time.Millisecond)
	if a.Reason != ReasonStatus || a.Detail != "gRPC status NOT_FOUND with ErrorInfo" {
		t.Errorf("details: %s, %q", a.Reason, a.Detail)
	}
	a = Attempt{Reason: ReasonOK}
	newGRPC(t, method, `grpc.details[0].reason == "SOLD_OUT"`).judge(&a, response, time.Millisecond)
	if a.Reason != ReasonOK {
		t.Errorf("details that are expected: %s, %q", a.Reason, a.Detail)
	}
}

// TestRetryInfo: a server that asks to be left alone is.
func TestRetryInfo(t *testing.T) {
	response := refused("14", "")
	response.Header.Set("Grpc-Status-Details-Bin", statusBin(t, &errdetails.RetryInfo{RetryDelay: durationpb.New(3 * time.Second)}))
	a := Attempt{Reason: ReasonOK}
	newGRPC(t, GRPC{}).judge(&a, response, time.Millisecond)
	if a.RetryAfter != 3*time.Second {
		t.Errorf("RetryInfo: %s, want 3s", a.RetryAfter)
	}
	response = refused("8", "")
	response.Header.Set("Grpc-Retry-Pushback-Ms", "1500")
	newGRPC(t, GRPC{}).judge(&a, response, time.Millisecond)
	if a.RetryAfter != 1500*time.Millisecond {
		t.Errorf("pushback: %s, want 1.5s", a.RetryAfter)
	}
}

func TestTooManyPings(t *testing.T) {
	for _, tt := range []struct {
		goaway *wire.Goaway
		want   bool
	}{
		{&wire.Goaway{Code: 11, Debug: "too_many_pings"}, true}, {&wire.Goaway{Code: 11}, false},
		{&wire.Goaway{Code: 0, Debug: "too_many_pings"}, false}, {nil, false},
	} {
		if got := goawayOf(&wire.H2{Goaway: tt.goaway}).TooManyPings(); got != tt.want {
			t.Errorf("%+v: %v", tt.goaway, got)
		}
	}
	if goawayOf(nil).TooManyPings() {
		t.Error("without HTTP/2")
	}
}

package clients

import (
	"strings"
	"testing"
	"time"

	"perch.example/probes"
)

const (
	noAnswer  = "org.apache.http.NoHttpResponseException"
	resource  = "org.springframework.web.client.ResourceAccessException"
	serverErr = "org.springframework.web.client.HttpServerErrorException"
)

// spring is the incident's client with that retry list.
func spring(layer probes.RetryLayer, errors ...string) probes.Client {
	return probes.Client{
		Kind: "apache-httpclient-4.5", WrappedBy: "spring-resttemplate", AutomaticRetries: probes.SwitchNone,
		Retry: &probes.RetryPolicy{Layer: layer, Attempts: 3, Errors: errors},
	}
}

func TestCover(t *testing.T) {
	const in, out = probes.LayerInside, probes.LayerAround
	automatic := spring(in)
	automatic.AutomaticRetries = probes.SwitchDefault
	silent := spring(in)
	silent.Retry = nil
	once := spring(in, noAnswer)
	once.Retry.Attempts = 1
	bare := spring(out, "java.io.IOException")
	bare.WrappedBy = ""
	node := probes.Client{Kind: "node-http", Retry: &probes.RetryPolicy{Errors: []string{"ECONNRESET"}}}
	golang := probes.Client{Kind: "go-net-http", Retry: &probes.RetryPolicy{Errors: []string{"*url.Error"}}}
	tests := []struct {
		name   string
		decl   probes.Client
		reason probes.Reason
		method string
		want   probes.RetryCover
	}{
		{"the incident", spring(in, serverErr, resource), "idle_fin", "GET", "uncovered"},
		{"around sees the wrapped error", spring(out, serverErr, resource), "idle_fin", "GET", "covered"},
		{"around does not see the client's own", spring(out, noAnswer), "idle_fin", "GET", "uncovered"},
		{"around, a superclass of the wrapped error", spring(out, "org.springframework.web.client.RestClientException"), "idle_fin", "GET", "covered"},
		{"the entry itself", spring(in, noAnswer), "idle_fin", "GET", "covered"},
		{"by its short name", spring(in, "NoHttpResponseException"), "idle_fin", "GET", "covered"},
		{"by its superclass", spring(in, "java.io.IOException"), "idle_fin", "GET", "covered"},
		{"a sibling does not help", spring(in, "java.net.SocketException"), "idle_fin", "GET", "uncovered"},
		{"a reset is another class", spring(in, noAnswer), "reset", "GET", "uncovered"},
		{"SocketException is an IOException", spring(in, "java.io.IOException"), "reset", "GET", "covered"},
		{"without a wrapper both layers see the client's own", bare, "idle_fin", "GET", "covered"},
		{"a POST that was never accepted", spring(in, noAnswer), "idle_fin", "POST", "covered"},
		{"a POST that may have been executed", spring(in, noAnswer), "eof", "POST", "unsafe"},
		{"a PUT may run twice", spring(in, noAnswer), "eof", "PUT", "covered"},
		{"an empty list", spring(in), "idle_fin", "GET", "uncovered"},
		{"one attempt", once, "idle_fin", "GET", "uncovered"},
		{"no policy declared", silent, "idle_fin", "GET", "unknown"},
		{"retried by the client", automatic, "idle_fin", "GET", "covered"},
		{"a 503 inside is only an answer", spring(in, serverErr), "unavailable", "GET", "uncovered"},
		{"a 503 inside by its status", spring(in, "503"), "unavailable", "GET", "covered"},
		{"a 503 inside by its class", spring(in, "5xx"), "unavailable", "GET", "covered"},
		{"a 503 around is an exception", spring(out, serverErr), "unavailable", "GET", "covered"},
		{"a 429 around is another one", spring(out, serverErr), "rate_limited", "GET", "uncovered"},
		{"the catalog does not say", spring(in, noAnswer), "goaway_processed", "GET", "unknown"},
		{"an unknown client", probes.Client{Kind: "lynx"}, "idle_fin", "GET", "unknown"},
		{"Node by its code", node, "eof", "GET", "covered"},
		{"Node, another code", node, "refused", "GET", "uncovered"},
		{"Go by what wraps it", golang, "eof", "POST", "unsafe"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			text, _, got := Experience(tt.decl, tt.reason, tt.method, 1500*time.Millisecond)
			if got != tt.want {
				t.Errorf("%q, want %q (%s)", got, tt.want, text)
			}
		})
	}
}

func TestWords(t *testing.T) {
	limited := probes.Client{Kind: "go-net-http", MaxIdle: probes.Limit{Mode: probes.LimitAfter, After: time.Second}}
	tests := []struct {
		decl   probes.Client
		reason probes.Reason
		want   string
	}{
		{spring("inside"), "idle_fin", "throws " + noAnswer + ": <host> failed to respond, which RestTemplate wraps in " + resource},
		{spring("inside"), "unavailable", "returns the answer 503, for which RestTemplate throws " + serverErr + "$ServiceUnavailable"},
		{probes.Client{Kind: "requests"}, "eof", "raises requests.exceptions.ConnectionError: ('Connection aborted.', RemoteDisconnected('Remote end closed connection without response'))"},
		{probes.Client{Kind: "go-net-http"}, "idle_fin", "notices that it is dead and opens a new connection"},
		{probes.Client{Kind: "go-net-http"}, "eof", "writes to the dead connection, then silently sends again on a new one"},
		{limited, "idle_fin", "does not use it: it drops what was idle for 1 s"},
		{probes.Client{Kind: "libcurl"}, "idle_bytes", "returns the 408 that was pushed while idle, as if it were the answer"},
		{probes.Client{Kind: "libcurl"}, "stream_reset", ""},
	}
	for _, tt := range tests {
		if got, _, _ := Experience(tt.decl, tt.reason, "GET", 1500*time.Millisecond); got != tt.want {
			t.Errorf("%s, %s:\n %q, want\n %q", tt.decl.Kind, tt.reason, got, tt.want)
		}
	}
}

// TestWordsOfTheClientsOwnSecondTry: the same in a report and in an audit, and
// only what was lost on a dead connection is told as that.
func TestWordsOfTheClientsOwnSecondTry(t *testing.T) {
	for reason, want := range map[probes.Reason]string{
		"idle_fin":      "writes to the dead connection, then ",
		"crossed_close": "writes to the dead connection, then ",
		"reset":         "writes to the dead connection, then ",
		"partial_head":  "drops the answer that is cut off, then ",
		"partial_body":  "drops the answer that is cut off, then ",
		"bad_response":  "drops what is no HTTP answer, then ",
		"blackhole":     "waits for its whole timeout, then ",
		"no_response":   "waits for its whole timeout, then ",
		"rate_limited":  "asks again by itself after the answer 429",
		"unavailable":   "asks again by itself after the answer 503",
	} {
		tried := 0
		for _, decl := range Common() {
			text, result, _ := Experience(decl, reason, "GET", 0)
			if result != Retried {
				continue
			}
			tried++
			if !strings.HasPrefix(text, want) {
				t.Errorf("%s, %s: %q, want it to begin %q", decl.Kind, reason, text, want)
			}
			for _, r := range Audit(decl, []string{"GET"}).Rows {
				if r.Reason == reason && r.Experiences != text {
					t.Errorf("%s, %s: the audit says %q, a report %q", decl.Kind, reason, r.Experiences, text)
				}
			}
		}
		if tried == 0 {
			t.Errorf("%s: no client sends again by itself: nothing was tested", reason)
		}
	}
}

// TestEverySecondTryHasWordsOfItsOwn: a fact that is added later must not fall
// through to words that say nothing.
func TestEverySecondTryHasWordsOfItsOwn(t *testing.T) {
	for _, event := range append(Events(), H2Events()...) {
		if got := (meeting{event: event}).again(); got == (meeting{}).again() {
			t.Errorf("%s: %q", event, got)
		}
	}
}

func TestRetryEntry(t *testing.T) {
	for _, tt := range []struct {
		decl   probes.Client
		reason probes.Reason
		want   string
	}{
		{spring("inside"), "idle_fin", noAnswer},
		{spring("around"), "idle_fin", resource},
		{spring("inside"), "unavailable", "503"},
		{spring("around"), "unavailable", serverErr + "$ServiceUnavailable"},
		{probes.Client{Kind: "go-net-http"}, "idle_fin", ""},
		{probes.Client{Kind: "libcurl"}, "partial_head", ""},
	} {
		if got := RetryEntry(tt.decl, tt.reason, "GET", time.Second); got != tt.want {
			t.Errorf("%s, %s: %q, want %q", tt.decl.Kind, tt.reason, got, tt.want)
		}
	}
}

func TestGaps(t *testing.T) {
	if got := Gaps(probes.Client{Kind: "apache-httpclient-4.5"}); got != nil {
		t.Errorf("without a policy: %v, want none", got)
	}
	open := map[probes.Reason]bool{}
	for _, g := range Gaps(spring("inside", serverErr, resource, "java.net.ConnectException")) {
		if g.Client != "apache-httpclient-4.5" {
			t.Errorf("client %q", g.Client)
		}
		open[g.Reason] = g.Gap
	}
	for reason, want := range map[probes.Reason]bool{
		"idle_fin": true, "idle_rst": true, "eof": true, "reset": true, "no_response": true, "dns": true,
		"refused": false, // HttpHostConnectException is a ConnectException
	} {
		if got, ok := open[reason]; !ok || got != want {
			t.Errorf("%s: gap %t (judged %t), want %t", reason, got, ok, want)
		}
	}
	for _, g := range Gaps(spring("inside", "java.io.IOException", "429", "503", "408")) {
		if g.Gap {
			t.Errorf("%s is a gap for a list that holds everything", g.Reason)
		}
	}
}

func TestSetting(t *testing.T) {
	for _, tt := range []struct {
		template string
		d        time.Duration
		want     string
	}{
		{"f({ms})", 900 * time.Millisecond, "f(900)"},
		{"f({s})", 900 * time.Millisecond, "f(0.9)"},
		{"f({s})", 54 * time.Second, "f(54)"},
		{"f({whole})", 5900 * time.Millisecond, "f(5)"},
		{"f({whole})", 900 * time.Millisecond, ""},
		{"{go}", 900 * time.Millisecond, "900 * time.Millisecond"},
		{"{go}", time.Minute, "60 * time.Second"},
		{"", time.Minute, ""},
		{"f({ms})", 999 * time.Microsecond, ""},
		{"f({s})", 0, ""},
		{"{go}", -time.Second, ""},
		{"f({ms})", 1999 * time.Microsecond, "f(1)"},
		{"f({whole})", 2 * time.Hour, "f(7200)"},
	} {
		if got := Setting(tt.template, tt.d); got != tt.want {
			t.Errorf("%q with %s: %q, want %q", tt.template, tt.d, got, tt.want)
		}
	}
}

func TestWrappers(t *testing.T) {
	if !Wraps("spring-resttemplate", "apache-httpclient-4.5") || Wraps("spring-resttemplate", "requests") || Wraps("nothing", "okhttp") {
		t.Error("the wrong layers wrap")
	}
	if got := Wrappers(); len(got) == 0 || got[0] != "spring-resttemplate" {
		t.Errorf("wrappers %v", got)
	}
}

package probes

import (
	"crypto/tls"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"perch.example/probes/expect"
	"perch.example/probes/wire"
)

func headers(pairs ...string) http.Header {
	h := http.Header{}
	for i := 0; i+1 < len(pairs); i += 2 {
		h.Add(pairs[i], pairs[i+1])
	}
	return h
}

func TestJudgeAnswer(t *testing.T) {
	const envoy = "upstream connect error or disconnect/reset before headers. reset reason: connection termination"
	for _, c := range []struct {
		name    string
		r       wire.Response
		latency time.Duration
		expect  []string
		want    Reason
		detail  string // a part of it
	}{
		{"ok", wire.Response{Status: 200}, 0, nil, ReasonOK, ""},
		{"204", wire.Response{Status: 204}, 0, nil, ReasonOK, ""},
		{"429", wire.Response{Status: 429}, 0, nil, ReasonRateLimited, "status 429"},
		{"502", wire.Response{Status: 502}, 0, nil, ReasonUnavailable, "status 502"},
		{"503", wire.Response{Status: 503}, 0, nil, ReasonUnavailable, "status 503"},
		{"504", wire.Response{Status: 504}, 0, nil, ReasonUnavailable, "status 504"},
		{"401", wire.Response{Status: 401}, 0, nil, ReasonUnauthorized, "status 401"},
		{"403", wire.Response{Status: 403}, 0, nil, ReasonUnauthorized, "status 403"},
		{"302", wire.Response{Status: 302, Header: headers("Location", "/b")}, 0, nil, ReasonRedirected, "status 302"},
		{"304 without a Location", wire.Response{Status: 304}, 0, nil, ReasonStatus, "status 304"},
		{"201 with a Location", wire.Response{Status: 201, Header: headers("Location", "/b")}, 0, nil, ReasonOK, ""},
		{"404", wire.Response{Status: 404}, 0, nil, ReasonStatus, "status 404, want 200 to 299"},
		{"500", wire.Response{Status: 500}, 0, nil, ReasonStatus, "status 500"},
		{"501", wire.Response{Status: 501}, 0, nil, ReasonStatus, "status 501"},

		{"expected 401", wire.Response{Status: 401}, 0, []string{"status == 401"}, ReasonOK, ""},
		{"expected 429", wire.Response{Status: 429}, 0, []string{"status in [200, 429]"}, ReasonOK, ""},
		{"expected 503", wire.Response{Status: 503, Body: []byte(envoy)}, 0, []string{"status == 503"}, ReasonOK, ""},
		{"expected 302", wire.Response{Status: 302, Header: headers("Location", "/b")}, 0, []string{"status == 302"}, ReasonOK, ""},
		{"expected with a body", wire.Response{Status: 401, Body: []byte("no")}, 0, []string{`status == 401 && body == "no"`}, ReasonOK, ""},
		{"expected, another body", wire.Response{Status: 401, Body: []byte("eh")}, 0, []string{`status == 401 && body == "no"`}, ReasonExpectation, "status"},
		{"200 where 401 is expected", wire.Response{Status: 200}, 0, []string{"status == 401"}, ReasonStatus, "status 200, want status == 401"},
		{"503 where 401 is expected", wire.Response{Status: 503}, 0, []string{"status == 401"}, ReasonUnavailable, "status 503"},
		{"401 with an expectation about something else", wire.Response{Status: 401}, 0, []string{"size(body) == 0"}, ReasonUnauthorized, "status 401"},

		{"slow", wire.Response{Status: 200}, time.Second, []string{`latency < duration("300ms")`}, ReasonSlow, "latency 1s"},
		{"in time", wire.Response{Status: 200}, 299 * time.Millisecond, []string{`latency < duration("300ms")`}, ReasonOK, ""},
		{"a body", wire.Response{Status: 200, Body: []byte(`{"days":[1]}`)}, 0, []string{"size(json.days) == 2"}, ReasonExpectation, "size(json.days) == 2"},
		{"no JSON", wire.Response{Status: 200, Body: []byte(`<html>`)}, 0, []string{"size(json.days) == 2"}, ReasonExpectation, "evaluation error"},
		{"two variables", wire.Response{Status: 200, Body: []byte("x")}, time.Second, []string{`latency < duration("1ms") || body == "y"`}, ReasonExpectation, ""},
		{"a header", wire.Response{Status: 200, Header: headers("Content-Type", "text/html")}, 0, []string{`headers["content-type"] == "text/plain"`}, ReasonExpectation, ""},
		{"TLS", wire.Response{Status: 200, TLS: &tls.ConnectionState{Version: tls.VersionTLS13}}, 0, []string{`tls == "1.3"`}, ReasonOK, ""},
		{"older TLS", wire.Response{Status: 200, TLS: &tls.ConnectionState{Version: tls.VersionTLS12}}, 0, []string{`tls == "1.2"`}, ReasonOK, ""},
		{"no TLS", wire.Response{Status: 200, Proto: "HTTP/1.1"}, 0, []string{`tls == "" && proto == "HTTP/1.1"`}, ReasonOK, ""},

		{"status before slow and expectation", wire.Response{Status: 200, Body: []byte("x")}, time.Second,
			[]string{`body == "y"`, `latency < duration("1ms")`, "status == 201"}, ReasonStatus, "want status == 201"},
		{"slow before expectation", wire.Response{Status: 200, Body: []byte("x")}, time.Second,
			[]string{`body == "y"`, `latency < duration("1ms")`}, ReasonSlow, "latency"},
		{"the first expectation", wire.Response{Status: 200, Body: []byte("x")}, 0, []string{`body == "y"`, `body == "z"`}, ReasonExpectation, `"y"`},
		{"unauthorized before slow", wire.Response{Status: 401}, time.Second, []string{`latency < duration("1ms")`}, ReasonUnauthorized, ""},

		{"Envoy's words", wire.Response{Status: 503, Body: []byte(envoy)}, 0, nil, ReasonProxyUpstreamReset, "a proxy on the way answered 503"},
		{"Envoy's words, 502", wire.Response{Status: 502, Body: []byte("\n" + envoy)}, 0, nil, ReasonProxyUpstreamReset, "502"},
		{"Envoy's words, 504", wire.Response{Status: 504, Body: []byte(envoy)}, 0, nil, ReasonUnavailable, ""},
		{"Envoy's words within others", wire.Response{Status: 503, Body: []byte("we saw: " + envoy)}, 0, nil, ReasonUnavailable, ""},
		{"Envoy's flag UC", wire.Response{Status: 503, Header: headers("X-Envoy-Response-Flags", "UC")}, 0, nil, ReasonProxyUpstreamReset, ""},
		{"Envoy's flags", wire.Response{Status: 502, Header: headers("X-Envoy-Response-Flags", "URX, UF")}, 0, nil, ReasonProxyUpstreamReset, ""},
		{"another flag", wire.Response{Status: 503, Header: headers("X-Envoy-Response-Flags", "UH,UCX")}, 0, nil, ReasonUnavailable, ""},
		{"a flag on a good answer", wire.Response{Status: 200, Header: headers("X-Envoy-Response-Flags", "UC")}, 0, nil, ReasonOK, ""},
	} {
		set, err := expect.Compile(c.expect)
		if err != nil {
			t.Fatal(err)
		}
		got, detail := judgeAnswer(&Spec{Expect: set}, c.r, c.latency)
		if got != c.want || !strings.Contains(detail, c.detail) || (got == ReasonOK) != (detail == "") {
			t.Errorf("%s: %s (%s), want %s (%s)", c.name, got, detail, c.want, c.detail)
		}
	}
}

// Whatever status comes, an answer that was not expected is never ok, and one
// that was expected always is.
func TestJudgeAnswerOfEveryStatus(t *testing.T) {
	set, err := expect.Compile([]string{"status == 404"})
	if err != nil {
		t.Fatal(err)
	}
	for status := 100; status < 1000; status++ {
		r := wire.Response{Status: status, Header: headers("Location", "/", "X-Envoy-Response-Flags", "UC")}
		if got, _ := judgeAnswer(&Spec{Expect: nil}, r, 0); (got == ReasonOK) != (status >= 200 && status < 300) {
			t.Errorf("status %d without expectations: %s", status, got)
		}
		if got, _ := judgeAnswer(&Spec{Expect: set}, r, 0); (got == ReasonOK) != (status == 404) {
			t.Errorf("status %d where 404 is expected: %s", status, got)
		}
	}
}

func TestRetryAfter(t *testing.T) {
	const week = 7 * 24 * time.Hour
	now := time.Date(2026, 10, 21, 7, 28, 0, 500, time.UTC)
	at := func(d time.Duration) string { return now.Add(d).UTC().Format(http.TimeFormat) }
	for v, want := range map[string]time.Duration{
		"": 0, "0": 0, "1": time.Second, " 120 ": 2 * time.Minute, "1.5": 1500 * time.Millisecond, "1e1": 10 * time.Second,
		"604800": week, "604801": week, "99999999999999999999": week, "1e300": week,
		"-1": 0, "+5": 0, "-0": 0, ".5": 0, "inf": 0, "Infinity": 0, "nan": 0, "1e999": 0, "soon": 0, "1s": 0, "5, 6": 0, "５": 0, "0x": 0,
		at(time.Minute): time.Minute - 500, at(0): 0, at(-time.Hour): 0, at(8 * 24 * time.Hour): week,
		"Fri, 31 Dec 9999 23:59:59 GMT":     week,
		"Wednesday, 21-Oct-26 07:29:00 GMT": time.Minute - 500,
		"Wed Oct 21 07:29:00 2026":          time.Minute - 500,
		"Wed, 21 Oct 2026 07:29:00":         0,
	} {
		if got := retryAfter(headers("Retry-After", v), now); got != want {
			t.Errorf("%q is %s, want %s", v, got, want)
		}
	}
	if got := retryAfter(nil, now); got != 0 {
		t.Errorf("no header is %s", got)
	}
}

func FuzzRetryAfter(f *testing.F) {
	for _, v := range []string{"", "1", "1.5", "-1", "nan", "inf", "0x1p-2", "1_0", "Fri, 31 Dec 9999 23:59:59 GMT", "Wed, 21 Oct 2026 07:28:00 GMT"} {
		f.Add(v)
	}
	now := time.Date(2026, 10, 21, 7, 0, 0, 0, time.UTC)
	f.Fuzz(func(t *testing.T, v string) {
		got := retryAfter(http.Header{"Retry-After": {v}}, now)
		if got < 0 || got > 7*24*time.Hour {
			t.Errorf("%q is %s", v, got)
		}
		if n, err := strconv.ParseUint(strings.TrimSpace(v), 10, 16); err == nil && got != time.Duration(n)*time.Second {
			t.Errorf("%q is %s, want %d s", v, got, n)
		}
	})
}

func TestAdvertised(t *testing.T) {
	for v, want := range map[string]time.Duration{
		"": 0, "timeout=5": 5 * time.Second, "timeout=5, max=100": 5 * time.Second, "max=100,timeout=75": 75 * time.Second,
		"Timeout=5": 5 * time.Second, "timeout= 5": 5 * time.Second, " timeout=5 ": 5 * time.Second,
		"timeout=0": 0, "timeout=-5": 0, "timeout=": 0, "timeout": 0, "timeout=5s": 0, "timeout=1e3": 0, "max=5": 0, "xtimeout=5": 0,
		"timeout=1048575": 1048575 * time.Second, "timeout=1048576": 0, "timeout=99999999999999999999": 0,
		"timeout=x, timeout=7": 7 * time.Second, "300": 0,
	} {
		if got := advertised(headers("Keep-Alive", v)); got != want {
			t.Errorf("%q is %s, want %s", v, got, want)
		}
	}
}

func FuzzAdvertised(f *testing.F) {
	for _, v := range []string{"", "timeout=5, max=100", "timeout=-1", "timeout=9999999999", "=,=,timeout==5", "TIMEOUT=\t7"} {
		f.Add(v)
	}
	f.Fuzz(func(t *testing.T, v string) {
		got := advertised(http.Header{"Keep-Alive": {v}})
		if got < 0 || got >= 1<<20*time.Second || got%time.Second != 0 {
			t.Errorf("%q is %s", v, got)
		}
		if got > 0 && !strings.Contains(strings.ToLower(v), "timeout") {
			t.Errorf("%q is %s without a timeout", v, got)
		}
	})
}

// Proxies are named, their headers' values are not.
func TestVia(t *testing.T) {
	for _, c := range []struct {
		h    http.Header
		want []string
	}{
		{headers("Server", "nginx"), nil},
		{headers("Server", "Envoy"), []string{"envoy"}},
		{headers("Server", "istio-envoy"), []string{"envoy"}},
		{headers("X-Envoy-Upstream-Service-Time", "3", "Server", "nginx"), []string{"envoy"}},
		{headers("Via", "1.1 squid.internal"), []string{"proxy"}},
		{headers("Via", "1.1 x", "Server", "envoy"), []string{"envoy", "proxy"}},
	} {
		if got := via(c.h); !slices.Equal(got, c.want) {
			t.Errorf("%v gives %q, want %q", c.h, got, c.want)
		}
	}
}

// What an answer says of itself reaches the attempt; a Retry-After counts by
// its status, even where that status is expected.
func TestAttemptTakesTheAnswer(t *testing.T) {
	for _, c := range []struct {
		status int
		reason Reason
		want   time.Duration
	}{
		{429, ReasonRateLimited, 7 * time.Second},
		{503, ReasonUnavailable, 7 * time.Second},
		{503, ReasonProxyUpstreamReset, 7 * time.Second},
		{503, ReasonOK, 7 * time.Second},
		{502, ReasonUnavailable, 0},
		{200, ReasonOK, 0},
		{301, ReasonRedirected, 0},
	} {
		a := Attempt{Reason: c.reason}
		a.answer(wire.Response{
			Status: c.status, Proto: "HTTP/1.0", Close: true,
			Header: headers("Retry-After", "7", "Keep-Alive", "timeout=5", "Via", "1.1 x"),
		})
		want := fmt.Sprint(Attempt{
			Reason: c.reason, Status: c.status, Proto: "HTTP/1.0", CloseAfter: true,
			RetryAfter: c.want, Advertised: 5 * time.Second, Via: []string{"proxy"},
		})
		if got := fmt.Sprint(a); got != want {
			t.Errorf("%d as %s: %s, want %s", c.status, c.reason, got, want)
		}
	}
}

package clients

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"perch.example/probes"
)

// TestMeasuredTable holds the catalog against the measurements: the second
// request on a pooled connection after 1.5 s idle. g is GET, p is POST; N
// notices, R retries silently, anything else is what the application gets.
func TestMeasuredTable(t *testing.T) {
	const apache = "NoHttpResponseException"
	off := func(kind string) probes.Client {
		return probes.Client{Kind: kind, AutomaticRetries: probes.SwitchNone}
	}
	on := func(kind string) probes.Client { return probes.Client{Kind: kind} }
	type cell struct{ g, p string }
	n, r := cell{"N", "N"}, cell{"R", "R"}
	both := func(s string) cell { return cell{s, s} }
	tests := []struct {
		decl                                      probes.Client
		fin, rst, closes, resets, pushed, partial cell
	}{
		{
			on("apache-httpclient-4.5"), cell{"R", apache}, r, cell{"R", apache}, cell{"R", "SocketException: Connection reset"},
			both("408"), both("ClientProtocolException"),
		},
		{
			off("apache-httpclient-4.5"), both(apache), both("SocketException"), both(apache), both("SocketException"),
			both("408"), both("ClientProtocolException"),
		},
		{
			on("apache-httpclient-5.2"), cell{"R", apache}, cell{"R", "SocketException"}, cell{"R", apache}, cell{"R", "SocketException"},
			both("408"), both("ClientProtocolException"),
		},
		{on("okhttp"), cell{"R", "N"}, cell{"R", "N"}, r, r, r, r},
		{
			on("jdk-httpclient"), n, n, cell{"R", "header parser received no bytes"}, cell{"R", "header parser received no bytes"},
			n, both("IOException"),
		},
		{on("httpurlconnection"), r, n, r, r, cell{"408", "R"}, both("200 with no error")},
		{on("node-http"), n, n, both("ECONNRESET: socket hang up"), both("read ECONNRESET"), n, both("socket hang up")},
		{on("node-fetch"), n, n, both("UND_ERR_SOCKET: fetch failed (other side closed)"), both("read ECONNRESET"), n, both("other side closed")},
		{on("requests"), n, n, both("RemoteDisconnected"), both("ConnectionResetError"), n, both("200 with no error")},
		{on("urllib3"), n, n, cell{"R", "RemoteDisconnected"}, cell{"R", "ConnectionResetError"}, n, both("200 with no error")},
		{on("aiohttp"), n, n, both("ServerDisconnectedError"), both("ClientOSError"), n, both("ServerDisconnectedError")},
		{on("httpx"), n, n, both("RemoteProtocolError"), both("ReadError"), n, both("RemoteProtocolError")},
		{on("libcurl"), n, n, r, r, both("408"), both("200 with no error")},
		{on("go-net-http"), n, n, cell{"R", "EOF"}, cell{"R", "connection reset by peer"}, n, both("malformed MIME header")},
	}
	for _, tt := range tests {
		for _, c := range []struct {
			reason probes.Reason
			want   cell
		}{
			{"idle_fin", tt.fin}, {"idle_close_notify", tt.fin}, {"idle_rst", tt.rst}, {"eof", tt.closes}, {"crossed_close", tt.closes},
			{"reset", tt.resets}, {"idle_bytes", tt.pushed}, {"partial_head", tt.partial},
		} {
			expectCell(t, tt.decl, c.reason, "GET", c.want.g)
			expectCell(t, tt.decl, c.reason, "POST", c.want.p)
		}
	}
}

func expectCell(t *testing.T, decl probes.Client, reason probes.Reason, method, want string) {
	t.Helper()
	text, result, _ := Experience(decl, reason, method, 1500*time.Millisecond)
	ok := false
	switch want {
	case "N":
		ok = result == Noticed
	case "R":
		ok = result == Retried
	default:
		ok = result == Failed && strings.Contains(text, want)
	}
	if !ok {
		t.Errorf("%s (automatic retries %q), %s, %s: %s, %q; want %s", decl.Kind, decl.AutomaticRetries, reason, method, result, text, want)
	}
}

// TestSilence: every client waits; only urllib3 repeats a GET.
func TestSilence(t *testing.T) {
	for _, kind := range Kinds() {
		for _, reason := range []probes.Reason{"blackhole", "no_response"} {
			_, get, _ := Experience(probes.Client{Kind: kind}, reason, "GET", time.Second)
			_, post, _ := Experience(probes.Client{Kind: kind}, reason, "POST", time.Second)
			want := Failed
			if kind == "urllib3" {
				want = Retried
			}
			if get != want || post != Failed {
				t.Errorf("%s, %s: GET %s, POST %s", kind, reason, get, post)
			}
		}
	}
}

// TestApacheLooks: from 2 s on HttpClient 4.5 sees a close, not pushed bytes,
// and not a close that crosses the request.
func TestApacheLooks(t *testing.T) {
	decl := probes.Client{Kind: "apache-httpclient-4.5", AutomaticRetries: probes.SwitchNone}
	for reason, want := range map[probes.Reason]Result{
		"idle_fin": Noticed, "idle_rst": Noticed, "idle_bytes": Failed, "eof": Failed, "reset": Failed,
	} {
		if _, got, _ := Experience(decl, reason, "GET", 2*time.Second); got != want {
			t.Errorf("%s at 2 s: %s, want %s", reason, got, want)
		}
	}
	if _, got, _ := Experience(decl, "idle_fin", "GET", 1999*time.Millisecond); got != Failed {
		t.Errorf("idle_fin just under 2 s: %s, want error", got)
	}
}

// TestCatalogIsWhole: every client has what the reports need. What is measured
// says with which version, and covers the wire's own events.
func TestCatalogIsWhole(t *testing.T) {
	for _, kind := range Kinds() {
		c, _ := Lookup(kind)
		measured := false
		for event, fact := range c.Facts {
			measured = measured || fact.Source == Measured
			for _, e := range effects(fact) {
				if e.Does == Fails && c.Errors[e.Error] == nil {
					t.Errorf("%s, %s: error %s has no place in the hierarchy", kind, event, e.Error)
				}
			}
		}
		if measured != (c.Measured != "") || c.Versions == "" {
			t.Errorf("%s: facts are measured: %t; versions %q, measured %q", kind, measured, c.Versions, c.Measured)
		}
		want := []Event{ClosedIdle, ResetIdle, ClosesOnRequest, Silence, NoAddress, Refused, ConnectTimeout, TLSFailure, BadCertificate, Unavailable, RateLimited, Unauthorized}
		if measured {
			want = append(want, BytesIdle, ResetsOnRequest, PartialHead)
		}
		for _, event := range want {
			if _, ok := c.Facts[event]; !ok {
				t.Errorf("%s says nothing about %q", kind, event)
			}
		}
	}
	if _, ok := Lookup("internet-explorer"); ok {
		t.Error("a client that is not in the catalog was found")
	}
	if got := Common(); len(got) != len(Kinds()) || got[0].Kind != "apache-httpclient-4.5" {
		t.Errorf("common clients: %v", got)
	}
}

func effects(f Fact) []Effect {
	cells := []Effect{f.Safe, f.Other}
	for _, e := range []*Effect{f.Bare, f.Looked} {
		if e != nil {
			cells = append(cells, *e)
		}
	}
	return cells
}

// TestErrorsEndInTheirLanguagesRoot follows every name to the root, and finds
// no circle and no parent that is nowhere explained.
func TestErrorsEndInTheirLanguagesRoot(t *testing.T) {
	roots := map[string][]string{
		"Java": {"java.lang.Throwable"}, "Python": {"Exception", "IOError"}, "JavaScript": {"Error"},
		"Go": {"net.Error", "io.ErrUnexpectedEOF"}, "C#": {"System.Exception"},
	}
	for _, kind := range Kinds() {
		c, _ := Lookup(kind)
		for name := range c.Errors {
			for _, top := range tops(c.Errors, name) {
				if known := roots[c.Language]; known != nil && !slices.Contains(known, top) {
					t.Errorf("%s: %s ends in %s, want %q", kind, name, top, known)
				}
			}
		}
	}
	for _, w := range catalog().wrappers() {
		for _, name := range []string{w.network, w.body, w.status(429), w.status(503), w.status(401), w.status(404), w.status(500)} {
			if got := tops(w.errors(), name); !slices.Equal(got, []string{"java.lang.Throwable"}) {
				t.Errorf("%s: %s ends in %q", w.kind, name, got)
			}
		}
		if len(w.clients) == 0 {
			t.Errorf("%s wraps nothing", w.kind)
		}
	}
}

// tops are the names above name that are nothing else themselves.
func tops(parents map[string][]string, name string) []string {
	var top []string
	for _, n := range kindsOf(parents, name) {
		if len(parents[n]) == 0 {
			top = append(top, n)
		}
	}
	return top
}

// TestSettingsAreTemplates: every placeholder is one that Setting fills.
func TestSettingsAreTemplates(t *testing.T) {
	for _, kind := range Kinds() {
		c, _ := Lookup(kind)
		s := c.Settings
		durations := []string{s.MaxIdle, s.Validate, s.Timeout}
		for wrapper, bean := range s.SpringBoot {
			if durations = append(durations, bean); !Wraps(wrapper, kind) {
				t.Errorf("%s: a bean for %s, which does not wrap it", kind, wrapper)
			}
		}
		for _, template := range append(durations, s.TCPKeepAlive, s.Retry) {
			if got := Setting(template, 5*time.Second); regexp.MustCompile(`\{(ms|s|go|whole)\}`).MatchString(got) {
				t.Errorf("%s: %s", kind, got)
			}
		}
		for _, template := range durations {
			if template != "" && Setting(template, 5*time.Second) == Setting(template, 7*time.Second) {
				t.Errorf("%s: no duration in %q", kind, template)
			}
		}
	}
}
